"""Attention flow: how much could reach an output from each input if every attention were a pipe of that width.

Source: Abnar and Zuidema 2020, "Quantifying attention flow in transformers", section 3 (maximum flow).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import maximum_flow

from translator.analysis.rollout import RESIDUAL, with_residual

UNITS = 2**24
"""Capacities are whole multiples of 1 / UNITS: the solver counts in integers."""


def self_flow(weights: np.ndarray, residual: float = RESIDUAL) -> np.ndarray:
    """The maximum flow from each position above the last layer to each input token: [L, H, N, N] → [N, N].

    The heads of a layer are averaged and mixed with the residual connection, as in `self_rollout`. Each row
    is scaled to sum to 1, so that it can stand beside a rollout. Work grows with N² flows over L·N² pipes.
    """
    layers = with_residual(weights, residual)
    count, size = layers.shape[:2]
    graph = _pipes(layers)
    flows = np.array(
        [
            [maximum_flow(graph, count * size + top, bottom).flow_value / UNITS for bottom in range(size)]
            for top in range(size)
        ]
    )
    return flows / flows.sum(axis=1, keepdims=True)


def _pipes(layers: np.ndarray) -> csr_array:
    """The graph of [L, N, N]: node l·N + n is position n below layer l; pipes lead down."""
    layer, query, key = np.nonzero(layers)
    size = layers.shape[-1]
    nodes = (len(layers) + 1) * size
    widths = np.rint(layers[layer, query, key] * UNITS).astype(np.int32)
    return coo_array((widths, ((layer + 1) * size + query, layer * size + key)), shape=(nodes, nodes)).tocsr()
