"""What the page asks for once a translation is shown: what it may have left out, and what came from where (ALTI+)."""

from __future__ import annotations

from typing import Any

import numpy as np

from translator.analysis import alti, omissions
from translator.analysis.words import Words, source_words, target_words
from translator.figures.label import plain
from translator.pipeline import Translator
from translator.trace import Trace
from translator.ui.gate import Stop
from translator.ui.payload import pack


def marks(model: Translator, trace: Trace, stop: Stop) -> dict[str, Any]:
    """The words of each side that the meter marks, with their tokens, and how often such a mark is right.

    "rates" has for each side "found" (of 1 of the words tampered with) and "wrong" (of 1 of the others), as they were
    measured; None where this checkpoint was not measured.
    """
    found = omissions.omissions(model, trace, stop=stop)
    sides = {"src": (found.source, source_words(trace)), "tgt": (found.target, target_words(trace))}
    judges = {"src": found.meter.source, "tgt": found.meter.target}
    return {
        **{side: _marked(words, tokens) for side, (words, tokens) in sides.items()},
        "rates": {side: {"found": judge.found, "wrong": judge.wrong} for side, judge in judges.items()}
        if found.meter.cases
        else None,
    }


def _marked(words: tuple[omissions.Word, ...], tokens: Words) -> list[dict[str, Any]]:
    return [
        {"s": plain(word.text, None), "score": round(word.score, 4), "ids": np.flatnonzero(own).tolist()}
        for word, own in zip(words, tokens.members, strict=True)
        if word.marked
    ]


def contributions(model: Translator, trace: Trace, stop: Stop | None = None) -> dict[str, str]:
    """ALTI+ through all layers, packed as "f32": "encoder" [S, S]; "cross" [T, S] and "decoder" [T, T], whose rows sum
    to 1 together."""
    found = alti.alti(model, trace, stop=stop)
    maps = {"encoder": found.memory, "decoder": found.total.target, "cross": found.total.source}
    return {kind: pack(values, "f32") for kind, values in maps.items()}
