"""Gradient × input and integrated gradients against captum, finite differences and completeness."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import Tensor

from translator import CancelledError, InputError, Trace, Translator
from translator.analysis import gradients
from translator.analysis.gradients import (
    Inputs,
    both_gradients,
    embeddings,
    gradient_x_input,
    integrated_gradients,
    read_embedded,
)
from translator.analysis.passes import pair_of
from translator.engine import EagerEngine

LAYOUTS = [
    {},
    {"norm": "post", "final_norm": False},
    {"norm_variant": "unbiased", "norm_bias": False, "activation": "gelu"},
    {"positions": "learned", "scale_embeddings": False, "embedding_norm": True},
    {"encoder_layers": 3, "d_head": 5, "output_bias": True},
]
STEPS = (0, 3, 6)


@pytest.fixture
def in_double(tiny: Translator) -> Translator:
    """The tiny translator in float64, the padding's embeddings being zeros."""
    model = copy.deepcopy(tiny.bundle.model).double()
    for embedding in (model.src_embedding, model.tgt_embedding):
        embedding.weight[model.config.pad_id] = 0
    return Translator(replace(tiny.bundle, model=model))


@pytest.fixture
def by_captum(in_double: Translator, trace: Trace) -> Callable[..., tuple[Tensor, Tensor, Callable[[int], Callable]]]:
    """Source ids, decoder inputs, and the forward function that captum explains for a step."""
    model = in_double.bundle.model
    src, tgt = ([token.id for token in tokens] for tokens in (trace.src, trace.tgt))

    def forward(step: int) -> Callable:
        return lambda s, t: model(s, t, None)[:, step].log_softmax(-1)[:, tgt[step]]

    return torch.tensor([src]), torch.tensor([[1, *tgt[:-1]]]), forward


@pytest.mark.parametrize("changes", LAYOUTS)
def test_from_embeddings_the_model_is_the_same(
    tiny: Translator, trace: Trace, checkpoint_maker: ModuleType, changes: dict
) -> None:
    sizes = len(tiny.bundle.src), len(tiny.bundle.tgt)
    model = checkpoint_maker.tiny_model(*sizes, **changes)
    pair = replace(pair_of(tiny, trace), engine=EagerEngine(model))
    with torch.inference_mode():
        want = pair.decode(pair.encode().memory).logits
        source, target = embeddings(pair)
        found = model.output(read_embedded(pair, source[None], target[None]))
    torch.testing.assert_close(found, want, atol=1e-4, rtol=1e-4)


