"""One attention cell step by step, from query and key to weight and value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from translator.analysis.passes import Pair, layer_of, pair_of, to_numpy
from translator.model import Attention, Decoded, Encoded
from translator.model.attention import causal_keep
from translator.pipeline import Translator
from translator.trace import Trace


@dataclass(frozen=True, eq=False)
class Cell:
    """Query row `query` and key column `key` of one head, every number on the way. E is the head's width.

    `q`, `k`, `v` [E]; `products` [E] are q · k before they are summed to `dot`; `scale` is 1 / √E, and `scores` [K]
    the scaled dot products of the whole row. `keep` [K]: what the mask lets through. `weights` [K] is their
    softmax, which the trace shows as well. `carried` [E] is the cell's weight times v, `mixed` [E] the
    row's sum over all keys.
    """

    kind: str
    layer: int
    head: int
    query: int
    key: int
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    products: np.ndarray
    dot: float
    scale: float
    scores: np.ndarray
    keep: np.ndarray
    weights: np.ndarray
    carried: np.ndarray
    mixed: np.ndarray

    @property
    def weight(self) -> float:
        """The cell's weight."""
        return float(self.weights[self.key])


def cell(translator: Translator, trace: Trace, kind: str, layer: int, head: int, query: int, key: int) -> Cell:
    """Work one cell of `trace`; everything is counted from 0.

    Raises:
        InputError: there is no such cell, or another checkpoint made the trace.
    """
    weights = trace.weights(kind)
    asked = {"layer": layer, "head": head, "query": query, "key": key}
    layer, head, query, key = (
        layer_of(count, value, name) for (name, value), count in zip(asked.items(), weights.shape, strict=True)
    )
    pair = pair_of(translator, trace)
    with torch.inference_mode():
        encoded = pair.encode()
        attention, queries, keys, values = projected(pair, kind, layer, encoded, pair.decode(encoded.memory))
    q, k, v = (x[0, head].double() for x in (queries, keys, values))
    keep = _keep(pair, kind, query, len(k))
    scores = k @ q[query] * attention.d_head**-0.5
    softmax = scores.masked_fill(~keep, float("-inf")).softmax(-1)
    return Cell(
        kind=kind,
        layer=layer,
        head=head,
        query=query,
        key=key,
        q=to_numpy(q[query]),
        k=to_numpy(k[key]),
        v=to_numpy(v[key]),
        products=to_numpy(q[query] * k[key]),
        dot=float(q[query] @ k[key]),
        scale=attention.d_head**-0.5,
        scores=to_numpy(scores),
        keep=keep.cpu().numpy(),
        weights=to_numpy(softmax),
        carried=to_numpy(softmax[key] * v[key]),
        mixed=to_numpy(softmax @ v),
    )


def projected(
    pair: Pair, kind: str, layer: int, encoded: Encoded, decoded: Decoded
) -> tuple[Attention, Tensor, Tensor, Tensor]:
    """The attention sublayer of one layer, and its queries, keys and values, [B, H, N, E] each."""
    if kind == "encoder":
        below = pair.model.encoder[layer]
        return (below.attention, *below.attention.project(below.attention_residual.enter(encoded.states[:, layer])))
    block = pair.model.decoder[layer]
    x = decoded.states[:, layer]
    own = block.attention.project(block.attention_residual.enter(x))
    if kind == "decoder":
        return (block.attention, *own)
    update, _ = block.attention.attend(*own, causal_keep(x.shape[1], x.device))
    query = block.cross.query(block.cross_residual.enter(block.attention_residual.leave(x, update)))
    return (block.cross, query, *block.cross.key_value(encoded.memory))


def _keep(pair: Pair, kind: str, query: int, keys: int) -> Tensor:
    """Which keys the row may read, bool [K]."""
    if kind == "decoder":
        return torch.arange(keys, device=pair.tgt_ids.device) <= query
    if pair.src_keep is not None:
        return pair.src_keep[0]
    return torch.ones(keys, dtype=torch.bool, device=pair.tgt_ids.device)
