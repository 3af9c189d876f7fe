"""BLEU and chrF by sacrebleu, with signatures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sacrebleu.metrics import BLEU, CHRF


@dataclass(frozen=True)
class Score:
    """BLEU (Papineni et al. 2002) and chrF2 (Popović 2015), 0 to 100, with sacrebleu's signatures."""

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str


def score(hypotheses: Sequence[str], references: Sequence[Sequence[str]], language: str) -> Score:
    """Score one hypothesis a source against all its references; Chinese is cut by sacrebleu's `zh` tokenizer."""
    bleu, chrf = _metrics(language)
    streams = _streams(references)
    bleu_score = bleu.corpus_score(list(hypotheses), streams)
    chrf_score = chrf.corpus_score(list(hypotheses), streams)
    return Score(bleu_score.score, chrf_score.score, str(bleu.get_signature()), str(chrf.get_signature()))


def _metrics(language: str) -> tuple[Any, Any]:
    return BLEU(tokenize="zh" if language == "zh" else "13a"), CHRF()


def _streams(references: Sequence[Sequence[str]]) -> Any:
    """sacrebleu's layout: every source's first reference, every source's second, …; None where there is none."""
    width = max(map(len, references))
    return [[refs[i] if i < len(refs) else None for refs in references] for i in range(width)]


@dataclass(frozen=True)
class Counts:
    """What both scores are made of, which adds up over parts; `widths`: how many references a source may have."""

    bleu: list[int]
    chrf: list[int]
    widths: list[int]


def counts(hypotheses: Sequence[str], references: Sequence[Sequence[str]], language: str) -> Counts:
    """The counts of one part, of at least one source."""
    sums: list[list[int]] = []
    for metric in _metrics(language):
        rows = metric._extract_corpus_statistics(list(hypotheses), _streams(references))
        sums.append([sum(column) for column in zip(*rows, strict=True)])
    return Counts(sums[0], sums[1], sorted(set(map(len, references))))


def score_of(parts: Iterable[Counts], language: str) -> Score:
    """The score that the parts of a corpus come to: `score` of the whole, to the bit."""
    found = list(parts)
    widths = sorted({width for part in found for width in part.widths})
    told = []
    for metric, name in zip(_metrics(language), ("bleu", "chrf"), strict=True):
        total = [sum(column) for column in zip(*(getattr(part, name) for part in found), strict=True)]
        metric.corpus_score(["a"] * len(widths), _streams([["a"] * width for width in widths]))  # for the signature
        told.append((metric._compute_score_from_stats(total).score, str(metric.get_signature())))
    (bleu, bleu_signature), (chrf, chrf_signature) = told
    return Score(bleu, chrf, bleu_signature, chrf_signature)
