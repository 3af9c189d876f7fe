"""Which of a trace's maps a notebook's page has at once: all of a short one; of a long one some, and small pictures."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from translator.trace import Trace
from translator.ui.payload import lower_triangles, pack_bytes

WHOLE = 64 * 1024
"""Bytes up to which all maps of a trace come with it."""
SMALL = 16 * 1024
"""Bytes of the small pictures of one kind."""
LEVELS = 15
"""Steps of a small picture's cell, which zlib packs to a quarter of a byte."""
Place = tuple[int, int]


def packed_maps(trace: Trace, kind: str, places: Sequence[Place] | None = None) -> bytes:
    """The maps of a kind as the page reads them ("d4"), or those of some heads (layer, head), packed by zlib."""
    weights = trace.weights(kind)
    if places is not None:
        weights = weights[[layer for layer, _ in places], [head for _, head in places]]
    return zlib.compress(pack_bytes(lower_triangles(weights) if kind == "decoder" else weights, "d4"), 9)


def sent_maps(trace: Trace, first: tuple[str, int, int]) -> dict[str, Any]:
    """What of a trace's maps comes with it, by kind: `bytes` of all where they are small, else `sent_parts`."""
    whole = {kind: packed_maps(trace, kind) for kind in trace.kinds}
    return whole if sum(map(len, whole.values())) <= WHOLE else sent_parts(trace, first, small=True)


def sent_parts(trace: Trace, first: tuple[str, int, int], *, small: bool) -> dict[str, Any]:
    """One head's map, and what stands for the others until they are looked at.

    Args:
        first: kind, layer and head of the map that comes at once.
        small: add the small pictures of all heads.
    Returns:
        for each kind `{"heads": [[layer, head, bytes], ...], "pool": cells, "small": bytes}`, the last two if `small`.
    """
    kind, *place = first
    return {
        each: {
            "heads": [[*place, packed_maps(trace, each, [(place[0], place[1])])]] if each == kind else [],
            **(small_pictures(trace.weights(each)) if small else {}),
        }
        for each in trace.kinds
    }


def small_pictures(weights: np.ndarray) -> dict[str, Any]:
    """Maps [L, H, Q, K] as pictures of few cells and shades: the largest weight of each block of `pool` × `pool` cells.

    Of a weight w, round(√w · 15), one byte a cell, packed by zlib; `pool` is the least that needs no more than `SMALL`.
    """
    for pool in count(1):
        cells = np.rint(np.sqrt(_largest(weights, pool)) * LEVELS).astype(np.uint8)
        packed = zlib.compress(cells.tobytes(), 9)
        if len(packed) <= SMALL or cells.shape[2:] == (1, 1):
            break
    return {"pool": pool, "small": packed}


def _largest(weights: np.ndarray, pool: int) -> np.ndarray:
    """The largest weight of each block: [L, H, Q, K] → [L, H, ⌈Q / pool⌉, ⌈K / pool⌉]."""
    layers, heads, rows, columns = weights.shape
    down, across = -(-rows // pool), -(-columns // pool)
    whole = np.zeros((layers, heads, down * pool, across * pool), np.float32)
    whole[:, :, :rows, :columns] = np.clip(weights, 0.0, 1.0)
    found: np.ndarray = whole.reshape(layers, heads, down, pool, across, pool).max(axis=(3, 5))
    return found


def special_shares(trace: Trace) -> dict[str, float]:
    """The share of each kind's weight that falls on special tokens, over all heads: what the page would count."""
    return {
        kind: float(trace.weights(kind)[..., [token.special for token in trace.keys(kind)]].sum(axis=-1).mean())
        for kind in trace.kinds
    }
