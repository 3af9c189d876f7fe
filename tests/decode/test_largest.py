"""The largest scores of a row, against PyTorch's own `topk`."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from translator.engine.ranking import BLOCK, largest


@pytest.mark.parametrize("count", [1, 8, 40])
@pytest.mark.parametrize("size", [1, 60, BLOCK, 20 * BLOCK, 125 * BLOCK, 125 * BLOCK + 1])
@pytest.mark.parametrize("seed", range(3))
def test_the_largest_are_those_of_topk(size: int, count: int, seed: int) -> None:
    scores = torch.randn(3, size, generator=torch.Generator().manual_seed(seed))
    scores[1] = scores[1].sort().values  # all of the largest in one block
    scores[2, 5:] = -math.inf  # as where one id alone may come
    count = min(count, size)
    want, (values, places) = scores.topk(count), largest(scores, count)
    assert torch.equal(values, want.values)
    assert torch.equal(scores.gather(1, places), values)
    assert all(len(set(row)) == count for row in places.tolist()), "none stands there twice"


def test_few_scores_are_sorted_where_they_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, real = [], Tensor.topk

    def topk(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
        seen.append(scores.shape[-1])
        return real(scores, count)

    monkeypatch.setattr(Tensor, "topk", topk)
    largest(torch.randn(1, 32_000), 8)
    assert seen == [500, 8 * BLOCK]
