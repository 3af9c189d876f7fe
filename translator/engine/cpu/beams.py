"""What a beam asks between two steps, as machine code: its best continuations, and its rows in another order."""

from __future__ import annotations

import math

import numpy as np

from translator.engine.cpu.attention import exp
from translator.engine.cpu.jit import jit

BLOCK = 64
"""Scores of which one count tells whether any of them is among the best."""
Array = np.ndarray


@jit
def highest(row: Array) -> np.float32:
    """The largest of row [V], by operations on whole vectors."""
    lanes = np.full(BLOCK, -np.inf, np.float32)
    whole = len(row) // BLOCK * BLOCK
    for start in range(0, whole, BLOCK):
        for j in range(BLOCK):
            lanes[j] = max(lanes[j], row[start + j])
    best = np.float32(-np.inf)
    for j in range(BLOCK):
        best = max(best, lanes[j])
    for j in range(whole, len(row)):
        best = max(best, row[j])
    return best


@jit
def insert(total: np.float32, place: int, log_prob: np.float32, totals: Array, places: Array, chosen: Array) -> None:
    """One more among the best, which stand in order; the last of them goes, and of equals the first comes first."""
    at = len(totals) - 1
    while at > 0 and totals[at - 1] < total:
        totals[at], places[at], chosen[at] = totals[at - 1], places[at - 1], chosen[at - 1]
        at -= 1
    totals[at], places[at], chosen[at] = total, place, log_prob


@jit
def offer(
    row: Array, start: int, end: int, score: np.float32, before: int, totals: Array, places: Array, chosen: Array
) -> None:
    """Take what is good enough of row[start:end] [V] among the best; `before` counts the places of earlier rows."""
    for j in range(start, end):
        if row[j] + score > totals[len(totals) - 1]:
            insert(row[j] + score, before + j, row[j], totals, places, chosen)


@jit
def rank(logits: Array, scores: Array, log_probs: Array, totals: Array, places: Array, chosen: Array) -> None:
    """The log-softmax of logits [P, V] into log_probs [R, V], and the best sums with scores [R].

    Fills totals [K], best first, places [K] in [R · V], and chosen [K], the log-probabilities there; a total that is
    not there, as one of a row whose score is -inf, is -inf.
    """
    vocabulary, last = logits.shape[1], len(totals) - 1
    whole = vocabulary // BLOCK * BLOCK
    totals[:] = np.float32(-np.inf)
    for r in range(len(scores)):
        row, out, score = logits[r], log_probs[r], scores[r]
        shift = highest(row)
        sum_ = np.float32(0)
        for j in range(vocabulary):
            sum_ += exp(row[j] - shift)
        shift += np.float32(math.log(sum_))
        for start in range(0, whole, BLOCK):
            hits, least = np.int32(0), totals[last]
            for j in range(start, start + BLOCK):  # of a fixed length, and counted in 32 bits, it becomes vectors
                out[j] = row[j] - shift
                hits += np.int32(out[j] + score > least)
            if hits:
                offer(out, start, start + BLOCK, score, r * vocabulary, totals, places, chosen)
        for j in range(whole, vocabulary):
            out[j] = row[j] - shift
        offer(out, whole, vocabulary, score, r * vocabulary, totals, places, chosen)
