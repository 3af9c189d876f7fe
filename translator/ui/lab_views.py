"""The lab's other views as JSON over `translator.analysis`, run in the gate's workers.

A line for a person is [English sentence, values for its {holes}]: the page says it in its own language.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from translator.analysis import (
    beams,
    cell,
    edit,
    faithfulness,
    flow,
    forced,
    lens,
    norms,
    positions,
)
from translator.analysis import heads as head_measures
from translator.analysis import profile as profiles
from translator.analysis import rollout as rollouts
from translator.errors import InputError
from translator.figures import attention, decoding, lab
from translator.figures import heads as head_figures
from translator.pipeline import Translator
from translator.registry.lab import field
from translator.trace import Token, Trace
from translator.ui.asked import Asked
from translator.ui.explorer import show
from translator.ui.gate import Stop
from translator.ui.lab import Answer, minus, table
from translator.ui.lab_align import align, place
from translator.ui.lab_belief import believed, believed_soon, contributed, elsewhere, left_out, plane
from translator.ui.lab_why import contrasted, layered, looked, patched, put_in

DIFFERENCES = 8
"""How many cells the norm view names."""


def view(model: Translator, name: str, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """One of VIEWS over the greedy `trace`: "lines", "table", "figures", each if there is any.

    "captions" names the figures, one each; "chosen" says what was taken where the person had not chosen. "follow" is a
    further view that a click on a figure's cell asks for, with all cells clicked so far in its "field"; "slides" are
    lines of which one is shown at a time.

    Raises:
        InputError: there is no such view, or what was asked cannot be.
    """
    if name not in VIEWS:
        raise InputError(f"view is {str(name)[:20]!r}; it must be one of {', '.join(VIEWS)}")
    return VIEWS[name](model, trace, asked, stop)


def _surfaces(tokens: tuple[Token, ...]) -> list[str]:
    return [token.surface for token in tokens]


def _both(trace: Trace, other: Trace) -> list[list[Any]]:
    """Two translations as lines."""
    return [
        ["Before: {text} (log p {score})", {"text": trace.translation, "score": minus(trace.score)}],
        ["After: {text} (log p {score})", {"text": other.translation, "score": minus(other.score)}],
    ]


def _force(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    found = forced.force(model, trace.source, field("force", "target").read(asked), method="greedy", stop=stop)
    rows = [
        [token.surface, minus(log_prob), str(rank)]
        for token, log_prob, rank in zip(found.trace.tgt, found.trace.log_probs, found.ranks, strict=True)
    ]
    verdicts = {
        "same": "This is what the model chooses itself.",
        "search error": "Search error: the model finds yours more probable, but the search missed it.",
        "model error": "Model error, if yours is right: the model finds its own more probable.",
    }
    scores = {"given": minus(found.score), "chosen": minus(found.chosen_score), "text": found.chosen.translation}
    answer: Answer = {
        "lines": [["Yours: log p {given}. The model's own: {text} ({chosen}).", scores], [verdicts[found.verdict], {}]],
        "table": table(["token", "log p", "rank"], rows),
        "figures": [show(decoding.token_confidence, found.trace)],
        "captions": ["How probable the model finds each of your tokens"],
    }
    if field("force", "kind").read(asked) != "none":
        kind, layer, head, chosen = place(model, found.trace, asked)
        answer["figures"].append(_heatmap(found.trace, kind, found.trace.weights(kind)[layer, head]))
        answer["captions"].append("What the chosen head looks at meanwhile")
        answer |= chosen
    return answer


def _edit(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    step = field("edit", "step").read(asked, high=len(trace.tgt)) - 1
    typed = field("edit", "choice").read(asked)
    wanted = typed.strip()
    candidates = trace.steps[step].candidates
    known = {each.token.surface: each.token.id for each in reversed(candidates)}
    rows = [[each.token.surface, f"{np.exp(each.log_prob):.3f}"] for each in candidates]
    answer = {
        "table": table(["candidate", "probability"], rows),
        "figures": [show(decoding.candidates, trace.steps[step])],
        "captions": ["Click a candidate to put it there"],
        "picks": [each.token.surface for each in candidates],
    }
    if not wanted:
        picked: int | str = edit.runner_up(trace, step)
    else:
        picked = known.get(wanted, typed)
    return {**answer, "lines": _both(trace, edit.continue_from(model, trace, step, picked, stop=stop))}


def _beams(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    own, beam, penalty = model.bundle.decode, field("beams", "beam"), field("beams", "penalty").read(asked)
    least, most = beam.range
    width = beam.read(asked) or int(min(max(own.beam, least), most))
    penalty = own.length_penalty if penalty is None else penalty
    tree = beams.beam_tree(model, trace.source, beam=width, length_penalty=penalty, stop=stop)
    pruned = sum(node.fate == "pruned" for node in tree.nodes)
    won = [token.id for token in tree.trace.tgt]
    said = {"text": tree.trace.translation, "score": minus(tree.trace.score)}
    greedy = {"text": tree.greedy.translation, "score": minus(tree.greedy.score)}
    ends = sorted((n for n in tree.nodes if n.fate in ("won", "ended")), key=lambda node: -node.normalised)
    rows = [[node.text, minus(node.score), minus(node.normalised), node.fate] for node in ends]
    return {
        "chosen": {"beam": width, "penalty": penalty},
        "lines": [
            ["Beam: {text} (log p {score})", said],
            ["Greedy: {text} (log p {score})", greedy],
            [
                "The search kept {all} hypotheses at some step; {pruned} of them were pruned later.",
                {"all": len(tree.nodes), "pruned": pruned},
            ],
        ],
        "table": table(["hypothesis", "log p", "after the penalty", "fate"], rows),
        "figures": [show(decoding.beam_tree, tree.steps, lambda id_: model.bundle.tgt.token(id_).surface, winner=won)],
    }


def _heatmap(trace: Trace, kind: str, weights: np.ndarray, **look: Any) -> str:
    return show(
        attention.attention_heatmap,
        weights,
        _surfaces(trace.queries(kind)),
        _surfaces(trace.keys(kind)),
        predicts=None if kind == "encoder" else _surfaces(trace.tgt),
        possible=np.tri(len(trace.tgt), dtype=bool) if kind == "decoder" else None,
        **look,
    )


def _norms(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    kind, layer, head, chosen = place(model, trace, asked)
    raw = np.asarray(trace.weights(kind)[layer, head], dtype=np.float64)
    found = norms.share(getattr(norms.norms(model, trace), kind)[layer, head])
    queries, keys = _surfaces(trace.queries(kind)), _surfaces(trace.keys(kind))
    order = np.argsort(-np.abs(found - raw), axis=None, kind="stable")[:DIFFERENCES]
    cells = [divmod(int(flat), len(keys)) for flat in order]
    rows = [
        [queries[q], keys[k], f"{raw[q, k]:.2f}", f"{found[q, k]:.2f}", minus(found[q, k] - raw[q, k], "+.2f")]
        for q, k in cells
    ]
    moved = float(np.abs(found - raw).sum(axis=-1).mean() / 2)
    limit = max(float(np.abs(found - raw).max()), 0.01)
    return {
        **chosen,
        "lines": [
            ["A row moves {share} of its weight on average.", {"share": f"{moved:.0%}"}],
            ["Green: the norm gives the key more than the weight does; purple: less.", {}],
        ],
        "figures": [
            _heatmap(trace, kind, raw),
            _heatmap(trace, kind, found, unit="share of the row"),
            show(attention.difference_heatmap, raw, found, queries, keys, limit=limit),
        ],
        "captions": ["Weights", "Norms, as shares of their row", "Norms minus weights"],
        "table": table(["query (reads)", "key (attended to)", "weight", "norm", "change"], rows),
    }


def _rollout(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    maps = (trace.encoder, trace.decoder, trace.cross)
    if field("rollout", "method").read(asked) == "rollout":
        rolled = rollouts.rollout(*maps)
        share = float(rolled.source_share[0])
        words = (
            "Every row gets the same shares by assumption: {source} from the source, {target} from the target so far."
        )
        return {
            "lines": [[words, {"source": f"{share:.0%}", "target": f"{1 - share:.0%}"}]],
            "figures": [_heatmap(trace, "cross", rolled.source_rows, colour="sqrt")],
        }
    found = flow.flow(*maps, stop=stop)
    rows = [[t.surface, f"{s:.0%}", f"{1 - s:.0%}"] for t, s in zip(trace.tgt, found.source_share, strict=True)]
    return {
        "figures": [_heatmap(trace, "cross", found.source_rows, colour="sqrt")],
        "table": table(["predicts", "from the source", "from the target so far"], rows),
    }


def _lens(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    found = lens.lens(model, trace, count=1)
    best = [[step[0].token.surface for step in row] for row in found.best]
    return {"figures": [show(lab.lens_map, best, found.log_probs, _surfaces(trace.tgt))]}


def _faithfulness(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    found = faithfulness.faithfulness(model, trace, stop=stop)
    lines: list[list[Any]] = []
    for method in faithfulness.METHODS:
        said = (
            "{method}: {mean}, beyond chance" if found.believable(method) else "{method}: {mean}, no better than chance"
        )
        lines.append([said, {"method": method, "mean": minus(found.mean(method), "+.2f")}])
    lines.append(["Random orders stay below {chance} in 95 of 100 draws.", {"chance": minus(found.chance, "+.2f")}])
    figure = show(lab.rank_correlations, found.correlation, found.chance, _surfaces(trace.tgt))
    return {"lines": lines, "figures": [figure]}


def _profile(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    kind = field("profile", "kind").read(asked)
    shape = trace.weights(kind).shape[:2]
    profile = profiles.stored_profile(model)
    stats = profile.heads[kind] if profile else head_measures.head_stats(trace, kind)
    name = field("profile", "measure").read(asked)
    values = np.array([getattr(each, name) for each in stats]).reshape(shape)
    rows = [[f"L{each.layer + 1}H{each.head + 1}", each.role, f"{each.entropy:.2f}"] for each in stats]
    where = (
        ["Measured over {count} sentences.", {"count": profile.sentences}]
        if profile
        else ["This checkpoint ships no profile: measured on this sentence alone.", {}]
    )
    figure = show(head_figures.head_statistic, values, name.replace("_", " "))
    return {"lines": [where], "figures": [figure], "table": table(["head", "role", "entropy"], rows)}


def _positions(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    change = {name: field("positions", name).read(asked) for name in ("side", "shift", "scale")}
    moved = positions.move(model, trace, **change, stop=stop)
    return {"lines": _both(trace, moved)}


def _cell(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    kind, layer, head, chosen = place(model, trace, asked)
    query_at, key_at = (
        field("cell", name).read(asked, high=count) - 1
        for name, count in zip(("query", "key"), trace.weights(kind).shape[2:], strict=True)
    )
    found = cell.cell(model, trace, kind, layer, head, query_at, key_at)
    query, key = trace.queries(kind)[found.query].surface, trace.keys(kind)[found.key].surface
    numbers = {
        "dot": minus(found.dot, ".4f"),
        "scale": f"{found.scale:.4f}",
        "score": minus(found.scores[found.key], ".4f"),
    }
    rows = [
        [token.surface, minus(score, ".3f") if kept else "−∞", f"{weight:.4f}"]
        for token, score, kept, weight in zip(trace.keys(kind), found.scores, found.keep, found.weights, strict=True)
    ]
    length = f"{np.linalg.norm(found.carried):.4f}"
    return {
        **chosen,
        "lines": [
            ["{query} reads {key}: q · k = {dot}, times {scale} is {score}.", {"query": query, "key": key, **numbers}],
            ["The softmax over the row makes it {weight}.", {"weight": f"{found.weight:.6f}"}],
            ["It carries that share of v: a vector of length {length}.", {"length": length}],
        ],
        "table": table(["key (attended to)", "scaled score", "weight"], rows),
        "figures": [
            _heatmap(trace, kind, trace.weights(kind)[layer, head]),
            show(lab.cell_products, found.q, found.k),
            show(lab.cell_values, found.v, found.carried, found.mixed),
        ],
        "captions": [
            "Click a cell of this head",
            "q, k and their products: the bars add up to q · k",
            "v, the share that this cell carries, and the sum over all keys",
        ],
        "cells": True,
    }


VIEWS: dict[str, Callable[[Translator, Trace, Asked, Stop], Answer]] = {
    "force": _force,
    "edit": _edit,
    "beams": _beams,
    "norms": _norms,
    "rollout": _rollout,
    "lens": _lens,
    "faithfulness": _faithfulness,
    "align": align,
    "profile": _profile,
    "positions": _positions,
    "cell": _cell,
    "contrast": contrasted,
    "patch": patched,
    "patched": put_in,
    "why": looked,
    "layers": layered,
    "omissions": left_out,
    "alti": contributed,
    "arena": believed,
    "arena soon": believed_soon,
    "elsewhere": elsewhere,
    "plane": plane,
}
