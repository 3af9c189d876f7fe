"""How far heads are apart, against sums that are written out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from translator.analysis.aggregate import word_groups
from translator.analysis.distance import head_distances
from translator.errors import InputError
from translator.trace import Trace

MakeTrace = Callable[..., Trace]
KINDS = ("encoder", "decoder", "cross")


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Total variation, row by row, cell by cell."""
    total = 0.0
    for left, right in zip(one, other, strict=True):
        total += sum(abs(float(a) - float(b)) for a, b in zip(left, right, strict=True)) / 2
    return total / len(one)


def of_words(weights: np.ndarray, rows: list[int], columns: list[int]) -> np.ndarray:
    """Sums over the pieces of a key, means over the pieces of a query."""
    out = np.zeros((max(rows) + 1, max(columns) + 1))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            out[row, column] += float(weights[i, j]) / rows.count(row)
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_each_head_is_half_the_summed_difference_of_its_rows(make_trace: MakeTrace, kind: str) -> None:
    first = make_trace(0)
    second = replace(first, **{name: getattr(first, name)[:, ::-1] for name in KINDS})
    found = head_distances(first, second, kind)
    words = head_distances(first, second, kind, words=True)
    assert found is not None and words is not None
    owners = first.tgt if kind == "cross" else first.queries(kind)
    rows, columns = (word_groups(tokens).tolist() for tokens in (owners, first.keys(kind)))
    assert len(set(columns)) < len(columns), "some word has several pieces"
    for layer, head in np.ndindex(found.shape):
        one, other = (trace.weights(kind)[layer, head] for trace in (first, second))
        assert found[layer, head] == pytest.approx(apart(one, other), abs=1e-6)
        both = (of_words(each, rows, columns) for each in (one, other))
        assert words[layer, head] == pytest.approx(apart(*both), abs=1e-6)
    assert head_distances(first, first, kind) == pytest.approx(np.zeros(found.shape))


def test_models_of_other_sizes_share_their_first_layers_and_heads(make_trace: MakeTrace) -> None:
    first = make_trace(0)
    second = replace(first, encoder=first.encoder[:2, :3])
    found = head_distances(first, second, "encoder")
    assert found is not None and found.shape == (2, 3)


def test_maps_of_other_shapes_have_no_distance(make_trace: MakeTrace) -> None:
    short = make_trace(1, source=(("x", 0), ("y", 1)))
    assert head_distances(make_trace(0), short, "encoder") is None
    with pytest.raises(InputError, match="must be encoder, decoder or cross"):
        head_distances(short, short, "self")
