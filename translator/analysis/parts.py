"""The residual stream at one position as a sum of embedding, position, heads and feed-forward blocks.

A residual stream is a sum, so that whatever reads it linearly can be split exactly over who wrote it. A layer norm is
linear once its mean and deviation are held ("frozen") at what they are. Sources: Elhage et al. 2021, "A mathematical
framework for transformer circuits"; Mickus et al. 2022 and Ferrando et al. 2023 for layers with post-norm, where each
norm on the way is frozen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn

from translator.analysis.sites import Recording, word_scale
from translator.errors import InputError
from translator.model import Attention
from translator.model.layers import DecoderLayer, EncoderLayer, Residual, UnbiasedLayerNorm

Writer = Literal["bias", "word", "position", "encoder", "decoder", "cross", "encoder ffn", "decoder ffn"]
_SAID = {"bias": "biases", "word": "word embedding", "position": "position"}


@dataclass(frozen=True)
class Part:
    """Who wrote a summand: its kind, its layer and its head, from 0 (None where it has none).

    With a `key` it is what the head took from that position alone, and the head's own summand is the rest.
    """

    kind: Writer
    layer: int | None = None
    head: int | None = None
    key: int | None = None

    @property
    def name(self) -> str:
        """As a person reads it, counted from 1: "decoder L3 cross H5"."""
        if self.layer is None:
            return _SAID[self.kind]
        side = "encoder" if self.kind.startswith("encoder") else "decoder"
        if self.head is None:
            return f"{side} L{self.layer + 1} feed-forward"
        return f"{side} L{self.layer + 1} {'cross' if self.kind == 'cross' else 'self'} H{self.head + 1}"


@dataclass(frozen=True, eq=False)
class Sum:
    """Vectors [P, D] in float64 that sum to a stream at one position, and the part that each is; the biases first."""

    parts: tuple[Part, ...]
    vectors: Tensor

    @property
    def total(self) -> Tensor:
        """The stream itself, [D]."""
        return self.vectors.sum(0)

    def plus(self, parts: list[Part], vectors: Tensor, bias: Tensor | None = None) -> Sum:
        """With further `parts` and their `vectors` [P, D], and a `bias` [D] that counts as one of the biases."""
        joined = torch.cat([self.vectors, vectors])
        if bias is not None:
            joined[0] += bias.double()
        return Sum((*self.parts, *parts), joined)

    def normed(self, norm: nn.Module) -> Sum:
        """Behind a layer `norm` frozen at this stream.

        Raises:
            InputError: it is of a kind that is not known to become linear so.
        """
        if isinstance(norm, nn.Identity):
            return self
        if not isinstance(norm, (nn.LayerNorm, UnbiasedLayerNorm)):
            raise InputError(f"the model has {type(norm).__name__} layers, which this view cannot freeze")
        variance = self.total.var(-1, unbiased=isinstance(norm, UnbiasedLayerNorm))
        vectors = self.vectors - self.vectors.mean(-1, keepdim=True)
        vectors = vectors * (norm.weight.double() / (variance + norm.eps).sqrt())
        if norm.bias is not None:
            vectors[0] += norm.bias.double()
        return Sum(self.parts, vectors)


def written(attention: Attention, mixed: Tensor) -> Tensor:
    """What each head adds to the stream, in float64: mixed [H, E] at one position → [H, D]."""
    into = attention.out.weight.double().unflatten(1, (attention.heads, attention.d_head))
    return torch.einsum("he,dhe->hd", mixed.double(), into)


Carved = tuple[Part, Tensor]
"""A head's part with a key, and the vector [D] that it wrote for that key: it is kept apart from the head's own."""


def embedded(recording: Recording, position: int, *, target: bool) -> Sum:
    """What enters the first layer at `position`: biases, the word and the place."""
    model, pair = recording.pair.model, recording.pair
    ids = (pair.reads if target else pair.src_ids)[0]
    table, places = (model.tgt_embedding, model.tgt_positions) if target else (model.src_embedding, model.src_positions)
    word, place = table.weight[ids[position]].double() * word_scale(model), places[position].double()
    vectors = torch.stack([torch.zeros_like(word), word, place]).detach()
    entered = Sum((Part("bias"), Part("word"), Part("position")), vectors)
    return entered.normed(model.embedding_norms[int(target)]) if model.embedding_norms else entered


def encoder_sum(recording: Recording, position: int, layers: int | None = None) -> Sum:
    """The encoder's stream at `position` after some `layers` (None: all of them)."""
    found = embedded(recording, position, target=False)
    for index in range(len(recording.pair.model.encoder) if layers is None else layers):
        layer = recording.pair.model.encoder[index]
        found = _with_heads(recording, found, ("encoder", index), layer.attention, layer.attention_residual, position)
        found = _with_feed_forward(recording, found, ("encoder", index), layer, position)
    return found


def memory_sum(recording: Recording, position: int) -> Sum:
    """What cross-attention reads at the source's `position`."""
    return encoder_sum(recording, position).normed(recording.pair.model.encoder_norm)


def decoder_sum(recording: Recording, position: int, layers: int | None = None, carved: Carved | None = None) -> Sum:
    """The decoder's stream at `position` after some `layers` (None: all of them)."""
    found = embedded(recording, position, target=True)
    for index in range(len(recording.pair.model.decoder) if layers is None else layers):
        layer = recording.pair.model.decoder[index]
        found = before_cross(recording, found, index, position, carved)
        found = _with_heads(recording, found, ("cross", index), layer.cross, layer.cross_residual, position, carved)
        found = _with_feed_forward(recording, found, ("decoder", index), layer, position)
    return found


def before_cross(recording: Recording, found: Sum, index: int, position: int, carved: Carved | None = None) -> Sum:
    """The stream `found` before decoder layer `index`, as it is before that layer's cross-attention."""
    layer, where = recording.pair.model.decoder[index], ("decoder", index)
    return _with_heads(recording, found, where, layer.attention, layer.attention_residual, position, carved)


def output_sum(recording: Recording, position: int, carved: Carved | None = None) -> Sum:
    """What the output projection reads at `position`, behind the frozen last norm."""
    return decoder_sum(recording, position, carved=carved).normed(recording.pair.model.decoder_norm)


def _with_heads(
    recording: Recording,
    found: Sum,
    where: tuple[str, int],
    attention: Attention,
    residual: Residual,
    position: int,
    carved: Carved | None = None,
) -> Sum:
    kind, index = where
    vectors = written(attention, recording.values[kind, "head", index][0, :, position])
    parts = [Part(cast(Writer, kind), index, head) for head in range(attention.heads)]
    if carved is not None and (carved[0].kind, carved[0].layer) == where:
        vectors[carved[0].head or 0] -= carved[1]
        parts, vectors = [*parts, carved[0]], torch.cat([vectors, carved[1][None]])
    return _left(found.plus(parts, vectors, attention.out.bias), residual)


def _with_feed_forward(
    recording: Recording,
    found: Sum,
    where: tuple[Literal["encoder", "decoder"], int],
    layer: EncoderLayer | DecoderLayer,
    position: int,
) -> Sum:
    side, index = where
    update = recording.values[side, "ffn", index][0, position].double()[None]
    writer: Writer = "encoder ffn" if side == "encoder" else "decoder ffn"
    return _left(found.plus([Part(writer, index)], update), layer.feed_forward_residual)


def _left(found: Sum, residual: Residual) -> Sum:
    """The stream as it leaves a sublayer."""
    return found if residual.pre else found.normed(residual.norm)
