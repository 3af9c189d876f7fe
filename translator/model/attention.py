"""Multi-head attention (Vaswani et al. 2017, section 3.2) that returns its weights and stores nothing."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from translator.model.linear import Linear

VECTOR = 16
"""Float32 numbers in the widest vector of an x86 processor."""


class Attention(nn.Module):
    """Queries from `x`, keys and values from `memory`, mixed over `heads` heads of `d_head` each.

    One fused projection holds the rows of query, key and value in that order, like
    `torch.nn.MultiheadAttention`'s `in_proj_weight`; heads lie side by side within each.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        d_head: int,
        *,
        qkv_bias: bool = True,
        out_bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.heads, self.d_head, self.inner = heads, d_head, heads * d_head
        self.qkv = Linear(d_model, 3 * self.inner, bias=qkv_bias)
        self.out = Linear(self.inner, d_model, bias=out_bias)
        self.dropout = dropout

    def split(self, x: Tensor) -> Tensor:
        """[B, T, inner] as [B, H, T, d_head]."""
        return x.unflatten(-1, (self.heads, self.d_head)).transpose(1, 2)

    def _part(self, x: Tensor, first: int, last: int) -> tuple[Tensor, ...]:
        """Project `x` by rows `first` up to `last` of (query, key, value), split into heads."""
        parts = self.qkv.rows(x, first * self.inner, last * self.inner).split(self.inner, dim=-1)  # (B, T, inner) each
        return tuple(self.split(part) for part in parts)

    def query(self, x: Tensor) -> Tensor:
        """Queries of `x` [B, T, D]: [B, H, T, d_head]."""
        return self._part(x, 0, 1)[0]

    def key_value(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of `memory` [B, S, D]: each [B, H, S, d_head]."""
        key, value = self._part(memory, 1, 3)
        return key, value

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of `x` itself in one product: each [B, H, T, d_head]."""
        query, key, value = self._part(x, 0, 3)
        return query, key, value

    def attend(
        self, query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, gate: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Mix `value` by softmax(query · key / √d_head).

        Args:
            query: [B, H, T, d_head]; key, value: [B, H, S, d_head].
            keep: bool, broadcasts to [B, H, T, S], True = may attend; None = everything.
            gate: [H] or [B, H], multiplies each head's output (Voita et al. 2019); None = all 1.
        Returns:
            mixed [B, T, D] and weights [B, H, T, S], probabilities before dropout; a row with nothing
            to attend to is all 0.
        Raises:
            ValueError: `keep` does not fit the scores.
        """
        weights = self.weigh(query, key, keep)
        mixed = F.dropout(weights, self.dropout, self.training) @ value  # (B, H, T, d_head)
        return self.merge(mixed, gate), weights

    def weigh(self, query: Tensor, key: Tensor, keep: Tensor | None) -> Tensor:
        """softmax(query · key / √d_head), [B, H, T, S], for what `attend` takes.

        Raises:
            ValueError: `keep` does not fit the scores.
        """
        scores = query @ key.transpose(-2, -1) * self.d_head**-0.5  # (B, H, T, S)
        if keep is None:
            return scores.softmax(dim=-1)
        if keep.shape[-1] not in (1, scores.shape[-1]):
            raise ValueError(f"keep covers {keep.shape[-1]} keys, but there are {scores.shape[-1]}")
        weights = scores.masked_fill(~keep, float("-inf")).softmax(dim=-1)
        return weights.masked_fill(~keep, 0.0)  # a fully masked row would be NaN

    def merge(self, mixed: Tensor, gate: Tensor | None = None) -> Tensor:
        """Heads [B, H, T, d_head] side by side and through the output projection: [B, T, D]."""
        if gate is not None:
            mixed = mixed * gate[..., None, None]
        return self.out(mixed.transpose(1, 2).flatten(2))  # (B, H, T, d_head) → (B, T, inner) → (B, T, D)

    def fused(self, query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, *, causal: bool = False) -> Tensor:
        """The same mix [B, T, D] without its weights, by what is fastest: for training and batches.

        `causal` lets query t see keys up to t. Every row must have something to attend to. On a CPU
        the plain products win: PyTorch's flash kernel took a fifth of a training step at 10 tokens.
        """
        if query.device.type == "cpu":
            keep = causal_keep(query.shape[2]) if causal else keep
            if torch.is_inference_mode_enabled():
                return self.merge(mix(query, key, value, None if keep is None else ~keep)[0])
            return self.attend(query, key, value, keep)[0]
        return self.by_kernel(query, key, value, keep, causal=causal)

    def by_kernel(
        self, query: Tensor, key: Tensor, value: Tensor, keep: Tensor | None, *, causal: bool = False
    ) -> Tensor:
        """The same mix [B, T, D] by PyTorch's fused kernel."""
        p = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=keep, dropout_p=p, is_causal=causal)
        return self.merge(mixed)


def mix(query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """`Attention.attend` for inference, before the heads are merged.

    Over fewer numbers than a processor's vector holds, PyTorch takes the softmax, and multiplies one row by a matrix,
    one number at a time; sums over the whole batch are 3 to 4 times as fast (docs/performance.md).

    Args:
        query: [B, H, T, d_head]; key, value: [B, H, S, d_head].
        hidden: bool, broadcasts to [B, H, T, S], True = must not be read; None = everything may be.
    Returns:
        mixed [B, H, T, d_head] and weights [B, H, T, S]; a row with nothing to attend to is all 0.
    """
    short = query.is_cpu and key.shape[-2] < VECTOR
    scores = query @ key.transpose(-2, -1)
    scores *= query.shape[-1] ** -0.5
    if hidden is not None:
        scores.masked_fill_(hidden, float("-inf"))
    if short:
        least = torch.finfo(scores.dtype)
        weights = scores.sub_(scores.amax(-1, keepdim=True).clamp_(min=least.min)).exp_()
        weights /= weights.sum(-1, keepdim=True).clamp_(min=least.tiny)
    else:
        weights = scores.softmax(-1)
        if hidden is not None:
            weights.masked_fill_(hidden, 0.0)
    if short and query.shape[-2] == 1:
        return (weights.transpose(-2, -1) * value).sum(-2, keepdim=True), weights
    return weights @ value, weights


def causal_keep(length: int, device: torch.device | None = None) -> Tensor:
    """The look-ahead mask [T, T]: query t may see keys 0 to t."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
