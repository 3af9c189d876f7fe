"""The lab's causal views as JSON: contrast, patching, why here.

A line for a person is [English sentence, values for its {holes}]: the page says it in its own language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from translator.analysis import contrast, decoder_lens, minimal, patching, why_here
from translator.analysis.parts import Part
from translator.errors import InputError
from translator.figures import causes
from translator.figures.label import plain
from translator.pipeline import Translator
from translator.registry.lab import BOTH, PATCHES, field
from translator.trace import Trace
from translator.ui.asked import Asked
from translator.ui.explorer import show
from translator.ui.gate import Stop, tell
from translator.ui.lab import Answer, minus, table
from translator.ui.lab_align import place

SHOWN = 12
"""Writers that a picture or a table names; the rest is summed up."""


def contrasted(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """Why one word and not another at a step."""
    step = field("contrast", "step").read(asked, high=len(trace.tgt)) - 1
    found = contrast.contrast(model, trace, step, word_of(asked, "word"), word_of(asked, "against"), stop=stop)
    word, against = found.word.surface, found.against.surface
    shares = dict(zip(found.parts, found.values, strict=True))
    values, rows, columns = _by_layer(model, shares)
    largest = sorted(shares.items(), key=lambda each: -abs(each[1]))
    rest = sum(value for _, value in largest[SHOWN:])
    said = {"word": word, "against": against, "total": minus(found.total, "+.2f"), "step": step + 1}
    sure = {"word": word, "p": f"{np.exp(found.log_probs[0]):.3f}", "q": f"{np.exp(found.log_probs[1]):.3f}"}
    named = [[part.name, minus(value, "+.3f")] for part, value in largest[:SHOWN]]
    return {
        "chosen": {"word": word, "against": against},
        "lines": [
            ["At step {step}, {word} leads {against} by {total} nats.", said],
            ["The probability of {word} is {p}, that of {against} {q}.", {**sure, "against": against}],
            ["Green pushes towards {word}, purple towards {against}.", {"word": word, "against": against}],
        ],
        "figures": [
            show(causes.share_map, values, rows, columns, title="share of the difference (nats)"),
            show(causes.word_shares, found.words, found.source, title="share of the difference (nats)"),
        ],
        "captions": [
            "Every head and feed-forward of the decoder: with embedding and biases they sum to the difference",
            "Source words, by gradient × input, integrated gradients and occlusion",
        ],
        "table": table(["part", "share"], [*named, [f"+ {len(largest) - len(named)}", minus(rest, "+.3f")]]),
    }


def _by_layer(model: Translator, shares: Mapping[Part, float]) -> tuple[np.ndarray, list[str], list[str]]:
    """Shares of the decoder by layer: its own heads, its cross heads, its feed-forward."""
    layers, heads = model.bundle.model.config.head_counts["cross"]
    columns = [f"self H{h + 1}" for h in range(heads)] + [f"cross H{h + 1}" for h in range(heads)] + ["feed-forward"]
    values = np.zeros((layers, 2 * heads + 1))
    for layer in range(layers):
        for head in range(heads):
            values[layer, head] = shares[Part("decoder", layer, head)]
            values[layer, heads + head] = shares[Part("cross", layer, head)]
        values[layer, -1] = shares[Part("decoder ffn", layer)]
    return values, [f"L{layer + 1}" for layer in range(layers)], columns


def word_of(asked: Asked, name: str) -> str | None:
    """The token called `name`; None where the field was left empty."""
    found = field("contrast", name).read(asked)
    return found.strip() or None if found is not None else None


def patched(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """What carries the difference: the grids, whose cells can be patched; see `put_in`."""
    runs = _runs(model, trace, asked, stop)
    what = field("patch", "what").read(asked)
    wanted: list[tuple[patching.What, str]] = []
    for each in ("residual", "head") if what == BOTH else (what,):
        kinds = ("encoder", "decoder") if each in patching.BY_TOKEN else ("encoder", "decoder", "cross")
        wanted += [(each, kind) for kind in kinds]
    grids = []
    for number, (each, kind) in enumerate(wanted):
        progress = partial(_told, number, len(wanted))
        grids.append(patching.grid(runs, each, kind, stop=stop, progress=progress))
    lines = _about(runs, asked)
    if runs.unmatched:
        lines.append(["Not patched, for lack of a counterpart: {tokens}", {"tokens": " ".join(runs.unmatched)}])
    return {
        "chosen": {"step": runs.step + 1, "word": runs.word.surface, "against": runs.against.surface},
        "lines": lines,
        "figures": [show(causes.patch_grid, each.restored, each.rows, each.columns) for each in grids],
        "captions": [_CAPTIONS[each.what in patching.BY_TOKEN, each.kind] for each in grids],
        "follow": {
            "view": "patched",
            "field": "patches",
            "cells": [[[_as_json(patch) for patch in row] for row in each.patches] for each in grids],
        },
    }


def _told(number: int, grids: int, done: int, cells: int) -> None:
    """Say how many grids are done, this one in part."""
    tell(number + done / cells, grids)


_CAPTIONS = {
    (True, "encoder"): "Encoder, layer by source token: click cells to patch them and read the new translation",
    (True, "decoder"): "Decoder, layer by the token that it reads",
    (False, "encoder"): "Encoder heads, at all tokens",
    (False, "decoder"): "The decoder's own heads, at all tokens",
    (False, "cross"): "Cross heads, at all tokens",
}


def put_in(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """The second sentence translated with the patches that were clicked, all at once.

    Raises:
        InputError: they are no list of patches, or too many.
    """
    runs = _runs(model, trace, asked, stop)
    given: Any = asked.get("patches")
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) > PATCHES:
        raise InputError(f"patches must be a list of at most {PATCHES} cells")
    patches = [_from_json(each) for each in given]
    found = patching.patched_translation(model, runs, patches, stop=stop)
    said = {"count": len(patches), "text": found.translation, "share": minus(found.restored, "+.2f")}
    return {
        "lines": [
            *_about(runs, asked),
            ["States put in: {count}. Now: {text} ({share} of the difference is back)", said],
        ]
    }


def _runs(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> minimal.Runs:
    """The runs of both sentences; of noise, one draw, so that a cell can be clicked and the sentence translated."""
    other, noise = field("patch", "other").read(asked).strip(), (field("patch", "noise").read(asked) or "").strip()
    if other and noise:
        raise InputError(f"there are both a second sentence and noise on {noise[:40]!r}; leave one of the two blank")
    if not (other or noise):
        raise InputError("the second sentence is blank; type one that differs from the first in a word")
    step = field("patch", "step").read(asked, high=len(trace.tgt))
    chosen: dict[str, Any] = {"step": step and step - 1, **{name: word_of(asked, name) for name in ("word", "against")}}
    if noise:
        return minimal.noisy_pair(model, trace, minimal.places_of(trace, noise), draws=1, **chosen)
    return minimal.minimal_pair(model, trace, other, **chosen, stop=stop)


def _about(runs: minimal.Runs, asked: Asked) -> list[list[Any]]:
    first, second = runs.translations
    other = "With noise: {text}" if field("patch", "noise").read(asked) else "Second: {text}"
    said = {
        "word": runs.word.surface,
        "against": runs.against.surface,
        "step": runs.step + 1,
        "clean": minus(runs.clean_delta, "+.2f"),
        "corrupt": minus(runs.corrupt_delta, "+.2f"),
    }
    return [
        ["First: {text}", {"text": first}],
        [other, {"text": second}],
        [
            "At step {step}, log p({word}) − log p({against}) is {clean} in the first and {corrupt} in the second.",
            said,
        ],
    ]


def _as_json(patch: patching.Patch) -> list[Any]:
    return [patch.kind, patch.what, patch.layer, patch.head, patch.position]


def _from_json(value: Any) -> patching.Patch:
    """A patch as the page sends it back.

    Raises:
        InputError: it is none.
    """
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 5:
        raise InputError(f"a patch is {value!r:.80}; it must be kind, what, layer, head and position")
    kind, what, *places = value
    return patching.Patch(
        kind, what, *(int(each) if isinstance(each, float) and each.is_integer() else each for each in places)
    )


def looked(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """Why a head looks there, and what it then writes."""
    kind, layer, head, chosen = place(model, trace, asked)
    asked = {**asked, **_cell(trace, kind, (layer, head), asked)}
    rows, columns = trace.weights(kind).shape[2:]
    query = field("why", "query").read(asked, high=rows) - 1
    key = field("why", "key").read(asked, high=query + 1 if kind == "decoder" else columns) - 1  # nobody looks ahead
    chosen["chosen"] |= {"query": query + 1, "key": key + 1}
    found = why_here.why_here(model, trace, kind, layer, head, query, key)
    said = {
        "query": trace.queries(kind)[query].surface,
        "key": trace.keys(kind)[key].surface,
        "score": minus(found.score, "+.3f"),
        "weight": f"{found.weight:.3f}",
    }
    rows = [
        [up.surface, minus(more, "+.2f"), down.surface, minus(less, "+.2f")]
        for (up, more), (down, less) in zip(found.cell.up, found.cell.down, strict=True)
    ]
    note = (
        "The encoder predicts no words: these are the source words that the vector points towards most and least."
        if kind == "encoder"
        else "What the head takes from this key raises and lowers these words, if later layers leave it as it is."
    )
    by_query, by_key = (
        _largest([part.name for part in parts], values)
        for parts, values in ((found.query_parts, found.by_query), (found.key_parts, found.by_key))
    )
    return {
        **chosen,
        "lines": [
            ["{query} reads {key} with score {score}, which the softmax makes {weight}.", said],
            ["Each figure splits that score over everything that contributed to one side; the parts sum to it.", {}],
            [note, {}],
        ],
        "figures": [
            show(causes.signed_bars, *by_query, title="share of the score"),
            show(causes.signed_bars, *by_key, title="share of the score"),
        ],
        "captions": ["Contributions to the query", "Contributions to the key"],
        "table": table(["raises", "by", "lowers", "by"], rows),
    }


def _cell(trace: Trace, kind: str, head: tuple[int, int], asked: Asked) -> dict[str, int]:
    """What was not chosen of a cell's row and column, from 1: where the head looks most, at a word if it can be."""
    weights = np.array(trace.weights(kind)[head], dtype=np.float64)
    weights[:, [token.special for token in trace.keys(kind)]] *= 1e-3
    query = field("why", "query").read(asked, high=len(weights))
    row = weights.max(axis=1).argmax() if query is None else query - 1
    best = {"query": int(row) + 1, "key": int(weights[row].argmax()) + 1}
    return {name: place for name, place in best.items() if asked.get(name) is None}


def _largest(names: Sequence[str], values: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The largest shares by size, and the sum of the others last."""
    order = np.argsort(-np.abs(values), kind="stable")
    first, rest = order[:SHOWN], order[SHOWN:]
    shown, numbers = [names[n] for n in first], [values[n] for n in first]
    if len(rest):
        shown, numbers = [*shown, f"+ {len(rest)}"], [*numbers, values[rest].sum()]
    return shown, np.array(numbers)


def layered(model: Translator, trace: Trace, asked: Asked, stop: Stop) -> Answer:
    """DecoderLens: a translation from each layer of the encoder."""
    found = decoder_lens.decoder_lens(model, trace, stop=stop)
    texts = [plain(each, None) for each in (found.embedding, *found.layers)]
    first = max((n for n, each in enumerate(texts) if each != texts[-1]), default=-1) + 1
    return {
        "lines": [["The translation no longer changes from layer {layer} on.", {"layer": first}]],
        "table": table(["layer", "translation"], [[str(n), each] for n, each in enumerate(texts)]),
        "slides": [["After encoder layer {layer}: {text}", {"layer": n, "text": each}] for n, each in enumerate(texts)],
    }
