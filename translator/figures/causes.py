"""Figures of contrastive attribution and activation patching."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import label, labels, number_text
from translator.figures.style import (
    Theme,
    cell_numbers,
    colour_bar,
    figure,
    palette,
    signed_scale,
    token_axis,
)

_PARTS = {"spoken": True}
"""The names are the page's own words, of parts of the model, not a sentence's."""


def share_map(
    values: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, title: str, theme: Theme = "light"
) -> go.Figure:
    """Signed shares [R, C] by layer and writer: green pushes towards the first word, purple towards the other.

    The names are of parts of the model; NaN is where there is nothing.

    Raises:
        InputError: the names do not fit.
    """
    limit = max(float(np.nanmax(np.abs(values), initial=0.0)), 1e-6)
    return _signed(values, rows, columns, limit, title, theme).update_layout(meta=_PARTS)


def patch_grid(
    restored: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, theme: Theme = "light"
) -> go.Figure:
    """How much each patch restores, [R, C]: 0 nothing (the page's colour), 1 all (the scale's end), below 0 against.

    Raises:
        InputError: the names do not fit.
    """
    return _signed(restored, rows, columns, 1.0, "restored (1: all)", theme)


def _signed(
    values: np.ndarray, rows: Sequence[str], columns: Sequence[str], limit: float, title: str, theme: Theme
) -> go.Figure:
    if values.shape != (len(rows), len(columns)):
        raise InputError(f"values of {values.shape} do not fit {len(rows)} rows and {len(columns)} columns")
    row_texts, column_texts = labels(rows, None), labels(columns, None)
    fig = figure(theme)
    fig.add_heatmap(
        z=values,
        zmin=-limit,
        zmax=limit,
        colorscale=signed_scale(theme),
        customdata=[[[row, column] for column in column_texts] for row in row_texts],
        hovertemplate="%{customdata[0]}, %{customdata[1]}<br>%{z:+.3f}<extra></extra>",
        hoverongaps=False,
        xgap=1,
        ygap=1,
        colorbar=colour_bar(title),
    )
    if values.shape[1] <= 10 and np.isfinite(values).all():
        shown = np.where(np.abs(values) < 0.005, 0.0, values)
        cell_numbers(fig, shown, (-limit, limit), signed_scale(theme), ".2f")
    slanted = len(columns) > 8
    fig.update_xaxes(token_axis(columns, title=""), side="top", tickangle=-45 if slanted else 0)
    if slanted:  # plotly hides a label that would leave the figure
        fig.update_layout(margin_r=16 + 6 * len(column_texts[-1]))
    fig.update_yaxes(token_axis(rows, title="", down=True))
    return fig


def word_shares(
    words: Sequence[str], values: Mapping[str, np.ndarray], *, title: str, theme: Theme = "light"
) -> go.Figure:
    """What each source word brings by each method, [W] a method, as bars side by side; NaN is left out."""
    colours = palette(theme)
    fig = figure(theme)
    for (name, row), colour in zip(values.items(), (colours.bar, colours.series[1], colours.series[2]), strict=False):
        fig.add_bar(
            x=list(range(len(words))),
            y=row,
            name=label(name, None),
            marker_color=colour,
            customdata=labels(words, None),
            hovertemplate="%{customdata}: %{y:+.3f}<extra>" + label(name, None) + "</extra>",
        )
    fig.add_hline(y=0, line={"width": 1, "color": colours.edge})
    fig.update_xaxes(token_axis(words, title="source word"), tickangle=-45)
    fig.update_yaxes(type="linear", title_text=title)
    fig.update_layout(barmode="group", bargap=0.3, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    return fig


def signed_bars(names: Sequence[str], values: np.ndarray, *, title: str, theme: Theme = "light") -> go.Figure:
    """Numbers [N] of named parts of the model as bars from zero, the first on top: green above, purple below.

    Raises:
        InputError: there is not one number a name.
    """
    if np.shape(values) != (len(names),):
        raise InputError(f"values of {np.shape(values)} do not fit {len(names)} names")
    scale = signed_scale(theme)
    fig = figure(theme)
    fig.add_bar(
        x=list(values),
        y=list(range(len(names))),
        orientation="h",
        marker_color=[scale[-2][1] if value >= 0 else scale[1][1] for value in values],
        text=[number_text(value, "+.2f") for value in values],
        textposition="outside",
        cliponaxis=False,
        customdata=labels(names, None),
        hovertemplate="%{customdata}: %{x:+.4f}<extra></extra>",
    )
    most = max(float(np.abs(values).max(initial=0.0)), 1e-6) * 1.5  # room for the numbers beside the bars
    low = -most if (np.asarray(values) < 0).any() else 0.0
    fig.update_xaxes(type="linear", range=[low, most if (np.asarray(values) > 0).any() else 0.0], title_text=title)
    axis = token_axis(names, title="", down=True)
    fig.update_yaxes({**axis, "ticktext": labels(names, 28)})
    fig.update_layout(meta=_PARTS)
    return fig
