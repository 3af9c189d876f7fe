"""The effect of temperature on next-token probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import labels
from translator.figures.style import Theme, figure, token_axis


def temperature_curves(probs: Mapping[float, np.ndarray], names: Sequence[str], *, theme: Theme = "light") -> go.Figure:
    """The same candidates' probabilities at several temperatures: `probs[temperature]` has [K], candidates across.

    Raises:
        InputError: probabilities and names do not fit.
    """
    fig = figure(theme)
    for temperature, values in probs.items():
        if len(values) != len(names):
            raise InputError(f"{len(values)} probabilities at temperature {temperature:g} for {len(names)} candidates")
        fig.add_bar(
            x=list(range(len(names))),
            y=np.asarray(values),
            name=f"T = {temperature:g}",
            customdata=labels(names, None),
            hovertemplate="%{customdata}: %{y:.4f}<extra>%{fullData.name}</extra>",
        )
    fig.update_xaxes(token_axis(names, title=""), tickangle=-45)
    fig.update_yaxes(type="linear", range=[0, 1.02], title_text="probability")
    fig.update_layout(barmode="group", legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    return fig
