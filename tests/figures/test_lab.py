"""The lab's pictures: every number where it belongs, no token read as markup."""

from __future__ import annotations

import numpy as np
import pytest

from translator.errors import InputError
from translator.figures.lab import cell_products, cell_values, lens_map, rank_correlations


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_lens_cell_holds_its_word_and_the_probability(theme) -> None:
    best = [["<b>", "x"], ["the", "house"]]
    (heat,) = lens_map(best, np.log([[0.1, 0.2], [0.9, 0.8]]), ["the", "house"], theme=theme).data
    np.testing.assert_allclose(heat.z, [[0.1, 0.2], [0.9, 0.8]])
    assert heat.text[0][0] == "&lt;b&gt;" and heat.text[1][1] == "house"
    with pytest.raises(InputError, match="do not fit"):
        lens_map(best, np.zeros((2, 3)), ["the", "house"])


def test_correlations_stand_at_their_steps_and_chance_is_a_line() -> None:
    fig = rank_correlations({"raw": np.array([0.5, np.nan]), "norm": np.array([1, -1])}, 0.3, ["a", "a"])
    assert [trace.name for trace in fig.data] == ["raw", "norm"]
    np.testing.assert_array_equal(fig.data[1].y, [1, -1])
    assert fig.layout.shapes[0].y0 == 0.3
    assert not rank_correlations({}, float("nan"), ["a"]).layout.shapes


def test_the_bars_of_a_cell_add_up_to_the_dot_product() -> None:
    q, k = np.array([1.0, -2, 3]), np.array([2.0, 0.5, 1])
    bars = cell_products(q, k).data[0]
    assert sum(bars.y) == pytest.approx(q @ k)


def test_the_carried_value_stands_before_the_whole_one() -> None:
    v, mixed = np.array([1.0, -2.0]), np.array([0.5, 0.5])
    whole, carried, row = cell_values(v, 0.25 * v, mixed).data
    np.testing.assert_allclose(carried.y, 0.25 * np.array(whole.y))
    np.testing.assert_allclose(row.y, mixed)
