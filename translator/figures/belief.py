"""Figures of attribution rankings, omission marks and the joint plane of queries and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import label, labels, number_text
from translator.figures.style import Theme, figure, palette, token_axis


def method_scores(values: Mapping[str, float], chance: float, *, theme: Theme = "light") -> go.Figure:
    """One number a method, the first on top, as bars from zero; what chance reaches as a dashed line.

    Those beyond chance have the bar's own colour, the others are pale.
    """
    colours = palette(theme)
    fig = figure(theme)
    numbers = list(values.values())
    fig.add_bar(
        x=numbers,
        y=list(range(len(numbers))),
        orientation="h",
        marker_color=[colours.bar if value > chance else colours.track for value in numbers],
        marker_line={"color": colours.edge, "width": 1},
        text=[number_text(value, "+.2f") for value in numbers],
        textposition="outside",
        cliponaxis=False,
        customdata=labels(list(values), None),
        hovertemplate="%{customdata}: %{x:+.3f}<extra></extra>",
    )
    if np.isfinite(chance):
        fig.add_vline(x=chance, line={"dash": "dash", "width": 1, "color": colours.third})
    low = -1.15 if np.nanmin(numbers, initial=0.0) < 0 else 0.0
    fig.update_xaxes(type="linear", range=[low, 1.15], title_text="rank correlation")
    fig.update_yaxes({**token_axis(list(values), title="", down=True), "ticktext": labels(list(values), 28)})
    fig.update_layout(meta={"spoken": True})  # the names are the page's own words, not a sentence's
    return fig


def word_scores(words: Sequence[str], scores: np.ndarray, threshold: float, *, theme: Theme = "light") -> go.Figure:
    """A score from 0 to 1 for each of W words, [W], as bars; the dashed line is where marks begin.

    Raises:
        InputError: there is not one score a word.
    """
    if np.shape(scores) != (len(words),):
        raise InputError(f"scores of {np.shape(scores)} do not fit {len(words)} words")
    colours = palette(theme)
    fig = figure(theme)
    fig.add_bar(
        x=list(range(len(words))),
        y=list(scores),
        marker_color=[colours.here if score >= threshold else colours.bar for score in scores],
        customdata=labels(words, None),
        hovertemplate="%{customdata}: %{y:.2f}<extra></extra>",
    )
    fig.add_hline(y=threshold, line={"dash": "dash", "width": 1, "color": colours.third})
    fig.update_xaxes(token_axis(words, title="word"), tickangle=-45)
    fig.update_yaxes(type="linear", range=[0, 1.02], title_text="score")
    return fig


def joint_plane(
    queries: np.ndarray,
    keys: np.ndarray,
    query_names: Sequence[str],
    key_names: Sequence[str],
    *,
    theme: Theme = "light",
) -> go.Figure:
    """A head's queries [N, 2] and keys [M, 2] in one plane, each with its token under the mouse.

    Raises:
        InputError: there is not one name a point.
    """
    colours = palette(theme)
    fig = figure(theme)
    looks = (("queries", queries, query_names, "circle", 0), ("keys", keys, key_names, "diamond-open", 1))
    for name, points, names, symbol, colour in looks:
        if np.shape(points) != (len(names), 2):
            raise InputError(f"{name} of {np.shape(points)} do not fit {len(names)} tokens")
        fig.add_scatter(
            x=points[:, 0],
            y=points[:, 1],
            mode="markers",
            name=label(name, None),
            marker={"symbol": symbol, "size": 7, "color": colours.series[colour]},
            customdata=labels(names, None),
            hovertemplate="%{customdata}<extra>" + name + "</extra>",
        )
    fig.update_xaxes(type="linear", title_text="first component", zeroline=False)
    fig.update_yaxes(type="linear", title_text="second component", zeroline=False, scaleanchor="x")
    fig.update_layout(legend={"orientation": "h", "y": 1.12})
    return fig
