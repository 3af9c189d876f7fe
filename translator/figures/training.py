"""Figures of training: smoothed targets, losses, learning rates, a run's curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import label
from translator.figures.style import Theme, cell_numbers, colour_bar, figure, palette, token_axis, weight_scale
from translator.rules import real, whole

CURVES = (
    ("cross-entropy (nats)", {"nll": "training", "dev_nll": "held-out"}),
    ("token accuracy", {"accuracy": "training", "dev_accuracy": "held-out"}),
    ("BLEU, held-out", {"dev_bleu": "held-out"}),
)
"""What `training_curves` draws of a run's log: the axis title of each panel, and its lines by the record's key."""


def smoothed_targets(
    target_ids: Sequence[int], vocab: int, smoothing: float, *, pad_id: int | None = None
) -> np.ndarray:
    """The target distributions of label smoothing, [N, vocab].

    With `pad_id` None the share `smoothing` is spread over the whole vocabulary (Szegedy et al. 2016, what
    this package trains with). Otherwise padding and the target itself get none of it, and a row whose target
    is padding is 0 (Rush 2018, "The Annotated Transformer").

    Raises:
        InputError: the share is no probability, the vocabulary too small, or an id outside of it.
    """
    vocab = whole("vocab", vocab, 1 if pad_id is None else 3, 10**6)
    smoothing = real("smoothing", smoothing, 0, 1)
    targets = np.array([whole("a target", each, 0, vocab - 1) for each in target_ids], dtype=np.int64)
    if pad_id is not None:
        pad_id = whole("pad_id", pad_id, 0, vocab - 1)
    rows = np.arange(len(targets))
    if pad_id is None:
        smoothed = np.full((len(targets), vocab), smoothing / vocab)
        smoothed[rows, targets] += 1 - smoothing
        return smoothed
    smoothed = np.full((len(targets), vocab), smoothing / (vocab - 2))
    smoothed[rows, targets] = 1 - smoothing
    smoothed[:, pad_id] = 0
    smoothed[targets == pad_id] = 0
    return smoothed


def target_distribution(
    target_ids: Sequence[int] = (2, 1, 0),
    vocab: int = 5,
    smoothing: float = 0.1,
    *,
    pad_id: int | None = 0,
    theme: Theme = "light",
) -> go.Figure:
    """What each position is trained towards: `smoothed_targets` as a heat map, positions down, ids across."""
    targets = smoothed_targets(target_ids, vocab, smoothing, pad_id=pad_id)
    fig = figure(theme)
    fig.add_heatmap(
        z=targets,
        zmin=0,
        zmax=1,
        colorscale=weight_scale(theme),
        colorbar=colour_bar("target probability"),
        hovertemplate="position %{y}, id %{x}<br>%{z:.4f}<extra></extra>",
        xgap=1,
        ygap=1,
    )
    cell_numbers(fig, targets, (0, 1), weight_scale(theme), ".3g")
    fig.update_xaxes(token_axis([str(i) for i in range(vocab)], title="vocabulary id"), side="top")
    positions = [f"{i + 1}: id {target}" for i, target in enumerate(target_ids)]
    fig.update_yaxes(token_axis(positions, title="target position", down=True))
    return fig


def smoothing_loss(probs: np.ndarray, vocab: int, smoothing: float) -> np.ndarray:
    """KL divergence in nats of a smoothed target from a model that gives the right id `probs` and all others alike.

    Padding has no part in it, as in Rush 2018: `vocab` - 2 ids share what is left. `probs` [N] lie inside 0 to 1.
    """
    target = smoothed_targets([1], vocab, smoothing, pad_id=0)[0, 1:]
    others = (1 - probs) / (vocab - 2)
    predicted = np.column_stack([probs, *[others] * (vocab - 2)])
    logs = np.log(target, out=np.zeros_like(target), where=target > 0)
    loss: np.ndarray = (target * (logs - np.log(predicted))).sum(axis=1)
    return loss


def smoothing_loss_curve(
    smoothings: Sequence[float] = (0.0, 0.1, 0.4), vocab: int = 5, *, theme: Theme = "light"
) -> go.Figure:
    """The loss against the model's confidence in the right id: with smoothing, being too sure costs again."""
    probs = np.linspace(0.01, 0.995, 198)
    fig = figure(theme)
    for smoothing in smoothings:
        fig.add_scatter(x=probs, y=smoothing_loss(probs, vocab, smoothing), mode="lines", name=f"ε = {smoothing:g}")
    fig.update_xaxes(type="linear", title_text="probability of the right id")
    fig.update_yaxes(type="linear", title_text="loss (nats)")
    return fig


