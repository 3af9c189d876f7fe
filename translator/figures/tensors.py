"""Figures of a sentence's tensors: vectors per token, numbers per token, contributions per head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import label, labels
from translator.figures.style import Theme, colour_bar, figure, palette, signed_scale, token_axis, weight_scale


def tensor_heatmap(
    values: np.ndarray,
    tokens: Sequence[str],
    *,
    columns: str = "dimension",
    bar: str = "value",
    limit: float | None = None,
    theme: Theme = "light",
) -> go.Figure:
    """One vector a token, [R, C]: tokens down, dimensions across (from 0), zero the colour of the page.

    `limit` ends the colour scale on both sides; None takes the 99.5th percentile of the magnitudes, so that
    one outlier does not bleach the rest. The numbers on hover are never clipped.

    Raises:
        InputError: values and tokens do not fit.
    """
    values = _rows(values, tokens)
    limit = limit or max(float(np.percentile(np.abs(values), 99.5)), 1e-6)
    fig = figure(theme)
    fig.add_heatmap(
        z=values,
        zmin=-limit,
        zmax=limit,
        colorscale=signed_scale(theme),
        colorbar=colour_bar(label(bar, None), exponentformat="power"),
        customdata=_names(tokens, values.shape[1]),
        hovertemplate="%{customdata}, %{x}<br>%{z:.4g}<extra></extra>",
    )
    fig.update_xaxes(type="linear", title_text=label(columns, None), side="top", range=[-0.5, values.shape[1] - 0.5])
    fig.update_yaxes(token_axis(tokens, title="", down=True))
    return fig


def score_heatmap(
    scores: np.ndarray, queries: Sequence[str], keys: Sequence[str], *, bar: str = "score", theme: Theme = "light"
) -> go.Figure:
    """Scores before the softmax, [Q, K]: any sign and size, zero the colour of the page.

    Raises:
        InputError: scores and tokens do not fit.
    """
    if scores.shape != (len(queries), len(keys)):
        raise InputError(f"the scores are {scores.shape}; they must be [{len(queries)}, {len(keys)}]")
    limit = max(float(np.abs(scores).max()), 1e-6)
    names = labels(keys, None)
    fig = figure(theme)
    fig.add_heatmap(
        z=scores,
        zmin=-limit,
        zmax=limit,
        colorscale=signed_scale(theme),
        colorbar=colour_bar(label(bar, None)),
        customdata=[[f"{query} → {key}" for key in names] for query in labels(queries, None)],
        hovertemplate="%{customdata}<br>%{z:.4f}<extra></extra>",
        xgap=1,
        ygap=1,
    )
    fig.update_xaxes(token_axis(keys, title="key"), side="top", tickangle=-45)
    fig.update_yaxes(token_axis(queries, title="query", down=True))
    return fig


def token_values(
    series: Mapping[str, np.ndarray], tokens: Sequence[str], title: str, *, theme: Theme = "light"
) -> go.Figure:
    """One number a token for each named series, [S] each, as points on lines over the tokens.

    Raises:
        InputError: a series and the tokens do not fit.
    """
    fig = figure(theme)
    for name, values in series.items():
        if len(values) != len(tokens):
            raise InputError(f"{name} has {len(values)} values for {len(tokens)} tokens")
        fig.add_scatter(
            x=list(range(len(tokens))),
            y=np.asarray(values),
            mode="lines+markers",
            name=label(name, None),
            line_width=1,
            marker_size=7,
            customdata=labels(tokens, None),
            hovertemplate="%{customdata}<br>%{y:.4f}<extra>%{fullData.name}</extra>",
        )
    fig.update_xaxes(token_axis(tokens, title=""), tickangle=-45)
    fig.update_yaxes(type="linear", title_text=label(title, None))
    fig.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    return fig


def head_shares(parts: np.ndarray, tokens: Sequence[str], *, theme: Theme = "light") -> go.Figure:
    """How long the vector is that each head adds to each token: parts [H, T, D] as norms, heads down.

    Raises:
        InputError: parts and tokens do not fit.
    """
    if parts.ndim != 3 or parts.shape[1] != len(tokens):
        raise InputError(f"the parts are {parts.shape}; they must be [heads, {len(tokens)}, d_model]")
    norms = np.linalg.norm(parts, axis=-1)
    fig = figure(theme)
    fig.add_heatmap(
        z=norms,
        zmin=0,
        zmax=max(float(norms.max()), 1e-6),
        colorscale=weight_scale(theme),
        colorbar=colour_bar("length of what the head adds"),
        customdata=_names(tokens, len(norms), across=True),
        hovertemplate="%{y}, %{customdata}<br>%{z:.4f}<extra></extra>",
        xgap=1,
        ygap=1,
    )
    fig.update_xaxes(token_axis(tokens, title=""), side="top", tickangle=-45)
    fig.update_yaxes(token_axis([f"H{i + 1}" for i in range(len(norms))], title="head", down=True))
    return fig


def value_counts(series: Mapping[str, np.ndarray], title: str, *, bins: int = 40, theme: Theme = "light") -> go.Figure:
    """How often values [...] occur: one outlined histogram a series, on common bins, as a share of that series."""
    every = np.concatenate([np.ravel(values) for values in series.values()])
    edges = np.histogram_bin_edges(every[np.isfinite(every)], bins=bins)
    fig = figure(theme)
    for number, (name, values) in enumerate(series.items()):
        finite = np.ravel(values)[np.isfinite(np.ravel(values))]
        counts = np.histogram(finite, edges)[0]
        fig.add_scatter(
            x=np.repeat(edges, 2)[1:-1],
            y=np.repeat(counts / max(len(finite), 1), 2),
            mode="lines",
            fill="tozeroy",
            opacity=0.6,
            name=label(name, None),
            line={"width": 1.5, "color": palette(theme).series[number % len(palette(theme).series)]},
        )
    fig.update_xaxes(type="linear", title_text=label(title, None))
    fig.update_yaxes(type="linear", title_text="share", rangemode="tozero")
    fig.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    return fig


def variance_growth(widths: Sequence[int], variances: np.ndarray, *, theme: Theme = "light") -> go.Figure:
    """The variance of q · k and of q · k / √width against the width, both axes logarithmic.

    `variances` is [N, 2], a row a width.

    Raises:
        InputError: the variances do not fit the widths.
    """
    if np.shape(variances) != (len(widths), 2):
        raise InputError(f"the variances are {np.shape(variances)}; they must be [{len(widths)}, 2]")
    fig = figure(theme)
    for name, column in (("q · k", 0), ("q · k / √d_head", 1)):
        fig.add_scatter(x=list(widths), y=variances[:, column], mode="lines+markers", name=name, marker_size=7)
    ticks = {"type": "log", "tickmode": "array"}
    fig.update_xaxes(**ticks, tickvals=list(widths), ticktext=[str(w) for w in widths], title_text="width of a head")
    fig.update_yaxes(
        **ticks, tickvals=[1, *widths], ticktext=["1", *map(str, widths)], title_text="variance of the score"
    )
    fig.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    return fig


def _rows(values: np.ndarray, tokens: Sequence[str]) -> np.ndarray:
    if values.ndim != 2 or len(values) != len(tokens):
        raise InputError(f"the values are {values.shape}; they must be [{len(tokens)}, width]")
    return values


def _names(tokens: Sequence[str], count: int, *, across: bool = False) -> list[list[str]]:
    """The whole token for every cell: down the rows, or across the columns."""
    names = labels(tokens, None)
    return [names] * count if across else [[name] * count for name in names]
