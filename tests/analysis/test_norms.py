"""Norm maps against the sublayer's own output and a computation vector by vector."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from translator import Trace, Translator
from translator.analysis.norms import norms, share, sublayers, transformed
from translator.analysis.passes import Replay, pair_of

KINDS = ("encoder", "decoder", "cross")


@pytest.mark.parametrize("kind", KINDS)
def test_the_sum_over_keys_and_heads_plus_the_bias_is_the_sublayers_output(
    tiny: Translator, trace: Trace, kind: str
) -> None:
    """The stream before and after the sublayer are the model's own: what was added must be our sum, biases and all."""
    model = copy.deepcopy(tiny.bundle.model)
    generator = torch.Generator().manual_seed(0)
    for name, weight in model.named_parameters():
        if name.endswith("bias"):  # as they are made, biases are 0
            weight.data = torch.randn(weight.shape, generator=generator)
    pair = pair_of(Translator(replace(tiny.bundle, model=model)), trace)
    with torch.inference_mode():
        encoded = pair.encode()
        run = Replay(pair, encoded, pair.decode(encoded.memory))
        added: list[torch.Tensor] = []
        blocks = pair.model.encoder if kind == "encoder" else pair.model.decoder
        hooks = [
            (block.cross if kind == "cross" else block.attention).out.register_forward_hook(
                lambda module, given, result: added.append(result[0])
            )
            for block in blocks
        ]
        pair.decode(pair.encode().memory)
        for hook in hooks:
            hook.remove()
        for (attention, keys, weights), want in zip(sublayers(run, kind), added, strict=True):
            found = torch.einsum("hqk,hkd->qd", weights, transformed(attention, keys)) + attention.out.bias
            torch.testing.assert_close(found, want, atol=1e-5, rtol=1e-4)


def test_a_cell_is_the_length_of_the_weighted_vector(tiny: Translator, trace: Trace) -> None:
    found = norms(tiny, trace)
    pair = pair_of(tiny, trace)
    with torch.inference_mode():
        encoded = pair.encode()
        attention = pair.model.decoder[1].cross
        value = encoded.memory[0] @ attention.qkv.weight[2 * 16 :].T + attention.qkv.bias[2 * 16 :]
        vectors = [value[:, 8 * h : 8 * h + 8] @ attention.out.weight[:, 8 * h : 8 * h + 8].T for h in (0, 1)]
    for t, s in ((0, 0), (3, 2), (5, 4)):
        parts = [float(trace.cross[1, h, t, s]) * vectors[h][s].numpy() for h in (0, 1)]
        for head, part in enumerate(parts):
            assert found.cross[1, head, t, s] == pytest.approx(np.linalg.norm(part), rel=1e-4)
        assert found.cross_layers[1, t, s] == pytest.approx(np.linalg.norm(sum(parts)), rel=1e-4)


def test_maps_have_the_axes_of_the_trace_and_shares_sum_to_1(tiny: Translator, trace: Trace) -> None:
    found = norms(tiny, trace)
    for kind in KINDS:
        heads = getattr(found, kind)
        assert heads.shape == trace.weights(kind).shape
        np.testing.assert_allclose(share(heads).sum(-1), 1)
    assert (found.decoder[..., ~np.tri(len(trace.tgt), dtype=bool)] == 0).all()
    assert share(np.zeros((1, 3))).tolist() == [[0, 0, 0]]
