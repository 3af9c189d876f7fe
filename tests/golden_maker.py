"""`tests/protocol/figures.json`: what Python's figures draw of the stored translation, for the front end to agree with.

Made anew and compared by `tests/figures/test_golden.py`; written by `python tests/golden_maker.py`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from translator.analysis.distance import head_distances
from translator.figures.arcs import LEAST
from translator.figures.attention import attention_heatmap, difference_heatmap, head_mosaic, tile_step
from translator.figures.style import signed_scale, weight_scale
from translator.notebook.arrays import arrays_trace
from translator.trace import Token, Trace
from translator.ui.payload import SPACE, SPECIAL, UNKNOWN

FOLDER = Path(__file__).parent / "protocol"
KINDS = ("encoder", "decoder", "cross")
LAYER, HEAD = 1, 0
"""The head that is drawn; the difference is between it and the other head of its layer."""


def figures() -> dict[str, Any]:
    """Cells, labels and colours of every figure that the page draws too, by kind of attention."""
    trace, numbers = (json.loads((FOLDER / f"{name}.json").read_text("utf-8")) for name in ("trace", "numbers"))
    texts = {side: [token["s"] for token in trace[side]] for side in ("src", "tgt")}
    texts["reads"] = [trace["start"]["s"], *texts["tgt"][:-1]]
    drawn = {
        kind: _drawn(np.array(numbers[kind]["values"]).reshape(numbers[kind]["shape"]), kind, texts) for kind in KINDS
    }
    scales = {
        **{name: {theme: weight_scale(theme, title) for theme in ("light", "dark")}
           for name, title in (("house", "paper"), ("viridis", "Viridis"), ("cividis", "Cividis"))},
        "difference": {theme: signed_scale(theme) for theme in ("light", "dark")},
    }  # fmt: skip
    distances = _distances(trace, numbers)
    return {"layer": LAYER, "head": HEAD, "faintest": LEAST, "scales": scales, "distances": distances, **drawn}


def _distances(trace: dict[str, Any], numbers: dict[str, Any]) -> dict[str, Any]:
    """How far each head is from the one that stands in its place when layers and heads are counted from the end."""
    maps = {kind: np.array(numbers[kind]["values"]).reshape(numbers[kind]["shape"]) for kind in KINDS}
    one = _trace(trace, maps)
    other = _trace(trace, {kind: each[::-1, ::-1] for kind, each in maps.items()})
    units = (("sub", False), ("word", True))
    found = {kind: {unit: head_distances(one, other, kind, words=words) for unit, words in units} for kind in KINDS}
    return {
        kind: {unit: [round(float(each), 6) for each in np.ravel(table)] for unit, table in tables.items()}
        for kind, tables in found.items()
    }


def _trace(stored: dict[str, Any], maps: dict[str, np.ndarray]) -> Trace:
    """The stored translation with these maps."""
    texts = {side: [token["s"] for token in stored[side]] for side in ("src", "tgt")}
    whole = arrays_trace(
        **{f"{kind}_attention": each for kind, each in maps.items()},
        encoder_tokens=texts["src"],
        decoder_tokens=[stored["start"]["s"], *texts["tgt"]],
    )
    return replace(whole, start=_token(stored["start"]), **{s: tuple(map(_token, stored[s])) for s in ("src", "tgt")})


def _token(sent: dict[str, Any]) -> Token:
    flags = {
        name: bool(sent["f"] & flag) for name, flag in (("space", SPACE), ("special", SPECIAL), ("unknown", UNKNOWN))
    }
    return Token(sent["i"], sent.get("r", sent["s"]), None, sent["w"], **flags)


def _drawn(maps: np.ndarray, kind: str, texts: dict[str, list[str]]) -> dict[str, Any]:
    queries = texts["src" if kind == "encoder" else "reads"]
    keys = texts["reads" if kind == "decoder" else "src"]
    possible = np.tri(len(queries), dtype=bool) if kind == "decoder" else None
    one, two = maps[LAYER, HEAD], maps[LAYER, 1 - HEAD]
    look: dict[str, Any] = {"predicts": None if kind == "encoder" else texts["tgt"], "possible": possible}
    found = {c: attention_heatmap(one, queries, keys, colour=c, **look) for c in ("linear", "sqrt", "row")}
    layout = found["linear"].layout
    mosaic = np.array(head_mosaic(maps, possible=possible).data[0].z, dtype=float)
    down, across = tile_step(len(queries)), tile_step(len(keys))
    tile = mosaic[LAYER * down :][: len(queries), HEAD * across :][:, : len(keys)]
    return {
        "columns": list(layout.xaxis.ticktext),
        "reads": list(layout.yaxis.ticktext),
        "predicts": None if kind == "encoder" else list(layout.yaxis2.ticktext),
        "cells": {colour: _cells(fig.data[0].z) for colour, fig in found.items()},
        "tile": _cells(tile),
        "difference": _cells(difference_heatmap(one, two, queries, keys).data[0].z),
    }


def _cells(z: Any) -> list[list[float | None]]:
    return [[None if np.isnan(value) else round(float(value), 6) for value in row] for row in z]


if __name__ == "__main__":
    (FOLDER / "figures.json").write_text(json.dumps(figures(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
