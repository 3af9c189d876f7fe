"""A beam search as a tree of every hypothesis, with greedy search for comparison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from translator.errors import InputError
from translator.pipeline import Translator
from translator.registry.decoding import setting
from translator.registry.lab import field
from translator.rules import whole
from translator.trace import Step, Trace

WIDTHS = int(field("beams", "beam").range[0]), int(setting("beam").range[1])
"""A tree's least beam, and the widest that there is: a public page grants less."""
Fate = Literal["won", "ended", "grew", "pruned", "alive"]


@dataclass(frozen=True)
class Node:
    """One hypothesis.

    `parent` is the index of the node that it grew from, -1 at the first step. `score` is summed log-probability in
    nats, `normalised` that score after the length penalty. `fate`: it "won", "ended" (but did not win), "grew"
    into others, was "pruned" (better ones took its place), or was still "alive" when the search had enough.
    `leads`: it is the winner's beginning, or the winner.
    """

    step: int
    parent: int
    ids: tuple[int, ...]
    text: str
    score: float
    normalised: float
    fate: Fate
    leads: bool


@dataclass(frozen=True, eq=False)
class BeamTree:
    """All nodes, step by step; `steps` are the search's own; `trace` is the winner, `greedy` beside it."""

    nodes: tuple[Node, ...]
    steps: tuple[Step, ...]
    trace: Trace
    greedy: Trace


def beam_tree(
    translator: Translator,
    text: str,
    *,
    beam: int = 4,
    length_penalty: float | None = None,
    stop: Callable[[], bool] | None = None,
    **settings: Any,
) -> BeamTree:
    """Search with a beam and keep everything.

    Args:
        length_penalty: None takes the checkpoint's own.
        settings: further fields of `DecodeConfig`, `deadline`.
    Raises:
        InputError: as `Translator.translate`; or the beam is narrower than 2, which is no tree, or a method is given.
    """
    if "method" in settings:
        raise InputError("a tree needs a beam search; leave the method out")
    beam = whole("beam", beam, *WIDTHS)
    if length_penalty is not None:
        settings["length_penalty"] = length_penalty
    steps: list[Step] = []
    stream = translator.stream(text, method="beam", beam=beam, stop=stop, **settings)
    while True:
        try:
            steps.append(next(stream))
        except StopIteration as end:
            trace = end.value
            break
    greedy = translator.translate(text, **{**settings, "method": "greedy", "stop": stop})
    return BeamTree(_nodes(translator, steps, tuple(token.id for token in trace.tgt)), tuple(steps), trace, greedy)


def _nodes(translator: Translator, steps: list[Step], winner: tuple[int, ...]) -> tuple[Node, ...]:
    """The tree's nodes, fates included."""
    nodes: list[Node] = []
    first: list[int] = []
    for number, step in enumerate(steps):
        first.append(len(nodes))
        for beam in step.beams:
            fate: Fate = "pruned"
            if beam.ids == winner:
                fate = "won"
            elif beam.ended:
                fate = "ended"
            elif number == len(steps) - 1:
                fate = "alive"
            parent = first[number - 1] + beam.parent if number else -1
            text = translator.bundle.tgt.decode(beam.ids)
            leads = winner[: len(beam.ids)] == beam.ids
            nodes.append(Node(number, parent, beam.ids, text, beam.score, beam.normalised, fate, leads))
    grown = {node.parent for node in nodes}
    return tuple(
        replace(node, fate="grew") if index in grown and node.fate == "pruned" else node
        for index, node in enumerate(nodes)
    )
