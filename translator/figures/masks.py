"""The decoder's look-ahead mask and the padding mask of a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import label
from translator.figures.style import Theme, figure, palette, token_axis

SEEN, MASKED = "may be seen", "masked"


def look_ahead_mask(tokens: Sequence[str] | int = 20, *, theme: Theme = "light") -> go.Figure:
    """Which keys each decoder row may see: itself and what came before. `tokens`, or how many positions.

    Source: Vaswani et al. 2017, section 3.2.3.
    """
    names = [str(i) for i in range(tokens)] if isinstance(tokens, int) else list(tokens)
    keep = np.tril(np.ones((len(names), len(names)), dtype=bool))
    return _mask(keep, names, names, rows="query (reads)", columns="key", theme=theme)


def padding_mask(
    keep: np.ndarray, tokens: Sequence[Sequence[str]] | None = None, *, theme: Theme = "light"
) -> go.Figure:
    """Which positions of a batch are real tokens: bool [B, S], sentences down; `tokens` names the cells on hover.

    Raises:
        InputError: `tokens` does not fit the mask.
    """
    keep = np.asarray(keep, dtype=bool)
    if tokens is not None and [len(row) for row in tokens] != [keep.shape[1]] * keep.shape[0]:
        raise InputError(f"the tokens do not fit a mask of {keep.shape[0]} sentences × {keep.shape[1]} positions")
    sentences, places = ([str(i + 1) for i in range(size)] for size in keep.shape)
    return _mask(keep, sentences, places, rows="sentence", columns="position", theme=theme, cells=tokens)


def _mask(
    keep: np.ndarray,
    row_names: Sequence[str],
    column_names: Sequence[str],
    *,
    rows: str,
    columns: str,
    theme: Theme,
    cells: Sequence[Sequence[str]] | None = None,
) -> go.Figure:
    colours = palette(theme)
    words = np.where(keep, SEEN, MASKED).tolist()
    names = [[label(cell, None) for cell in row] for row in cells] if cells is not None else None
    fig = figure(theme)
    fig.add_heatmap(
        z=keep.astype(int),
        zmin=0,
        zmax=1,
        colorscale=[(0.0, colours.track), (1.0, colours.bar)],
        showscale=False,
        xgap=1,
        ygap=1,
        text=words,
        customdata=names,
        hovertemplate="%{y}, %{x}" + (" (%{customdata})" if names else "") + "<br>%{text}<extra></extra>",
    )
    for name, colour in ((SEEN, colours.bar), (MASKED, colours.track)):
        fig.add_scatter(  # a heat map has no entry in a legend
            x=[None],
            y=[None],
            mode="markers",
            name=name,
            marker={"symbol": "square", "size": 12, "color": colour, "line": {"color": colours.edge, "width": 1}},
        )
    fig.update_layout(legend={"orientation": "h", "x": 1, "xanchor": "right", "y": -0.02, "yanchor": "top"})
    fig.update_xaxes(token_axis(column_names, title=columns), side="top", tickangle=-45 if cells is None else None)
    fig.update_yaxes(token_axis(row_names, title=rows, down=True))
    return fig
