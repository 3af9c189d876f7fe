"""Attention flow: maximum flow from inputs to outputs, with attention weights as capacities.

Source: Abnar and Zuidema 2020, "Quantifying attention flow in transformers", section 3 (maximum flow).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import maximum_flow

from translator.analysis.rollout import RESIDUAL, Rollout, with_residual
from translator.analysis.stopping import Stop, ask

UNITS = 2**24
"""Capacities are whole multiples of 1 / UNITS: the solver counts in integers."""
Pipes = tuple[int, int, np.ndarray]
"""The first node of the upper row, the first of the lower, and the widths [upper, lower] between them."""


def self_flow(weights: np.ndarray, residual: float = RESIDUAL) -> np.ndarray:
    """The maximum flow from each position above the last layer to each input token: [L, H, N, N] → [N, N].

    The heads of a layer are averaged and mixed with the residual connection, as in `self_rollout`. Each row
    is scaled to sum to 1, so that it can stand beside a rollout. Work grows with N² flows over L·N² pipes.
    """
    layers = with_residual(weights, residual)
    count, size = layers.shape[:2]
    graph = _graph(_stack(layers, 0), (count + 1) * size)
    return _flows(graph, range(count * size, (count + 1) * size), range(size))


def flow(
    encoder: np.ndarray,
    decoder: np.ndarray,
    cross: np.ndarray,
    residual: float = RESIDUAL,
    *,
    stop: Stop | None = None,
) -> Rollout:
    """The maximum flow from each target row through decoder, cross-attention and encoder to every input.

    The pipes are those of `rollout`: what leaves a decoder layer holds `residual` of its self-attention's row
    and 1 - `residual` of the memory that it reads. Each row is scaled so that source and target sum to 1.

    Args:
        encoder: [L, H, S, S].
        decoder: [M, G, T, T].
        cross: [M, G, T, S].
        stop: asked before every cell; True ends the work.
    Raises:
        CancelledError: `stop` said so.
    """
    tgt, src = cross.shape[2:]
    across = np.asarray(cross, dtype=np.float64).mean(axis=1)
    memory = len(encoder) * src
    reads = memory + src
    pipes = _stack(with_residual(encoder, residual), 0)
    for m, own in enumerate(with_residual(decoder, residual)):
        entry = reads + 2 * m * tgt  # a decoder layer has two rows of nodes: after itself, after the source
        mixed, left = entry + tgt, entry + 2 * tgt
        pipes += [(mixed, entry, own), (left, mixed, residual * np.eye(tgt))]
        pipes.append((left, memory, (1 - residual) * across[m]))
    top = reads + 2 * len(decoder) * tgt
    flows = _flows(_graph(pipes, top + tgt), range(top, top + tgt), [*range(src), *range(reads, reads + tgt)], stop)
    return Rollout(flows[:, :src], flows[:, src:])


def _stack(layers: np.ndarray, first: int) -> list[Pipes]:
    """The pipes of [L, N, N]; node first + l·N + n is position n below layer l."""
    size = layers.shape[-1]
    return [(first + (n + 1) * size, first + n * size, widths) for n, widths in enumerate(layers)]


def _graph(pipes: Iterable[Pipes], nodes: int) -> csr_array:
    """All pipes as one graph; they lead down."""
    rows, columns, widths = [], [], []
    for upper, lower, table in pipes:
        query, key = np.nonzero(table)
        rows.append(upper + query)
        columns.append(lower + key)
        widths.append(np.rint(table[query, key] * UNITS).astype(np.int32))
    entries = (np.concatenate(widths), (np.concatenate(rows), np.concatenate(columns)))
    return coo_array(entries, shape=(nodes, nodes)).tocsr()


def _flows(graph: csr_array, tops: Iterable[int], bottoms: Iterable[int], stop: Stop | None = None) -> np.ndarray:
    """The maximum flow from each top to each bottom, rows scaled to sum to 1."""
    ends, rows = list(bottoms), []
    for top in tops:
        row = []
        for end in ends:
            ask(stop, "the attention flow")
            row.append(maximum_flow(graph, top, end).flow_value / UNITS)
        rows.append(row)
    flows = np.array(rows)
    shares: np.ndarray = flows / flows.sum(axis=1, keepdims=True)
    return shares
