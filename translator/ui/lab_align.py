"""The lab's word alignment: links by one head, layer or norm map, and error rates over a hand-aligned set."""

from __future__ import annotations

from typing import Any

import numpy as np

from translator.analysis import bench
from translator.analysis import profile as profiles
from translator.analysis.alignment import error_rate, pharaoh, read_pharaoh
from translator.analysis.gold import words_of
from translator.analysis.heads import head_stats, leading_head
from translator.analysis.roles import Reading
from translator.figures import heads as head_figures
from translator.pipeline import Translator
from translator.registry.lab import field
from translator.trace import Trace
from translator.ui.asked import Asked
from translator.ui.explorer import show
from translator.ui.gate import Stop
from translator.ui.lab import Answer, table


def best_aligner(model: Translator, trace: Trace, reading: Reading | None = None) -> bench.Aligner:
    """The head that aligned best over the gold set, of all or by one reading of its rows.

    Without a gold set, the head that links this sentence best.
    """
    profile = profiles.stored_profile(model)
    best = profiles.best_aligner(profile, reading) if profile else None
    if best is not None:
        return best
    layer, head = leading_head(head_stats(trace, "cross"))
    return bench.Aligner(layer=layer, head=head, reading=reading or "output")


def place(model: Translator, trace: Trace, asked: Asked) -> tuple[str, int, int, Answer]:
    """Kind, layer and head, counted from 0, and as {"chosen": …}; not chosen, it is the head that aligns best.

    Raises:
        InputError: there is no such head.
    """
    kind = field("norms", "kind").read(asked)
    layers, heads = trace.weights(kind).shape[:2]
    first = best_aligner(model, trace)
    given = {"layer": first.layer + 1, "head": (first.head or 0) + 1} if kind == "cross" else {"layer": 1, "head": 1}
    given |= {name: asked[name] for name in ("layer", "head") if asked.get(name) is not None}
    layer = field("norms", "layer").read(given, high=layers) - 1
    head = field("norms", "head").read(given, high=heads) - 1
    return kind, layer, head, {"chosen": {"layer": layer + 1, "head": head + 1}}


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
    if given := field("align", "gold").read(asked).strip():
        truth = read_pharaoh(given, *counts)
        gold = sorted(truth.possible)
        lines.append(["Alignment error rate against yours: {rate}", {"rate": f"{error_rate([links], [truth]):.2f}"}])
    judged, figures, captions = _judged(model, trace, aligner)
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
    given = {each: field("align", each).read(asked) for each in ("map", "layer", "head", "reading", "way", "threshold")}
    best = best_aligner(model, trace, given["reading"])
    layer = best.layer if given["layer"] is None else given["layer"] - 1
    head = (0 if best.head is None else best.head + 1) if given["head"] is None else given["head"]
    return bench.Aligner(
        map=given["map"] or best.map,
        layer=layer,
        head=head - 1 if head else None,
        reading=best.reading,
        way=given["way"],
        threshold=given["threshold"],
    )


def _judged(model: Translator, trace: Trace, aligner: bench.Aligner) -> tuple[list[list[Any]], list[str], list[str]]:
    """What the hand-aligned set says of every head: a line, and a map with the chosen head in its frame."""
    profile = profiles.stored_profile(model)
    if profile is None or profile.alignment is None:
        return [["This checkpoint was not judged against hand-aligned pairs.", {}]], [], []
    table, best = profile.alignment, best_aligner(model, trace, aligner.reading)
    rates = np.array(table["heads"][aligner.reading])
    said = {"count": table["sentences"], "name": best.name, "rate": f"{rates[best.layer, best.head]:.2f}"}
    own = (
        "Best over {count} hand-aligned pairs, a row belonging to what it predicts: {name}, error rate {rate}"
        if aligner.reading == "output"
        else "Best over {count} hand-aligned pairs, a row belonging to what it reads: {name}, error rate {rate}"
    )
    chosen = None if aligner.head is None else (aligner.layer, aligner.head)
    return (
        [[own, said]],
        [show(head_figures.error_rates, rates, chosen=chosen)],
        ["Alignment error rate of every head, 0 the best"],
    )
