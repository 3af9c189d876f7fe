"""The lab's omissions, attribution comparison and corpus search as JSON.

A line for a person is [English sentence, values for its {holes}]: the page says it in its own language.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from translator.analysis import alti as contributions
from translator.analysis import arena as arenas
from translator.analysis import joint as joints
from translator.analysis import measured, omissions
from translator.analysis.index import stored_index
from translator.analysis.search import Corpus, Hit
from translator.errors import InputError
from translator.figures import attention, belief
from translator.pipeline import Translator
from translator.registry.lab import field
from translator.trace import Token, Trace
from translator.ui.asked import Asked
from translator.ui.explorer import show
from translator.ui.gate import Stop
from translator.ui.lab import Answer, minus, table
from translator.ui.lab_align import place

HITS = 10


def left_out(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """What the translation, or one of the visitor's own, left out and invented, and what such a mark is worth."""
    own = field("omissions", "target").read(asked).strip()
    if own and own != trace.translation:
        trace = model.force(trace.source, own)
    found = omissions.omissions(model, trace, stop=stop)
    lines: list[list[Any]] = [["Translation: {text}", {"text": trace.translation}]]
    lines.append(
        ["Left out? {words}", {"words": ", ".join(found.left_out)}]
        if found.left_out
        else ["No word is marked as left out.", {}]
    )
    lines.append(
        ["Invented? {words}", {"words": ", ".join(found.invented)}]
        if found.invented
        else ["No word is marked as invented.", {}]
    )
    return {
        "lines": [*lines, *worth(found.meter)],
        "figures": [
            show(belief.word_scores, [w.text for w in words], np.array([w.score for w in words]), judge.threshold)
            for words, judge in ((found.source, found.meter.source), (found.target, found.meter.target))
        ],
        "captions": [
            "Source words: how likely each was left out; the dashed line is where a mark begins",
            "Produced words: how likely each was invented",
        ],
    }


def worth(meter: omissions.Meter) -> list[list[Any]]:
    """What a mark is worth, in a sentence a side, or that it was not measured."""
    if not meter.cases:
        return [["This checkpoint's marks were not measured: a rule from the literature is used.", {}]]
    lines = []
    for judge, said in (
        (meter.source, "Of words left out on purpose {found} in 100 were marked, of others {wrong} in 100."),
        (meter.target, "Of words added on purpose {found} in 100 were marked, of others {wrong} in 100."),
    ):
        rates = {"found": f"{100 * (judge.found or 0):.0f}", "wrong": f"{100 * (judge.wrong or 0):.1f}"}
        lines.append([said, rates])
    lines.append(
        ["Words that the model itself leaves out score lower and are rarely marked: look at the highest bars.", {}]
    )
    return lines


