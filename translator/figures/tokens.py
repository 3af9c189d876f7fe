"""From text to tokens as a picture: the words of a sentence, and the pieces and ids that they become."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import label
from translator.figures.style import Theme, figure, palette
from translator.trace import Token

PER_LINE = 9


def subword_strip(tokens: Sequence[Token], text: str, *, per_line: int = PER_LINE, theme: Theme = "light") -> go.Figure:
    """Words above, the pieces that each became below, and their ids: as many lines as the sentence needs.

    Args:
        tokens: the source tokens; their spans point into `text`.
        per_line: pieces in a line; a word's pieces may go over to the next.
    Raises:
        InputError: there are no tokens.
    """
    if not tokens:
        raise InputError("there are no tokens to draw")
    fig, colours = figure(theme), palette(theme)
    lines = [tokens[i : i + per_line] for i in range(0, len(tokens), per_line)]
    for number, line in enumerate(lines):
        for first, last in _runs(line):
            _box(fig, first, last, 4 * number + 1.05, colours.track, colours.page)
            _write(fig, (first + last) / 2, 4 * number + 0.5, _word(line[first:last], text), colours.second)
        for place, token in enumerate(line):
            _box(fig, place, place + 1, 4 * number + 2.1, colours.band, colours.edge)
            _write(fig, place + 0.5, 4 * number + 1.58, label(token.surface, 11), colours.ink)
            _write(fig, place + 0.5, 4 * number + 2.5, str(token.id), colours.third)
    fig.add_scatter(
        x=[i % per_line + 0.5 for i in range(len(tokens))],
        y=[4 * (i // per_line) + 1.58 for i in range(len(tokens))],
        mode="markers",
        marker={"opacity": 0, "size": 24},
        customdata=[[label(t.surface, None), t.id, _kind(t)] for t in tokens],
        hovertemplate="%{customdata[0]}<br>id %{customdata[1]}%{customdata[2]}<extra></extra>",
        showlegend=False,
    )
    hidden = {"visible": False, "type": "linear"}
    fig.update_xaxes(hidden, range=[-0.05, min(per_line, len(tokens)) + 0.05], fixedrange=True)
    fig.update_yaxes(hidden, range=[4 * len(lines) - 0.9, -0.1], fixedrange=True)
    fig.update_layout(height=40 + 110 * len(lines))
    return fig


def _runs(line: Sequence[Token]) -> list[tuple[int, int]]:
    """First and end of every stretch of one word; what is no word stands alone."""
    runs: list[tuple[int, int]] = []
    for i, token in enumerate(line):
        if i and token.word >= 0 and token.word == line[i - 1].word:
            runs[-1] = (runs[-1][0], i + 1)
        else:
            runs.append((i, i + 1))
    return runs


def _word(pieces: Sequence[Token], text: str) -> str:
    """What was typed for these pieces of one word, ready to be shown."""
    spans = [token.span for token in pieces if token.span]
    typed = text[min(start for start, _ in spans) : max(end for _, end in spans)].strip() if spans else ""
    return label(typed, 8 * len(pieces)) if typed else ""


def _write(fig: go.Figure, x: float, y: float, text: str, ink: str) -> None:
    fig.add_annotation(x=x, y=y, text=text, showarrow=False, font={"color": ink, "size": 12})


def _box(fig: go.Figure, first: float, last: float, bottom: float, fill: str, edge: str) -> None:
    place = {"x0": first + 0.03, "x1": last - 0.03, "y0": bottom - 0.98, "y1": bottom}
    fig.add_shape(type="rect", **place, fillcolor=fill, line={"color": edge, "width": 1}, layer="below")


def _kind(token: Token) -> str:
    return ", special" if token.special else ", unknown" if token.unknown else ""
