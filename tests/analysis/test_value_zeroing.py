"""Value zeroing against passes in which a hook sets one token's value to 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine

from translator import Trace, Translator
from translator.analysis.value_zeroing import value_zeroing

LAYOUTS = [
    {},
    {"norm": "post", "final_norm": False},
    {"norm_variant": "unbiased", "d_head": 5, "out_bias": False, "encoder_layers": 3},
]


def with_value_zeroed(attention: Any, token: int) -> Callable[[], None]:
    """Let a sublayer's values of one key be zeros."""
    usual = attention.attend

    def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *rest: Any) -> Any:
        value = value.clone()
        value[:, :, token] = 0
        return usual(query, key, value, *rest)

    attention.attend = attend
    return lambda: delattr(attention, "attend")


def rows(states: torch.Tensor, usual: torch.Tensor) -> list[float]:
    return [cosine(a.double().numpy(), b.double().numpy()) for a, b in zip(states, usual, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("changes", LAYOUTS)
def test_every_layer_equals_one_pass_a_token(
    tiny: Translator, checkpoint_maker: ModuleType, changes: dict[str, Any]
) -> None:
    model = checkpoint_maker.tiny_model(len(tiny.bundle.src), len(tiny.bundle.tgt), **changes)
    made = Translator(replace(tiny.bundle, model=model))
    trace = made.translate("Das Haus ist alt.", method="greedy", max_length=6)
    found = value_zeroing(made, trace)
    src, tgt = (torch.tensor([[token.id for token in tokens]]) for tokens in (trace.src, trace.reads))
    causal = torch.ones(tgt.shape[1], tgt.shape[1], dtype=torch.bool).tril()
    with torch.no_grad():
        encoded = model.encode(src, None)
        states = model.decode(tgt, encoded.memory, None).states[0]
        for i, layer in enumerate(model.encoder):
            distances = []
            for token in range(src.shape[1]):
                undo = with_value_zeroed(layer.attention, token)
                distances.append(rows(layer(encoded.states[:, i], None)[0][0], encoded.states[0, i + 1]))
                undo()
            check(found.encoder[i], np.array(distances).T)
        for i, block in enumerate(model.decoder):
            distances = []
            for sublayer, count in ((block.attention, tgt.shape[1]), (block.cross, src.shape[1])):
                for token in range(count):
                    undo = with_value_zeroed(sublayer, token)
                    state = block(states[None, i], causal, encoded.memory, None)[0][0]
                    distances.append(rows(state, states[i + 1]))
                    undo()
            check(np.concatenate([found.decoder[i], found.cross[i]], axis=1), np.array(distances).T)


def check(found: np.ndarray, distances: np.ndarray) -> None:
    np.testing.assert_allclose(found, distances / distances.sum(axis=1, keepdims=True), atol=1e-4)


def test_rows_sum_to_1_and_nothing_comes_from_later(tiny: Translator, trace: Trace) -> None:
    found = value_zeroing(tiny, trace)
    np.testing.assert_allclose(found.encoder.sum(-1), 1)
    np.testing.assert_allclose(found.decoder.sum(-1) + found.cross.sum(-1), 1)
    np.testing.assert_allclose(found.total.source.sum(-1) + found.total.target.sum(-1), 1)
    assert (found.decoder[:, ~np.tri(len(trace.tgt), dtype=bool)] == 0).all()


def test_a_layer_without_values_leaves_each_token_to_itself(tiny: Translator, checkpoint_maker: ModuleType) -> None:
    model = checkpoint_maker.tiny_model(len(tiny.bundle.src), len(tiny.bundle.tgt))
    with torch.no_grad():
        for layer in (*model.encoder, *model.decoder):
            layer.attention.out.weight.zero_()
    made = Translator(replace(tiny.bundle, model=model))
    trace = made.translate("Das Haus ist alt.", method="greedy", max_length=6)
    found = value_zeroing(made, trace)
    np.testing.assert_array_equal(found.encoder, np.stack([np.eye(len(trace.src))] * 2))
    assert (found.decoder == 0).all()
