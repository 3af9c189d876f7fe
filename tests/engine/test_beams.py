"""What a compiled beam asks between two steps, against PyTorch's operators."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from translator.engine.cpu import beams
from translator.engine.cpu.compiled import Compiled
from translator.engine.ranking import rank

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


@pytest.mark.slow
@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [0, 0, 0, 0], [3, 2, 1, 0], [1, 2, 3, 1]])
def test_rows_are_put_in_another_order_as_far_as_they_are_filled(rows: list[int]) -> None:
    keys, values = np.random.default_rng(0).normal(size=(2, 3, 4, 2, 7, 5)).astype(np.float32)
    want = keys[:, rows, :, :6].copy(), values[:, rows, :, :6].copy()
    rest = keys[..., 6, :].copy()
    beams.reorder(keys, values, np.array(rows), 6)
    np.testing.assert_array_equal(keys[..., :6, :], want[0])
    np.testing.assert_array_equal(values[..., :6, :], want[1])
    np.testing.assert_array_equal(keys[..., 6, :], rest)
