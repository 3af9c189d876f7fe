"""Stations 8 and 9: residual and layer norm; the feed-forward block in two forms."""

from __future__ import annotations

from functools import partial

import numpy as np

from translator.analysis import stations
from translator.figures.tensors import tensor_heatmap, token_values
from translator.ui.lesson.station import Ask, Control, Shown, View


def residual(ask: Ask) -> Shown:
    """One layer norm before and after, and what a sublayer adds to the stream."""
    walk, names, control = _walk(ask)
    before, after = walk.norm_before, walk.norm_after
    spread = {
        "mean before": before.mean(axis=1),
        "std before": before.std(axis=1),
        "mean after": after.mean(axis=1),
        "std after": after.std(axis=1),
    }
    lengths = {
        "x": np.linalg.norm(walk.before, axis=1),
        "f(x)": np.linalg.norm(walk.attention.output, axis=1),
        "x + f(x)": np.linalg.norm(walk.before + walk.attention.output, axis=1),
    }
    views = (
        View("mean and spread", "μ, σ", (4, len(names)), partial(token_values, spread, names, "value")),
        View("before the norm", "x", before.shape, partial(tensor_heatmap, before, names)),
        View("after the norm", "LN(x)", after.shape, partial(tensor_heatmap, after, names)),
        View("what is added", "‖·‖", (3, len(names)), partial(token_values, lengths, names, "length")),
    )
    numbers = {
        "norm": ask.model.bundle.model.config.norm,
        "spread before": f"{before.std(axis=1).mean():.2f}",
        "spread after": f"{after.std(axis=1).mean():.2f}",
    }
    return Shown(views, numbers, control)


def feed_forward(ask: Ask) -> Shown:
    """Two linear layers, and two convolutions of width 1: the same numbers."""
    walk, names, control = _walk(ask)
    difference = walk.convolved - walk.ff_out
    largest = float(abs(difference).max())
    views = (
        View(
            "hidden",
            "max(0, xW₁ + b₁)",
            walk.hidden.shape,
            partial(tensor_heatmap, walk.hidden, names, columns="hidden unit"),
        ),
        View("linear layers", "FFN(x)", walk.ff_out.shape, partial(tensor_heatmap, walk.ff_out, names)),
        View("convolutions", "conv1d", walk.convolved.shape, partial(tensor_heatmap, walk.convolved, names)),
        View(
            "difference",
            "conv1d − FFN",
            difference.shape,
            partial(tensor_heatmap, difference, names, bar="difference", limit=largest),
        ),
    )
    numbers = {
        "largest difference": f"{largest:.1e}",
        "units active": f"{(walk.hidden > 0).mean():.0%}",
        "W₁": f"[{walk.before.shape[1]}, {walk.hidden.shape[1]}]",
    }
    return Shown(views, numbers, control)


def _walk(ask: Ask) -> tuple[stations.EncoderLayerWalk, list[str], tuple[Control, ...]]:
    layer, control = ask.counted("layer", ask.model.bundle.model.config.encoder_layers)
    walk = stations.encoder_layer(ask.model, ask.text, layer)
    return walk, [token.surface for token in walk.tokens], (control,)
