"""Figures as the page is sent them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from translator.figures import positions
from translator.figures.style import Theme
from translator.ui import explorer


def dressed(value: str, theme: Theme) -> Any:
    """A figure in one theme, put together as the page does."""
    sent = json.loads(value)
    figure = sent["light"]
    for path, changed in sent["dark"] if theme == "dark" else ():
        node = figure
        for name in path[:-1]:
            node = node[name]
        node[path[-1]] = changed
    return figure


def drawn_otherwise(*, theme: Theme = "light") -> go.Figure:
    """More traces, and another layout, in the dark."""
    count = 2 if theme == "dark" else 1
    return go.Figure([go.Scatter(y=np.arange(3) / 7)] * count, {"title": {"text": theme}} if count == 2 else {})


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("draw", [positions.positional_heatmap, positions.positional_curves, drawn_otherwise])
def test_a_figure_arrives_whole_in_either_theme(draw: Any, theme: Theme) -> None:
    assert dressed(explorer.show(draw), theme) == json.loads(draw(theme=theme).to_json())


def test_numbers_are_sent_once() -> None:
    table = np.random.default_rng(0).normal(size=(100, 100))
    assert len(explorer.show(positions.positional_heatmap, table)) < 1.5 * 4 / 3 * table.nbytes
