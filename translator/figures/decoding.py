"""Figures of decoding: candidates of a step, confidence per token, the beam tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go

from translator.errors import InputError
from translator.figures.label import label, labels
from translator.figures.style import Theme, figure, palette, token_axis
from translator.trace import Step, Trace

OTHERS = "all others"


def candidates(step: Step, *, theme: Theme = "light") -> go.Figure:
    """The likeliest tokens of a step and their probabilities, best first; the produced one in the accent.

    The last bar is the probability of all that is not listed.
    """
    colours = palette(theme)
    probs = [float(np.exp(candidate.log_prob)) for candidate in step.candidates]
    names = [candidate.token.surface for candidate in step.candidates]
    chosen = [candidate.token.id == step.token.id for candidate in step.candidates]
    bars = [*probs, max(0.0, 1 - sum(probs))]
    fig = figure(theme)
    fig.add_bar(
        x=bars,
        y=list(range(len(bars))),
        orientation="h",
        marker_color=[*(colours.here if own else colours.bar for own in chosen), colours.track],
        text=[f"{value:.2f}" for value in bars],
        textposition="outside",
        cliponaxis=False,
        customdata=labels([*names, OTHERS], None),
        hovertemplate="%{customdata}: %{x:.4f}<extra></extra>",
    )
    fig.update_xaxes(type="linear", range=[0, 1], title_text="probability")
    fig.update_yaxes(token_axis([*names, OTHERS], title="", down=True))
    return fig


def token_confidence(trace: Trace, *, theme: Theme = "light") -> go.Figure:
    """Probability (bars, left axis) and entropy in nats (points, right axis) of every produced token."""
    colours = palette(theme)
    names = [token.surface for token in trace.tgt]
    places = list(range(len(names)))
    entropies = [step.entropy for step in trace.steps]
    fig = figure(theme)
    fig.add_bar(
        x=places,
        y=np.exp(trace.log_probs),
        marker_color=colours.bar,
        name="probability",
        customdata=labels(names, None),
        hovertemplate="%{customdata}: %{y:.4f}<extra></extra>",
    )
    fig.add_scatter(
        x=places,
        y=entropies,
        yaxis="y2",
        mode="lines+markers",
        line={"color": colours.ink, "width": 1},
        name="entropy",
        customdata=labels(names, None),
        hovertemplate="%{customdata}: %{y:.3f} nats<extra></extra>",
    )
    fig.update_xaxes(token_axis(names, title="produced token"), tickangle=-45)
    fig.update_yaxes(type="linear", range=[0, 1.02], title_text="probability")
    top = max([*entropies, 0.1]) * 1.05
    right = {"overlaying": "y", "side": "right", "range": [0, top], "type": "linear", "tickmode": "auto"}
    fig.update_layout(yaxis2={**right, "title": {"text": "entropy (nats)"}}, legend={"orientation": "h", "y": 1.12})
    return fig


def beam_tree(
    steps: Sequence[Step], surface: Callable[[int], str], *, winner: Sequence[int], theme: Theme = "light"
) -> go.Figure:
    """Every hypothesis of a beam search: steps to the right, best score at the top, lines from parent to child.

    Args:
        steps: steps that carry `beams`.
        surface: the text of a token id.
        winner: the ids of the translation; the path that led to it is drawn bold. It may have ended before the last
            step, while others went on.
    Raises:
        InputError: a step carries no beams, a beam's parent does not exist, or no hypothesis is the winner.
    """
    if not steps or not all(step.beams for step in steps):
        raise InputError("there is no beam to draw; decode with method beam")
    places = [_places(step) for step in steps]
    best = _path_to(tuple(winner), steps)
    fig = figure(theme)
    for on_path in (False, True):
        x, y = _edges(steps, places, best, on_path)
        ink = palette(theme).ink if on_path else palette(theme).edge
        fig.add_scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": ink, "width": 2 if on_path else 0.75},
            hoverinfo="skip",
            name="winner" if on_path else "others",
        )
    _nodes(fig, steps, places, best, surface, theme)
    fig.update_xaxes(type="linear", title_text="step", range=[-1.4, len(steps) - 0.3], tickformat="d")
    fig.update_xaxes(tickvals=list(range(len(steps))), ticktext=[str(step.index + 1) for step in steps])
    fig.update_yaxes(type="linear", autorange="reversed", showticklabels=False, title_text="rank by normalised score")
    fig.update_layout(legend={"orientation": "h", "y": 1.12})
    return fig


def _places(step: Step) -> list[int]:
    """The rank of each beam by its normalised score, 0 the best."""
    order = sorted(range(len(step.beams)), key=lambda i: -step.beams[i].normalised)
    return [order.index(i) for i in range(len(order))]


def _parent(steps: Sequence[Step], number: int, beam: int) -> int:
    """The index of a beam's parent in the step before."""
    parent = steps[number].beams[beam].parent
    if not 0 <= parent < len(steps[number - 1].beams):
        raise InputError(f"beam {beam} of step {number} names parent {parent}, which does not exist")
    return parent


