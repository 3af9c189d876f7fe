"""Norm-based attention: the size of the vector that each key contributes.

Source: Kobayashi et al. 2020, "Attention is not only a weight": ‖α f(x)‖ with f(x) = (x W_V + b_V) W_O of one head.
A large vector may still point where later layers do not look.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from translator.analysis.passes import Replay, replay_of, to_numpy
from translator.model import Attention
from translator.pipeline import Translator
from translator.trace import Trace


@dataclass(frozen=True, eq=False)
class Norms:
    """Float64 maps with the axes of a trace's: [L, H, Q, K] for each head, and [L, Q, K] for a layer's heads together.

    A head's cell is ‖α f(x)‖; a layer's is the norm of the summed vectors, which may cancel.
    """

    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    encoder_layers: np.ndarray
    decoder_layers: np.ndarray
    cross_layers: np.ndarray


def transformed(attention: Attention, x: Tensor) -> Tensor:
    """f(x) of every head: what sublayer `attention` makes of keys x [K, D] before weighting, [H, K, D]."""
    value = attention.key_value(x[None])[1][0]  # (H, K, d_head)
    into = attention.out.weight.unflatten(1, (attention.heads, attention.d_head))  # (D, H, d_head)
    return torch.einsum("hkd,ehd->hke", value, into)


def norms(translator: Translator, trace: Trace, *, run: Replay | None = None) -> Norms:
    """Every head's and layer's norm map of `trace`.

    Args:
        run: the pass over `trace`, if there is one already.
    Raises:
        InputError: another checkpoint made the trace.
    """
    run = run or replay_of(translator, trace)
    with torch.inference_mode():
        maps = {kind: _maps(run, kind) for kind in ("encoder", "decoder", "cross")}
    heads = {kind: found[0] for kind, found in maps.items()}
    return Norms(**heads, **{f"{kind}_layers": found[1] for kind, found in maps.items()})


def cross_norms(translator: Translator, trace: Trace, *, run: Replay | None = None) -> np.ndarray:
    """`cross_layers` of `norms` alone, [L, T, S].

    Args and raises: as `norms`.
    """
    run = run or replay_of(translator, trace)
    with torch.inference_mode():
        return np.stack(
            [_summed(weights, transformed(attention, keys)) for attention, keys, weights in sublayers(run, "cross")]
        )


def share(maps: np.ndarray) -> np.ndarray:
    """Maps [..., Q, K] with rows scaled to sum to 1, to stand beside weights; a row of zeros stays."""
    total = maps.sum(axis=-1, keepdims=True)
    shares: np.ndarray = np.divide(maps, total, out=np.zeros_like(maps), where=total > 0)
    return shares


def sublayers(run: Replay, kind: str) -> list[tuple[Attention, Tensor, Tensor]]:
    """For each layer: the attention of `kind`, the keys that it reads [K, D], and its weights [H, Q, K]."""
    model, encoded, decoded = run.pair.model, run.encoded, run.decoded
    if kind == "encoder":
        return [
            (layer.attention, layer.attention_residual.enter(encoded.states[0, i]), encoded.weights[0, i])
            for i, layer in enumerate(model.encoder)
        ]
    if kind == "decoder":
        return [
            (layer.attention, layer.attention_residual.enter(decoded.states[0, i]), decoded.decoder[0, i])
            for i, layer in enumerate(model.decoder)
        ]
    return [(layer.cross, encoded.memory[0], decoded.cross[0, i]) for i, layer in enumerate(model.decoder)]


def _maps(run: Replay, kind: str) -> tuple[np.ndarray, np.ndarray]:
    heads, layers = [], []
    for attention, keys, weights in sublayers(run, kind):
        vectors = transformed(attention, keys)
        heads.append(to_numpy(weights * vectors.norm(dim=-1)[:, None]))
        layers.append(_summed(weights, vectors))
    return np.stack(heads), np.stack(layers)


def _summed(weights: Tensor, vectors: Tensor) -> np.ndarray:
    """The norm of the heads' vectors together: weights [H, Q, K], vectors [H, K, D] → [Q, K]."""
    return to_numpy(torch.einsum("hqk,hkd->qkd", weights, vectors).norm(dim=-1))