@pytest.mark.slow
def test_gradient_x_input_is_captums(in_double: Translator, trace: Trace, by_captum: tuple) -> None:
    from captum.attr import LayerGradientXActivation  # a second of processor time

    source, reads, forward = by_captum
    found = gradient_x_input(in_double, trace, STEPS)
    for n, step in enumerate(STEPS):
        for layer, ours in (("src_embedding", found.source), ("tgt_embedding", found.target)):
            reference = LayerGradientXActivation(forward(step), getattr(in_double.bundle.model, layer))
            want = reference.attribute((source, reads))[0].sum(-1)
            np.testing.assert_allclose(ours[n], want.detach().numpy(), atol=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Multiple layers")
def test_integrated_gradients_are_captums(in_double: Translator, trace: Trace, by_captum: tuple) -> None:
    """Captum takes even steps, so that both have to be near the integral itself."""
    from captum.attr import LayerIntegratedGradients

    source, reads, forward = by_captum
    model = in_double.bundle.model
    found = integrated_gradients(in_double, trace, STEPS, points=600)
    for n, step in enumerate(STEPS):
        reference = LayerIntegratedGradients(forward(step), [model.src_embedding, model.tgt_embedding])
        pads = torch.zeros_like(source), torch.zeros_like(reads)
        parts = reference.attribute(
            (source, reads), pads, n_steps=600, method="riemann_middle", internal_batch_size=200
        )
        for ours, want in zip((found.source[n], found.target[n]), parts, strict=True):
            np.testing.assert_allclose(ours, want[0].sum(-1).detach().numpy(), atol=2e-2)


@pytest.mark.slow
@pytest.mark.parametrize("inputs", ["both", "source"])
def test_integrated_gradients_are_complete(in_double: Translator, trace: Trace, inputs: str) -> None:
    found = integrated_gradients(in_double, trace, inputs=inputs, points=800)
    np.testing.assert_allclose(found.value, trace.log_probs, atol=1e-4)
    np.testing.assert_allclose(found.gap, 0, atol=2e-2 * abs(found.value - found.base).max())
    fewer = integrated_gradients(in_double, trace, inputs=inputs, points=50)
    assert abs(found.gap).mean() < abs(fewer.gap).mean()
    if inputs == "source":
        assert (found.target == 0).all()


def test_a_step_reads_nothing_that_comes_later(tiny: Translator, trace: Trace) -> None:
    found = gradient_x_input(tiny, trace)
    assert found.target.shape == (len(trace.tgt), len(trace.tgt))
    assert (found.target[~np.tri(len(trace.tgt), dtype=bool)] == 0).all()


def test_the_gradient_of_a_score_of_ones_own_equals_finite_differences(in_double: Translator, trace: Trace) -> None:
    """A difference of two logits, as contrastive explanations have it."""
    found = gradient_x_input(in_double, trace, [2], lambda logits: logits[..., 5] - logits[..., 9])
    pair = pair_of(in_double, trace)
    source, target = embeddings(pair)

    def difference(grown: Tensor) -> float:
        logits = pair.model.output(read_embedded(pair, grown[None], target[None]))[0, 2]
        return float(logits[5] - logits[9])

    for index in (0, 4):
        step = torch.zeros_like(source)
        step[index] = 1e-6 * source[index]
        slope = (difference(source + step) - difference(source - step)) / 2e-6
        assert found.source[0, index] == pytest.approx(slope, abs=1e-6)


@pytest.mark.slow
def test_many_points_go_in_several_batches(tiny: Translator, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = integrated_gradients(tiny, trace, points=30)
    monkeypatch.setattr("translator.analysis.gradients.ROWS", 40)
    parts = integrated_gradients(tiny, trace, points=30)
    np.testing.assert_allclose(parts.source, whole.source, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("inputs", "at_once"), [("both", 1), ("source", 4096)])
def test_steps_in_any_order_are_each_what_it_is_alone(
    in_double: Translator, trace: Trace, monkeypatch: pytest.MonkeyPatch, inputs: Inputs, at_once: int
) -> None:
    """Also where points are pulled back one by one, or all at once."""
    monkeypatch.setattr(gradients, "COTANGENTS", at_once)
    steps = [5, 0, 3, 5, 1]
    found = integrated_gradients(in_double, trace, steps, inputs=inputs, points=3)
    for n, step in enumerate(steps):
        alone = integrated_gradients(in_double, trace, [step], inputs=inputs, points=3)
        for name in ("source", "target", "value", "base"):
            np.testing.assert_allclose(getattr(found, name)[n], getattr(alone, name)[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"steps": [99]}, "step is 99"),
        ({"steps": [-1]}, "step is -1"),
        ({"steps": [1.0]}, "step is 1.0"),
        ({"steps": []}, "no step"),
        ({"inputs": "target"}, "inputs is 'target'"),
        ({"points": 0}, "points is 0"),
    ],
)
def test_what_cannot_be_is_named(tiny: Translator, trace: Trace, given: dict, named: str) -> None:
    with pytest.raises(InputError, match=named):
        integrated_gradients(tiny, trace, **given)


def test_a_trace_of_other_weights_is_refused(tiny: Translator, trace: Trace) -> None:
    other = replace(trace, checkpoint=replace(trace.checkpoint, sha256="0" * 64))
    with pytest.raises(InputError, match="not by these weights"):
        gradient_x_input(tiny, other)


@pytest.mark.slow
@pytest.mark.parametrize("inputs", ["both", "source"])
def test_both_in_one_go_are_what_each_is_alone(
    in_double: Translator, trace: Trace, monkeypatch: pytest.MonkeyPatch, inputs: Inputs
) -> None:
    points_of_two = 2 * (len(trace.src) + max(STEPS) + 1)
    monkeypatch.setattr(gradients, "ROWS", points_of_two)  # so that one batch holds both
    alone = (
        gradient_x_input(in_double, trace, STEPS, inputs=inputs),
        integrated_gradients(in_double, trace, STEPS, inputs=inputs, points=5),
    )
    found = both_gradients(in_double, trace, STEPS, inputs=inputs, points=5)
    for one, other in zip(found, alone, strict=True):
        for name in ("source", "target", "value", "base"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9)


def test_each_batch_of_points_can_be_stopped(tiny: Translator, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradients, "COTANGENTS", 1)  # a batch is one point
    asked = iter([False] * 5 + [True])
    with pytest.raises(CancelledError):
        both_gradients(tiny, trace, points=3, stop=lambda: next(asked))
    with pytest.raises(StopIteration):  # nothing more was asked
        next(asked)
