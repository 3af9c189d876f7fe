"""Attention maps as heat maps, mosaics of all heads, arcs and differences.

A map is [Q, K]: row q is the query token that reads `queries[q]`; its weights over the keys sum to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import labels
from translator.figures.style import (
    Theme,
    colour_bar,
    figure,
    index_axis,
    signed_scale,
    token_axis,
    weight_scale,
)

Colour = Literal["linear", "sqrt", "row"]
KEY_TITLE = "key (attended to)"
QUERY_TITLE = "query (reads)"
PREDICTS_TITLE = "predicts"
_TICKS = (0.0, 0.1, 0.25, 0.5, 1.0)


def coloured(weights: np.ndarray, colour: Colour) -> np.ndarray:
    """The places of weights [..., Q, K] on the colour scale: as they are, square roots, or shares of the row's largest.

    Raises:
        InputError: there is no such colour mode.
    """
    if colour == "linear":
        return np.asarray(weights)
    if colour == "sqrt":
        roots: np.ndarray = np.sqrt(weights)
        return roots
    if colour == "row":
        largest = np.max(weights, axis=-1, keepdims=True)
        scaled: np.ndarray = np.divide(weights, largest, out=np.zeros_like(weights), where=largest > 0)
        return scaled
    raise InputError(f"colour is {colour!r}; it must be linear, sqrt or row")


def attention_heatmap(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    predicts: Sequence[str] | None = None,
    possible: np.ndarray | None = None,
    colour: Colour = "linear",
    scale: str = "paper",
    unit: str = "attention weight",
    theme: Theme = "light",
) -> go.Figure:
    """One head in full: each row is one query token and how it spreads over the keys.

    Args:
        weights: [Q, K], probabilities.
        predicts: what each row predicts (decoder and cross-attention): a second column of labels.
        possible: bool [Q, K]; False cells (the future) are left empty instead of showing 0.
        colour: "linear", "sqrt" (the legend is spaced accordingly), or "row" (share of the row's largest).
        scale: "paper", "Viridis" or "Cividis".
        unit: what a cell counts, as the legend of linear colours says it.
    Raises:
        InputError: map and tokens do not fit, or an unknown colour, scale or theme.
    """
    _check(weights, queries, keys, predicts)
    shown = coloured(np.asarray(weights, dtype=np.float64), colour)
    if possible is not None:
        shown = np.where(possible, shown, np.nan)
    key_texts = labels(keys, None)
    cells = [[[q, k, float(w)] for k, w in zip(key_texts, row, strict=True)] for q, row in _rows(queries, weights)]
    fig = figure(theme)
    fig.add_heatmap(
        z=shown,
        zmin=0,
        zmax=1,
        colorscale=weight_scale(theme, scale),
        customdata=np.array(cells, dtype=object),
        hovertemplate="%{customdata[0]} → %{customdata[1]}<br>%{customdata[2]:.4f}<extra></extra>",
        hoverongaps=False,
        xgap=1,
        ygap=1,
        colorbar=_legend(colour, unit),
    )
    fig.update_xaxes(token_axis(keys, title=KEY_TITLE), side="top", tickangle=-45)
    fig.update_yaxes(token_axis(queries, title=QUERY_TITLE, down=True))
    if predicts is not None:
        _second_labels(fig, predicts)
    return fig


def head_mosaic(
    weights: np.ndarray,
    *,
    possible: np.ndarray | None = None,
    colour: Colour = "linear",
    scale: str = "paper",
    theme: Theme = "light",
) -> go.Figure:
    """All heads at once, layers down and heads across, as one heat map with gaps between the tiles.

    Args:
        weights: [L, H, Q, K]; `possible`, `colour` and `scale` as in `attention_heatmap`.
    """
    layers, heads, queries, keys = weights.shape
    shown = coloured(np.asarray(weights, dtype=np.float64), colour)
    if possible is not None:
        shown = np.where(possible, shown, np.nan)
    down, across = tile_step(queries), tile_step(keys)
    canvas = np.full((layers * down, heads * across), np.nan)
    tiles = canvas.reshape(layers, down, heads, across)
    tiles[:, :queries, :, :keys] = shown.transpose(0, 2, 1, 3)
    fig = figure(theme)
    fig.add_heatmap(
        z=canvas[: layers * down - (down - queries), : heads * across - (across - keys)],
        zmin=0,
        zmax=1,
        colorscale=weight_scale(theme, scale),
        hoverinfo="skip",
        colorbar=_legend(colour),
    )
    columns, rows = index_axis("H", heads, title="head"), index_axis("L", layers, title="layer")
    columns |= {"tickvals": [h * across + (keys - 1) / 2 for h in range(heads)], "range": [-0.5, heads * across - 0.5]}
    rows |= {"tickvals": [i * down + (queries - 1) / 2 for i in range(layers)], "range": [layers * down - 0.5, -0.5]}
    fig.update_xaxes(columns, side="top")
    fig.update_yaxes(rows)
    return fig


def tile_step(cells: int) -> int:
    """The distance between two tiles of the mosaic, in cells: a tile and the gap behind it."""
    return cells + max(1, cells // 12)


def difference_heatmap(
    first: np.ndarray,
    second: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    limit: float = 1.0,
    theme: Theme = "light",
) -> go.Figure:
    """`second` minus `first`, both [Q, K]: green where the second looks more, purple where it looks less.

    Args:
        limit: the change that has the scale's last colour.
    Raises:
        InputError: the maps differ in shape, or do not fit the tokens.
    """
    if first.shape != second.shape:
        raise InputError(f"maps of {first.shape} and {second.shape} cannot be compared; they must have one shape")
    _check(first, queries, keys, None)
    change = np.asarray(second, dtype=np.float64) - first
    key_texts = labels(keys, None)
    fig = figure(theme)
    fig.add_heatmap(
        z=change,
        zmin=-limit,
        zmax=limit,
        colorscale=signed_scale(theme),
        customdata=np.array([[[q, k] for k in key_texts] for q, _ in _rows(queries, change)], dtype=object),
        hovertemplate="%{customdata[0]} → %{customdata[1]}<br>%{z:+.4f}<extra></extra>",
        xgap=1,
        ygap=1,
        colorbar=colour_bar("change of weight"),
    )
    fig.update_xaxes(token_axis(keys, title=KEY_TITLE), side="top", tickangle=-45)
    fig.update_yaxes(token_axis(queries, title=QUERY_TITLE, down=True))
    return fig


def _check(weights: np.ndarray, queries: Sequence[str], keys: Sequence[str], predicts: Sequence[str] | None) -> None:
    if weights.shape != (len(queries), len(keys)):
        raise InputError(f"a map of {weights.shape} does not fit {len(queries)} queries and {len(keys)} keys")
    if predicts is not None and len(predicts) != len(queries):
        raise InputError(f"{len(predicts)} predicted tokens do not fit {len(queries)} rows")


def _rows(queries: Sequence[str], weights: np.ndarray) -> list[tuple[str, np.ndarray]]:
    return list(zip(labels(queries, None), weights, strict=True))


def _legend(colour: Colour, unit: str = "attention weight") -> dict[str, object]:
    if colour == "row":
        return colour_bar("share of the row's largest weight")
    if colour == "sqrt":
        spots = [tick**0.5 for tick in _TICKS]
        return colour_bar("weight (square-root colour)", tickvals=spots, ticktext=[f"{t:g}" for t in _TICKS])
    return colour_bar(unit)


def _second_labels(fig: go.Figure, predicts: Sequence[str]) -> None:
    """A second column of row labels on the right; an axis is drawn only if a trace stands on it."""
    fig.add_scatter(x=[None], y=[None], yaxis="y2", hoverinfo="skip", showlegend=False)
    axis = token_axis(predicts, title=PREDICTS_TITLE, down=True)
    fig.update_layout(yaxis2={**axis, "overlaying": "y", "matches": "y", "side": "right"})
