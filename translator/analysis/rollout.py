"""Attention rollout: attention accumulated over layers, from input to output tokens.

Source: Abnar and Zuidema 2020, "Quantifying attention flow in transformers". The way through the decoder,
where each layer mixes in the source, follows Ferrando et al. 2022 (ALTI+) with raw weights in place of
contributions. Both see weights alone, not the values that they mix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from translator.rules import real

RESIDUAL = 0.5
"""The share of each sublayer's output that its residual connection brings, as the source assumes."""


@dataclass(frozen=True, eq=False)
class Rollout:
    """What reached each target row: `source` [T, S] and `target` [T, T] (decoder inputs); together a row sums to 1."""

    source: np.ndarray
    target: np.ndarray

    @property
    def source_share(self) -> np.ndarray:
        """The share of each row that came from the source, [T]; `rollout` assumes the same for all rows."""
        share: np.ndarray = self.source.sum(axis=-1)
        return share

    @property
    def source_rows(self) -> np.ndarray:
        """`source` with each row scaled to sum to 1: which source token, given that it was the source. [T, S]"""
        rows: np.ndarray = self.source / self.source.sum(axis=-1, keepdims=True)
        return rows


def with_residual(weights: np.ndarray, residual: float = RESIDUAL) -> np.ndarray:
    """The mean over heads of [L, H, N, N], mixed with the identity of the residual connection: [L, N, N].

    Raises:
        InputError: the share `residual` is not from 0 to 1.
    """
    residual = real("residual", residual, 0, 1)
    mean = np.asarray(weights, dtype=np.float64).mean(axis=1)
    mixed: np.ndarray = (1 - residual) * mean + residual * np.eye(mean.shape[-1])
    return mixed


def self_rollout(weights: np.ndarray, residual: float = RESIDUAL) -> np.ndarray:
    """How much of each input token reached each position through all layers: [L, H, N, N] → [N, N], rows sum to 1."""
    rolled = np.eye(weights.shape[-1])
    for layer in with_residual(weights, residual):
        rolled = layer @ rolled
    return rolled


def rollout(encoder: np.ndarray, decoder: np.ndarray, cross: np.ndarray, residual: float = RESIDUAL) -> Rollout:
    """Roll attention through the encoder, the decoder and its cross-attention.

    Args:
        encoder: [L, H, S, S].
        decoder: [M, G, T, T].
        cross: [M, G, T, S].
        residual: the share that each sublayer's residual connection brings.
    Returns:
        what of the source and of the decoder's input reached each target row.
    """
    memory = self_rollout(encoder, residual)
    source, target = np.zeros(cross.shape[2:]), np.eye(cross.shape[2])
    means = np.asarray(cross, dtype=np.float64).mean(axis=1)
    for own, across in zip(with_residual(decoder, residual), means, strict=True):
        source, target = own @ source, own @ target
        source, target = residual * source + (1 - residual) * across @ memory, residual * target
    return Rollout(source, target)
