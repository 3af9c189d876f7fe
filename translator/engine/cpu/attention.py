"""Softmax and attention of one query, as machine code."""

from __future__ import annotations

import math

import numpy as np

from translator.engine.cpu.jit import jit

EXP = tuple(
    map(np.float32, (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5, 1, 1))
)

Array = np.ndarray


@jit
def exp(x: np.float32) -> np.float32:
    """e to the power of a float32, within 3e-7 of itself, in operations that a processor has for whole vectors.

    Source: `expf` of the Cephes library. What would leave the range of a float32 is 2e-38 or 2e38.
    """
    x = min(max(x, np.float32(-87)), np.float32(88))
    power = np.floor(x * np.float32(1 / math.log(2)) + np.float32(0.5))
    rest = x - power * np.float32(math.log(2))
    sum_ = np.float32(0)
    for factor in EXP:
        sum_ = sum_ * rest + factor
    return sum_ * np.int32((np.int32(power) + np.int32(127)) << np.int32(23)).view(np.float32)


@jit
def softmax(scores: Array, hidden: Array) -> np.float32:
    """Scores [S] as e to their power over the best, 0 where hidden, in place; gives the sum to divide by."""
    best, total = np.float32(-np.inf), np.float32(0)
    if len(hidden) == 0:  # loops of their own, without a condition
        for s in range(len(scores)):
            best = max(best, scores[s])
        for s in range(len(scores)):
            scores[s] = exp(scores[s] - best)
            total += scores[s]
        return total
    for s in range(len(scores)):
        if not hidden[s]:
            best = max(best, scores[s])
    for s in range(len(scores)):
        scores[s] = np.float32(0) if hidden[s] else exp(scores[s] - best)
        total += scores[s]
    return total


@jit
def mix(
    query: Array, keys: Array, values: Array, places: Array, hidden: Array, gates: Array, weights: Array, out: Array
) -> None:
    """Attention of one query [H · E] over keys and values [R, H, S, E], into weights [H, S] and out [H · E].

    Those of s stand in row places[s]. A row that has nothing to attend to is all 0.
    """
    heads, length = weights.shape
    size = keys.shape[3]
    scale = np.float32(1 / math.sqrt(size))
    for h in range(heads):
        read, share, mixed = query[h * size : (h + 1) * size], weights[h], out[h * size : (h + 1) * size]
        for s in range(length):
            key = keys[places[s], h, s]  # a view: an index looked up within the inner loop keeps it from vectors
            score = np.float32(0)
            for e in range(size):
                score += read[e] * key[e]
            share[s] = score * scale
        total = softmax(share, hidden)
        for e in range(size):
            mixed[e] = np.float32(0)
        if total > 0:
            for s in range(length):
                share[s] /= total
                weight, value = share[s], values[places[s], h, s]
                for e in range(size):
                    mixed[e] += weight * value[e]
        for e in range(size):
            mixed[e] *= gates[h]
