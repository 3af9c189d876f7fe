"""Corpus search in a checkpoint's index: rows where a head does the same, and neighbours of a state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from translator.analysis.index import Index
from translator.analysis.indexing import directed, states_of
from translator.analysis.passes import head_counts
from translator.pipeline import Translator
from translator.rules import choice, whole
from translator.trace import Token, Trace, known_kind

Order = Literal["strongest", "typical"]
Side = Literal["encoder", "decoder"]
FAR = 3
"""Offsets beyond this many tokens count as one."""


@dataclass(frozen=True)
class Hit:
    """A row of a head somewhere in the corpus: token places count from 0 in their sentence.

    `weight` is that of the row's best key, exact to 1/255; `score` what the search put first: the weight itself, or a
    likeness.
    """

    sentence: int
    source: str
    translation: str
    query: int
    key: int
    query_text: str
    key_text: str
    weight: float
    score: float


@dataclass(frozen=True)
class Habit:
    """What a head does most often, and the `share` of its rows that do it.

    `offset` is how far its best key stands from the query, in tokens; None where it is farther than `FAR`, or where
    that key is a special token (`special`). For cross-attention it is counted from the diagonal of the map.
    """

    offset: int | None
    special: bool
    share: float


@dataclass(frozen=True)
class Neighbour:
    """A token whose state is near: its sentence and place, and the cosine of both states in the index's directions."""

    sentence: int
    source: str
    translation: str
    place: int
    text: str
    cosine: float


