"""The lab's word alignment: links by one head, layer or norm map, and what a hand-aligned set says of every head."""

from __future__ import annotations

from typing import Any

import numpy as np

from translator.analysis import bench
from translator.analysis import profile as profiles
from translator.analysis.alignment import error_rate, pharaoh, read_pharaoh
from translator.analysis.gold import words_of
from translator.analysis.heads import head_stats, leading_head
from translator.figures import heads as head_figures
from translator.pipeline import Translator
from translator.trace import Trace
from translator.ui.asked import Asked, choice, number, real, text
from translator.ui.explorer import show
from translator.ui.gate import Stop
from translator.ui.lab import Answer, table


def best_aligner(model: Translator, trace: Trace) -> bench.Aligner:
    """The head that aligned best over the gold set; without one, the head that links this sentence best."""
    profile = profiles.stored_profile(model)
    best = profiles.best_aligner(profile) if profile else None
    if best is not None:
        return best
    layer, head = leading_head(head_stats(trace, "cross"))
    return bench.Aligner(layer=layer, head=head)


def align(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """Links of this sentence, drawn as ribbons; with links of one's own also their error rate."""
    texts = (trace.normalised, trace.translation)
    src, tgt = (list(words_of(text, code)) for text, code in zip(texts, model.languages, strict=True))
    counts = (len(src), len(tgt))
    aligner = _aligner(model, trace, asked)
    words = bench.word_map(model, trace, aligner, counts)
    links = bench.links_of(words, aligner.way, aligner.threshold)
    lines: list[list[Any]] = [["Pharaoh: {links}", {"links": pharaoh(links) or "–"}]]
    gold: list[tuple[int, int]] = []
    if given := text(asked, "gold").strip():
        truth = read_pharaoh(given, *counts)
        gold = sorted(truth.possible)
        lines.append(["Alignment error rate against yours: {rate}", {"rate": f"{error_rate([links], [truth]):.2f}"}])
    judged, figures, captions = _judged(model, aligner)
    return {
        "chosen": {
            "map": aligner.map,
            "layer": aligner.layer + 1,
            "head": 0 if aligner.head is None else aligner.head + 1,
            "reading": aligner.reading,
        },
        "ribbons": {
            "source": src,
            "target": tgt,
            "words": words.round(3).tolist(),
            "links": sorted(links),
            "gold": gold,
        },
        "lines": lines + judged,
        "figures": figures,
        "captions": captions,
        "table": table(["source", "target"], [[src[s], tgt[t]] for s, t in sorted(links)]),
    }


def _aligner(model: Translator, trace: Trace, asked: Asked) -> bench.Aligner:
    """What the person asked for; the rest as the best aligner has it. Head 0 is the whole layer."""
    best = best_aligner(model, trace)
    layer = best.layer if asked.get("layer") is None else number(asked, "layer") - 1
    head = (0 if best.head is None else best.head + 1) if asked.get("head") is None else number(asked, "head", 0)
    return bench.Aligner(
        map=choice(asked, "map", bench.MAPS, best.map),
        layer=layer,
        head=head - 1 if head else None,
        reading=choice(asked, "reading", bench.READINGS, best.reading),
        way=choice(asked, "way", bench.WAYS, "argmax"),
        threshold=real(asked, "threshold", 0, 1),
    )


def _judged(model: Translator, aligner: bench.Aligner) -> tuple[list[list[Any]], list[str], list[str]]:
    """What the hand-aligned set says of every head: a line, and a map with the chosen head in its frame."""
    profile = profiles.stored_profile(model)
    if profile is None or profile.alignment is None:
        return [["This checkpoint was not judged against hand-aligned pairs.", {}]], [], []
    table, best = profile.alignment, profile.alignment["best_head"]
    said = {"count": table["sentences"], "name": best["name"], "rate": f"{best['rate']:.2f}"}
    rates = np.array(table["heads"][aligner.reading])
    chosen = None if aligner.head is None else (aligner.layer, aligner.head)
    return (
        [["Best over {count} hand-aligned pairs: {name}, error rate {rate}", said]],
        [show(head_figures.error_rates, rates, chosen=chosen)],
        ["Alignment error rate of every head, 0 the best"],
    )
