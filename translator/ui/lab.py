"""What the lab answers: plain JSON over the functions of `translator.analysis`; runs in the gate's workers.

A line for a person is [English sentence, values for its {holes}]: the page says it in its own language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from translator.analysis import (
    beams,
    bench,
    cell,
    edit,
    faithfulness,
    flow,
    forced,
    interventions,
    lens,
    norms,
    positions,
)
from translator.analysis import heads as head_measures
from translator.analysis import profile as profiles
from translator.analysis import rollout as rollouts
from translator.analysis.alignment import error_rate, pharaoh, read_pharaoh
from translator.analysis.gold import words_of
from translator.analysis.passes import layer_of
from translator.errors import InputError
from translator.figures import attention, decoding, lab
from translator.figures import heads as head_figures
from translator.figures.label import plain
from translator.pipeline import Translator
from translator.trace import Token, Trace
from translator.ui.explorer import show

Stop = Callable[[], bool]
Answer = dict[str, Any]
Asked = Mapping[str, Any]


def board(model: Translator, text: str, kind: str, stop: Stop) -> Answer:
    """Δ log-probability and role of every head of one kind, for the switchboard."""
    trace = model.translate(text, method="greedy", stop=stop)
    values = interventions.head_importance(model, trace, [kind], stop=stop)[kind]
    return {"kind": kind, "values": values.round(4).tolist(), "roles": _roles(model, trace, kind)}


def switched(model: Translator, text: str, gates: Asked, stop: Stop) -> Answer:
    """The translation with every head on and with `gates`, and the word links of each for the ribbons."""
    trace = model.translate(text, method="greedy", stop=stop)
    found = interventions.switch(model, trace, gates, stop=stop)
    chosen = _aligning(model, trace)
    left = np.array(gates.get("cross", np.ones(chosen.shape)), dtype=np.float64)
    return {
        "source": list(words_of(trace.normalised, model.languages[0])),
        "before": _side(model, found.before, chosen),
        "after": _side(model, found.after, chosen & (left > 0)),
        "first": round(float(found.fixed.sum()), 3),
        "change": round(found.change, 3),
    }


def _side(model: Translator, trace: Trace, heads: np.ndarray) -> Answer:
    words = words_of(trace.translation, model.languages[1])
    counts = (len(words_of(trace.normalised, model.languages[0])), len(words))
    mean = trace.cross[heads].mean(axis=0) if heads.any() else np.zeros(trace.cross.shape[2:])
    links = bench.word_maps(mean, trace, counts, "output")
    return {
        "text": trace.translation,
        "words": list(words),
        "score": round(trace.score, 3),
        "links": links.round(3).tolist(),
    }


def _roles(model: Translator, trace: Trace, kind: str) -> list[list[str]]:
    """Each head's role [L][H]: over a corpus if the checkpoint ships a profile, else in this sentence."""
    profile = profiles.stored_profile(model)
    stats = profile.heads[kind] if profile else head_measures.head_stats(trace, kind)
    layers, heads = trace.weights(kind).shape[:2]
    rows = [["" for _ in range(heads)] for _ in range(layers)]
    for each in stats:
        rows[each.layer][each.head] = each.role
    return rows


def _aligning(model: Translator, trace: Trace) -> np.ndarray:
    """Which cross heads align, bool [L, H]; the one that aligns best if no head has the role, else all."""
    chosen = np.array(_roles(model, trace, "cross")) == "aligns"
    profile = profiles.stored_profile(model)
    best = profiles.best_aligner(profile) if profile else None
    if not chosen.any() and best is not None and best.head is not None:
        chosen[best.layer, best.head] = True
    return chosen if chosen.any() else np.ones_like(chosen)


def view(model: Translator, name: str, text: str, asked: Asked, stop: Stop) -> Answer:
    """One of VIEWS over the greedy translation of `text`: {"lines", "table", "figures"}, each if there is any.

    Raises:
        InputError: there is no such view, or what was asked cannot be.
    """
    if name not in VIEWS:
        raise InputError(f"view is {str(name)[:20]!r}; it must be one of {', '.join(VIEWS)}")
    return VIEWS[name](model, model.translate(text, method="greedy", stop=stop), asked, stop)


def _number(asked: Asked, name: str, low: int = 1) -> int:
    value = asked.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value) or value < low:
        raise InputError(f"{name} is {value!r}; it must be a whole number from {low}")
    return int(value)


def _text(asked: Asked, name: str) -> str:
    value = asked.get(name, "")
    if not isinstance(value, str) or len(value) > 1000:
        raise InputError(f"{name} must be a text of at most 1,000 characters")
    return value


def _real(asked: Asked, name: str) -> float:
    value = asked.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{name} is {value!r}; it must be a number")
    return float(value)


def _surfaces(tokens: tuple[Token, ...]) -> list[str]:
    return [token.surface for token in tokens]


