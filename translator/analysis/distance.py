"""How far the heads of two translations are apart: what a comparison's board shows."""

from __future__ import annotations

import numpy as np

from translator.analysis.aggregate import by_word, word_groups
from translator.trace import Trace


def head_distances(first: Trace, second: Trace, kind: str, *, words: bool = False) -> np.ndarray | None:
    """The distance of each head's maps of two traces, [L, H] of the layers and heads that both have.

    Half the summed difference of two rows (their total variation), averaged over the rows: 0 alike, 1 apart.

    Args:
        kind: "encoder", "decoder" or "cross".
        words: compare maps of words instead of subwords. A cross row belongs to the word that it predicts.
    Returns:
        None if the maps differ in rows or columns, which cannot be subtracted.
    Raises:
        InputError: `kind` is another one.
    """
    one, other = (_maps(trace, kind, words) for trace in (first, second))
    if one.shape[2:] != other.shape[2:]:
        return None
    layers, heads = np.minimum(one.shape[:2], other.shape[:2])
    apart = np.abs(one[:layers, :heads] - other[:layers, :heads]).sum(axis=-1) / 2
    distances: np.ndarray = apart.mean(axis=-1)
    return distances


def _maps(trace: Trace, kind: str, words: bool) -> np.ndarray:
    """The maps of a kind, [L, H, Q, K] float64, of words or of subwords."""
    weights = trace.weights(kind).astype(np.float64)
    if not words:
        return weights
    owners = trace.tgt if kind == "cross" else trace.queries(kind)
    return by_word(weights, word_groups(owners), word_groups(trace.keys(kind)))
