"""Attention as lines between two columns of tokens: one head, several heads, one word in all heads."""

from __future__ import annotations

import colorsys
from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.attention import KEY_TITLE, QUERY_TITLE
from translator.figures.label import label, labels
from translator.figures.style import Theme, figure, palette
from translator.rules import whole

LEAST = 0.02
"""Links of less weight are not drawn: they would be a haze. The table of links and the heat map have them."""
LEVELS = 20
"""Widths and opacities that a line can have; one trace draws all links of a head and a level."""
_BEND = np.linspace(0.0, 1.0, 13)
_RISE = _BEND**2 * (3 - 2 * _BEND)


def attention_arcs(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    names: Sequence[str] = ("",),
    row: int | None = None,
    theme: Theme = "light",
) -> go.Figure:
    """Links from the queries on the left to the keys on the right; width and opacity are the weight.

    Args:
        weights: [N, Q, K], the heads that are laid over each other, each in a colour of its own.
        names: [N], what each head is called in the legend.
        row: show the links of this query alone.
    Raises:
        InputError: maps, names and tokens do not fit, or there is no such row.
    """
    if weights.shape != (len(names), len(queries), len(keys)):
        raise InputError(
            f"maps of {weights.shape} do not fit {len(names)} names, {len(queries)} queries and {len(keys)} keys"
        )
    row = None if row is None else whole("row", row, 0, len(queries) - 1)
    fig = figure(theme)
    for name, colour, maps in zip(names, head_colours(len(names), theme), weights, strict=True):
        group = label(name, None)
        for level, x, y in _levels(maps, row):
            line = {"color": f"rgba({colour},{max(level, 0.06):.3f})", "width": 0.5 + 4 * level}
            fig.add_scatter(
                x=x, y=y, mode="lines", line=line, hoverinfo="skip", legendgroup=group, meta=level, showlegend=False
            )
        if name:
            line = {"color": f"rgb({colour})", "width": 3}
            fig.add_scatter(x=[None], y=[None], mode="lines", line=line, legendgroup=group, name=group)
    _column(fig, queries, -0.02, "middle left", row, theme)
    _column(fig, keys, 1.02, "middle right", None, theme)
    for place, title in ((0.0, QUERY_TITLE), (1.0, KEY_TITLE)):
        fig.add_annotation(x=place, y=-1, text=title, showarrow=False, font={"size": 12, "color": palette(theme).third})
    fig.update_xaxes(type="linear", range=[-0.6, 1.6], showticklabels=False, showline=False)
    fig.update_yaxes(
        type="linear", range=[max(len(queries), len(keys)) - 0.5, -1.5], showticklabels=False, showline=False
    )
    return fig


def one_word_all_heads(
    weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], *, row: int, theme: Theme = "light"
) -> go.Figure:
    """Where one query looks in every head of a layer, [H, Q, K]. After Vaswani et al. 2017, figure 3.

    Raises:
        InputError: maps and tokens do not fit, or there is no such row.
    """
    row = whole("row", row, 0, len(queries) - 1)
    names = [f"H{head + 1}" for head in range(weights.shape[0])]
    return attention_arcs(weights, queries, keys, names=names, row=row, theme=theme)


def two_heads_one_word(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    heads: tuple[int, int],
    row: int,
    theme: Theme = "light",
) -> go.Figure:
    """Where one query looks in two heads of a layer [H, Q, K], counted from 0. After Vaswani et al. 2017, figure 5.

    Raises:
        InputError: there is no such head or row.
    """
    row = whole("row", row, 0, len(queries) - 1)
    both = [whole("head", head, 0, weights.shape[0] - 1) for head in heads]
    names = [f"H{head + 1}" for head in both]
    return attention_arcs(weights[both], queries, keys, names=names, row=row, theme=theme)


def head_colours(count: int, theme: Theme) -> list[str]:
    """`count` colours as "r,g,b": the ink for one head, else evenly spaced hues that leave out the accent's."""
    if count == 1:
        ink = palette(theme).ink.lstrip("#")
        return [",".join(str(int(ink[i : i + 2], 16)) for i in (0, 2, 4))]
    light = 0.38 if theme == "light" else 0.66
    hues = (0.14 + 0.84 * i / count for i in range(count))
    return [",".join(str(round(255 * c)) for c in colorsys.hls_to_rgb(hue, light, 0.65)) for hue in hues]


def _levels(weights: np.ndarray, row: int | None) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """For each level, lightest first: its weight, and the x and y of its links, with gaps between them."""
    drawn = np.asarray(weights, dtype=np.float64) >= LEAST
    if row is not None:
        drawn &= np.arange(len(weights))[:, None] == row
    steps = np.ceil(np.clip(weights, 0, 1) * LEVELS).astype(int)
    for step in range(1, LEVELS + 1):
        links = np.argwhere(drawn & (steps == step))
        if len(links):
            start, end = links[:, :1], links[:, 1:]
            y = np.hstack([start + (end - start) * _RISE, np.full((len(links), 1), np.nan)])
            x = np.broadcast_to(np.append(_BEND, np.nan), y.shape)
            yield step / LEVELS, x.ravel(), y.ravel()


def _column(fig: go.Figure, tokens: Sequence[str], x: float, side: str, row: int | None, theme: Theme) -> None:
    """One column of tokens as text; the chosen one in the accent."""
    colours = palette(theme)
    fig.add_scatter(
        x=[x] * len(tokens),
        y=list(range(len(tokens))),
        mode="text",
        text=labels(tokens),
        textposition=side,
        textfont={"size": 14, "color": [colours.here if i == row else colours.ink for i in range(len(tokens))]},
        customdata=labels(tokens, None),
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
    )
