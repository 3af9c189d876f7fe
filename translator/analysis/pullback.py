"""Gradients of many scores pulled back by hand through one pass of the model.

It is the backward pass that PyTorch takes, but all scores share what one pass computed, and what is zero is left out:
a score reads no decoder row after its own, and a unit that a ReLU shuts passes nothing on (of the shipped encoders'
units, 99 of 100 are shut at a token).

Shapes: P points passed over side by side, C of them pulled back at once; N scores; M cotangents at a side's rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from translator.model import Attention, Transformer
from translator.model.attention import causal_keep
from translator.model.layers import DecoderLayer, EncoderLayer, FeedForward, Residual

MANY = 32
"""Cotangents at a row from which on its own product is worth it."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Where M cotangents stand: each at `row` [M] of a side of `length` rows, for one of `scores`; `flat` [M] is its
    place among the rows of all scores."""

    row: Tensor
    flat: Tensor
    scores: int
    length: int

    @property
    def whole(self) -> bool:
        """Whether every score has a cotangent at every row."""
        return len(self.flat) == self.scores * self.length

    @cached_property
    def places(self) -> list[tuple[int, Tensor]]:
        """Each row with cotangents, and which these are."""
        return [(row, (self.row == row).nonzero()[:, 0]) for row in self.row.unique().tolist()]

    @classmethod
    def of(cls, keep: Tensor) -> Rows:
        """Those that `keep` [N, length] holds for each score."""
        return cls(keep.nonzero()[:, 1], keep.flatten().nonzero()[:, 0], *keep.shape)

    def padded(self, values: Tensor) -> Tensor:
        """Values [..., M, E] among zeros: [..., N, length, E]."""
        if not self.whole:
            zeros = values.new_zeros(*values.shape[:-2], self.scores * self.length, values.shape[-1])
            values = zeros.index_copy_(-2, self.flat, values)
        padded: Tensor = values.unflatten(-2, (self.scores, self.length))
        return padded


class Normed:
    """A layer norm of x [P, R, D], or none."""

    def __init__(self, norm: nn.Module, x: Tensor) -> None:
        self.norm, self.x = norm, x
        if isinstance(norm, nn.LayerNorm):
            self.out, self.mean, self.rate = torch.native_layer_norm(x, x.shape[-1:], norm.weight, norm.bias, norm.eps)
        else:
            self.out = norm(x)

    def back(self, slope: Tensor, points: slice, rows: Rows) -> Tensor:
        """From the slope by `out` [C, M, D] to that by x."""
        norm = self.norm
        if isinstance(norm, nn.Identity):
            return slope
        x = self.x[points].index_select(1, rows.row)
        if isinstance(norm, nn.LayerNorm):
            mean, rate = (each[points].index_select(1, rows.row) for each in (self.mean, self.rate))
            by_x: Tensor
            by_x, _, _ = torch.ops.aten.native_layer_norm_backward(
                slope, x, x.shape[-1:], mean, rate, norm.weight, norm.bias, [True, False, False]
            )
            return by_x
        return _gradient(norm, x, slope)


def _gradient(function: Callable[[Tensor], Tensor], x: Tensor, slope: Tensor) -> Tensor:
    """PyTorch's own gradient of `function` at x [...], for a slope by what it gives."""
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        return torch.autograd.grad(function(x), x, slope)[0]


class Mixed:
    """Attention of x [P, Q, D] over memory [P, K, D]."""

    def __init__(self, attention: Attention, x: Tensor, memory: Tensor, keep: Tensor | None) -> None:
        self.attention = attention
        self.query, (self.key, self.value) = attention.query(x), attention.key_value(memory)  # (P, H, ·, E)
        self.out, self.weights = attention.attend(self.query, self.key, self.value, keep)  # weights (P, H, Q, K)

    def back(self, slope: Tensor, points: slice, rows: Rows) -> tuple[Tensor, Tensor]:
        """From the slope by `out` [C, M, D] to those by x [C, M, D] and by memory [C, N · K, D]."""
        of, inner = self.attention, self.attention.inner
        query, key, value, weights = (each[points] for each in (self.query, self.key, self.value, self.weights))
        mixed = (slope @ of.out.weight).unflatten(-1, (of.heads, of.d_head)).transpose(1, 2)  # (C, H, M, E)
        read = weights.index_select(2, rows.row)
        scores = mixed @ value.transpose(-2, -1)  # by the weights, (C, H, M, K)
        scores *= read
        scores -= read * scores.sum(-1, keepdim=True)
        scores *= of.d_head**-0.5  # by query · key
        by_key = rows.padded(scores).transpose(-2, -1).flatten(2, 3)  # (C, H, N · K, Q)
        by_value = weights.transpose(-2, -1) @ rows.padded(mixed).transpose(2, 3).flatten(3)  # (C, H, K, N · E)
        by_value = by_value.unflatten(-1, (rows.scores, of.d_head)).permute(0, 3, 2, 1, 4).flatten(3).flatten(1, 2)
        of_query, of_key, of_value = of.qkv.weight.split(inner)
        by_memory = _through(by_key, query, of_key).add_(by_value @ of_value)
        return _through(scores, key, of_query), by_memory


