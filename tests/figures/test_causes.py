"""The pictures of causes: every number where it belongs, zero at the middle of the page's scale; no markup."""

from __future__ import annotations

import numpy as np
import pytest

from translator.errors import InputError
from translator.figures.causes import patch_grid, share_map, signed_bars, word_shares
from translator.figures.style import Theme, signed_scale


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_shares_stand_in_their_cells_and_zero_is_the_middle(theme: Theme) -> None:
    values = np.array([[0.5, -2.0], [np.nan, 1.0]])
    (heat,) = share_map(values, ["L1", "L2"], ["<b>", "H2"], title="share", theme=theme).data
    np.testing.assert_array_equal(heat.z, values)
    assert (heat.zmin, heat.zmax) == (-2, 2)
    assert [list(stop) for stop in heat.colorscale] == [list(stop) for stop in signed_scale(theme)]
    assert heat.customdata[0][0][1] == "&lt;b&gt;"
    with pytest.raises(InputError, match="do not fit"):
        share_map(values, ["L1"], ["H1", "H2"], title="share")


def test_a_patch_grid_goes_from_none_to_all() -> None:
    heat, numbers = patch_grid(np.array([[-0.001, 1.0], [-0.25, 1.5]]), ["L1", "L2"], ["a", "a"]).data
    assert (heat.zmin, heat.zmax) == (-1, 1)
    assert list(numbers.text) == ["0.00", "1.00", "−0.25", "1.50"]


def test_every_method_has_its_bars() -> None:
    fig = word_shares(["a", "a"], {"gradient": np.array([1.0, -1]), "occlusion": np.array([np.nan, 2])}, title="share")
    assert [bar.name for bar in fig.data] == ["gradient", "occlusion"]
    np.testing.assert_array_equal(fig.data[1].y, [np.nan, 2])
    assert list(fig.layout.xaxis.ticktext) == ["a", "a"]


def test_bars_point_the_way_of_their_sign() -> None:
    fig = signed_bars(["x", "<i>y"], np.array([2.0, -1.0]), title="share")
    (bars,) = fig.data
    assert list(bars.x) == [2, -1] and list(bars.text) == ["+2.00", "−1.00"]
    assert bars.marker.color[0] != bars.marker.color[1]
    assert fig.layout.yaxis.ticktext[1] == "&lt;i&gt;y"
    assert fig.layout.xaxis.range[0] < -1 and signed_bars(["x"], np.array([2.0]), title="").layout.xaxis.range[0] == 0
    with pytest.raises(InputError, match="do not fit"):
        signed_bars(["x"], np.zeros(2), title="share")


def test_the_last_slanted_name_has_room_beside_the_map() -> None:
    """plotly hides a label that would leave the figure."""
    names = [f"cross H{head}" for head in range(1, 9)]
    wide = share_map(np.zeros((2, 9)), ["L1", "L2"], [*names, "feed-forward"], title="share")
    assert wide.layout.margin.r >= 13 * len("feed-forward") * 0.5 * 2**-0.5
    narrow = share_map(np.zeros((2, 2)), ["L1", "L2"], ["H1", "feed-forward"], title="share")
    assert narrow.layout.margin.r is None and narrow.layout.xaxis.tickangle == 0
