"""Pictures of belief hold the numbers they are given, in both themes, and refuse what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from translator.errors import InputError
from translator.figures.belief import joint_plane, method_scores, word_scores


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_methods_beyond_chance_have_another_colour(theme: str) -> None:
    fig = method_scores({"good": 0.5, "bad": -0.1}, 0.2, theme=theme)  # type: ignore[arg-type]
    bars = fig.data[0]
    assert list(bars.x) == [0.5, -0.1] and bars.text == ("+0.50", "−0.10")
    assert bars.marker.color[0] != bars.marker.color[1]
    assert fig.layout.shapes[0].x0 == 0.2


def test_words_from_the_threshold_on_are_marked() -> None:
    fig = word_scores(["a", "<b>"], np.array([0.9, 0.1]), 0.5)
    assert list(fig.data[0].y) == [0.9, 0.1]
    assert fig.data[0].marker.color[0] != fig.data[0].marker.color[1]
    assert "<b>" not in fig.data[0].customdata
    with pytest.raises(InputError, match="do not fit 1 words"):
        word_scores(["a"], np.zeros(2), 0.5)


def test_points_keep_their_places_and_names() -> None:
    queries, keys = np.array([[0.0, 1], [2, 3]]), np.array([[4.0, 5]])
    fig = joint_plane(queries, keys, ["a", "b"], ["c"])
    assert [list(trace.x) for trace in fig.data] == [[0, 2], [4]]
    assert list(fig.data[1].customdata) == ["c"]
    with pytest.raises(InputError, match="do not fit"):
        joint_plane(queries, keys, ["a"], ["c"])
