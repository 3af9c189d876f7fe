"""A comparison of attribution methods by occlusion and deletion.

Two judges: occlusion (no attention reads the word) by Spearman's correlation, and deletion (the word is not there) by
the log-probability lost with the words that a method puts first, averaged over the first, the first two, and so on
(DeYoung et al. 2020, comprehensiveness). A random order is judged beside them. Both judges show the model sentences
that nobody wrote: a method may be right about the sentence as it is and lose here (Jain and Wallace 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import bootstrap

from translator.analysis.attribution import GRADIENTS, METHODS, POINTS, source_maps
from translator.analysis.deletion import deletion
from translator.analysis.faithfulness import chance_level, occlusion, spearman
from translator.analysis.interventions import Progress
from translator.analysis.words import Words, source_words
from translator.errors import InputError
from translator.pipeline import Translator
from translator.rules import whole
from translator.trace import Trace

RANDOM = "random"
QUICK = tuple(method for method in METHODS if method not in GRADIENTS)
"""What is judged in less than half of the time that all take."""
LEAST_WORDS = 3
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Arena:
    """One sentence judged. W source words, T predictions without the end of the sentence.

    `shares` [T, W] of each method, in the method's own unit; `occlusion` and `deletion` [T, W]: log-probability in nats
    lost without the word. `correlation` [T]: Spearman's, NaN where a side is constant. `lost` [T]: nats lost without
    the method's first words. `chance`: what the mean correlation of random orders stays below in 95 of 100 draws.
    """

    words: tuple[str, ...]
    occlusion: np.ndarray
    deletion: np.ndarray
    shares: dict[str, np.ndarray]
    correlation: dict[str, np.ndarray]
    lost: dict[str, np.ndarray]
    chance: float

    def mean(self, method: str) -> float:
        """The mean correlation of a method over the predictions that have one; NaN if none has."""
        values = self.correlation[method]
        return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")

    @property
    def ranking(self) -> tuple[str, ...]:
        """The methods, the one that agrees best with occlusion first."""
        judged = (method for method in METHODS if method in self.shares)
        return tuple(sorted(judged, key=lambda method: -np.nan_to_num(self.mean(method), nan=-2.0)))

    @property
    def believable(self) -> str | None:
        """The method to believe for this sentence; None if none is beyond chance."""
        best = self.ranking[0]
        return best if self.mean(best) > self.chance else None


@dataclass(frozen=True)
class Judged:
    """A method over a corpus: means over sentences, and where 95 of 100 bootstrap means lie (low, high)."""

    correlation: float
    correlation_range: tuple[float, float]
    lost: float
    lost_range: tuple[float, float]


def arena(
    translator: Translator,
    trace: Trace,
    *,
    methods: Sequence[str] = METHODS,
    depth: int = 1,
    seed: int = 0,
    points: int = POINTS,
    begun: Arena | None = None,
    stop: Callable[[], bool] | None = None,
) -> Arena:
    """Judge attribution methods on one translation.

    Args:
        methods: which of `METHODS`.
        depth: how many words are deleted at most, from 1 to 8.
        seed: of the random order.
        points: of the quadrature of integrated gradients.
        begun: the same translation judged with fewer methods, at the same `depth` and `seed`; what it holds is not
            computed again.
    Raises:
        InputError: the source has fewer than three words, a method or a number is none of these, or another checkpoint
            made the trace.
        CancelledError: `stop` said so.
    """
    depth, seed = whole("depth", depth, 1, 8), whole("seed", seed, 0, 2**63 - 1)
    words = source_words(trace)
    if len(words) < LEAST_WORDS:
        raise InputError(
            f"the source has {len(words)} words and punctuation marks; an order of them needs at least {LEAST_WORDS}"
        )
    steps = np.array([not token.special for token in trace.tgt])
    if not steps.any():
        raise InputError("the translation has 0 words; there is nothing to explain")
    begun = begun or _nobody_judged(translator, trace, words, steps, seed, stop)
    new = [method for method in methods if method not in begun.shares]
    maps = source_maps(translator, trace, methods=new, steps=np.flatnonzero(steps).tolist(), points=points, stop=stop)
    shares = {name: words.sums(rows) for name, rows in maps.items()}
    if RANDOM not in begun.shares:
        shares[RANDOM] = np.random.default_rng(seed).random((int(steps.sum()), len(words)))
    orders = {name: np.argsort(-values, axis=1, kind="stable") for name, values in shares.items()}
    several = {frozenset(row[:k].tolist()) for rows in orders.values() for row in rows for k in range(2, depth + 1)}
    sets = sorted((each for each in several if len(each) <= len(words)), key=sorted)
    joined: list[np.ndarray] = [np.any(words.members[sorted(each)], axis=0) for each in sets]
    more = deletion(translator, trace, joined, stop=stop)[steps]
    losses = {each: more[:, n] for n, each in enumerate(sets)}
    losses |= {frozenset([word]): begun.deletion[:, word] for word in range(len(words))}
    correlation = {name: spearman(values, begun.occlusion) for name, values in shares.items()}
    lost = {name: _lost(rows, losses, min(depth, len(words))) for name, rows in orders.items()}
    return replace(
        begun,
        shares={**begun.shares, **shares},
        correlation={**begun.correlation, **correlation},
        lost={**begun.lost, **lost},
    )


def _nobody_judged(
    translator: Translator, trace: Trace, words: Words, steps: np.ndarray, seed: int, stop: Callable[[], bool] | None
) -> Arena:
    """What both judges say, with no method yet."""
    masks: list[np.ndarray] = list(words.members)
    hidden = occlusion(translator, trace, masks, stop=stop)[steps]
    single = deletion(translator, trace, masks, stop=stop)[steps]
    return Arena(words.texts, hidden, single, {}, {}, {}, chance_level(hidden, seed=seed, stop=stop))


def _lost(orders: np.ndarray, losses: dict[frozenset[int], np.ndarray], depth: int) -> np.ndarray:
    """Nats that each prediction loses without its first words, [T], averaged over 1 to `depth` words."""
    return np.array(
        [np.mean([losses[frozenset(row[:k].tolist())][t] for k in range(1, depth + 1)]) for t, row in enumerate(orders)]
    )


def arena_table(
    translator: Translator,
    texts: Iterable[str],
    *,
    depth: int = 3,
    stop: Callable[[], bool] | None = None,
    progress: Progress | None = None,
) -> tuple[dict[str, Judged], int]:
    """Judge every method over the greedy translations of `texts`; and how many of them had words enough.

    Raises:
        InputError: a text is refused (the message names it by its number, from 1), or fewer than two had words enough.
        CancelledError: `stop` said so.
    """
    texts, found = list(texts), []
    for number, text in enumerate(texts, start=1):
        judged = judged_text(translator, text, number, depth=depth, stop=stop)
        if judged is not None:
            found.append(judged)
        if progress is not None:
            progress(number, len(texts))
    return table_of(found), len(found)


def judged_text(
    translator: Translator, text: str, number: int, *, depth: int = 3, stop: Callable[[], bool] | None = None
) -> dict[str, tuple[float, float]] | None:
    """Each method's mean correlation and mean loss over the greedy translation of `text`, the `number`th from 1.

    None if it has too few words.

    Raises:
        InputError: the text is refused; the message names it by its number.
        CancelledError: `stop` said so.
    """
    try:
        trace = translator.translate(text, method="greedy", stop=stop)
    except InputError as error:
        raise InputError(f"sentence {number}: {error}") from error
    if len(source_words(trace)) < LEAST_WORDS or all(token.special for token in trace.tgt):
        return None
    found = arena(translator, trace, depth=depth, seed=number, stop=stop)
    return {method: (found.mean(method), float(found.lost[method].mean())) for method in (*METHODS, RANDOM)}


def table_of(found: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, Judged]:
    """Every method over what `judged_text` says of each sentence.

    Raises:
        InputError: there are fewer than two.
    """
    if len(found) < 2:
        raise InputError(f"{len(found)} sentences have {LEAST_WORDS} words or more; a table needs at least 2")
    return {method: _judged(np.array([each[method] for each in found])) for method in (*METHODS, RANDOM)}


def _judged(found: np.ndarray) -> Judged:
    """A method over sentences; `found` [N, 2]: correlation and loss of each."""
    correlation, lost = found.T
    usable = correlation[np.isfinite(correlation)]
    return Judged(float(usable.mean()), _range(usable), float(lost.mean()), _range(lost))


def _range(values: np.ndarray) -> tuple[float, float]:
    """Where the mean of `values` lies with 95 % confidence."""
    found = bootstrap((values,), np.mean, confidence_level=CONFIDENCE, n_resamples=2000, method="percentile", rng=0)
    return float(found.confidence_interval.low), float(found.confidence_interval.high)
