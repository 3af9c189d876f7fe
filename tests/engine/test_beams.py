"""What a compiled beam asks between two steps, against PyTorch's operators."""

from __future__ import annotations

import math

import pytest
import torch

from translator.engine.cpu import beams
from translator.engine.cpu.compiled import Compiled
from translator.engine.ranking import rank
from translator.model import Cache

SCORES = [-1.0, -math.inf, -2.5, -0.3]


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, beams.BLOCK, 130, 8000, 8003])
@pytest.mark.parametrize("rows", [1, 4])
def test_the_best_continuations_are_those_of_pytorch(size: int, rows: int) -> None:
    logits = 3 * torch.randn(rows, size, generator=torch.Generator().manual_seed(size))
    logits[0, 1] = -math.inf  # impossible
    found, want = Compiled.rank(logits, SCORES[:rows], 24), rank(logits, [SCORES[:rows]], 24)
    torch.testing.assert_close(found.log_probs, want.log_probs, atol=4e-6, rtol=1e-6)
    assert [each[:2] for each in found.best[0]] == [each[:2] for each in want.best[0]]
    assert not any(row == 1 or (row, id_) == (0, 1) for row, id_, _ in found.best[0])
    assert all(value == found.log_probs[row, id_] for row, id_, value in found.best[0])


@pytest.mark.slow
def test_logits_that_are_no_numbers_have_no_continuation() -> None:
    for wrong in (math.nan, math.inf):
        logits = torch.zeros(1, 100)
        logits[0, 70] = wrong
        assert Compiled.rank(logits, [0.0], 4).best == [[]]


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [0, 0, 0, 0], [3, 2, 1, 0], [1, 2, 3, 1]])
def test_rows_are_put_in_another_order_as_far_as_they_are_filled(rows: list[int]) -> None:
    keys, values = torch.randn(2, 3, 4, 2, 7, 5, generator=torch.Generator().manual_seed(0))
    before, then = (keys.clone(), values.clone()), [1, 0, 0, 2]
    cross = torch.zeros(3, 1, 2, 4, 5)
    cache = Cache(keys, values, cross, cross, None, rows=4, length=6)
    kept = Compiled.kv_cache(cache, None)
    for each in (rows, then):
        Compiled.reorder(torch.tensor(each), cache, kept)
        assert torch.equal(keys, before[0]) and torch.equal(values, before[1]), "nothing is copied"
    for _ in "ab":  # what is settled stays so
        Compiled.settle(cache, kept)
        for found, old in zip((keys, values), before, strict=True):
            assert torch.equal(found[:, :, :, :6], old[:, rows][:, then][:, :, :, :6])
            assert torch.equal(found[:, :, :, 6], old[:, :, :, 6])
