"""Stations 1 to 3: text to tokens, tokens to vectors, positions."""

from __future__ import annotations

from functools import partial

import numpy as np

from translator.analysis import stations
from translator.analysis.aggregate import count_words
from translator.figures.positions import positional_curves, positional_heatmap, similarity_matrix, sine_cosine_pairs
from translator.figures.tensors import tensor_heatmap, token_values
from translator.figures.tokens import subword_strip
from translator.ui.lesson.station import Ask, Shown, View

POSITIONS, HEAT_MAP, CURVES, PAIRS = 100, 32, 24, 26
"""The sizes of the figures in the documents that the lesson follows (docs/lesson.md): positions, and widths."""


def tokens(ask: Ask) -> Shown:
    """The sentence in words, pieces and ids."""
    src, ids = ask.model.bundle.src, ask.model.source_ids(ask.text)
    found = (*src.encode(ask.text).tokens, *map(src.token, src.closing_ids))
    numbers = {
        "words": str(count_words(found, ask.text)),
        "tokens": str(len(ids)),
        "vocabulary": f"{len(src):,}",
        "unknown": str(sum(token.unknown for token in found)),
    }
    return Shown((View("pieces", "x", (len(ids),), partial(subword_strip, found, ask.text)),), numbers)


def embeddings(ask: Ask) -> Shown:
    """Rows of the table, scaled, and the positions added."""
    found = stations.embedded(ask.model, ask.text)
    names = [token.surface for token in found.tokens]
    scaled = found.rows * found.scale
    lengths = {
        "row": np.linalg.norm(found.rows, axis=1),
        "row · √d": np.linalg.norm(scaled, axis=1),
        "position": np.linalg.norm(found.positions, axis=1),
    }
    views = (
        View("scaled rows", "√d · E[x]", scaled.shape, partial(tensor_heatmap, scaled, names)),
        View("positions", "PE", scaled.shape, partial(tensor_heatmap, found.positions, names, limit=1.0)),
        View("sum", "z", scaled.shape, partial(tensor_heatmap, found.summed, names)),
        View("lengths", "‖·‖", (3, len(names)), partial(token_values, lengths, names, "length")),
    )
    numbers = {"length of a row": f"{lengths['row'].mean():.2f}", "√d_model": f"{found.scale:.2f}"}
    return Shown(views, {**numbers, "length of a position": f"{lengths['position'].mean():.2f}"})


def positions(ask: Ask) -> Shown:
    """The sinusoids as a table, curves, pairs and similarities; the three layouts; this sentence's own rows."""
    layout, control = ask.turned("layout")
    table, narrow = (stations.position_layouts(ask.model, POSITIONS, width)[layout] for width in (HEAT_MAP, CURVES))
    found = stations.embedded(ask.model, ask.text)
    names = [token.surface for token in found.tokens]
    own = found.positions
    views = (
        View("heat map", "PE", table.shape, partial(positional_heatmap, table)),
        View("dimensions 5 to 9", "PE[:, 5:10]", (POSITIONS, 5), partial(positional_curves, narrow)),
        View("sine and cosine", "sin, cos", (POSITIONS, 6), partial(sine_cosine_pairs, PAIRS)),
        View("similarity", "PE · PEᵀ", (POSITIONS, POSITIONS), partial(similarity_matrix, table)),
        View(
            "this sentence", "PE", own.shape, partial(tensor_heatmap, own, names, limit=max(1.0, float(abs(own).max())))
        ),
    )
    used = ask.model.bundle.model.config.positions
    return Shown(
        views,
        {"this model's layout": used, "positions at most": str(ask.model.bundle.model.config.max_positions)},
        (control,),
    )
