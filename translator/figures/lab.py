"""Figures of the logit lens, of attention against occlusion, and of one cell's products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import label, labels
from translator.figures.style import Theme, colour_bar, figure, palette, token_axis


def lens_map(
    best: Sequence[Sequence[str]], log_probs: np.ndarray, produced: Sequence[str], *, theme: Theme = "light"
) -> go.Figure:
    """What each layer would say at each step, the word in its cell; the grey is the produced token's probability.

    Args:
        best: `[rows][T]`, the likeliest token; the first row is the embedding, the last the model's output.
        log_probs: [rows, T], of the produced token, in nats.
    Raises:
        InputError: they do not fit.
    """
    if log_probs.shape != (len(best), len(produced)) or any(len(row) != len(produced) for row in best):
        raise InputError(f"log-probabilities of {log_probs.shape} do not fit {len(best)} rows of {len(produced)} steps")
    colours = palette(theme)
    fig = figure(theme)
    fig.add_heatmap(
        z=np.exp(log_probs),
        zmin=0,
        zmax=1,
        colorscale=[[0, colours.page], [1, colours.shade]],
        text=[labels(row) for row in best],
        texttemplate="%{text}",
        textfont={"color": colours.ink},
        customdata=[labels(row, None) for row in best],
        hovertemplate="%{y}: %{customdata}<br>p of the produced token %{z:.4f}<extra></extra>",
        xgap=1,
        ygap=1,
        colorbar=colour_bar("probability of the produced token"),
    )
    names = ["embedding", *(f"L{n}" for n in range(1, len(best)))]
    fig.update_xaxes(token_axis(produced, title="produced token"), side="top", tickangle=-45)
    fig.update_yaxes(token_axis(names, title="after layer"))
    return fig


def rank_correlations(
    values: Mapping[str, np.ndarray], chance: float, produced: Sequence[str], *, theme: Theme = "light"
) -> go.Figure:
    """Spearman's correlation with occlusion at each step, [T] a method, and what chance reaches as a dashed line."""
    fig = figure(theme)
    for name, row in values.items():
        fig.add_scatter(
            x=list(range(len(produced))),
            y=row,
            mode="lines+markers",
            name=label(name, None),
            customdata=labels(produced, None),
            hovertemplate="%{customdata}: %{y:.3f}<extra></extra>",
        )
    if np.isfinite(chance):
        fig.add_hline(y=chance, line={"dash": "dash", "width": 1, "color": palette(theme).third})
    fig.update_xaxes(token_axis(produced, title="produced token"), tickangle=-45)
    fig.update_yaxes(type="linear", range=[-1.05, 1.05], title_text="rank correlation")
    fig.update_layout(legend={"orientation": "h", "y": 1.12})
    return fig


def cell_products(q: np.ndarray, k: np.ndarray, *, theme: Theme = "light") -> go.Figure:
    """q, k and their products, dimension by dimension, [E] each: bars whose sum is the dot product."""
    colours = palette(theme)
    fig = figure(theme)
    fig.add_bar(x=list(range(len(q))), y=q * k, marker_color=colours.bar, name="q · k")
    for name, row, symbol in (("q", q, "circle"), ("k", k, "diamond-open")):
        fig.add_scatter(
            x=list(range(len(row))), y=row, mode="markers", name=name, marker={"symbol": symbol, "color": colours.ink}
        )
    fig.update_xaxes(type="linear", title_text="dimension of the head")
    fig.update_yaxes(type="linear", title_text="value")
    fig.update_layout(legend={"orientation": "h", "y": 1.12})
    return fig


def cell_values(v: np.ndarray, carried: np.ndarray, mixed: np.ndarray, *, theme: Theme = "light") -> go.Figure:
    """v of one key, the share that its cell carries, and the row's sum over all keys; [E] each, by dimension."""
    colours = palette(theme)
    fig = figure(theme)
    dimensions = list(range(len(v)))
    fig.add_bar(
        x=dimensions, y=v, marker_color=colours.track, marker_line={"color": colours.edge, "width": 1}, name="v"
    )
    fig.add_bar(x=dimensions, y=carried, marker_color=colours.bar, name="weight × v")
    fig.add_scatter(x=dimensions, y=mixed, mode="markers", name="sum over the row", marker_color=colours.ink)
    fig.update_xaxes(type="linear", title_text="dimension of the head")
    fig.update_yaxes(type="linear", title_text="value")
    fig.update_layout(barmode="overlay", legend={"orientation": "h", "y": 1.12})
    return fig
