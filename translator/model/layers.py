"""Sublayers and layers of encoder and decoder, pre- or post-norm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from translator.config import ModelConfig
from translator.model.attention import Attention
from translator.model.linear import Linear

M = TypeVar("M", bound=nn.Module)

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "silu": F.silu,
    "none": lambda x: x,
}


class Stack(nn.ModuleList, Generic[M]):
    """Modules of one kind, in order: an `nn.ModuleList` that says what it holds."""

    if TYPE_CHECKING:

        def __iter__(self) -> Iterator[M]: ...
        def __getitem__(self, index: int) -> M: ...  # type: ignore[override]


class UnbiasedLayerNorm(nn.Module):
    """(x − mean) / √(std² + eps) with the unbiased std, as "The Annotated Transformer: English-to-Chinese" has it."""

    def __init__(self, d_model: int, eps: float, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """x [..., D] brought to mean 0 and variance 1 over D, then scaled and shifted by what was learnt."""
        scaled = (
            (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=True) + self.eps).sqrt() * self.weight
        )
        return scaled if self.bias is None else scaled + self.bias


def layer_norm(config: ModelConfig) -> nn.Module:
    """The layer norm that `config` asks for, over the last axis."""
    if config.norm_variant == "unbiased":
        return UnbiasedLayerNorm(config.d_model, config.norm_eps, config.norm_bias)
    return nn.LayerNorm(config.d_model, eps=config.norm_eps, bias=config.norm_bias)


class FeedForward(nn.Module):
    """Two linear layers with an activation between (section 3.3); [.., D] to [.., D]."""

    def __init__(self, config: ModelConfig, d_ff: int | None = None) -> None:
        super().__init__()
        d_ff = d_ff or config.d_ff
        self.up = Linear(config.d_model, d_ff, bias=config.ff_bias)
        self.down = Linear(d_ff, config.d_model, bias=config.ff_bias)
        self.activation = ACTIVATIONS[config.activation]

    def forward(self, x: Tensor) -> Tensor:
        """x [..., D], every position by itself: [..., D]."""
        return self.down(self.activation(self.up(x)))


class Residual(nn.Module):
    """What stands round a sublayer: x + f(norm(x)) for pre-norm, norm(x + f(x)) for post-norm."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = layer_norm(config)
        self.pre = config.norm == "pre"
        self.dropout = config.dropout

    def enter(self, x: Tensor) -> Tensor:
        """What the sublayer reads of the stream x [B, T, D]: the same shape."""
        return self.norm(x) if self.pre else x

    def leave(self, x: Tensor, update: Tensor) -> Tensor:
        """The stream x [B, T, D] after the sublayer's `update`, of the same shape."""
        x = x + F.dropout(update, self.dropout, self.training)
        return x if self.pre else self.norm(x)


class Embedding(nn.Embedding):
    """`torch.nn.Embedding`, which draws nothing for weights without storage: PyTorch would import its compiler."""

    def reset_parameters(self) -> None:
        """Draw the weights from N(0, 1), unless there are none."""
        if not self.weight.is_meta:
            super().reset_parameters()


def attention(config: ModelConfig, heads: int) -> Attention:
    """An attention sublayer of `heads` heads as `config` asks for."""
    return Attention(
        config.d_model,
        heads,
        config.head_size(heads),
        qkv_bias=config.qkv_bias,
        out_bias=config.out_bias,
        dropout=config.attention_dropout,
    )


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = attention(config, config.encoder_heads)
        self.attention_residual = Residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(self, x: Tensor, keep: Tensor | None, gate: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x [B, S, D], keep broadcasting to [B, H, S, S]: the next x, and weights [B, H, S, S]."""
        update, weights = self.attention.attend(*self.attention.project(self.attention_residual.enter(x)), keep, gate)
        return self.finish(self.attention_residual.leave(x, update)), weights

    def fast(self, x: Tensor, keep: Tensor | None) -> Tensor:
        """The next x [B, S, D] alone, by the fused kernel; keep broadcasts to [B, H, S, S]."""
        update = self.attention.fused(*self.attention.project(self.attention_residual.enter(x)), keep)
        return self.finish(self.attention_residual.leave(x, update))

    def finish(self, x: Tensor) -> Tensor:
        """The feed-forward half over x [B, S, D]: the same shape."""
        return self.feed_forward_residual.leave(x, self.feed_forward(self.feed_forward_residual.enter(x)))


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention to the encoder's memory, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention = attention(config, config.decoder_heads)
        self.attention_residual = Residual(config)
        self.cross = attention(config, config.decoder_heads)
        self.cross_residual = Residual(config)
        self.feed_forward = FeedForward(config, config.decoder_d_ff)
        self.feed_forward_residual = Residual(config)

    def forward(
        self,
        x: Tensor,
        causal: Tensor,
        memory: Tensor,
        keep: Tensor | None,
        gates: tuple[Tensor | None, Tensor | None] = (None, None),
    ) -> tuple[Tensor, Tensor, Tensor]:
        """x [B, T, D], causal [T, T], memory [B, S, D]: the next x, self weights [B, H, T, T], cross [B, H, T, S]."""
        read = self.attention_residual.enter(x)
        update, own = self.attention.attend(*self.attention.project(read), causal, gates[0])
        x = self.attention_residual.leave(x, update)
        query = self.cross.query(self.cross_residual.enter(x))
        update, cross = self.cross.attend(query, *self.cross.key_value(memory), keep, gates[1])
        return self.finish(self.cross_residual.leave(x, update)), own, cross

    def fast(self, x: Tensor, memory: Tensor, keep: Tensor | None) -> Tensor:
        """The next x [B, T, D] alone, by the fused kernel; memory [B, S, D], keep broadcasts to [B, H, T, S]."""
        read = self.attention_residual.enter(x)
        x = self.attention_residual.leave(x, self.attention.fused(*self.attention.project(read), None, causal=True))
        query = self.cross.query(self.cross_residual.enter(x))
        x = self.cross_residual.leave(x, self.cross.fused(query, *self.cross.key_value(memory), keep))
        return self.finish(x)

    def finish(self, x: Tensor) -> Tensor:
        """The feed-forward half over x [B, T, D]: the same shape."""
        return self.feed_forward_residual.leave(x, self.feed_forward(self.feed_forward_residual.enter(x)))
