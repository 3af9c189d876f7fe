"""Tokenisation as a figure: words, subwords and ids."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import label, plain
from translator.figures.style import Theme, figure, palette
from translator.trace import Token

LINE = 44
"""Letters in a line: as many as a phone shows at the size they are written in."""


def subword_strip(tokens: Sequence[Token], text: str, *, line: int = LINE, theme: Theme = "light") -> go.Figure:
    """Words above, the pieces that each became below, and their ids: as many lines as the sentence needs.

    Args:
        tokens: the source tokens; their spans point into `text`.
        line: letters in a line (a Chinese one counts as two); a word's pieces may go over to the next.
    Raises:
        InputError: there are no tokens.
    """
    if not tokens:
        raise InputError("there are no tokens to draw")
    fig, colours = figure(theme), palette(theme)
    lines, middles = _lines(tokens, line), []
    for number, (pieces, edges) in enumerate(lines):
        for first, last in _runs(pieces):
            start, end = edges[first], edges[last]
            _box(fig, start, end, 4 * number + 1.05, colours.track, colours.page)
            word = _word(pieces[first:last], text, int(end - start) - 1)
            _write(fig, (start + end) / 2, 4 * number + 0.5, word, colours.second)
        for token, start, end in zip(pieces, edges, edges[1:], strict=False):
            middles.append(((start + end) / 2, 4 * number + 1.58))
            _box(fig, start, end, 4 * number + 2.1, colours.band, colours.edge)
            _write(fig, (start + end) / 2, 4 * number + 1.58, label(token.surface), colours.ink)
            _write(fig, (start + end) / 2, 4 * number + 2.5, str(token.id), colours.third)
    fig.add_scatter(
        x=[x for x, _ in middles],
        y=[y for _, y in middles],
        mode="markers",
        marker={"opacity": 0, "size": 24},
        customdata=[[label(t.surface, None), t.id, _kind(t)] for t in tokens],
        hovertemplate="%{customdata[0]}<br>id %{customdata[1]}%{customdata[2]}<extra></extra>",
        showlegend=False,
    )
    hidden = {"visible": False, "type": "linear"}
    fig.update_xaxes(hidden, range=[-0.2, max(line, *(edges[-1] for _, edges in lines)) + 0.2], fixedrange=True)
    fig.update_yaxes(hidden, range=[4 * len(lines) - 0.9, -0.1], fixedrange=True)
    fig.update_layout(height=40 + 110 * len(lines))
    return fig


def _lines(tokens: Sequence[Token], width: int) -> list[tuple[list[Token], list[int]]]:
    """The tokens of each line, and where each begins, with the end of the last: in letters from the left."""
    lines: list[tuple[list[Token], list[int]]] = [([], [0])]
    for token in tokens:
        room = max(4, _letters(plain(token.surface)) + 2, len(str(token.id)) + 1)
        if lines[-1][0] and lines[-1][1][-1] + room > width:
            lines.append(([], [0]))
        lines[-1][0].append(token)
        lines[-1][1].append(lines[-1][1][-1] + room)
    return lines


def _letters(text: str) -> int:
    """How many letters wide a text is: those of East Asian scripts are two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _runs(line: Sequence[Token]) -> list[tuple[int, int]]:
    """First and end of every stretch of one word; what is no word stands alone."""
    runs: list[tuple[int, int]] = []
    for i, token in enumerate(line):
        if i and token.word >= 0 and token.word == line[i - 1].word:
            runs[-1] = (runs[-1][0], i + 1)
        else:
            runs.append((i, i + 1))
    return runs


def _word(pieces: Sequence[Token], text: str, width: int) -> str:
    """What was typed for these pieces of one word, ready to be shown in `width` letters."""
    spans = [token.span for token in pieces if token.span]
    typed = text[min(start for start, _ in spans) : max(end for _, end in spans)].strip() if spans else ""
    return label(typed, width * len(typed) // max(_letters(typed), 1)) if typed else ""


def _write(fig: go.Figure, x: float, y: float, text: str, ink: str) -> None:
    fig.add_annotation(x=x, y=y, text=text, showarrow=False, font={"color": ink, "size": 12})


def _box(fig: go.Figure, first: float, last: float, bottom: float, fill: str, edge: str) -> None:
    place = {"x0": first + 0.15, "x1": last - 0.15, "y0": bottom - 0.98, "y1": bottom}
    fig.add_shape(type="rect", **place, fillcolor=fill, line={"color": edge, "width": 1}, layer="below")


def _kind(token: Token) -> str:
    return ", special" if token.special else ", unknown" if token.unknown else ""
