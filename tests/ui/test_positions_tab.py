"""What the tab of the positions is asked for, without a browser."""

from __future__ import annotations

import json
from typing import Any

import pytest

from translator.errors import InputError
from translator.ui import positions_tab
from translator.ui.models import Models


@pytest.mark.parametrize(
    ("length", "depth", "named"),
    [
        pytest.param(10**400, 32, "positions is 1000", id="huge"),
        pytest.param(8, -(10**400), "dimensions is -1000", id="hugely negative"),
        (8.5, 32, "positions is 8.5"),
        (float("nan"), 32, "positions is nan"),
        (float("inf"), 32, "positions is inf"),
        (True, 32, "positions is True"),
        ("8", 32, "positions is '8'"),
        (1, 32, "from 2 to 256"),
        (8, 513, "from 2 to 512"),
    ],
)
def test_a_size_that_cannot_be_is_named(length: Any, depth: Any, named: str) -> None:
    with pytest.raises(InputError, match=named):
        positions_tab._draw(Models({"a": "a"}), "sinusoidal", "interleaved", length, depth, "0")


@pytest.mark.slow
def test_a_browsers_whole_numbers_are_taken() -> None:
    assert len(positions_tab._draw(Models({"a": "a"}), "sinusoidal", "interleaved", 8.0, 32, "0, 1")) == 3


def test_curves_that_cannot_be_drawn_leave_the_other_figures() -> None:
    heatmap, curves, similarity = positions_tab._draw(Models({"a": "a"}), "sinusoidal", "interleaved", 8, 32, "5, x")
    assert "'x' is no dimension" in json.loads(curves)["error"]
    assert "error" not in json.loads(heatmap) and "error" not in json.loads(similarity)


@pytest.mark.parametrize(
    ("text", "want"), [("5-7", [5, 6, 7]), ("7-5", [5, 6, 7]), ("3, 1 - 2", None), ("1;2", [1, 2])]
)
def test_dimensions_as_they_are_written(text: str, want: list[int] | None) -> None:
    if want is None:
        with pytest.raises(InputError, match="is no dimension"):
            positions_tab._dimensions(text, 32)
    else:
        assert positions_tab._dimensions(text, 32) == want
