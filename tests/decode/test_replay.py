"""The replay's rows against the cached search, the plain forward pass and what attention must be."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.decoding import kept
from translator.config import DecodeConfig
from translator.decode import encode, recorded, replay, search
from translator.engine import EagerEngine, Engine, best
from translator.errors import InputError
from translator.model import Transformer

SOURCE = [4, 15, 3, 44, 2]
TARGET = [7, 50, 50, 12, 33, 2]


@pytest.fixture(scope="module", params=["pre", "post"])
def model(checkpoint_maker: ModuleType, request: pytest.FixtureRequest) -> Transformer:
    return checkpoint_maker.tiny_model(60, 60, norm=request.param, decoder_heads=4, decoder_layers=3)


def test_row_t_equals_the_cached_pass_over_the_same_tokens(model: Transformer) -> None:
    maps = replay(EagerEngine(model), SOURCE, TARGET)
    steps = list(search(EagerEngine(model), SOURCE, DecodeConfig(), max_length=len(TARGET), prefix=TARGET))
    for t, step in enumerate(steps):
        np.testing.assert_allclose(step.cross, maps.cross[:, :, t], atol=1e-5)
        assert step.log_prob == pytest.approx(float(maps.log_probs[t]), abs=1e-5)
        assert step.entropy == pytest.approx(float(maps.entropies[t]), abs=1e-5)
        candidates = step.candidates(8)
        assert [id_ for id_, _ in candidates] == maps.candidate_ids[t].tolist()
        assert [p for _, p in candidates] == pytest.approx(maps.candidate_log_probs[t].tolist(), abs=1e-5)


@pytest.mark.parametrize("make_engine", [EagerEngine, best])
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("greedy", {}),
        ("sample", {}),
        ("beam", {"beam": 4}),
        ("beam", {"beam": 7, "length_penalty": -3.0}),  # the winner ended before the search did
        ("beam", {"beam": 3, "length_penalty": 5.0, "no_repeat_ngram_size": 2}),
    ],
)
def test_what_a_search_recorded_equals_its_replay(
    model: Transformer, method: Any, settings: dict[str, Any], make_engine: Callable[[Transformer], Engine]
) -> None:
    engine = make_engine(copy.deepcopy(model))
    engine.compile(wait=True)
    encoded = encode(engine, SOURCE)
    config = DecodeConfig(method=method, force_eos=True, **settings)
    steps, best_one = kept(search(engine, SOURCE, config, max_length=9, prefix=TARGET[:2], encoded=encoded))
    seen, want = recorded(encoded, steps, best_one, candidates=5), replay(engine, SOURCE, best_one.ids, candidates=5)
    for field in dataclasses.fields(seen):
        found, expected = (np.asarray(getattr(each, field.name)) for each in (seen, want))
        assert found.shape == expected.shape and found.dtype == expected.dtype, field.name
        np.testing.assert_allclose(found, expected, atol=1e-5, err_msg=field.name)


def test_row_t_equals_the_last_row_of_every_prefix(model: Transformer) -> None:
    whole = replay(EagerEngine(model), SOURCE, TARGET)
    for t in range(1, len(TARGET) + 1):
        part = replay(EagerEngine(model), SOURCE, TARGET[:t])
        np.testing.assert_allclose(part.decoder[:, :, -1], whole.decoder[:, :, t - 1, :t], atol=1e-5)
        np.testing.assert_allclose(part.cross[:, :, -1], whole.cross[:, :, t - 1], atol=1e-5)


def test_weights_are_probabilities_and_the_future_is_exactly_zero(model: Transformer) -> None:
    maps = replay(EagerEngine(model), SOURCE, TARGET)
    assert maps.encoder.shape == (2, 2, 5, 5)
    assert maps.decoder.shape == (3, 4, 6, 6)
    assert maps.cross.shape == (3, 4, 6, 5)
    for weights in (maps.encoder, maps.decoder, maps.cross):
        assert weights.dtype == np.float32
        np.testing.assert_allclose(weights.sum(-1), 1.0, atol=1e-5)
    assert (maps.decoder[..., ~np.tri(6, dtype=bool)] == 0.0).all()


def test_probabilities_equal_those_of_the_plain_forward_pass(model: Transformer) -> None:
    maps = replay(EagerEngine(model), SOURCE, TARGET, candidates=3)
    with torch.inference_mode():
        logits = model(torch.tensor([SOURCE]), torch.tensor([[1, *TARGET[:-1]]]), None)[0]
    log_probs = logits.double().log_softmax(-1).numpy()
    np.testing.assert_allclose(maps.log_probs, log_probs[np.arange(6), TARGET], atol=1e-4)
    np.testing.assert_allclose(maps.entropies, -(np.exp(log_probs) * log_probs).sum(-1), atol=1e-4)
    np.testing.assert_array_equal(maps.candidate_ids, np.argsort(-log_probs, axis=-1)[:, :3])


def test_an_encoding_that_exists_is_used(model: Transformer) -> None:
    encoded = encode(EagerEngine(model), SOURCE)
    again = replay(EagerEngine(model), SOURCE, TARGET, encoded=encoded)
    np.testing.assert_array_equal(again.cross, replay(EagerEngine(model), SOURCE, TARGET).cross)


@pytest.mark.parametrize(
    ("tgt", "words"), [([], "0 tokens"), ([5, 2, 5], "goes on after"), ([60], "id 60"), ([1], "start")]
)
def test_targets_that_cannot_be_are_refused(model: Transformer, tgt: list[int], words: str) -> None:
    with pytest.raises(InputError, match=words):
        replay(EagerEngine(model), SOURCE, tgt)
