"""One map as an SVG picture with its numbers: what an exported notebook shows, and one without the extra."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

import translator.figures as figures
from translator.analysis import heads
from translator.figures.label import plain
from translator.figures.style import LIGHT
from translator.trace import Trace

CELL, LABEL, HEAD = 26, 92, 92
"""Width and height of a cell, of the row labels and of the column labels, in pixels."""
LEAST = 0.005
"""Smaller weights would be written as .00; their cells stay white and empty."""
MOST = 400
"""Numbers of a picture: of a map with more such weights the largest are written."""
SHADES = 200
"""Colours of a picture, from 0 to 1: cells of one colour are one path, which keeps the picture small."""
FONT = "font-family='-apple-system,Segoe UI,Roboto,Noto Sans,sans-serif'"


def still(trace: Trace, kind: str | None = None, layer: int | None = None, head: int | None = None) -> str:
    """The map of one head as SVG, weights of at least 0.005 in numbers; without a choice the one to look at first."""
    kind, layer, head = chosen(trace, kind, layer, head)
    said = f"{plain(trace.source, 90)} → {plain(trace.translation, 90)}" if trace.tgt else plain(trace.source, 120)
    about = f"{trace.checkpoint.name} · {kind} attention, layer {layer + 1}, head {head + 1}"
    return _svg([_panel(trace, kind, layer, head, said, about)])


def stills(first: Trace, second: Trace) -> str:
    """The same head of two traces, one below the other."""
    kind, layer, head = chosen(first, None, None, None)
    panels = []
    for name, trace in (("A", first), ("B", second)):
        layers, count = trace.weights(kind).shape[:2]
        at = min(layer, layers - 1), min(head, count - 1)
        about = f"{trace.checkpoint.name} · {kind} attention, layer {at[0] + 1}, head {at[1] + 1}"
        panels.append(
            _panel(trace, kind, *at, f"{name}: {plain(trace.source, 80)} → {plain(trace.translation, 80)}", about)
        )
    return _svg(panels)


def chosen(trace: Trace, kind: str | None, layer: int | None, head: int | None) -> tuple[str, int, int]:
    """Kind, layer and head, each the one to look at first where it is None."""
    kind = kind or ("cross" if "cross" in trace.kinds else trace.kinds[0])
    leading = heads.leading_head(heads.head_stats(trace, kind)) if kind == "cross" else (0, 0)
    return kind, leading[0] if layer is None else layer, leading[1] if head is None else head


Panel = tuple[int, int, list[str]]


def _panel(trace: Trace, kind: str, layer: int, head: int, said: str, about: str) -> Panel:
    """Width, height and markup of one map with its titles."""
    weights = trace.weights(kind)[layer, head]
    rows = [token.surface for token in (trace.tgt if kind == "cross" and trace.tgt else trace.queries(kind))]
    keys = [token.surface for token in trace.keys(kind)]
    left, top = LABEL, HEAD + 44
    out = [
        f"<text x='8' y='18' font-size='14' font-weight='600'>{escape(said)}</text>",
        f"<text x='8' y='36' font-size='12' fill='{LIGHT.second}'>{escape(about)}</text>",
    ]
    for j, key in enumerate(keys):
        x = left + CELL * j + CELL / 2
        turned = f"<text transform='translate({x + 4:g},{top - 6}) rotate(-55)'>{escape(plain(key, 14))}</text>"
        out.append(turned)
    for i, row in enumerate(rows):
        out.append(f"<text x='{left - 6}' y='{top + CELL * i + 17}' text-anchor='end'>{escape(plain(row, 12))}</text>")
    out += [f"<g transform='translate({left},{top})'>", *_cells(weights), *_numbers(weights), "</g>"]
    size = f"width='{CELL * len(keys)}' height='{CELL * len(rows)}'"
    frame = f"<rect x='{left}' y='{top}' {size} fill='none' stroke='{LIGHT.edge}'/>"
    width = max(left + CELL * len(keys) + 70, 16 + 8 * max(len(said), len(about)))
    return width, top + CELL * len(rows) + 14, [*out, frame]


def _cells(weights: np.ndarray) -> list[str]:
    """The cells of a map, those that would read .00 left out: one path a colour, one box for neighbours of a row."""
    boxes: dict[str, list[str]] = {}
    for i, row in enumerate(weights):
        colours = [_colour(weight) if weight >= LEAST else "" for weight in row.tolist()]
        j = 0
        for colour, run in groupby(colours):
            wide = len(list(run))
            if colour:
                boxes.setdefault(colour, []).append(f"M{j} {i}h{wide}v1h-{wide}")
            j += wide
    paths = [f"<path d='{''.join(found)}' fill='{colour}'/>" for colour, found in boxes.items()]
    return [f"<g transform='scale({CELL})'>", *paths, "</g>"]


def _numbers(weights: np.ndarray) -> list[str]:
    """The weights of a map in numbers, those that would read .00 left out; of more than `MOST` the largest."""
    least = max(LEAST, np.partition(weights.ravel(), -MOST)[-MOST]) if weights.size > MOST else LEAST
    out = ["<g font-size='9' text-anchor='middle'>"]
    for i, j in np.argwhere(weights >= least)[:MOST].tolist():
        weight = float(weights[i, j])
        ink = " fill='#fff'" if weight > 0.55 else ""
        number = f"{weight:.2f}".removeprefix("0")
        out.append(f"<text x='{CELL * j + CELL // 2}' y='{CELL * i + 17}'{ink}>{number}</text>")
    return [*out, "</g>"]


def _svg(panels: Sequence[Panel]) -> str:
    width, height = max(panel[0] for panel in panels), sum(panel[1] for panel in panels)
    out, y = [], 0
    for _, high, content in panels:
        out += [f"<g transform='translate(0,{y})'>", *content, "</g>"]
        y += high
    size = f"width='{width}' height='{height}' viewBox='0 0 {width} {height}'"
    paper = f"<rect width='{width}' height='{height}' fill='#fff'/>"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' {size} {FONT} font-size='12' fill='{LIGHT.ink}'>"
    return "".join([head, paper, *out, "</svg>"])


@cache
def _scale() -> tuple[np.ndarray, np.ndarray]:
    """Places and colours [N, 3] of the page's own scale."""
    tokens: Any = json.loads((Path(figures.__file__).parent / "tokens.json").read_text(encoding="utf-8"))
    stops = tokens["scales"]["house"]["light"]
    colours = [[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for _, colour in stops]
    return np.array([place for place, _ in stops]), np.array(colours)


@lru_cache(SHADES + 1)
def _shade(number: int) -> str:
    places, colours = _scale()
    mixed = [round(float(np.interp(number / SHADES, places, colours[:, channel]))) for channel in range(3)]
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _colour(weight: float) -> str:
    return _shade(round(weight * SHADES))
