"""The omission meter fitted on one half of constructed cases and evaluated on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize
from scipy.stats import mannwhitneyu

from translator.analysis.cases import Case, Span
from translator.analysis.interventions import Progress
from translator.analysis.omissions import Judge, Meter
from translator.analysis.signals import SIGNALS, signals
from translator.analysis.stopping import Stop, ask
from translator.analysis.words import Words
from translator.errors import InputError
from translator.pipeline import Translator
from translator.trace import Token

WRONG = 0.02
"""The share of untouched words that may be marked in the half that is fitted."""
RIDGE = 1e-2
WORTH = 0.005
"""What all signals together must gain in AUROC over the best alone."""
LEAST_CASES = 20


@dataclass(frozen=True, eq=False)
class Judged:
    """The words with letters of one case's tampered side: `texts`, `values` [W, 4], and which was `tampered` with."""

    texts: tuple[str, ...]
    values: np.ndarray
    tampered: np.ndarray


def judged_cases(
    translator: Translator,
    cases: Sequence[Case],
    *,
    stop: Stop | None = None,
    progress: Progress | None = None,
) -> tuple[list[Judged], list[Judged]]:
    """The signals of the source words of every omission, and of the target words of every invention.

    Raises:
        InputError: a case is longer than the limit.
        CancelledError: `stop` said so.
    """
    left_out: list[Judged] = []
    invented: list[Judged] = []
    for number, case in enumerate(cases, start=1):
        ask(stop, "the omission bench")
        trace = translator.force(case.source, case.target)
        found = signals(translator, trace)
        if case.left_out is not None:
            left_out.append(_judged(found.source, found.of_source, trace.src, case.left_out))
        if case.invented is not None:
            invented.append(_judged(found.target, found.of_target, trace.tgt, case.invented))
        if progress is not None:
            progress(number, len(cases))
    return left_out, invented


def _judged(words: Words, values: np.ndarray, tokens: Sequence[Token], span: Span) -> Judged:
    touched = np.array([t.span is not None and t.span[0] < span[1] and span[0] < t.span[1] for t in tokens])
    kept = words.lettered
    texts = tuple(text.lower() for text, keep in zip(words.texts, kept, strict=True) if keep)
    return Judged(texts, values[kept], (words.members & touched).any(axis=1)[kept])


def measured_meter(
    translator: Translator, left_out: Sequence[Judged], invented: Sequence[Judged], *, data: str
) -> Meter:
    """Fit both judges on every other case, and measure them on the rest.

    Raises:
        InputError: there are too few cases of a kind.
    """
    count = len(left_out) + len(invented)
    return Meter(translator.bundle.info.sha256, data, count, fitted(left_out), fitted(invented))


def fitted(cases: Sequence[Judged]) -> Judge:
    """A judge of one side: logistic regression on the first, third, … case; its hit rate and AUROC on the others.

    Where one signal alone does as well as all together, it alone is used.

    Raises:
        InputError: there are fewer than 20 cases.
    """
    usable = [case for case in cases if case.tampered.any()]
    if len(usable) < LEAST_CASES:
        raise InputError(f"there are {len(usable)} cases to measure by; at least {LEAST_CASES} are needed")
    seen, unseen = usable[::2], usable[1::2]
    values, tampered = _pooled(seen)
    rates = [auroc(values[:, n], tampered) for n in range(len(SIGNALS))]
    judge, best = _regression(values, tampered, range(len(SIGNALS))), int(np.argmax(rates))
    if auroc(judge.scores(values), tampered) < rates[best] + WORTH:
        judge = _regression(values, tampered, [best])
    threshold = float(np.quantile(judge.scores(values)[~tampered], 1 - WRONG))
    return _measured(replace(judge, threshold=threshold), unseen)


def _pooled(cases: Sequence[Judged]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([case.values for case in cases]), np.concatenate([case.tampered for case in cases])


def _regression(values: np.ndarray, wanted: np.ndarray, used: Sequence[int]) -> Judge:
    """A logistic regression, a little held back, over the signals that are used; the others weigh 0."""
    chosen = values[:, list(used)]
    centre, scale = chosen.mean(axis=0), np.maximum(chosen.std(axis=0), 1e-9)
    x, sign = (chosen - centre) / scale, np.where(wanted, 1.0, -1.0)

    def loss(parameters: np.ndarray) -> float:
        margin = sign * (x @ parameters[:-1] + parameters[-1])
        return float(np.logaddexp(0, -margin).mean() + RIDGE / 2 * (parameters[:-1] ** 2).sum())

    found = minimize(loss, np.zeros(x.shape[1] + 1), method="BFGS").x
    weights = np.zeros(values.shape[1])
    weights[list(used)] = found[:-1] / scale
    return Judge(tuple(weights.tolist()), float(found[-1] - (found[:-1] / scale) @ centre), 1.0)


def _measured(judge: Judge, cases: Sequence[Judged]) -> Judge:
    values, tampered = _pooled(cases)
    scores = judge.scores(values)
    marked = scores >= judge.threshold
    rates = {name: auroc(values[:, n], tampered) for n, name in enumerate(SIGNALS)}
    return replace(
        judge,
        found=float(marked[tampered].mean()),
        wrong=float(marked[~tampered].mean()),
        auroc={**rates, "the score": auroc(scores, tampered)},
    )


def auroc(scores: np.ndarray, wanted: np.ndarray) -> float:
    """The chance that a wanted one of scores [N] is higher than another, ties counting half (Mann and Whitney)."""
    found = mannwhitneyu(scores[wanted], scores[~wanted]).statistic
    return float(found / (wanted.sum() * (~wanted).sum()))
