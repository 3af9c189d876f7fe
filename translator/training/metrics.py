"""BLEU and chrF by sacrebleu, with signatures."""

from __future__ import annotations

from collections.abc import Sequence
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
    width = max(map(len, references))
    streams: Any = [[refs[i] if i < len(refs) else None for refs in references] for i in range(width)]
    bleu, chrf = BLEU(tokenize="zh" if language == "zh" else "13a"), CHRF()
    bleu_score = bleu.corpus_score(list(hypotheses), streams)
    chrf_score = chrf.corpus_score(list(hypotheses), streams)
    return Score(bleu_score.score, chrf_score.score, str(bleu.get_signature()), str(chrf.get_signature()))
