"""Every attribution map from source tokens to predictions, on the same axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from translator.analysis.alti import alti
from translator.analysis.gradients import both_gradients, gradient_x_input, integrated_gradients
from translator.analysis.norms import cross_norms, share
from translator.analysis.passes import Replay, replay_of
from translator.analysis.rollout import rollout
from translator.analysis.stopping import Stop, ask
from translator.analysis.value_zeroing import value_zeroing
from translator.errors import InputError
from translator.pipeline import Translator
from translator.trace import Trace

POINTS = 12
"""Points for integrated gradients where only the order of the words counts, which more points hardly change."""

_MAPS: dict[str, Callable[[Translator, Trace, Replay | None, Stop | None], np.ndarray]] = {
    "attention": lambda translator, trace, run, stop: trace.cross.astype(np.float64).mean(axis=(0, 1)),
    "norms": lambda translator, trace, run, stop: share(cross_norms(translator, trace, run=run)).mean(axis=0),
    "rollout": lambda translator, trace, run, stop: rollout(trace.encoder, trace.decoder, trace.cross).source_rows,
    "alti": lambda translator, trace, run, stop: alti(translator, trace, run=run, stop=stop).total.source,
    "value-zeroing": lambda translator, trace, run, stop: (
        value_zeroing(translator, trace, run=run, stop=stop).total.source
    ),
    "gradient": lambda translator, trace, run, stop: gradient_x_input(translator, trace, inputs="source").source,
    "integrated": lambda translator, trace, run, stop: (
        integrated_gradients(translator, trace, inputs="source", points=POINTS).source
    ),
}
METHODS = tuple(_MAPS)
_REPLAYED = ("norms", "alti", "value-zeroing")
"""Of these, what reads a pass over the trace, which one pass can serve."""
GRADIENTS = ("gradient", "integrated")
"""Of these, what takes longer than all others together."""


def source_map(
    translator: Translator, trace: Trace, method: str, *, run: Replay | None = None, stop: Stop | None = None
) -> np.ndarray:
    """What each source token is to each prediction by one of `METHODS`: [T, S].

    "attention" is the mean of all cross heads, "norms" the mean of the layers' norm shares; "gradient" (× input) and
    "integrated" gradients are in nats of the token's log-probability, may be below 0, and hold the prefix fixed.

    Args:
        run: the pass over `trace`, if there is one already.
        stop: asked within what takes long; True ends the work.
    Raises:
        InputError: there is no such method, or another checkpoint made the trace.
        CancelledError: `stop` said so.
    """
    if method not in _MAPS:
        raise InputError(f"method is {method!r:.80}; it must be one of {', '.join(METHODS)}")
    return _MAPS[method](translator, trace, run, stop)


def source_maps(
    translator: Translator,
    trace: Trace,
    *,
    methods: Sequence[str] = METHODS,
    steps: Sequence[int] | None = None,
    points: int = POINTS,
    stop: Stop | None = None,
) -> dict[str, np.ndarray]:
    """Some of `METHODS`, each as `source_map` gives it: [N, S].

    Args:
        methods: which; both of `GRADIENTS` cost little more than one.
        steps: which predictions, counted from 0; None takes them all. Gradients cost as much as there are.
        points: of integrated gradients.
    Raises:
        InputError: as `source_map`, there is no such step, or the number of points is not from 1 to 1000.
        CancelledError: `stop`, which is asked before and within each, said so.
    """
    found: dict[str, np.ndarray] = {}
    run = replay_of(translator, trace) if set(methods) & set(_REPLAYED) else None
    for method in methods:
        ask(stop, "the attributions")
        if method in GRADIENTS and method not in found:
            both = both_gradients(translator, trace, steps, inputs="source", points=points, stop=stop)
            found |= dict(zip(GRADIENTS, (each.source for each in both), strict=True))
        elif method not in GRADIENTS:
            rows = source_map(translator, trace, method, run=run, stop=stop)
            found[method] = rows if steps is None else rows[list(steps)]
    return {method: found[method] for method in methods}
