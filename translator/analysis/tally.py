"""Sums of what is measured of every head, which add up over the parts of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from translator.analysis.heads import Measures, Rows, measure, rows_of
from translator.analysis.passes import KINDS
from translator.errors import InputError
from translator.pipeline import Translator
from translator.trace import Trace

NAMES = [field.name for field in fields(Measures)]
_ADDED = ("sums", "weights")
_CONTENT = ("content_confidence", "on_content", "distinct", "even_confidence")
_READ = ("read_content_confidence", "read_on_content", "read_distinct")
_OFFSETS = {"previous": -1, "same": 0, "next": 1, "even_previous": -1, "even_same": 0, "even_next": 1}


class Tally:
    """Sums of every measure over sentences, each weighted by the rows that it was measured on."""

    def __init__(self) -> None:
        self.sentences = 0
        self.sums: dict[str, np.ndarray] = {}
        self.weights: dict[str, np.ndarray] = {}

    def add(self, trace: Trace) -> None:
        """Measure one more translation."""
        self.sentences += 1
        for kind in KINDS:
            rows = rows_of(trace, kind)
            found = measure(trace.weights(kind), rows)
            weights = np.array([_weight(name, rows) for name in NAMES])
            values = np.stack([getattr(found, name) for name in NAMES])
            sums = weights[:, None, None] * values
            self.sums[kind] = self.sums.get(kind, 0) + sums
            self.weights[kind] = self.weights.get(kind, 0) + weights

    def measures(self, kind: str) -> Measures:
        """The means."""
        means = self.sums[kind] / np.maximum(self.weights[kind], 1e-9)[:, None, None]
        return Measures(**dict(zip(NAMES, means, strict=True)))

    def merge(self, gather: Callable[[np.ndarray], np.ndarray]) -> None:
        """Let `gather` add every number up over the processes that share the corpus."""
        self.sentences = int(gather(np.array([float(self.sentences)]))[0])
        for kind in KINDS:
            self.sums[kind], self.weights[kind] = gather(self.sums[kind]), gather(self.weights[kind])

    def numbers(self) -> dict[str, Any]:
        """All of it as plain numbers, from which `of` makes it anew, to the bit."""
        kept = {name: {kind: rows.tolist() for kind, rows in getattr(self, name).items()} for name in _ADDED}
        return {"sentences": self.sentences, **kept}

    @classmethod
    def of(cls, parts: Iterable[Mapping[str, Any]]) -> Tally:
        """What the `numbers` of the parts of a corpus add up to, in their order."""
        total = cls()
        for part in parts:
            total.sentences += part["sentences"]
            for name in _ADDED:
                sums = getattr(total, name)
                for kind, rows in part[name].items():
                    sums[kind] = sums.get(kind, 0) + np.array(rows, dtype=np.float64)
        return total


def _weight(name: str, rows: Rows) -> float:
    """How many rows of one sentence a measure is a mean of."""
    if name in _CONTENT:
        return float(rows.content_rows.sum())
    if name in _READ:
        return float(rows.reading_rows.sum())
    if name == "relative_entropy":
        return float((rows.counted & (rows.visible > 1)).sum())
    if name in _OFFSETS and rows.self_attention:
        key = np.arange(len(rows.counted)) + _OFFSETS[name]
        return float((rows.counted & (key >= 0) & (key < rows.visible) & (rows.visible > 1)).sum())
    return float(rows.counted.sum())


def read_trace(translator: Translator, pair: tuple[str, str | None], number: int) -> Trace:
    """The trace of one sentence pair, counted from 0; a target of None is what the model makes of it, greedily.

    Raises:
        InputError: the text is refused; the message names it by its number, from 1.
    """
    src, tgt = pair
    try:
        return translator.translate(src, method="greedy") if tgt is None else translator.force(src, tgt)
    except InputError as error:
        raise InputError(f"sentence {number + 1}: {error}") from error
