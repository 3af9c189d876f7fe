"""The omission meter: source words left out and target words invented, with a measured hit rate.

Four signals (see `signals`) go into one score by logistic regression, which was fitted for a checkpoint on omissions
and inventions made on purpose, and judged on others (see `omission_bench`). A mark says that nothing in the translation
seems to rest on a word. It knows no meanings: a word that is translated wrongly rests on its source all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.special import expit

from translator.analysis.signals import SIGNALS, signals
from translator.checkpoints.manifest import MAX_SIDE_BYTES, is_listed, read_json
from translator.errors import CheckpointError
from translator.pipeline import Translator
from translator.trace import Trace

FORMAT_VERSION = 1
FILE = "omissions.json"


@dataclass(frozen=True)
class Judge:
    """How the signals of one side become a score, and how good that was measured to be.

    The score is expit of `bias` plus `weights` times the signals, in the order of SIGNALS; a word is marked from
    `threshold` on.
    `found` of 1 are the tampered words that are marked, `wrong` of 1 the others that are; `auroc` of each signal alone
    and of "the score", all on cases that the fit did not see. None where nothing was measured.
    """

    weights: tuple[float, ...]
    bias: float
    threshold: float
    found: float | None = None
    wrong: float | None = None
    auroc: dict[str, float] | None = None

    def scores(self, values: np.ndarray) -> np.ndarray:
        """Signals [W, 4] as scores from 0 to 1, [W]."""
        probs: np.ndarray = expit(np.asarray(values, dtype=np.float64) @ np.array(self.weights) + self.bias)
        return probs


@dataclass(frozen=True)
class Meter:
    """The judges of both sides for the weights `checkpoint`; `cases` made from `data`, 0 where none were."""

    checkpoint: str
    data: str
    cases: int
    source: Judge
    target: Judge


UNMEASURED_SOURCE = Judge(weights=(8.0, 0.0, 0.0, 0.0), bias=0.0, threshold=0.6)
"""Vamvas and Sennrich's rule, with some room: the translation is likelier without the word."""
UNMEASURED_TARGET = Judge(weights=(1.0, 0.0, 0.0, 0.0), bias=-7.0, threshold=0.5)
"""A word that the model itself finds less likely than one in a thousand."""


@dataclass(frozen=True)
class Word:
    """A word of either side, its `score` from 0 to 1, and whether it is `marked`."""

    text: str
    score: float
    marked: bool


@dataclass(frozen=True)
class Omissions:
    """`source` words, marked if left out, and `target` words, marked if invented; and by which `meter`."""

    source: tuple[Word, ...]
    target: tuple[Word, ...]
    meter: Meter

    @property
    def left_out(self) -> tuple[str, ...]:
        """The source words that nothing rests on."""
        return tuple(word.text for word in self.source if word.marked)

    @property
    def invented(self) -> tuple[str, ...]:
        """The produced words that rest on nothing."""
        return tuple(word.text for word in self.target if word.marked)


def omissions(
    translator: Translator, trace: Trace, *, meter: Meter | None = None, stop: Callable[[], bool] | None = None
) -> Omissions:
    """What one translation, the model's own or a forced one, left out and invented.

    Args:
        meter: None takes the checkpoint's own, or rules that were not measured where it has none.
    Raises:
        InputError: another checkpoint made the trace.
        CheckpointError: the checkpoint's meter is damaged or of other weights.
        CancelledError: `stop` said so.
    """
    meter = meter or stored_meter(translator) or unmeasured(translator)
    found = signals(translator, trace, stop=stop)
    return Omissions(
        source=_judged(meter.source, found.source.texts, found.source.lettered, found.of_source),
        target=_judged(meter.target, found.target.texts, found.target.lettered, found.of_target),
        meter=meter,
    )


def _judged(judge: Judge, texts: tuple[str, ...], lettered: np.ndarray, values: np.ndarray) -> tuple[Word, ...]:
    scores = judge.scores(values) if len(texts) else np.zeros(0)
    return tuple(
        Word(text, float(score), bool(letters and score >= judge.threshold))
        for text, score, letters in zip(texts, scores, lettered, strict=True)
    )


def unmeasured(translator: Translator) -> Meter:
    """Rules from the literature, for a checkpoint that no cases were made for."""
    return Meter(translator.bundle.info.sha256, "", 0, UNMEASURED_SOURCE, UNMEASURED_TARGET)


def stored_meter(translator: Translator) -> Meter | None:
    """The meter that was measured for a checkpoint, or None.

    Raises:
        CheckpointError: the file is damaged, or of other weights.
    """
    folder = translator.bundle.folder
    if folder is None or not is_listed(folder, FILE):
        return None
    path = folder / FILE
    data = read_json(path, MAX_SIDE_BYTES)
    try:
        if data.pop("format") != FORMAT_VERSION:
            raise ValueError("it is of another format")
        meter = Meter(**{**data, **{side: _judge(data[side]) for side in ("source", "target")}})
        int(meter.cases), str(meter.data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(f"{path} is not a meter file: {error}; run the command omission-bench again") from error
    if meter.checkpoint != translator.bundle.info.sha256:
        raise CheckpointError(f"{path} is of other weights; run the command omission-bench again")
    return meter


def _judge(values: dict[str, Any]) -> Judge:
    known = {field.name for field in fields(Judge)}
    if set(values) != known:
        raise ValueError(f"a judge lacks or does not know {', '.join(sorted(set(values) ^ known))}")
    numbers = [*values["weights"], values["bias"], values["threshold"], values["found"], values["wrong"]]
    measured = [number for number in numbers if number is not None]
    if len(values["weights"]) != len(SIGNALS) or not np.isfinite(np.array(measured, dtype=np.float64)).all():
        raise ValueError("a number is missing")
    auroc = None if values["auroc"] is None else {str(name): float(value) for name, value in values["auroc"].items()}
    return Judge(**{**values, "weights": tuple(map(float, values["weights"])), "auroc": auroc})
