"""Value zeroing: how much a layer's output changes when one token's value is zeroed.

Source: Mohebbi et al. 2023, "Quantifying context mixing in Transformers": cosine distance between a token's state
after the layer and that state with one value vector set to 0 in all heads, the attention weights kept. They look at
encoders; a decoder layer has two attentions here, whose distances share one row. A token whose value matters little
to this layer may matter by its query or key.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from translator.analysis.norms import sublayers, transformed
from translator.analysis.passes import Replay, replay_of, to_numpy
from translator.analysis.rollout import Rollout
from translator.analysis.stopping import Stop, ask
from translator.model import Attention
from translator.model.layers import DecoderLayer
from translator.pipeline import Translator
from translator.trace import Trace

LEAST = 1e-7
"""Cosine distances up to this are rounding: a row of nothing else stays with its own token."""


@dataclass(frozen=True, eq=False)
class Zeroed:
    """Shares of each layer, float64: `encoder` [L, S, S]; `decoder` [L, T, T] and `cross` [L, T, S], whose rows sum to
    1 together; `total` is what they come to through all layers."""

    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    total: Rollout


def value_zeroing(
    translator: Translator, trace: Trace, *, run: Replay | None = None, stop: Stop | None = None
) -> Zeroed:
    """Value zeroing of every token in every layer of `trace`, a layer's tokens side by side.

    Args:
        run: the pass over `trace`, if there is one already.
        stop: asked before every layer; True ends the work.
    Raises:
        InputError: another checkpoint made the trace.
        CancelledError: `stop` said so.
    """
    run = run or replay_of(translator, trace)
    with torch.inference_mode():
        encoder = torch.stack(_encoder(run, stop))
        layers = _decoder(run, stop)
        decoder, cross = (torch.stack(maps) for maps in zip(*layers, strict=True))
    maps = [to_numpy(each) for each in (encoder, decoder, cross)]
    return Zeroed(maps[0], maps[1], maps[2], _through(*maps))


def _encoder(run: Replay, stop: Stop | None) -> list[Tensor]:
    found, encoded = [], run.encoded
    for i, (attention, keys, weights) in enumerate(sublayers(run, "encoder")):
        ask(stop, "value zeroing")
        layer, x = run.pair.model.encoder[i], encoded.states[0, i]
        without, _ = _without(attention, keys, weights)
        states = layer.finish(layer.attention_residual.leave(x, without))
        found.append(_shares(_distance(states, encoded.states[0, i + 1]).T))
    return found


def _decoder(run: Replay, stop: Stop | None) -> list[tuple[Tensor, Tensor]]:
    pair, encoded, decoded = run.pair, run.encoded, run.decoded
    own, across = (sublayers(run, kind) for kind in ("decoder", "cross"))
    keep = None if pair.src_keep is None else pair.src_keep[:, None, None, :]
    query, key = torch.ones_like(decoded.decoder[0, 0, 0], dtype=torch.bool).tril().nonzero(as_tuple=True)
    found = []
    for i, block in enumerate(pair.model.decoder):
        ask(stop, "value zeroing")
        x, usual = decoded.states[0, i], decoded.states[0, i + 1]
        without, update = _without(*own[i])
        reading = block.attention_residual.leave(x[query], without[key, query])  # no other row reads the key
        states = _from_source(block, reading[None], encoded.memory, keep)[0]
        by_own = torch.zeros(len(x), len(x), dtype=torch.float64, device=x.device)
        by_own[query, key] = _distance(states, usual[query])
        stream = block.attention_residual.leave(x, update)
        without, _ = _without(*across[i])
        by_source = _distance(block.finish(block.cross_residual.leave(stream, without)), usual).T
        shares = _shares(torch.cat([by_own, by_source], dim=1))
        found.append((shares[:, : len(x)], shares[:, len(x) :]))
    return found


def _from_source(block: DecoderLayer, x: Tensor, memory: Tensor, keep: Tensor | None) -> Tensor:
    """The rest of a decoder layer after its self-attention, over streams x [B, T, D]."""
    query = block.cross.query(block.cross_residual.enter(x))
    update, _ = block.cross.attend(query, *block.cross.key_value(memory), keep)
    return block.finish(block.cross_residual.leave(x, update))


def _without(attention: Attention, keys: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """A sublayer's update without each key's value [K, Q, D], and the whole update [Q, D]."""
    parts = torch.einsum("hqk,hkd->kqd", weights, transformed(attention, keys))
    update = parts.sum(0) if attention.out.bias is None else parts.sum(0) + attention.out.bias
    return update - parts, update


def _distance(states: Tensor, usual: Tensor) -> Tensor:
    """Cosine distance of states [..., N, D] from usual [N, D]: [..., N]."""
    return 1 - F.cosine_similarity(states.double(), usual.double(), dim=-1)


def _shares(distances: Tensor) -> Tensor:
    """Distances [N, K ≥ N] with rows scaled to sum to 1; a row without any belongs to its own token."""
    distances = torch.where(distances > LEAST, distances, 0)
    total = distances.sum(-1, keepdim=True)
    own = torch.eye(*distances.shape, dtype=distances.dtype, device=distances.device)
    return torch.where(total > 0, distances / total.clamp(min=LEAST), own)


def _through(encoder: np.ndarray, decoder: np.ndarray, cross: np.ndarray) -> Rollout:
    """The layers multiplied, as Mohebbi et al. do for encoders: no residual is added, since the shares hold it."""
    memory = np.eye(encoder.shape[-1])
    for layer in encoder:
        memory = layer @ memory
    source, target = np.zeros(cross.shape[1:]), np.eye(cross.shape[1])
    for own, across in zip(decoder, cross, strict=True):
        source, target = own @ source + across @ memory, own @ target
    return Rollout(source, target)