class Corpus:
    """An index with its sentences' tokens, to be searched. Nothing is changed by a search, so threads may share it."""

    def __init__(self, translator: Translator, index: Index) -> None:
        self.translator, self.index = translator, index
        self._tokens = lru_cache(maxsize=None)(self._tokens_of)
        self._special = lru_cache(maxsize=None)(self._special_of)

    def head_rows(
        self, kind: str, layer: int, head: int, *, order: Order = "strongest", count: int = 10
    ) -> tuple[Hit, ...]:
        """Rows of one head, at most one a sentence, content before special tokens.

        "strongest" are those of the largest weights. "typical" are those that do what the head does most often (see
        `habit`), the weight nearest their median first.

        Raises:
            InputError: there is no such head or order, or the count is not from 1 to 100.
        """
        layer, head, count = self._place(kind, layer, head, count)
        choice("order", order, Order)
        weight = self.index.weight[kind][layer, head].astype(np.float64) / 255
        special = self._special_queries(kind)
        if order == "strongest":
            score = np.where(special | self._special_keys(kind, layer, head), weight - 1, weight)
        else:
            groups, most, _ = self._habits(kind, layer, head)
            usual = (groups == most) & ~special
            middle = np.median(weight[usual]) if usual.any() else 0.0
            score = np.where(usual, 1 - np.abs(weight - middle), -1.0)
        return self._hits(kind, layer, head, score, count)

    def habit(self, kind: str, layer: int, head: int) -> Habit:
        """What the head does most often over the corpus.

        Raises:
            InputError: there is no such head.
        """
        layer, head, _ = self._place(kind, layer, head, 1)
        groups, most, counted = self._habits(kind, layer, head)
        share = float((groups[counted] == most).mean()) if counted.any() else 0.0
        if most == 2 * FAR + 3:
            return Habit(None, True, share)
        offset = most - FAR - 1
        return Habit(offset if abs(offset) <= FAR else None, False, share)

    def like_cell(
        self, trace: Trace, kind: str, layer: int, head: int, query: int, key: int, *, count: int = 10
    ) -> tuple[Hit, ...]:
        """Where else this head does that: rows whose query and best key are like those of a cell of `trace`.

        A row's score is its weight times the mean of two cosines, that of the queries' states and that of the keys';
        rows with a special token where the cell has none, or the other way round, come last.

        Raises:
            InputError: there is no such cell, the count is not from 1 to 100, or another checkpoint made the trace.
        """
        layer, head, count = self._place(kind, layer, head, count)
        rows, columns = trace.weights(kind).shape[2:]
        query, key = whole("query", query, 0, rows - 1), whole("key", key, 0, columns - 1)
        own = dict(zip(("encoder", "decoder"), states_of(self.translator, trace), strict=True))
        sides = {"encoder": ("encoder", "encoder"), "decoder": ("decoder", "decoder"), "cross": ("decoder", "encoder")}
        asking, asked = sides[kind]
        key_layer = self.index.states[asked].shape[0] - 1 if kind == "cross" else layer
        by_query = self._cosines(asking, layer, own[asking][layer, query])
        by_key = self._cosines(asked, key_layer, own[asked][key_layer, key])[self._best_keys(kind, layer, head)]
        weight = self.index.weight[kind][layer, head].astype(np.float64) / 255
        alike = (self._special_queries(kind) == trace.queries(kind)[query].special) & (
            self._special_keys(kind, layer, head) == trace.keys(kind)[key].special
        )
        return self._hits(kind, layer, head, weight * (by_query + by_key) / 2 - 2 * ~alike, count)

    def neighbours(self, trace: Trace, side: Side, layer: int, place: int, *, count: int = 10) -> tuple[Neighbour, ...]:
        """The tokens of the corpus whose states before layer `layer` (or after the last) are nearest, one a sentence.

        Args:
            side: "encoder" (source tokens) or "decoder" (rows: the state that reads the token before).
            layer: from 0, the embeddings, to the number of layers, what the last one gives.
            place: the token of `trace`, from 0.
        Raises:
            InputError: there is no such state, the count is not from 1 to 100, or another checkpoint made the trace.
        """
        choice("side", side, Side)
        layer = whole("layer", layer, 0, self.index.states[side].shape[0] - 1)
        count = whole("count", count, 1, 100)
        found = dict(zip(("encoder", "decoder"), states_of(self.translator, trace), strict=True))[side]
        place = whole("place", place, 0, found.shape[1] - 1)
        cosines = self._cosines(side, layer, found[layer, place])
        at, sentence = self.index.rows_at(side), self.index.sentence_of(side)
        near = []
        for row in _first_of_each(np.argsort(-cosines, kind="stable"), sentence, count):
            number = int(sentence[row])
            start = int(at[number])
            text = self.tokens(number)[side == "decoder"][row - start].surface
            near.append(Neighbour(number, *self._texts(number), row - start, text, float(cosines[row])))
        return tuple(near)

    def tokens(self, number: int) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        """What the encoder reads of a sentence, and what its decoder reads, which its rows stand for."""
        return self._tokens(number)

    def _place(self, kind: str, layer: int, head: int, count: int) -> tuple[int, int, int]:
        layers, heads = head_counts(self.translator.bundle.model)[known_kind(kind)]
        return whole("layer", layer, 0, layers - 1), whole("head", head, 0, heads - 1), whole("count", count, 1, 100)

    def _cosines(self, side: str, layer: int, state: np.ndarray) -> np.ndarray:
        """The cosine of a state [D] with every state of the corpus, in the index's directions."""
        index = self.index
        own = directed(state, index.centre[side][layer], index.basis[side][layer])
        found = index.states[side][layer].astype(np.float32)
        cosines: np.ndarray = (found @ own) / np.maximum(np.linalg.norm(found, axis=-1), 1e-9)
        return cosines

    def _best_keys(self, kind: str, layer: int, head: int) -> np.ndarray:
        """Where each row's best key stands in the whole corpus, [rows]."""
        keys: np.ndarray = self.index.keys_at(kind)[self.index.sentence_of(kind)] + self.index.best[kind][layer, head]
        return keys

    def _special_keys(self, kind: str, layer: int, head: int) -> np.ndarray:
        special: np.ndarray = self._special("reads" if kind == "decoder" else "src")[self._best_keys(kind, layer, head)]
        return special

    def _special_queries(self, kind: str) -> np.ndarray:
        return self._special("src" if kind == "encoder" else "reads")

    def _special_of(self, name: str) -> np.ndarray:
        """Which tokens of the corpus are special, bool."""
        sentences = range(len(self.index.texts))
        return np.array([token.special for n in sentences for token in self.tokens(n)[name == "reads"]], dtype=bool)

    def _habits(self, kind: str, layer: int, head: int) -> tuple[np.ndarray, int, np.ndarray]:
        """The group of each row by the offset of its best key, the commonest group, and which rows are counted."""
        index = self.index
        sentence = index.sentence_of(kind)
        query = np.arange(len(sentence)) - index.rows_at(kind)[sentence]
        if kind == "cross":
            lengths = [np.maximum(np.diff(at)[sentence] - 1, 1) for at in (index.tgt_at, index.src_at)]
            query = np.rint(query * lengths[1] / lengths[0]).astype(np.int64)
        offset = np.clip(index.best[kind][layer, head].astype(np.int64) - query, -FAR - 1, FAR + 1)
        groups = np.where(self._special_keys(kind, layer, head), 2 * FAR + 3, offset + FAR + 1)
        counted = ~self._special_queries(kind)
        return groups, int(np.bincount(groups[counted], minlength=2 * FAR + 4).argmax()), counted

    def _hits(self, kind: str, layer: int, head: int, score: np.ndarray, count: int) -> tuple[Hit, ...]:
        index, found = self.index, []
        sentence = index.sentence_of(kind)
        for row in _first_of_each(np.argsort(-score, kind="stable"), sentence, count):
            number = int(sentence[row])
            src, reads = self.tokens(number)
            query, key = row - int(index.rows_at(kind)[number]), int(index.best[kind][layer, head, row])
            texts = [(src if kind == "encoder" else reads)[query], (reads if kind == "decoder" else src)[key]]
            weight = index.weight[kind][layer, head, row] / 255
            found.append(
                Hit(
                    number,
                    *self._texts(number),
                    query,
                    key,
                    texts[0].surface,
                    texts[1].surface,
                    float(weight),
                    float(score[row]),
                )
            )
        return tuple(found)

    def _texts(self, number: int) -> tuple[str, str]:
        at = self.index.tgt_at
        ids = self.index.targets[at[number] : at[number + 1]].tolist()
        return self.index.texts[number], self.translator.bundle.tgt.decode(ids)

    def _tokens_of(self, number: int) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
        bundle, index = self.translator.bundle, self.index
        typed = bundle.src.encode(index.texts[number]).tokens
        padding = int(index.src_at[number + 1] - index.src_at[number]) - len(typed) - 1
        src = (*typed, bundle.src.token(bundle.src.eos_id), *[bundle.src.token(bundle.src.pad_id)] * padding)
        tgt = bundle.tgt.tokens(index.targets[index.tgt_at[number] : index.tgt_at[number + 1]].tolist())
        return src, (bundle.tgt.token(bundle.model.config.start_id), *tgt[:-1])


def _first_of_each(order: np.ndarray, sentence: np.ndarray, count: int) -> list[int]:
    """The first `count` rows of `order` that are of different sentences."""
    seen: set[int] = set()
    rows = []
    for row in order.tolist():
        if (number := int(sentence[row])) not in seen:
            seen.add(number)
            rows.append(row)
            if len(rows) == count:
                break
    return rows