def _path_to(winner: tuple[int, ...], steps: Sequence[Step]) -> set[tuple[int, int]]:
    """The (step, beam) pairs of the hypothesis with the ids `winner`, back to the first step."""
    last = len(winner) - 1
    found = [n for n, beam in enumerate(steps[last].beams) if beam.ids == winner] if 0 <= last < len(steps) else []
    if not found:
        raise InputError(f"no hypothesis is the winner {list(winner)!r:.80}; give the ids of this search's translation")
    beam, path = found[0], {(last, found[0])}
    for number in range(last, 0, -1):
        beam = _parent(steps, number, beam)
        path.add((number - 1, beam))
    return path


def _edges(
    steps: Sequence[Step], places: Sequence[Sequence[int]], best: set[tuple[int, int]], on_path: bool
) -> tuple[list[float | None], list[float | None]]:
    """The lines between parents and children that are, or are not, on the best path; the root stands at -1."""
    x: list[float | None] = []
    y: list[float | None] = []
    for number, step in enumerate(steps):
        for beam in range(len(step.beams)):
            if ((number, beam) in best) == on_path:
                x += [number - 1, number, None]
                y += [places[number - 1][_parent(steps, number, beam)] if number else 0, places[number][beam], None]
    return x, y


def _nodes(
    fig: go.Figure,
    steps: Sequence[Step],
    places: Sequence[Sequence[int]],
    best: set[tuple[int, int]],
    surface: Callable[[int], str],
    theme: Theme,
) -> None:
    """One node a hypothesis: its last token, and on hover the whole of it with its scores."""
    colours = palette(theme)
    nodes = [(number, beam) for number, step in enumerate(steps) for beam in range(len(step.beams))]
    beams = [steps[number].beams[beam] for number, beam in nodes]
    fig.add_scatter(
        x=[number for number, _ in nodes],
        y=[places[number][beam] for number, beam in nodes],
        mode="markers+text",
        marker={
            "color": [colours.ink if node in best else colours.bar for node in nodes],
            "size": [10 if beam.ended else 6 for beam in beams],
            "symbol": ["square" if beam.ended else "circle" for beam in beams],
        },
        text=[label(surface(beam.ids[-1])) if beam.ids else "" for beam in beams],
        textposition=["bottom center" if number % 2 else "top center" for number, _ in nodes],  # neighbours stand clear
        textfont_size=12,
        cliponaxis=False,
        customdata=[
            [" ".join(labels([surface(i) for i in beam.ids], None)), beam.score, beam.normalised] for beam in beams
        ],
        hovertemplate="%{customdata[0]}<br>log p %{customdata[1]:.3f}, normalised %{customdata[2]:.3f}<extra></extra>",
        showlegend=False,
    )
