"""ALTI+: what source tokens and the target's prefix contribute to each prediction, through encoder and decoder.

Source: Ferrando et al. 2022, "Towards opening the black box of neural machine translation". Each attention sublayer's
output is a sum of one vector for each token that it reads, and a constant. A token contributes as much as its vector
brings the L1 norm of the output nearer (equation 8), and the layers are multiplied as in attention rollout. The
feed-forward sublayers are left out: they mix no tokens. A contribution says what came from where, not what it did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from translator.analysis.norms import sublayers, transformed
from translator.analysis.passes import Replay, replay_of, to_numpy
from translator.analysis.rollout import Rollout
from translator.analysis.stopping import Stop, ask
from translator.model import Attention
from translator.model.layers import Residual, UnbiasedLayerNorm
from translator.pipeline import Translator
from translator.trace import Trace


@dataclass(frozen=True, eq=False)
class Alti:
    """Contributions of each layer, float64, rows summing to 1, and what they come to through all layers.

    `encoder` [L, S, S] and `decoder` [L, T, T] have the axes of a trace's maps. `cross` [L, T, S + 1]: the last column
    is the decoder's own stream. `total` says what of the source and of the prefix reached each prediction: its
    `source_share` is measured here, where plain rollout assumes it.
    """

    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    total: Rollout

    @property
    def memory(self) -> np.ndarray:
        """What of each source token reached each position of the encoder's output, [S, S]; rows sum to 1."""
        return through_encoder(self.encoder)


def alti(translator: Translator, trace: Trace, *, run: Replay | None = None, stop: Stop | None = None) -> Alti:
    """The contributions of `trace`, in one pass.

    Args:
        run: the pass over `trace`, if there is one already.
        stop: asked before every layer; True ends the work.
    Raises:
        InputError: another checkpoint made the trace.
        CancelledError: `stop` said so.
    """
    run = run or replay_of(translator, trace)
    model, encoded, decoded = run.pair.model, run.encoded, run.decoded
    with torch.inference_mode():
        below = sublayers(run, "encoder")
        encoder, decoder, cross = [], [], []
        for i, layer in enumerate(model.encoder):
            ask(stop, "ALTI+")
            encoder.append(_of_itself(layer.attention_residual, encoded.states[0, i], *below[i])[0])
        own, across = (sublayers(run, kind) for kind in ("decoder", "cross"))
        for i, block in enumerate(model.decoder):
            ask(stop, "ALTI+")
            shares, stream = _of_itself(block.attention_residual, decoded.states[0, i], *own[i])
            decoder.append(shares)
            attention, keys, weights = across[i]
            parts = torch.cat([_vectors(attention, keys, weights), stream[:, None]], dim=1)
            cross.append(_contributions(block.cross_residual, parts, attention.out.bias)[0])
    maps = [to_numpy(torch.stack(layers)) for layers in (encoder, decoder, cross)]
    return Alti(maps[0], maps[1], maps[2], through(*maps))


def through_encoder(encoder: np.ndarray) -> np.ndarray:
    """The encoder's contributions [L, S, S] multiplied: [S, S]."""
    memory = np.eye(encoder.shape[-1])
    for layer in encoder:
        memory = layer @ memory
    return memory


def through(encoder: np.ndarray, decoder: np.ndarray, cross: np.ndarray) -> Rollout:
    """What reached each prediction through all layers: contributions as in `Alti` multiplied.

    Args:
        encoder: [L, S, S].
        decoder: [M, T, T].
        cross: [M, T, S + 1], the decoder's own stream last.
    """
    memory = through_encoder(encoder)
    source, target = np.zeros((cross.shape[1], cross.shape[2] - 1)), np.eye(cross.shape[1])
    for own, across in zip(decoder, cross, strict=True):
        kept = across[:, -1:]
        source, target = kept * (own @ source) + across[:, :-1] @ memory, kept * (own @ target)
    return Rollout(source, target)


def _vectors(attention: Attention, keys: Tensor, weights: Tensor) -> Tensor:
    """What each key adds to each query, all heads together: weights [H, Q, K] → [Q, K, D]."""
    return torch.einsum("hqk,hkd->qkd", weights, transformed(attention, keys))


def _of_itself(
    residual: Residual, stream: Tensor, attention: Attention, keys: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    """Self-attention over stream [N, D]: shares [N, N], and the stream after it [N, D]."""
    parts = _vectors(attention, keys, weights)
    parts.diagonal(dim1=0, dim2=1).add_(stream.T)  # a token's own stream goes round the sublayer
    return _contributions(residual, parts, attention.out.bias)


def _contributions(residual: Residual, parts: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor]:
    """How near each of parts [Q, K, D] comes to the sublayer's output: shares [Q, K], and that output [Q, D].

    With post-norm the norm is taken as the linear map that it is once its deviation is known.
    """
    whole = parts.sum(dim=1) if bias is None else parts.sum(dim=1) + bias
    if not residual.pre:
        norm: Any = residual.norm  # either kind
        unbiased = isinstance(norm, UnbiasedLayerNorm)
        deviation = (whole.var(-1, unbiased=unbiased, keepdim=True) + norm.eps).sqrt()
        parts = (parts - parts.mean(-1, keepdim=True)) * norm.weight / deviation[:, None]
        whole = norm(whole)
    nearer = (whole.norm(p=1, dim=-1)[:, None] - (whole[:, None] - parts).norm(p=1, dim=-1)).clamp(min=0)
    total = nearer.sum(-1, keepdim=True)
    sizes = parts.norm(
        p=1, dim=-1
    )  # where no part comes nearer, which the paper does not foresee, the largest has most
    return torch.where(total > 0, nearer / total, sizes / sizes.sum(-1, keepdim=True)), whole
