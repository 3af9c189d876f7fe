"""One number per head: layers down, heads across."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import label
from translator.figures.style import (
    Theme,
    cell_numbers,
    colour_bar,
    figure,
    index_axis,
    palette,
    signed_scale,
    weight_scale,
)
from translator.rules import whole


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


def error_rates(values: np.ndarray, *, chosen: tuple[int, int] | None = None, theme: Theme = "light") -> go.Figure:
    """Alignment error rate of each head, [L, H], 0 to 1: the less, the darker (lighter in the dark theme).

    Args:
        chosen: a (layer, head) counted from 0, which gets the frame that says "you are here".
    Raises:
        InputError: there is no such head.
    """
    colours = palette(theme)
    turned = [(1 - place, colour) for place, colour in reversed(colours.scale)]
    fig = _map(values, "alignment error rate", (0.0, 1.0), turned, ".2f", theme)
    if chosen is not None:
        layer, head = (whole("chosen", at, 0, size - 1) for at, size in zip(chosen, values.shape, strict=True))
        fig.add_shape(
            type="rect",
            x0=head - 0.5,
            x1=head + 0.5,
            y0=layer - 0.5,
            y1=layer + 0.5,
            line={"color": colours.here, "width": 2},
        )
    fig.update_layout(height=110 + 44 * len(values))
    return fig


def _map(
    values: np.ndarray,
    title: str,
    limits: tuple[float, float],
    scale: list[tuple[float, str]],
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
        hovertemplate="%{y} %{x}<br>%{z:.4f}<extra></extra>",
        xgap=2,
        ygap=2,
    )
    cell_numbers(fig, values, limits, scale, number)
    fig.update_xaxes(index_axis("H", values.shape[1], title="head"), side="top")
    fig.update_yaxes(index_axis("L", values.shape[0], title="layer", down=True))
    return fig