def _table(head: list[str], rows: list[list[str]]) -> Answer:
    return {"head": head, "rows": [[plain(cell_, None) for cell_ in row] for row in rows]}


def _both(trace: Trace, other: Trace) -> list[list[Any]]:
    """Two translations as lines."""
    return [
        ["Before: {text} (log p {score})", {"text": trace.translation, "score": f"{trace.score:.2f}"}],
        ["After: {text} (log p {score})", {"text": other.translation, "score": f"{other.score:.2f}"}],
    ]


def _force(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    found = forced.force(model, trace.source, _text(asked, "target"), method="greedy", stop=stop)
    rows = [
        [token.surface, f"{log_prob:.2f}", str(rank)]
        for token, log_prob, rank in zip(found.trace.tgt, found.trace.log_probs, found.ranks, strict=True)
    ]
    verdicts = {
        "same": "This is what the model chooses itself.",
        "search error": "Search error: the model finds yours more probable, but the search missed it.",
        "model error": "Model error, if yours is right: the model finds its own more probable.",
    }
    scores = {"given": f"{found.score:.2f}", "chosen": f"{found.chosen_score:.2f}", "text": found.chosen.translation}
    return {
        "lines": [["Yours: log p {given}. The model's own: {text} ({chosen}).", scores], [verdicts[found.verdict], {}]],
        "table": _table(["token", "log p", "rank"], rows),
        "figures": [show(decoding.token_confidence, found.trace)],
    }


def _edit(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    step, choice = _number(asked, "step") - 1, _text(asked, "choice")
    layer_of(len(trace.tgt), step, "step")
    candidates = trace.steps[step].candidates
    known = {each.token.surface: each.token.id for each in reversed(candidates)}
    rows = [[each.token.surface, f"{np.exp(each.log_prob):.3f}"] for each in candidates]
    answer = {
        "table": _table(["candidate", "probability"], rows),
        "figures": [show(decoding.candidates, trace.steps[step])],
    }
    if not choice.strip():
        other = candidates[0] if candidates[0].token.id != trace.tgt[step].id else candidates[1]
        picked: int | str = other.token.id
    else:
        picked = known.get(choice.strip(), choice)
    return {**answer, "lines": _both(trace, edit.continue_from(model, trace, step, picked, stop=stop))}


def _beams(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    width = min(_number(asked, "beam", 2), 12)
    tree = beams.beam_tree(model, trace.source, beam=width, length_penalty=_real(asked, "penalty"), stop=stop)
    pruned = sum(node.fate == "pruned" for node in tree.nodes)
    said = {"text": tree.trace.translation, "score": f"{tree.trace.score:.2f}"}
    greedy = {"text": tree.greedy.translation, "score": f"{tree.greedy.score:.2f}"}
    ends = sorted((n for n in tree.nodes if n.fate in ("won", "ended")), key=lambda node: -node.normalised)
    rows = [[node.text, f"{node.score:.2f}", f"{node.normalised:.2f}", node.fate] for node in ends]
    return {
        "lines": [
            ["Beam: {text} (log p {score})", said],
            ["Greedy: {text} (log p {score})", greedy],
            ["{all} hypotheses lived, {pruned} of them were pruned.", {"all": len(tree.nodes), "pruned": pruned}],
        ],
        "table": _table(["hypothesis", "log p", "after the penalty", "fate"], rows),
        "figures": [show(decoding.beam_tree, tree.steps, lambda id_: model.bundle.tgt.token(id_).surface)],
    }


def _place(trace: Trace, asked: Asked) -> tuple[str, int, int]:
    kind = str(asked.get("kind", "cross"))
    layers, heads = trace.weights(kind).shape[:2]
    return kind, layer_of(layers, _number(asked, "layer") - 1), layer_of(heads, _number(asked, "head") - 1, "head")


def _heatmap(trace: Trace, kind: str, weights: np.ndarray) -> str:
    return show(
        attention.attention_heatmap,
        weights,
        _surfaces(trace.queries(kind)),
        _surfaces(trace.keys(kind)),
        predicts=None if kind == "encoder" else _surfaces(trace.tgt),
        possible=np.tri(len(trace.tgt), dtype=bool) if kind == "decoder" else None,
    )


def _norms(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    kind, layer, head = _place(trace, asked)
    found = getattr(norms.norms(model, trace), kind)[layer, head]
    raw = trace.weights(kind)[layer, head]
    return {
        "lines": [["Above: the weights. Below: the norms, as shares of their row.", {}]],
        "figures": [_heatmap(trace, kind, raw), _heatmap(trace, kind, norms.share(found))],
    }


def _rollout(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    maps = (trace.encoder, trace.decoder, trace.cross)
    found = flow.flow(*maps) if asked.get("method") == "flow" else rollouts.rollout(*maps)
    rows = [[t.surface, f"{s:.0%}", f"{1 - s:.0%}"] for t, s in zip(trace.tgt, found.source_share, strict=True)]
    return {
        "figures": [_heatmap(trace, "cross", found.source_rows)],
        "table": _table(["predicts", "from the source", "from the target so far"], rows),
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
        lines.append([said, {"method": method, "mean": f"{found.mean(method):+.2f}"}])
    lines.append(["Random orders stay below {chance} in 95 of 100 draws.", {"chance": f"{found.chance:+.2f}"}])
    figure = show(lab.rank_correlations, found.correlation, found.chance, _surfaces(trace.tgt))
    return {"lines": lines, "figures": [figure]}


def _align(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    _, layer, head = _place(trace, {**asked, "kind": "cross"})
    src, tgt = (
        words_of(t, lang) for t, lang in zip((trace.normalised, trace.translation), model.languages, strict=True)
    )
    reading = "input" if asked.get("reading") == "input" else "output"
    aligner = bench.Aligner(layer=layer, head=head, reading=reading, way=str(asked.get("way", "argmax")))  # type: ignore[arg-type]
    links = bench.align(model, trace, aligner, (len(src), len(tgt)))
    lines: list[list[Any]] = [["Pharaoh: {links}", {"links": pharaoh(links) or "–"}]]
    if given := _text(asked, "gold").strip():
        rate = error_rate([links], [read_pharaoh(given, len(src), len(tgt))])
        lines.append(["Alignment error rate against yours: {rate}", {"rate": f"{rate:.2f}"}])
    profile = profiles.stored_profile(model)
    if profile and profile.alignment:
        best = profile.alignment["best_head"]
        lines.append(
            ["Best over {count} hand-aligned pairs: {name}, error rate {rate}",
             {"count": profile.alignment["sentences"], "name": best["name"], "rate": f"{best['rate']:.2f}"}]
        )  # fmt: skip
    rows = [[src[s], tgt[t]] for s, t in sorted(links)]
    return {"lines": lines, "table": _table(["source", "target"], rows)}


def _profile(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    kind = str(asked.get("kind", "cross"))
    shape = trace.weights(kind).shape[:2]
    profile = profiles.stored_profile(model)
    stats = profile.heads[kind] if profile else head_measures.head_stats(trace, kind)
    name = str(asked.get("measure", "confidence"))
    if name not in ("confidence", "relative_entropy", "previous", "same", "next", "special", "punctuation"):
        raise InputError(f"measure is {name[:20]!r}; it is not one of those offered")
    values = np.array([getattr(each, name) for each in stats]).reshape(shape)
    rows = [[f"L{each.layer + 1}H{each.head + 1}", each.role, f"{each.entropy:.2f}"] for each in stats]
    where = (
        ["Measured over {count} sentences.", {"count": profile.sentences}]
        if profile
        else ["This checkpoint ships no profile: measured on this sentence alone.", {}]
    )
    figure = show(head_figures.head_statistic, values, name.replace("_", " "))
    return {"lines": [where], "figures": [figure], "table": _table(["head", "role", "entropy"], rows)}


def _positions(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    side: Any = asked.get("side")
    moved = positions.move(model, trace, side=side, shift=_real(asked, "shift"), scale=_real(asked, "scale"), stop=stop)
    return {"lines": _both(trace, moved)}


def _cell(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    kind, layer, head = _place(trace, asked)
    found = cell.cell(model, trace, kind, layer, head, _number(asked, "query") - 1, _number(asked, "key") - 1)
    query, key = trace.queries(kind)[found.query].surface, trace.keys(kind)[found.key].surface
    numbers = {"dot": f"{found.dot:.4f}", "scale": f"{found.scale:.4f}", "score": f"{found.scores[found.key]:.4f}"}
    rows = [
        [token.surface, f"{score:.3f}" if kept else "−∞", f"{weight:.4f}"]
        for token, score, kept, weight in zip(trace.keys(kind), found.scores, found.keep, found.weights, strict=True)
    ]
    return {
        "lines": [
            ["{query} reads {key}: q · k = {dot}, times {scale} is {score}.", {"query": query, "key": key, **numbers}],
            ["The softmax over the row makes it {weight}.", {"weight": f"{found.weight:.6f}"}],
            [
                "It carries that share of v: a vector of length {length}.",
                {"length": f"{np.linalg.norm(found.carried):.4f}"},
            ],
        ],
        "table": _table(["key (attended to)", "scaled score", "weight"], rows),
        "figures": [show(lab.cell_products, found.q, found.k)],
    }


VIEWS: dict[str, Callable[[Translator, Trace, Asked, Stop], Answer]] = {
    "force": _force,
    "edit": _edit,
    "beams": _beams,
    "norms": _norms,
    "rollout": _rollout,
    "lens": _lens,
    "faithfulness": _faithfulness,
    "align": _align,
    "profile": _profile,
    "positions": _positions,
    "cell": _cell,
}
