"""Figures of positional encodings, and sinusoidal tables computed independently of the model's.

A table is [P, D]: row p is what is added to the embedding at position p.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.style import Theme, colour_bar, figure, palette, signed_scale
from translator.rules import whole

MOST = 100_000
Layout = Literal["interleaved", "concatenated"]


def sinusoidal(positions: int, d_model: int, *, layout: Layout = "interleaved", first: int = 0) -> np.ndarray:
    """The sinusoidal table [positions, d_model], float64.

    Dimension pair i turns at 10000^(-2i / d_model). "interleaved" puts its sine and cosine at 2i and 2i + 1
    (Vaswani et al. 2017, section 3.5); "concatenated" puts all sines before all cosines. `first` is the
    position of the first row.

    Raises:
        InputError: a size is not positive, `d_model` is odd, or there is no such layout.
    """
    positions, d_model = whole("positions", positions, 1, MOST), whole("d_model", d_model, 2, MOST)
    if d_model % 2:
        raise InputError(f"d_model is {d_model}; a table of sines and cosines has an even width")
    if layout not in ("interleaved", "concatenated"):
        raise InputError(f"layout is {layout!r}; it must be interleaved or concatenated")
    frequencies = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    angles = np.outer(np.arange(first, first + positions), frequencies)
    if layout == "concatenated":
        return np.hstack([np.sin(angles), np.cos(angles)])
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(positions, d_model)


def positional_heatmap(table: np.ndarray | None = None, *, first: int = 0, theme: Theme = "light") -> go.Figure:
    """A table [P, D], positions down and dimensions across; None shows the sinusoidal one of 100 × 32."""
    table = sinusoidal(100, 32) if table is None else table
    limit = max(1.0, float(np.abs(table).max()))
    fig = figure(theme)
    fig.add_heatmap(
        z=table,
        y=np.arange(first, first + len(table)),
        zmin=-limit,
        zmax=limit,
        colorscale=signed_scale(theme),
        colorbar=colour_bar("value"),
        hovertemplate="position %{y}, dimension %{x}<br>%{z:.4f}<extra></extra>",
    )
    fig.update_xaxes(type="linear", title_text="dimension", side="top")
    fig.update_yaxes(type="linear", title_text="position", autorange="reversed")
    return fig


def positional_curves(
    table: np.ndarray | None = None,
    dimensions: Sequence[int] = (5, 6, 7, 8, 9),
    *,
    first: int = 0,
    theme: Theme = "light",
) -> go.Figure:
    """Chosen dimensions (counted from 0) of a table [P, D] along the positions; None: sinusoidal, 100 × 24.

    Raises:
        InputError: the table has no such dimension.
    """
    table = sinusoidal(100, 24) if table is None else table
    fig = figure(theme)
    for dimension in (_dimension(each, table) for each in dimensions):
        fig.add_scatter(
            x=np.arange(first, first + len(table)),
            y=table[:, dimension],
            mode="lines",
            name=f"dim {dimension}",
            line_width=1.5,
        )
    fig.update_xaxes(type="linear", title_text="position")
    fig.update_yaxes(type="linear", title_text="value")
    return fig


def sine_cosine_pairs(
    d_model: int = 26, pairs: Sequence[int] = (0, 1, 2), *, positions: int = 100, theme: Theme = "light"
) -> go.Figure:
    """The sine (above) and the cosine (below) of chosen dimension pairs, counted from 0, along the positions.

    Raises:
        InputError: there is no such pair.
    """
    table = sinusoidal(positions, d_model, layout="concatenated")
    half = d_model // 2
    fig = figure(theme)
    for number, pair in enumerate(_dimension(each, table[:, :half]) for each in pairs):
        for name, column, axis in (("sine", pair, "y"), ("cosine", half + pair, "y2")):
            fig.add_scatter(
                x=np.arange(positions),
                y=table[:, column],
                yaxis=axis,
                mode="lines",
                name=f"{name}, pair {pair}",
                line={"width": 1.5, "color": palette(theme).series[number % len(palette(theme).series)]},
            )
    fig.update_xaxes(type="linear", title_text="position", anchor="y2")
    fig.update_layout(
        yaxis={"domain": [0.55, 1.0], "title": {"text": "sine"}, "type": "linear"},
        yaxis2={"domain": [0.0, 0.45], "title": {"text": "cosine"}, "type": "linear", "anchor": "x"},
    )
    return fig


def similarity_matrix(table: np.ndarray | None = None, *, first: int = 0, theme: Theme = "light") -> go.Figure:
    """PE(p)·PE(q) of a table [P, D] for every two positions; None: sinusoidal, 100 × 32.

    For the sinusoidal table it depends on p - q alone.
    """
    table = sinusoidal(100, 32) if table is None else table
    products = np.asarray(table, dtype=np.float64) @ np.asarray(table, dtype=np.float64).T
    limit = max(float(np.abs(products).max()), 1e-12)
    places = np.arange(first, first + len(table))
    fig = figure(theme)
    fig.add_heatmap(
        z=products,
        x=places,
        y=places,
        zmin=-limit,
        zmax=limit,
        colorscale=signed_scale(theme),
        colorbar=colour_bar("PE(p)·PE(q)"),
        hovertemplate="p = %{y}, q = %{x}<br>%{z:.3f}<extra></extra>",
    )
    fig.update_xaxes(type="linear", title_text="position q", side="top")
    fig.update_yaxes(type="linear", title_text="position p", autorange="reversed")
    return fig


def _dimension(dimension: int, table: np.ndarray) -> int:
    return whole("dimension", dimension, 0, table.shape[1] - 1)
