"""Stations 4 to 7 and 10: query, key and value; scores and weights; masks; heads; cross-attention."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import plotly.graph_objects as go

from translator.analysis import stations
from translator.analysis.heads import entropy, head_stats
from translator.figures.attention import attention_heatmap, head_mosaic
from translator.figures.masks import look_ahead_mask, padding_mask
from translator.figures.style import Theme
from translator.figures.tensors import head_shares, score_heatmap, tensor_heatmap, value_counts, variance_growth
from translator.trace import Token
from translator.ui.lesson.station import Ask, Shown, View, layer_and_head

WIDTHS = (4, 8, 16, 32, 64, 128, 256)
LOOK_AHEAD = 20
"""Positions of the look-ahead mask without a sentence, as the annotated Transformer draws it."""
ROLES_TOLD = {
    "previous": "looks one token back",
    "same": "looks at itself",
    "next": "looks one token ahead",
    "sink": "attends to special tokens and punctuation",
    "diffuse": "spreads evenly",
    "mixed": "has no single role",
}
PADDED = 3
"""Sentences in the batch of the padding mask: this one, and its beginnings."""


def projections(ask: Ask) -> Shown:
    """Query, key and value of one encoder head."""
    config = ask.model.bundle.model.config
    layer, head, controls = layer_and_head(ask, config.encoder_layers, config.encoder_heads)
    walk = stations.encoder_layer(ask.model, ask.text, layer)
    names = _names(walk.tokens)
    made = {"query": walk.attention.query, "key": walk.attention.key, "value": walk.attention.value}
    views = tuple(
        View(name, f"{name[0]}[{head}]", tensor[head].shape, partial(_vectors, tensor[head], names))
        for name, tensor in made.items()
    )
    shape = walk.attention.query.shape
    return Shown(views, {"x": _shape(walk.before.shape), "q, k, v": _shape(shape), "d_head": str(shape[2])}, controls)


def scores(ask: Ask) -> Shown:
    """Products, scaled or not, and the weights that a softmax makes of them."""
    config = ask.model.bundle.model.config
    layer, head, controls = layer_and_head(ask, config.encoder_layers, config.encoder_heads)
    walk = stations.encoder_layer(ask.model, ask.text, layer)
    found, names, width = walk.attention, _names(walk.tokens), walk.attention.query.shape[2]
    root = width**0.5
    divide_by, divisor_control = ask.turned("divide by", told=(f"√{width} = {root:.3g}", "1"))
    scaled = divide_by == "root"
    divisor = root if scaled else 1.0
    products = found.products[head] / divisor
    weights = found.weights[head] if scaled else found.weights_without_scale()[head]
    counts = {"q · k": found.products, "q · k / √d_head": found.products / root}
    square = products.shape
    views = (
        View("weights", f"weights[{head}]", square, partial(attention_heatmap, weights, names, names)),
        View("scores", f"scores[{head}]", square, partial(score_heatmap, products, names, names)),
        View("spread of the scores", "scores", found.products.shape, partial(value_counts, counts, "score")),
        View("variance by width", "Var(q · k)", (len(WIDTHS), 2), _growth),
    )
    numbers = {
        "variance of q · k": f"{found.products.var():.2f}",
        "after the division": f"{(found.products / divisor).var():.2f}",
        "entropy of a row (nats)": f"{entropy(weights).mean():.2f}",
        "largest weight": f"{weights.max():.3f}",
    }
    return Shown(views, numbers, (*controls, divisor_control))


def masks(ask: Ask) -> Shown:
    """The padding mask of a batch with this sentence, the look-ahead mask of its translation, and what they leave."""
    from translator.training.data import collate

    model, trace = ask.model, ask.translate()
    layer, head, controls = layer_and_head(ask, *trace.decoder.shape[:2])
    ids = list(model.source_ids(ask.text)[:-1])
    shorter = [ids[: max(1, round(len(ids) * share))] for share in np.linspace(1, 0, PADDED + 1)[:-1]]
    config = model.bundle.model.config
    batch = collate(shorter, shorter, config)
    cells = [[model.bundle.src.token(id_).surface for id_ in row] for row in batch.src.tolist()]
    reads, predicts = _names(trace.reads), _names(trace.tgt)
    possible = np.tril(np.ones((len(reads), len(reads)), dtype=bool))
    weights = trace.decoder[layer, head]
    views = (
        View("look-ahead", "keep", possible.shape, partial(look_ahead_mask, reads)),
        View("20 positions", "keep", (LOOK_AHEAD, LOOK_AHEAD), partial(look_ahead_mask, LOOK_AHEAD)),
        View("padding", "keep", tuple(batch.src_keep.shape), partial(padding_mask, batch.src_keep.numpy(), cells)),
        View(
            "weights after the mask",
            f"weights[{head}]",
            weights.shape,
            partial(attention_heatmap, weights, reads, reads, predicts=predicts, possible=possible),
        ),
    )
    numbers = {
        "cells hidden": f"{(~possible).sum()} / {possible.size}",
        "largest hidden weight": f"{np.where(possible, 0, trace.decoder).max():g}",
        "weight in the first row": f"{weights[0, 0]:g}",
    }
    return Shown(views, numbers, controls)


def heads(ask: Ask) -> Shown:
    """Split, attend, lay side by side, project."""
    config = ask.model.bundle.model.config
    layer, head, controls = layer_and_head(ask, config.encoder_layers, config.encoder_heads)
    walk = stations.encoder_layer(ask.model, ask.text, layer)
    found, names = walk.attention, _names(walk.tokens)
    views = (
        View("attend", "weights", found.weights.shape, partial(_one_layer, found.weights, layer)),
        View("mix", f"(weights @ v)[{head}]", found.mixed[head].shape, partial(_vectors, found.mixed[head], names)),
        View(
            "concatenate",
            "joined",
            found.joined.shape,
            partial(tensor_heatmap, found.joined, names, columns="heads side by side"),
        ),
        View("project", "output", found.output.shape, partial(tensor_heatmap, found.output, names)),
        View("what each head adds", "‖parts‖", found.parts.shape[:2], partial(head_shares, found.parts, names)),
    )
    numbers = {
        "split": _shape(found.query.shape),
        "attend": _shape(found.weights.shape),
        "mix": _shape(found.mixed.shape),
        "concatenate": _shape(found.joined.shape),
        "project": _shape(found.output.shape),
        **_roles(ask, layer),
    }
    return Shown(views, numbers, controls)


def _roles(ask: Ask, layer: int) -> dict[str, str]:
    """Which heads of an encoder layer do what in this sentence, each with its share, by their role."""
    found: dict[str, list[str]] = {}
    for each in head_stats(ask.translate(), "encoder"):
        if each.layer == layer:
            share = "" if each.role == "mixed" else f" {each.share:.0%}"
            found.setdefault(ROLES_TOLD[each.role], []).append(f"H{each.head + 1}{share}")
    return {role: ", ".join(names) for role, names in found.items()}


def cross(ask: Ask) -> Shown:
    """Rows of the translation over the tokens of the source."""
    trace = ask.translate()
    sharp = trace.cross[..., :-1].max(axis=-1, initial=0).mean(axis=-1)  # EOS is where idle heads rest
    best = divmod(int(sharp.argmax()), sharp.shape[1])
    layers, heads = sharp.shape
    layer, head, controls = layer_and_head(ask, layers, heads, first=(best[0] + 1, best[1] + 1))
    found = stations.cross_attention(ask.model, trace, layer)
    reads, keys = _names(trace.reads), _names(trace.src)
    predicts, width = _names(trace.tgt), found.query.shape[2]
    weights, scaled = found.weights[head], found.products[head] / width**0.5
    views = (
        View(
            "weights",
            f"weights[{head}]",
            weights.shape,
            partial(attention_heatmap, weights, reads, keys, predicts=predicts),
        ),
        View("scores", f"scores[{head}]", scaled.shape, partial(score_heatmap, scaled, reads, keys)),
        View("all heads", "weights", trace.cross.shape, partial(head_mosaic, trace.cross, colour="sqrt")),
        View("query", f"q[{head}]", found.query[head].shape, partial(_vectors, found.query[head], reads)),
        View("key", f"k[{head}]", found.key[head].shape, partial(_vectors, found.key[head], keys)),
    )
    numbers = {"q": _shape(found.query.shape), "k, v": _shape(found.key.shape), "weights": _shape(found.weights.shape)}
    return Shown(views, numbers, controls, {"Translation": trace.translation})


def _vectors(values: np.ndarray, tokens: Sequence[str], *, theme: Theme) -> go.Figure:
    return tensor_heatmap(values, tokens, columns="dimension of the head", theme=theme)


def _one_layer(weights: np.ndarray, layer: int, *, theme: Theme) -> go.Figure:
    """The heads [H, S, S] of one layer, with the number of that layer."""
    fig = head_mosaic(weights[None], colour="sqrt", theme=theme)
    return fig.update_yaxes(ticktext=[f"L{layer + 1}"])


def _growth(*, theme: Theme) -> go.Figure:
    return variance_growth(WIDTHS, stations.dot_product_variances(WIDTHS), theme=theme)


def _names(tokens: Sequence[Token]) -> list[str]:
    return [token.surface for token in tokens]


def _shape(shape: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