def contributed(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """ALTI+ as a map over source and prefix, and each token's share of both."""
    found = contributions.alti(model, trace, stop=stop).total
    predicts = _surfaces(trace.tgt)
    rows = [[word, f"{s:.0%}", f"{1 - s:.0%}"] for word, s in zip(predicts, found.source_share, strict=True)]
    mean = f"{float(found.source_share.mean()):.0%}"
    look = {"predicts": predicts, "unit": "share of the row", "colour": "sqrt"}
    reads = _surfaces(trace.reads)
    return {
        "lines": [
            ["On average {source} of a token comes from the source, the rest from the target so far.", {"source": mean}]
        ],
        "figures": [
            show(attention.attention_heatmap, found.source, reads, _surfaces(trace.src), **look),
            show(
                attention.attention_heatmap,
                found.target,
                reads,
                reads,
                possible=np.tri(len(reads), dtype=bool),
                **look,
            ),
        ],
        "captions": ["What each source token contributes", "What the target so far contributes"],
        "table": table(["predicts", "from the source", "from the target so far"], rows),
    }


_begun: WeakKeyDictionary[Trace, arenas.Arena] = WeakKeyDictionary()
"""What `believed_soon` judged, for `believed`; it goes with its trace and holds no model."""


def _quick(model: Translator, trace: Trace, stop: Stop) -> arenas.Arena:
    """The methods that do not make a visitor wait, judged once for both answers."""
    found = _begun.get(trace)
    if found is None:
        found = _begun[trace] = arenas.arena(model, trace, methods=arenas.QUICK, stop=stop)
    return found


def forget() -> None:
    """Let go of what was judged."""
    _begun.clear()


def believed_soon(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """What `believed` answers, without the gradient methods."""
    return _believed(model, _quick(model, trace, stop), [["Gradient methods are still being computed.", {}]])


def believed(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """Which attribution to believe for this sentence, and over the corpus that was measured."""
    return _believed(model, arenas.arena(model, trace, begun=_quick(model, trace, stop), stop=stop), [])


def _believed(model: Translator, found: arenas.Arena, notes: list[list[Any]]) -> Answer:
    ranked = (*found.ranking, arenas.RANDOM)
    names = {method: measured.NAMES[method] for method in ranked}
    stored = measured.stored_arena(model)
    rows = []
    for method in ranked:
        over = minus(stored.methods[method].correlation, "+.2f") if stored else "–"
        rows.append([names[method], minus(found.mean(method), "+.2f"), minus(found.lost[method].mean(), ".2f"), over])
    best = found.believable
    lines: list[list[Any]] = [
        ["Most reliable here: {method} ({mean}).", {"method": names[best], "mean": minus(found.mean(best), "+.2f")}]
        if best
        else ["No method is better than chance here.", {}],
        ["Random orders stay below {chance} in 95 of 100 draws.", {"chance": minus(found.chance, "+.2f")}],
    ]
    if stored:
        said = {"count": stored.sentences, "method": measured.NAMES[stored.best]}
        lines.append(["Over {count} sentences {method} agreed best.", said])
    return {
        "lines": [*lines, *notes],
        "figures": [show(belief.method_scores, {names[each]: found.mean(each) for each in ranked}, found.chance)],
        "captions": ["Agreement of each method's order of the source words with occlusion"],
        "table": table(["method", "this sentence", "nats lost by deletion", "over the corpus"], rows),
    }


@lru_cache(maxsize=4)
def _corpus(model: Translator) -> Corpus:
    """The index of a model, read once.

    Raises:
        InputError: its checkpoint has none.
    """
    index = stored_index(model)
    if index is None:
        raise InputError("this checkpoint has no index of sentences; create one with the index command")
    return Corpus(model, index)


def elsewhere(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """Sentences of the index where a head does the same, or where a state is alike."""
    corpus = _corpus(model)
    kind, layer, head, chosen = place(model, trace, asked)
    order = field("elsewhere", "order").read(asked)
    query, key = _cell(trace, kind, (layer, head), asked)
    chosen["chosen"] |= {"query": query + 1, "key": key + 1}
    over = ["Looked for in {count} sentences.", {"count": len(corpus.index.texts)}]
    asking, asked_ = trace.queries(kind)[query].surface, trace.keys(kind)[key].surface
    if order == "neighbours":
        side: Any = "encoder" if kind == "encoder" else "decoder"
        near = corpus.neighbours(trace, side, layer + 1, query, count=HITS)
        rows = [[each.text, f"{each.cosine:.2f}", each.source, each.translation] for each in near]
        lines = [
            over,
            [
                "Tokens whose state after layer {layer} is nearest that of {token}.",
                {"layer": layer + 1, "token": asking},
            ],
        ]
        return {**chosen, "lines": lines, "table": table(["token", "cosine", "sentence", "translation"], rows)}
    if order == "like this cell":
        hits = corpus.like_cell(trace, kind, layer, head, query, key, count=HITS)
        lines = [over, ["Rows where this head links tokens like {query} and {key}.", {"query": asking, "key": asked_}]]
    else:
        hits = corpus.head_rows(kind, layer, head, order=order, count=HITS)
        lines = [over, _habit(corpus, kind, layer, head)]
    return {
        **chosen,
        "lines": lines,
        "table": _hits(hits, alike=order == "like this cell"),
        "figures": [show(attention.attention_heatmap, trace.weights(kind)[layer, head], _surfaces(trace.queries(kind)),
                         _surfaces(trace.keys(kind)), predicts=None if kind == "encoder" else _surfaces(trace.tgt))],
        "captions": ["Click a cell of this head"],
        "cells": True,
    }  # fmt: skip


def _hits(hits: Sequence[Hit], *, alike: bool) -> Answer:
    """Rows of a head; those that are to be `alike` with what they were ordered by."""
    head = ["query (reads)", "key (attended to)", "weight", "similarity × weight", "sentence", "translation"]
    rows = [
        [
            hit.query_text,
            hit.key_text,
            f"{hit.weight:.2f}",
            minus(hit.score, ".2f") if hit.score > -1 else "–",  # below: a special token on one side alone
            hit.source,
            hit.translation,
        ]
        for hit in hits
    ]
    return table(head, rows) if alike else table(head[:3] + head[4:], [row[:3] + row[4:] for row in rows])


def _habit(corpus: Corpus, kind: str, layer: int, head: int) -> list[Any]:
    habit = corpus.habit(kind, layer, head)
    share = f"{habit.share:.0%}"
    if habit.special:
        return ["Most often it looks at a special token: {share} of its rows.", {"share": share}]
    if habit.offset is None:
        return ["Most often it looks far away: {share} of its rows.", {"share": share}]
    return [
        "Most often it looks at offset {offset}: {share} of its rows.",
        {"offset": minus(habit.offset, "+d"), "share": share},
    ]


def _cell(trace: Trace, kind: str, head: tuple[int, int], asked: Asked) -> tuple[int, int]:
    """Row and column of the cell from 0; not chosen, the strongest of the head between words, where there is one."""
    weights = np.array(trace.weights(kind)[head], dtype=np.float64)
    weights[:, [token.special for token in trace.keys(kind)]] *= 1e-3
    weights[[token.special for token in trace.queries(kind)]] *= 1e-3
    best = int(weights.max(axis=1).argmax())
    rows, columns = weights.shape
    row, column = (
        field("elsewhere", "query").read(asked, high=rows),
        field("elsewhere", "key").read(asked, high=columns),
    )
    query = best if row is None else row - 1
    return query, int(weights[query].argmax()) if column is None else column - 1


def plane(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """AttentionViz's joint picture of a head's queries and keys, over sentences of the index."""
    corpus = _corpus(model)
    kind, layer, head, chosen = place(model, trace, asked)
    found = joints.joint(corpus, kind, layer, head)
    said = {"kept": f"{found.kept:.0%}", "agreement": minus(found.agreement, "+.2f")}
    return {
        **chosen,
        "lines": [
            [
                "The plane keeps {kept} of the variance; distances in it agree with the head's scores to {agreement}.",
                said,
            ],
        ],
        "figures": [
            show(
                belief.joint_plane,
                found.queries,
                found.keys,
                _surfaces(found.query_tokens),
                _surfaces(found.key_tokens),
            )
        ],
        "captions": [
            "Queries (dots) and keys (diamonds) of this head: it tends to link those that are close to each other"
        ],
    }


def _surfaces(tokens: tuple[Token, ...]) -> list[str]:
    return [token.surface for token in tokens]
