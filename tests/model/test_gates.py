"""A gate a head: 1 leaves it alone, 0 takes it out, and the gradient is what a small change makes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from translator.model import Gates, Transformer

KINDS = {"encoder": (3, 4), "decoder": (2, 2), "cross": (2, 2)}
Batch = tuple[Tensor, Tensor, Tensor]


def logits(model: Transformer, batch: Batch, gates: Gates | None) -> Tensor:
    src_ids, src_keep, tgt_ids = batch
    return model.decode(tgt_ids, model.encode(src_ids, src_keep, gates).memory, src_keep, gates).logits


def test_gates_of_1_change_nothing(make_model: Callable[..., Transformer], batch: Batch) -> None:
    model = make_model()
    every = Gates(**{kind: torch.ones(shape) for kind, shape in KINDS.items()})
    torch.testing.assert_close(logits(model, batch, every), logits(model, batch, None), rtol=0, atol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_gate_of_0_equals_a_zeroed_slice_of_the_output_projection(
    make_model: Callable[..., Transformer], batch: Batch, kind: str
) -> None:
    model = make_model()
    gate = torch.ones(KINDS[kind])
    gate[1, 1] = 0
    found = logits(model, batch, Gates(**{kind: gate}))
    assert not torch.allclose(found, logits(model, batch, None), atol=1e-3)
    layer = model.encoder[1] if kind == "encoder" else model.decoder[1]
    attention = layer.cross if kind == "cross" else layer.attention
    with torch.no_grad():
        attention.out.weight[:, attention.d_head : 2 * attention.d_head] = 0
    torch.testing.assert_close(found, logits(model, batch, None), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_gates_differ_by_row_of_the_batch(make_model: Callable[..., Transformer], batch: Batch, kind: str) -> None:
    model = make_model()
    layers, heads = KINDS[kind]
    gates = torch.rand(layers, 3, heads)
    found = logits(model, batch, Gates(**{kind: gates}))
    for row in range(3):
        torch.testing.assert_close(found[row], logits(model, batch, Gates(**{kind: gates[:, row]}))[row])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_the_finite_difference(make_model: Callable[..., Transformer], batch: Batch, kind: str) -> None:
    model = make_model().double()
    probe = torch.randn(3, 6, 19, dtype=torch.float64)

    def value(gate: Tensor) -> Tensor:
        return (logits(model, batch, Gates(**{kind: gate})) * probe).sum()

    gate = torch.ones(KINDS[kind], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(value(gate), gate)
    with torch.no_grad():
        for layer, head in torch.cartesian_prod(*(torch.arange(n) for n in gate.shape)).tolist():
            change = torch.zeros_like(gate)
            change[layer, head] = 1e-6
            slope = float(value(gate + change) - value(gate - change)) / 2e-6
            assert slope == pytest.approx(float(gradient[layer, head]), rel=1e-5, abs=1e-6)
