"""One number for every head: layers down, heads across."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import label
from translator.figures.style import Theme, colour_bar, figure, index_axis, signed_scale, weight_scale


def head_statistic(
    values: np.ndarray,
    title: str,
    *,
    limits: tuple[float, float] = (0.0, 1.0),
    scale: str = "paper",
    theme: Theme = "light",
) -> go.Figure:
    """A measure of each head, [L, H], with the number in its cell; `limits` are the ends of the colour scale."""
    return _map(values, title, limits, weight_scale(theme, scale), ".2f", theme)


def log_prob_change(values: np.ndarray, *, theme: Theme = "light") -> go.Figure:
    """Δ log-probability (nats) of a fixed translation when each head is off, [L, H]: purple loses, green gains."""
    limit = max(float(np.abs(values).max(initial=0.0)), 1e-6)
    return _map(values, "Δ log p (nats)", (-limit, limit), signed_scale(theme), "+.2f", theme)


def _map(
    values: np.ndarray,
    title: str,
    limits: tuple[float, float],
    scale: list[tuple[float, str]] | str,
    number: str,
    theme: Theme,
) -> go.Figure:
    if values.ndim != 2:
        raise InputError(f"the values of heads are {values.shape}; they must be [layers, heads]")
    fig = figure(theme)
    fig.add_heatmap(
        z=values,
        zmin=limits[0],
        zmax=limits[1],
        colorscale=scale,
        colorbar=colour_bar(label(title, None)),
        texttemplate=f"%{{z:{number}}}",
        hovertemplate="%{y} %{x}<br>%{z:.4f}<extra></extra>",
        xgap=2,
        ygap=2,
    )
    fig.update_xaxes(index_axis("H", values.shape[1], title="head"), side="top")
    fig.update_yaxes(index_axis("L", values.shape[0], title="layer", down=True))
    return fig