def _mixed(attention: Attention, memory: Tensor | None, keep: Tensor | None, x: Tensor) -> Mixed:
    """Attention of x over itself, or over `memory`."""
    return Mixed(attention, x, x if memory is None else memory, keep)


def _through(scores: Tensor, states: Tensor, weight: Tensor) -> Tensor:
    """scores [C, H, R, K] · states [C, H, K, E] · weight [H · E, D], heads summed, in the cheaper order: [C, R, D]."""
    heads, count, size = states.shape[1:]
    many, width = scores.shape[2], weight.shape[1]
    if many * size * (count + width) < count * width * (many + size):
        return (scores @ states).transpose(1, 2).flatten(2) @ weight
    written: Tensor = states @ weight.unflatten(0, (heads, size))  # (C, H, K, D)
    return scores.transpose(1, 2).flatten(2) @ written.flatten(1, 2)


def _live(units: Tensor) -> Tensor:
    """Which of the units [..., F] are not always zero."""
    return units.flatten(0, -2).any(0).nonzero()[:, 0]


class Fed:
    """A feed-forward block over x [P, R, D]."""

    def __init__(self, block: FeedForward, x: Tensor) -> None:
        self.block = block
        raised = block.up(x)
        self.slope = _gradient(block.activation, raised, torch.ones_like(raised))  # (P, R, F)
        hidden = block.activation(raised)
        live = _live(hidden)
        self.out = F.linear(hidden.index_select(-1, live), block.down.weight.index_select(1, live), block.down.bias)

    def back(self, slope: Tensor, points: slice, rows: Rows) -> Tensor:
        """From the slope by `out` [C, M, D] to that by x."""
        own, found = self.slope[points], torch.empty_like(slope)
        if len(slope) * len(rows.row) < MANY * len(rows.places):
            return self._back(slope, own.index_select(1, rows.row))
        for row, place in rows.places:  # each token has its own few units
            found.index_copy_(1, place, self._back(slope.index_select(1, place), own[:, row : row + 1]))
        return found

    def _back(self, slope: Tensor, own: Tensor) -> Tensor:
        """The same through the slopes `own` [C, M or 1, F] of the units, by those that are live in any."""
        live = _live(own)
        hidden = slope @ self.block.down.weight.index_select(1, live)
        hidden *= own.index_select(-1, live)
        return hidden @ self.block.up.weight.index_select(0, live)


Inner = TypeVar("Inner", Mixed, Fed)


class Sublayer(Generic[Inner]):
    """Attention or a feed-forward block, as `made` from what it reads, in the stream x [P, R, D]."""

    def __init__(self, residual: Residual, x: Tensor, made: Callable[[Tensor], Inner]) -> None:
        self.pre = residual.pre
        before = Normed(residual.norm, x) if self.pre else None
        self.inner: Inner = made(x if before is None else before.out)
        stream = x + self.inner.out
        self.norm = before or Normed(residual.norm, stream)
        self.out: Tensor = stream if self.pre else self.norm.out

    def leave(self, slope: Tensor, points: slice, rows: Rows) -> Tensor:
        """From the slope by `out` [C, M, D] to that by the sum of stream and update."""
        return slope if self.pre else self.norm.back(slope, points, rows)

    def enter(self, slope: Tensor, points: slice, rows: Rows) -> Tensor:
        """From the slope by what is read [C, M, D] to what it adds to that by the stream."""
        return self.norm.back(slope, points, rows) if self.pre else slope


def fed(layer: EncoderLayer | DecoderLayer, x: Tensor) -> Sublayer[Fed]:
    """The feed-forward half of a layer over x [P, R, D]."""
    return Sublayer(layer.feed_forward_residual, x, lambda read: Fed(layer.feed_forward, read))


