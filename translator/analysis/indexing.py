"""Building the search index: every head and every layer over a file of sentences."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch

from translator.analysis.index import SIDES, Index
from translator.analysis.interventions import Progress
from translator.analysis.passes import KINDS, pair_of
from translator.analysis.stopping import Stop, ask
from translator.errors import InputError
from translator.pipeline import Translator
from translator.rules import whole
from translator.trace import Trace

WIDTH = 20
"""Main directions that are kept of each state."""
LONGEST = 256
"""Tokens of a sentence: the place of a key has one byte."""


def make_index(
    translator: Translator,
    texts: Iterable[str],
    *,
    data: str,
    width: int = WIDTH,
    stop: Stop | None = None,
    progress: Progress | None = None,
) -> Index:
    """Translate `texts` greedily and index them.

    Args:
        data: what the sentences are called.
        width: main directions that are kept of each state, from 2 to 64.
    Raises:
        InputError: a text is refused (the message names it by its number, from 1), or there are fewer than two.
        CancelledError: `stop` said so.
    """
    width, given = whole("width", width, 2, 64), list(texts)
    if len(given) < 2:
        raise InputError(f"{data} holds {len(given)} sentences; an index needs at least 2")
    traces: list[Trace] = []
    states: dict[str, list[np.ndarray]] = {side: [] for side in SIDES}
    for number, text in enumerate(given, start=1):
        ask(stop, "the indexing")
        try:
            trace = translator.translate(text, method="greedy")
        except InputError as error:
            raise InputError(f"sentence {number}: {error}") from error
        traces.append(trace)
        for side, found in zip(SIDES, states_of(translator, trace), strict=True):
            states[side].append(found)
        if progress is not None:
            progress(number, len(given))
    return _joined(
        translator, traces, {side: np.concatenate(found, axis=1) for side, found in states.items()}, data, width
    )


def states_of(translator: Translator, trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """The stream before each layer and after the last, float32: encoder [L + 1, S, D] and decoder [M + 1, T, D].

    Raises:
        InputError: another checkpoint made the trace.
    """
    pair = pair_of(translator, trace)
    with torch.inference_mode():
        encoded = pair.encode()
        decoded = pair.decode(encoded.memory)
    return encoded.states[0].float().cpu().numpy(), decoded.states[0].float().cpu().numpy()


def main_directions(states: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The centre [D] and the `width` main directions [D, K] of states [N, D]: their principal components."""
    centre = states.mean(axis=0, dtype=np.float64)
    _, _, rows = np.linalg.svd(states - centre, full_matrices=False)
    return centre.astype(np.float16), rows[:width].T.astype(np.float16)


def directed(states: np.ndarray, centre: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """States [..., D] as directions of length 1 in a basis [D, K]: [..., K]."""
    turned = (states.astype(np.float32) - centre.astype(np.float32)) @ basis.astype(np.float32)
    units: np.ndarray = turned / np.maximum(np.linalg.norm(turned, axis=-1, keepdims=True), 1e-9)
    return units


def _joined(translator: Translator, traces: list[Trace], states: dict[str, np.ndarray], data: str, width: int) -> Index:
    width = min(width, *(found.shape[-1] for found in states.values()), *(found.shape[1] for found in states.values()))
    main = {side: [main_directions(layer, width) for layer in found] for side, found in states.items()}
    return Index(
        checkpoint=translator.bundle.info.sha256,
        data=data,
        texts=tuple(trace.source for trace in traces),
        targets=np.array([token.id for trace in traces for token in trace.tgt], dtype=np.int32),
        src_at=_starts([len(trace.src) for trace in traces]),
        tgt_at=_starts([len(trace.tgt) for trace in traces]),
        best={kind: _bytes([trace.weights(kind).argmax(-1) for trace in traces], 2) for kind in KINDS},
        weight={kind: _bytes([np.rint(255 * trace.weights(kind).max(-1)) for trace in traces], 2) for kind in KINDS},
        states={side: np.stack(list(map(_rounded, found, main[side]))) for side, found in states.items()},
        basis={side: np.stack([basis for _, basis in found]) for side, found in main.items()},
        centre={side: np.stack([centre for centre, _ in found]) for side, found in main.items()},
    )


def _bytes(parts: list[np.ndarray], axis: int) -> np.ndarray:
    return np.concatenate(parts, axis=axis).astype(np.uint8)


def _rounded(states: np.ndarray, main: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """States [N, D] as directions of length 127, int8 [N, K]."""
    rounded: np.ndarray = np.rint(127 * directed(states, *main)).astype(np.int8)
    return rounded


def _starts(lengths: list[int]) -> np.ndarray:
    if max(lengths) > LONGEST:
        raise InputError(f"a sentence has {max(lengths)} tokens; an index takes up to {LONGEST}")
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
