"""The lab's switchboard as JSON: head ablation and translation with gated heads.

Runs in the gate's workers. What else the lab answers stands in `lab_views`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from translator.analysis import bench, interventions
from translator.analysis import heads as head_measures
from translator.analysis import profile as profiles
from translator.analysis.gold import words_of
from translator.figures.label import number_text, plain
from translator.pipeline import Translator
from translator.trace import Trace
from translator.ui.asked import Asked
from translator.ui.gate import Stop

Answer = dict[str, Any]


def board(model: Translator, trace: Trace, kind: str, stop: Stop) -> Answer:
    """Δ log-probability in nats [L][H] and role of every head of one kind."""
    values = interventions.head_importance(model, trace, [kind], stop=stop)[kind]
    return {"kind": kind, "values": values.tolist(), "roles": roles(model, trace, kind)}


def switched(model: Translator, trace: Trace, gates: Asked, stop: Stop) -> Answer:
    """The translation with every head on and with `gates`, and the word links of each for the ribbons."""
    found = interventions.switch(model, trace, gates, stop=stop)
    chosen = aligning(model, trace)
    left = np.array(gates.get("cross", np.ones(chosen.shape)), dtype=np.float64)
    return {
        "source": list(words_of(trace.normalised, model.languages[0])),
        "before": _side(model, found.before, chosen),
        "after": _side(model, found.after, chosen & (left > 0)),
        "first": float(found.fixed.sum()),
        "change": found.change,
    }


def _side(model: Translator, trace: Trace, heads: np.ndarray) -> Answer:
    words = words_of(trace.translation, model.languages[1])
    counts = (len(words_of(trace.normalised, model.languages[0])), len(words))
    mean = trace.cross[heads].mean(axis=0) if heads.any() else np.zeros(trace.cross.shape[2:])
    links = bench.word_maps(mean, trace, counts, "output")
    return {
        "text": trace.translation,
        "words": list(words),
        "score": trace.score,
        "links": links.round(3).tolist(),
    }


def stats_of(model: Translator, trace: Trace, kind: str) -> tuple[head_measures.HeadStats, ...]:
    """Each head of one kind: over a corpus if the checkpoint ships a profile, else in this sentence."""
    profile = profiles.stored_profile(model)
    return profile.heads[kind] if profile else head_measures.head_stats(trace, kind)


def roles(model: Translator, trace: Trace, kind: str) -> list[list[str]]:
    """Each head's role [L][H], as `stats_of` finds it."""
    layers, heads = trace.weights(kind).shape[:2]
    rows = [["" for _ in range(heads)] for _ in range(layers)]
    for each in stats_of(model, trace, kind):
        rows[each.layer][each.head] = each.role
    return rows


def aligning(model: Translator, trace: Trace) -> np.ndarray:
    """Which cross heads align, bool [L, H]; the one that aligns best if no head has the role, else all.

    A row stands for what it predicts: heads that align the word that they read are left out.
    """
    stats = stats_of(model, trace, "cross")
    chosen = np.array([each.role == "aligns" and each.reading != "input" for each in stats])
    chosen = chosen.reshape(trace.cross.shape[:2])
    profile = profiles.stored_profile(model)
    best = profiles.best_aligner(profile, "output") if profile else None
    if not chosen.any() and best is not None and best.head is not None:
        chosen[best.layer, best.head] = True
    return chosen if chosen.any() else np.ones_like(chosen)


def table(head: list[str], rows: list[list[str]]) -> Answer:
    """A table as the page takes it: every cell a plain text."""
    return {"head": head, "rows": [[plain(cell_, None) for cell_ in row] for row in rows]}


def minus(value: float, form: str = ".2f") -> str:
    """A number as it is shown, with a real minus sign; what rounds to zero is no negative number."""
    return number_text(value, form)
