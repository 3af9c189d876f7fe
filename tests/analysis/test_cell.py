"""One cell worked: its numbers must lead to the weight that the trace shows."""

from __future__ import annotations

import numpy as np
import pytest

from translator import InputError, Trace, Translator
from translator.analysis.cell import cell

CELLS = [("encoder", 0, 1, 3, 5), ("encoder", 1, 0, 0, 0), ("decoder", 1, 1, 6, 2), ("decoder", 0, 0, 0, 0)]
CELLS += [("cross", 0, 0, 4, 7), ("cross", 1, 1, 11, 3)]


@pytest.mark.parametrize("where", CELLS)
def test_the_numbers_recompute_the_weight(tiny: Translator, trace: Trace, where: tuple) -> None:
    found = cell(tiny, trace, *where)
    kind, layer, head, query, key = where
    row = trace.weights(kind)[layer, head, query]
    np.testing.assert_allclose(found.weights, row, atol=1e-6)
    assert found.products.sum() == pytest.approx(found.dot)
    assert found.dot == pytest.approx(float(found.q @ found.k))
    assert found.scores[key] == pytest.approx(found.dot / np.sqrt(8))
    powers = np.where(found.keep, np.exp(found.scores), 0)
    np.testing.assert_allclose(powers / powers.sum(), row, atol=1e-6)
    np.testing.assert_allclose(found.carried, found.weight * found.v)
    assert found.weight == pytest.approx(float(row[key]), abs=1e-6)


@pytest.mark.slow
def test_the_cells_of_a_row_carry_its_mix(tiny: Translator, trace: Trace) -> None:
    cells = [cell(tiny, trace, "cross", 1, 0, 2, key) for key in range(len(trace.src))]
    np.testing.assert_allclose(sum(each.carried for each in cells), cells[0].mixed, atol=1e-9)


def test_numbers_of_numpy_are_numbers(tiny: Translator, trace: Trace) -> None:
    found = cell(tiny, trace, "cross", *np.array([1, 0, 2, 1]))
    assert (found.layer, found.head, found.query, found.key) == (1, 0, 2, 1)
    assert type(found.layer) is int


def test_a_future_cell_is_masked_and_weighs_nothing(tiny: Translator, trace: Trace) -> None:
    found = cell(tiny, trace, "decoder", 0, 1, 2, 5)
    assert not found.keep[5] and found.weight == 0
    assert found.keep.tolist() == [True] * 3 + [False] * 9


@pytest.mark.parametrize(
    ("where", "named"),
    [
        (("cross", 2, 0, 0, 0), "layer is 2"),
        (("cross", 0, 0, 0, 99), "key is 99"),
        (("x", 0, 0, 0, 0), "'x'"),
        (("cross", 1.0, 0, 0, 0), "layer is 1.0; it must be a whole number"),
        (("cross", 0, True, 0, 0), "head is True"),
        (("cross", 0, 0, "1", 0), "query is '1'"),
    ],
)
def test_a_cell_that_does_not_exist_is_named(tiny: Translator, trace: Trace, where: tuple, named: str) -> None:
    with pytest.raises(InputError, match=named):
        cell(tiny, trace, *where)