def noam_rate(steps: np.ndarray, d_model: int, warmup: int, factor: float = 1.0) -> np.ndarray:
    """The learning rate at steps [N] (from 1), [N]: it rises for `warmup` steps, then falls with the square root.

    Source: Vaswani et al. 2017, section 5.3.
    """
    steps = np.asarray(steps, dtype=np.float64)
    rate: np.ndarray = factor * d_model**-0.5 * np.minimum(steps**-0.5, steps * warmup**-1.5)
    return rate


def noam_curves(
    settings: Sequence[tuple[int, int]] = ((512, 4000), (512, 8000), (256, 4000)),
    *,
    steps: int = 20_000,
    theme: Theme = "light",
) -> go.Figure:
    """Learning rates over the steps for (d_model, warmup) pairs, each named `d_model:warmup`.

    Raises:
        InputError: a size or a number of steps is not positive.
    """
    fig = figure(theme)
    every = max(1, steps // 1000)
    for d_model, warmup in settings:
        if min(d_model, warmup, steps) < 1:
            raise InputError(f"{d_model}:{warmup} over {steps} steps cannot be drawn; all three must be at least 1")
        x = np.unique(np.r_[np.arange(1, steps + 1, every), min(warmup, steps), steps])
        fig.add_scatter(x=x, y=noam_rate(x, d_model, warmup), mode="lines", name=f"{d_model}:{warmup}")
    fig.update_xaxes(type="linear", title_text="optimiser step")
    fig.update_yaxes(type="linear", title_text="learning rate", tickformat=".1e")
    return fig


def training_curves(
    records: Sequence[Mapping[str, float]],
    curves: Sequence[tuple[str, Mapping[str, str]]] = CURVES,
    *,
    theme: Theme = "light",
) -> go.Figure:
    """The curves of a run from its log records: one panel a quantity, over the optimiser steps.

    A record names its `step`; one that lacks a key is passed over in that line, and a panel of which no
    record has a key is left out.

    Raises:
        InputError: no record has any of the keys.
    """
    logged: set[str] = set().union(*records)
    present = [(title, lines) for title, lines in curves if not logged.isdisjoint(lines)]
    if not present:
        wanted = ", ".join(key for _, lines in curves for key in lines)
        raise InputError(f"the log has none of {wanted}; was anything trained?")
    fig, colours = figure(theme), dict(zip(("training", "held-out"), palette(theme).series, strict=False))
    named: set[str] = set()
    for number, (title, lines) in enumerate(present):
        axis = f"y{number + 1}" if number else "y"
        for key, name in lines.items():
            points = [(record["step"], record[key]) for record in records if key in record]
            if points:
                fig.add_scatter(
                    x=[step for step, _ in points],
                    y=[value for _, value in points],
                    yaxis=axis,
                    mode="lines+markers" if len(points) < 60 else "lines",
                    name=label(name, None),
                    line={"color": colours.get(name), "width": 1.5},
                    marker_size=4,
                    legendgroup=name,
                    showlegend=name not in named,
                )
                named.add(name)
        top, height = 1 - number / len(present), 0.85 / len(present)
        place = {"domain": [top - height, top], "type": "linear", "anchor": "x"}
        fig.update_layout({axis.replace("y", "yaxis"): {**place, "title": {"text": label(title, None)}}})
    fig.update_xaxes(type="linear", title_text="optimiser step", anchor=f"y{len(present)}" if len(present) > 1 else "y")
    fig.update_layout(height=70 + 170 * len(present), legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    return fig
