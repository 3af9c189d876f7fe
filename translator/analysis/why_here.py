"""Why a head attends here and what it writes: one score split over query and key components.

The score is a product of two sums (`parts`), so that it splits exactly over pairs: each writer of the query by each
writer of the key. Sources: Elhage et al. 2021 (the QK and OV circuits); Kobayashi et al. 2021 on what a head takes from
a position. A writer's share is of the score, not of the weight: the softmax over the row comes after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor

from translator.analysis.parts import (
    Part,
    Sum,
    Writer,
    before_cross,
    decoder_sum,
    encoder_sum,
    memory_sum,
    output_sum,
    written,
)
from translator.analysis.passes import layer_of, pair_of, to_numpy
from translator.analysis.sites import Recording, record, word_scale
from translator.model import Attention
from translator.model.layers import Residual
from translator.pipeline import Translator
from translator.rules import whole
from translator.trace import Token, Trace

Words = tuple[tuple[Token, float], ...]


@dataclass(frozen=True, eq=False)
class Writes:
    """The words that a vector pushes up most and down most, best first, with how much, against the average word.

    In the decoder these are logits, along the direct path behind frozen norms. The encoder says no words: there it is
    how far the vector points towards source words' embeddings (Dar et al. 2023), which is not what it does.
    """

    up: Words
    down: Words


@dataclass(frozen=True, eq=False)
class WhyHere:
    """Query row `query` and key column `key` of one head (all from 0): why its `score`, and what it writes.

    `table` [P, R] splits the score over `query_parts` by `key_parts`. `cell` is what the head takes from this key, its
    weight included, and `head` what it takes from all keys together.
    """

    kind: str
    layer: int
    head_index: int
    query: int
    key: int
    score: float
    weight: float
    query_parts: tuple[Part, ...]
    key_parts: tuple[Part, ...]
    table: np.ndarray
    cell: Writes
    head: Writes

    @property
    def by_query(self) -> np.ndarray:
        """The score over what wrote the query, [P]."""
        sums: np.ndarray = self.table.sum(axis=1)
        return sums

    @property
    def by_key(self) -> np.ndarray:
        """The score over what wrote the key, [R]."""
        sums: np.ndarray = self.table.sum(axis=0)
        return sums


def why_here(
    translator: Translator,
    trace: Trace,
    kind: str,
    layer: int,
    head: int,
    query: int,
    key: int,
    *,
    count: int = 8,
) -> WhyHere:
    """Take one cell of `trace` apart; everything is counted from 0.

    Args:
        count: words that are named in each direction.
    Raises:
        InputError: there is no such cell, the mask hides it, or another checkpoint made the trace.
    """
    asked = {"layer": layer, "head": head, "query": query, "key": key}
    shape = trace.weights(kind).shape
    layer, head, query, key = (
        layer_of(size, value, name) for (name, value), size in zip(asked.items(), shape, strict=True)
    )
    if kind == "decoder":
        key = whole("key", key, 0, query)  # nobody looks ahead
    count = whole("count", count, 1, 1000)
    recording = record(pair_of(translator, trace))
    model = recording.pair.model
    if kind == "encoder":
        attention = model.encoder[layer].attention
    else:
        attention = model.decoder[layer].cross if kind == "cross" else model.decoder[layer].attention
    asks, offers = _sums(recording, kind, layer, query, key)
    rows = attention.inner
    q = _projected(attention, asks, head * attention.d_head)
    k = _projected(attention, offers, rows + head * attention.d_head)
    values = recording.values
    q_here, k_here = values[kind, "q", layer][0, head, query], values[kind, "k", layer][0, head, key]
    weight = values[kind, "pattern", layer][0, head, query, key].double()
    cell, whole_head = _written(recording, attention, Part(cast(Writer, kind), layer, head, key), query, weight)
    return WhyHere(
        kind=kind,
        layer=layer,
        head_index=head,
        query=query,
        key=key,
        score=float(q_here.double() @ k_here.double()) * attention.d_head**-0.5,
        weight=float(weight),
        query_parts=asks.parts,
        key_parts=offers.parts,
        table=to_numpy(q @ k.T * attention.d_head**-0.5),
        cell=_words(translator, kind, cell, count),
        head=_words(translator, kind, whole_head, count),
    )


def _sums(recording: Recording, kind: str, layer: int, query: int, key: int) -> tuple[Sum, Sum]:
    """What the query and the key are projected from, as sums of parts."""
    model = recording.pair.model
    if kind == "cross":
        stream = before_cross(recording, decoder_sum(recording, query, layer), layer, query)
        return _entered(stream, model.decoder[layer].cross_residual), memory_sum(recording, key)
    sum_of = encoder_sum if kind == "encoder" else decoder_sum
    residual = (model.encoder[layer] if kind == "encoder" else model.decoder[layer]).attention_residual
    asks, offers = (_entered(sum_of(recording, place, layer), residual) for place in (query, key))
    return asks, offers


def _entered(found: Sum, residual: Residual) -> Sum:
    """What a sublayer reads of the stream."""
    return found.normed(residual.norm) if residual.pre else found


def _projected(attention: Attention, found: Sum, first: int) -> Tensor:
    """The parts through the rows of one head's projection, from row `first` on, [P, E]; its bias is the biases'."""
    rows = slice(first, first + attention.d_head)
    projected = found.vectors @ attention.qkv.weight[rows].double().T
    if attention.qkv.bias is not None:
        projected[0] += attention.qkv.bias[rows].double()
    return projected


def _written(
    recording: Recording, attention: Attention, part: Part, query: int, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """What the head writes for one key, and for all, [D] each: before the output projection if the decoder writes."""
    head = part.head or 0
    values = recording.values[part.kind, "v", part.layer or 0][0, head, part.key or 0]
    alone = torch.zeros(attention.heads, attention.d_head, dtype=torch.float64, device=values.device)
    alone[head] = weight * values.double()
    cell = written(attention, alone)[head]
    if part.kind == "encoder":
        mixed = recording.values["encoder", "head", part.layer or 0][0, :, query]
        return cell, written(attention, mixed)[head]
    found = output_sum(recording, query, (part, cell))
    vectors = dict(zip(found.parts, found.vectors, strict=True))
    return vectors[part], vectors[part] + vectors[Part(part.kind, part.layer, head)]


def _words(translator: Translator, kind: str, vector: Tensor, count: int) -> Writes:
    """The words that `vector` [D] pushes most."""
    model = translator.bundle.model
    table = model.src_embedding.weight if kind == "encoder" else model.output.weight
    pushed = table.double() @ vector * (word_scale(model) if kind == "encoder" else 1.0)
    pushed -= pushed.mean()
    token = (translator.bundle.src if kind == "encoder" else translator.bundle.tgt).token
    ends = [pushed.topk(min(count, len(pushed)), largest=largest) for largest in (True, False)]
    up, down = (
        tuple((token(id_), value) for id_, value in zip(end.indices.tolist(), end.values.tolist(), strict=True))
        for end in ends
    )
    return Writes(up, down)