def through_feed(half: Sublayer[Fed], slope: Tensor, points: slice, rows: Rows) -> Tensor:
    """From the slope by what leaves `half` [C, M, D] to that by what enters it."""
    slope = half.leave(slope, points, rows)
    return half.enter(half.inner.back(slope, points, rows), points, rows).add_(slope)


def through_itself(half: Sublayer[Mixed], slope: Tensor, points: slice, rows: Rows, below: Rows) -> Tensor:
    """Likewise for self-attention: slope [C, M, D] at `rows` to [C, M', D] at the rows `below` that they read."""
    slope = half.leave(slope, points, rows)
    by_query, by_memory = half.inner.back(slope, points, rows)
    read = by_memory if below.whole else by_memory.index_select(1, below.flat)
    if rows is below:
        return half.enter(read.add_(by_query), points, rows).add_(slope)
    place = torch.searchsorted(below.flat, rows.flat)
    return half.enter(read.index_add_(1, place, by_query), points, below).index_add_(1, place, slope)


class EncoderPass:
    """The encoder over x [P, S, D]: embeddings, to which positions were added; `out` [P, S, D] is its memory."""

    def __init__(self, model: Transformer, x: Tensor, keep: Tensor | None) -> None:
        self.entered = Normed(model.embedding_norms[0] if model.embedding_norms else nn.Identity(), x)
        self.layers: list[tuple[Sublayer[Mixed], Sublayer[Fed]]] = []
        x = self.entered.out
        for layer in model.encoder:
            own = Sublayer(layer.attention_residual, x, partial(_mixed, layer.attention, None, keep))
            self.layers.append((own, fed(layer, own.out)))
            x = self.layers[-1][1].out
        self.left = Normed(model.encoder_norm, x)
        self.out = self.left.out

    def back(self, slope: Tensor, points: slice) -> Tensor:
        """From the slopes by memory [C, N, S, D] to those by x."""
        count, length = slope.shape[1:3]
        rows = Rows.of(torch.ones(count, length, dtype=torch.bool, device=slope.device))
        slope = self.left.back(slope.flatten(1, 2), points, rows)
        for own, feed in reversed(self.layers):
            slope = through_itself(own, through_feed(feed, slope, points, rows), points, rows, rows)
        by_x: Tensor = self.entered.back(slope, points, rows).unflatten(1, (count, length))
        return by_x


class DecoderPass:
    """The decoder over x [P, T, D] and memory [P, S, D]; `out` [P, T, D] is what the output projection reads."""

    def __init__(self, model: Transformer, x: Tensor, memory: Tensor, keep: Tensor | None) -> None:
        causal = causal_keep(x.shape[1], x.device)
        self.entered = Normed(model.embedding_norms[1] if model.embedding_norms else nn.Identity(), x)
        self.layers: list[tuple[Sublayer[Mixed], Sublayer[Mixed], Sublayer[Fed]]] = []
        x = self.entered.out
        for layer in model.decoder:
            own = Sublayer(layer.attention_residual, x, partial(_mixed, layer.attention, None, causal))
            cross = Sublayer(layer.cross_residual, own.out, partial(_mixed, layer.cross, memory, keep))
            self.layers.append((own, cross, fed(layer, cross.out)))
            x = self.layers[-1][2].out
        self.left = Normed(model.decoder_norm, x)
        self.out = self.left.out
        self.sources = memory.shape[1]

    def back(self, slope: Tensor, points: slice, steps: Sequence[int], *, whole: bool) -> tuple[Tensor, Tensor | None]:
        """From each score's slope by `out` at its own step, [C, N, D], to those by memory [C, N, S, D], and by x
        [C, N, T, D] if `whole`."""
        own_row = torch.arange(self.out.shape[1], device=slope.device)
        last = torch.tensor(steps, device=slope.device)[:, None]
        rows, below = Rows.of(own_row == last), Rows.of(own_row <= last)
        slope = self.left.back(slope, points, rows)
        by_memory = slope.new_zeros(len(slope), len(steps) * self.sources, slope.shape[-1])
        for index in range(len(self.layers) - 1, -1, -1):
            own, cross, feed = self.layers[index]
            slope = cross.leave(through_feed(feed, slope, points, rows), points, rows)
            by_query, read = cross.inner.back(slope, points, rows)
            by_memory += read
            if index or whole:
                slope = slope + cross.enter(by_query, points, rows)
                slope = through_itself(own, slope, points, rows, below)
                rows = below
        by_x = below.padded(self.entered.back(slope, points, below)) if whole else None
        return by_memory.unflatten(1, (len(steps), self.sources)), by_x
