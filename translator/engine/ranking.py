"""The best continuations of the hypotheses of a search, by PyTorch's operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

BLOCK = 64
"""Scores of which one number tells whether `largest` has to look at them."""


class Ranked(NamedTuple):
    """log_probs [B, V], the log-softmax of what a step gave, and of each source the best (row, id, log-probability)."""

    log_probs: Tensor
    best: list[list[tuple[int, int, float]]]


def rank(logits: Tensor, scores: Sequence[Sequence[float]], count: int) -> Ranked:
    """See `translator.engine.Session.rank`."""
    log_probs = logits.float().log_softmax(-1)
    return Ranked(log_probs, best_of(log_probs, scores, count))


def best_of(log_probs: Tensor, scores: Sequence[Sequence[float]], count: int) -> list[list[tuple[int, int, float]]]:
    """Of each source's rows of log_probs [B, V] the `count` largest sums with its scores, as `Ranked` has them."""
    vocabulary = log_probs.shape[-1]
    by_source = log_probs.unflatten(0, (len(scores), -1))
    totals = by_source + torch.tensor(scores, device=log_probs.device)[..., None]
    best, places = largest(totals.flatten(1), min(count, totals[0].numel()))
    chosen = by_source.flatten(1).gather(1, places)
    columns = zip(best.tolist(), places.tolist(), chosen.tolist(), strict=True)
    return [placed(*each, vocabulary) for each in columns]


def placed(
    totals: Sequence[float], places: Sequence[int], chosen: Sequence[float], vocabulary: int
) -> list[tuple[int, int, float]]:
    """(row, id, log-probability) of the places in [rows · vocabulary] whose total is not -inf."""
    return [
        (place // vocabulary, place % vocabulary, log_prob)
        for total, place, log_prob in zip(totals, places, chosen, strict=True)
        if total > -math.inf
    ]


def largest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of each row of scores [N, M] and where they stand, both [N, count], best first.

    What `topk` gives, in a third of the time on a processor: none of them lies outside of the `count` blocks whose own
    largest numbers are the largest.
    """
    blocks = scores.shape[-1] // BLOCK
    if scores.device.type != "cpu" or scores.shape[-1] % BLOCK or blocks < 2 * count:
        found = scores.topk(count)
        return found.values, found.indices
    cut = scores.unflatten(-1, (blocks, BLOCK))
    first = cut.amax(-1).topk(count).indices  # [N, count]
    best = cut.gather(1, first[..., None].expand(-1, -1, BLOCK)).flatten(1).topk(count)
    return best.values, first.gather(1, best.indices // BLOCK) * BLOCK + best.indices % BLOCK
