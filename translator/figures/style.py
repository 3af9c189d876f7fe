"""Colours, fonts and spacing of every figure, for light and dark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from translator.errors import InputError
from translator.figures.label import labels, number_text

Theme = Literal["light", "dark"]
Scale = list[tuple[float, str]]

SANS = (
    '-apple-system, "Segoe UI Variable Text", "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", '
    '"PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif'
)
"""A Latin family comes before the CJK family, which sets `· … −` full-width."""


@dataclass(frozen=True)
class Palette:
    """The colours of one theme: paper, lines, ink, the accent that says "you are here", and the weight scale.

    `shade` is the darkest ground that `ink` is still read on.
    """

    page: str
    band: str
    hairline: str
    edge: str
    ink: str
    second: str
    third: str
    here: str
    bar: str
    track: str
    shade: str
    scale: tuple[tuple[float, str], ...]
    series: tuple[str, ...]


_TOKENS = json.loads((Path(__file__).parent / "tokens.json").read_text(encoding="utf-8"))
"""The one list of colours and scales; the page's styles and scripts are built from it too."""


def _palette(theme: Theme) -> Palette:
    named = _TOKENS["colours"][theme]
    return Palette(
        **{name: named[name] for name in ("page", "band", "edge", "ink", "here", "track", "shade")},
        hairline=named["line"],
        second=named["ink2"],
        third=named["ink3"],
        bar=named["prob"],
        scale=_stops("house", theme),
        series=tuple(_TOKENS["series"][theme]),
    )


def _stops(name: str, theme: Theme) -> tuple[tuple[float, str], ...]:
    return tuple((place, colour) for place, colour in _TOKENS["scales"][name][theme])


LIGHT, DARK = _palette("light"), _palette("dark")
PALETTES: dict[str, Palette] = {"light": LIGHT, "dark": DARK}


def palette(theme: Theme) -> Palette:
    """The colours of a theme.

    Raises:
        InputError: the theme is neither light nor dark.
    """
    if theme not in PALETTES:
        raise InputError(f"theme is {theme!r}; it must be light or dark")
    return PALETTES[theme]


def weight_scale(theme: Theme, name: str = "paper") -> Scale:
    """The colour scale of attention weights: "paper" (zero is the page), or "Viridis" or "Cividis" as published.

    Raises:
        InputError: there is no such scale.
    """
    if name in ("Viridis", "Cividis"):
        return [(place, colour) for place, colour in _TOKENS["scales"][name.lower()]]
    if name != "paper":
        raise InputError(f"colour scale is {name!r}; it must be paper, Viridis or Cividis")
    return list(palette(theme).scale)


def signed_scale(theme: Theme) -> Scale:
    """Purple below zero and green above, after ColorBrewer's PRGn; the page's colour, or near it, at the centre.

    Raises:
        InputError: the theme is neither light nor dark.
    """
    palette(theme)
    return list(_stops("difference", theme))


def ink_on(colour: tuple[float, float, float]) -> str:
    """Black or white, whichever is read more easily on `colour` (red, green, blue from 0 to 1): contrast 4.5 at least.

    Source: WCAG 2.2, relative luminance and contrast ratio.
    """
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"


def figure(theme: Theme) -> go.Figure:
    """An empty figure of the theme: no grid, margins that fit the labels."""
    return go.Figure(layout={"template": _template(theme)})  # plotly copies it, so that no figure changes another


@cache
def _template(theme: Theme) -> go.layout.Template:
    """The layout of every figure of a theme, made once, which saves a fifth of a small figure's time."""
    colours = palette(theme)
    axis = dict(
        showgrid=False,
        zeroline=False,
        linecolor=colours.hairline,
        tickcolor=colours.hairline,
        ticks="",
        tickfont=dict(size=13, color=colours.second),
        title=dict(font=dict(size=12, color=colours.third), standoff=8),
        automargin=True,
    )
    layout = go.Layout(
        font=dict(family=SANS, size=14, color=colours.ink),
        paper_bgcolor=colours.page,
        plot_bgcolor=colours.page,
        colorway=colours.series,
        xaxis=axis,
        yaxis=axis,
        margin=dict(l=16, r=16, t=16, b=16),
        hoverlabel=dict(bgcolor=colours.ink, font=dict(family=SANS, size=13, color=colours.page), align="left"),
        legend=dict(font=dict(size=13, color=colours.second), bgcolor="rgba(0,0,0,0)"),
    )
    return go.layout.Template(layout=layout)


def token_axis(tokens: Sequence[str], *, title: str, down: bool = False) -> dict[str, object]:
    """A numeric axis with one tick a token, so that a repeated token keeps its own place.

    `down` counts from the top, as rows are read.
    """
    first, last = -0.5, len(tokens) - 0.5
    return dict(
        type="linear",
        tickmode="array",
        tickvals=list(range(len(tokens))),
        ticktext=labels(tokens),
        range=[last, first] if down else [first, last],
        title=dict(text=title),
    )


def index_axis(letter: str, count: int, *, title: str, down: bool = False) -> dict[str, object]:
    """A numeric axis of layers or heads: L1, L2 … or H1, H2 …, counted from 1 as everywhere on screen."""
    return token_axis([f"{letter}{i + 1}" for i in range(count)], title=title, down=down)


def colour_bar(title: str, **more: object) -> dict[str, object]:
    """A thin colour legend below the plot, at its right end; its title on top, since below it meets the ticks."""
    place = dict(orientation="h", x=1, xanchor="right", y=-0.04, yanchor="top", len=0.6, thickness=8, tickangle=0)
    return dict(title=dict(text=title, side="top", font=dict(size=12)), outlinewidth=0, **place, **more)


def cell_numbers(fig: go.Figure, values: np.ndarray, limits: tuple[float, float], scale: Scale, number: str) -> None:
    """Write the number of every cell of a heat map [R, C], in the ink that its colour takes.

    A heat map's own text is grey on middle tones. `limits` are the ends of `scale`, `number` is a format.
    """
    places = np.clip((values - limits[0]) / (limits[1] - limits[0]), 0, 1).ravel()
    known = [list(each) for each in scale]
    rows, columns = np.indices(values.shape)
    fig.add_scatter(
        x=columns.ravel(),
        y=rows.ravel(),
        mode="text",
        text=[number_text(value, number) for value in values.ravel()],
        textfont={"size": 12, "color": [ink_on(each) for each in sample_colorscale(known, places, colortype="tuple")]},
        hoverinfo="skip",
        showlegend=False,
    )
