"""The coverage penalty of Wu et al. 2016 against brute force over every hypothesis, and its bookkeeping."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import ModuleType

import numpy as np
import pytest
import torch

from translator.config import DecodeConfig
from translator.decode import Hypothesis, finish, replay, search, search_batch
from translator.decode.beam import covered, penalty
from translator.engine import EagerEngine
from translator.errors import InputError
from translator.model import Transformer

SOURCE = [4, 5, 3, 4, 2]
Heads = tuple[tuple[int, int], ...] | None


@pytest.fixture(scope="module")
def wide(checkpoint_maker: ModuleType) -> Transformer:
    return checkpoint_maker.tiny_model(60, 60, seed=5)


def by_hand(model: Transformer, ids: Sequence[int], config: DecodeConfig) -> float:
    """Score, length and equation 14, by one pass over the whole target, in float64."""
    whole = replay(EagerEngine(model), SOURCE, ids)
    cross = whole.cross.astype(np.float64)  # [L, H, T, S]
    heads = config.coverage_heads or tuple(itertools.product(range(cross.shape[0]), range(cross.shape[1])))
    paid = np.mean([cross[layer, head] for layer, head in heads], axis=0).sum(0)[:-1]  # without EOS
    coverage = config.coverage_penalty * np.log(np.minimum(paid, 1.0)).sum()
    return float(whole.log_probs.sum() / penalty(len(ids), config) + coverage)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("heads", [None, ((0, 1),), ((0, 0), (0, 1))])
@pytest.mark.parametrize("beta", [0.2, 3.0])
def test_a_beam_as_wide_as_the_tree_equals_brute_force(
    checkpoint_maker: ModuleType, seed: int, heads: Heads, beta: float
) -> None:
    model = checkpoint_maker.tiny_model(9, 6, seed=seed)
    config = DecodeConfig(method="beam", beam=64, length_penalty=0.7, coverage_penalty=beta, coverage_heads=heads)
    targets = [(*body, 2) for n in range(3) for body in itertools.product([3, 4, 5], repeat=n)]
    targets += list(itertools.product([3, 4, 5], repeat=3))
    best = max(targets, key=lambda ids: by_hand(model, ids, config))
    assert finish(search(EagerEngine(model), SOURCE, config, max_length=3)).ids == best


@pytest.mark.slow
def test_coverage_changes_what_is_chosen(checkpoint_maker: ModuleType) -> None:
    plain, strict = (DecodeConfig(method="beam", beam=64, coverage_penalty=beta) for beta in (0.0, 5.0))
    models = [checkpoint_maker.tiny_model(9, 6, seed=seed) for seed in range(4)]
    found = [
        [finish(search(EagerEngine(m), SOURCE, config, max_length=3)).ids for m in models] for config in (plain, strict)
    ]
    assert found[0] != found[1]
    assert sum(map(len, found[1])) >= sum(map(len, found[0]))  # what reads everything is not shorter


def test_coverage_by_hand() -> None:
    config = DecodeConfig(coverage_penalty=0.5)
    read = Hypothesis().extend(7, -1.0, [0.5, 0.25]).extend(8, -1.0, [0.6, 0.25])
    assert read.coverage == pytest.approx((1.1, 0.5)) and read.score == -2.0
    assert covered(read, config) == pytest.approx(0.5 * np.log(0.5))
    assert covered(read, DecodeConfig()) == 0.0
    assert np.isfinite(covered(Hypothesis(coverage=(0.0,)), config))  # half precision may round attention away


@pytest.mark.slow
@pytest.mark.parametrize("rows", [4, 12])
def test_a_batch_gives_the_tokens_of_single_searches(wide: Transformer, rows: int) -> None:
    """Sources of unlike lengths side by side: padding is not asked to be read."""
    config = DecodeConfig(method="beam", beam=4, coverage_penalty=0.6, coverage_heads=((0, 0),))
    sources = [SOURCE, [7, 2], [9, 11, 30, 41, 8, 15, 2], [5, 6, 2]]
    limits = [12, 6, 12, 9]
    singles = [
        finish(search(EagerEngine(wide), s, config, max_length=n)).ids for s, n in zip(sources, limits, strict=True)
    ]
    assert search_batch(EagerEngine(wide), sources, config, max_lengths=limits, rows=rows) == singles


def test_a_forced_beginning_counts_as_read(wide: Transformer) -> None:
    config = DecodeConfig(method="beam", beam=3, coverage_penalty=0.8)
    free = finish(search(EagerEngine(wide), SOURCE, config, max_length=8))
    forced = finish(search(EagerEngine(wide), SOURCE, config, max_length=8, prefix=free.ids[:3]))
    assert forced.coverage == pytest.approx(free.coverage, abs=1e-5) and forced.ids == free.ids
    with torch.inference_mode():
        steps = list(search(EagerEngine(wide), SOURCE, config, max_length=8, prefix=free.ids[:3]))
    assert steps[1].beams[0].normalised == pytest.approx(by_hand(wide, free.ids[:2], config), abs=1e-4)


def test_a_head_that_is_not_there_is_named(wide: Transformer) -> None:
    config = DecodeConfig(method="beam", coverage_penalty=0.2, coverage_heads=((0, 0), (7, 1)))
    with pytest.raises(InputError, match=r"coverage_heads holds \[7, 1\]"):
        finish(search(EagerEngine(wide), SOURCE, config, max_length=4))


@pytest.mark.parametrize("wrong", [[], [[1]], 3, [[1, -1]], [["a", 1]], [[0, 1.5]]])
def test_heads_are_pairs_of_numbers(wrong: object) -> None:
    with pytest.raises(InputError, match="coverage_heads"):
        DecodeConfig(coverage_heads=wrong)  # type: ignore[arg-type]
