"""The `lab` views about causes: contrast, patch, why-here, decoder-lens."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from translator.analysis.cli.heads import CELL
from translator.analysis.cli.view import Answer, View, index_of, say_map, say_table, trace_of
from translator.errors import InputError
from translator.registry.lab import SOURCES, STATES, field, fields
from translator.registry.options import option, options

if TYPE_CHECKING:
    from translator.pipeline import Translator

SHOWN = 12
"""Parts that a terminal shows; JSON has them all."""


def named(step: int, word: Any, against: Any) -> Answer:
    """A step and the two tokens that are compared there."""
    return {"step": step + 1, "word": word.surface, "against": against.surface}


def _contrast(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.contrast import METHODS, contrast

    trace = trace_of(engine, args)
    step = index_of("step", args.step, len(trace.tgt))
    found = contrast(engine, trace, step, args.word or None, args.against or None)
    return {
        "translation": trace.translation,
        **named(found.step, found.word, found.against),
        "log_probs": found.log_probs,
        "total": found.total,
        "parts": [
            {"name": part.name, "value": float(value)} for part, value in zip(found.parts, found.values, strict=True)
        ],
        "source": [
            {
                "text": word,
                "value": float(found.source[args.source][n]),
                **{method: float(found.source[method][n]) for method in METHODS},
            }
            for n, word in enumerate(found.words)
        ],
        "baseline": found.baseline,
    }


def _say_contrast(answer: Answer) -> None:
    print(answer["translation"])
    shown = f"logit({answer['word']}) - logit({answer['against']})"
    print(f"step {answer['step']}: {shown} = {answer['total']:+.3f}")
    largest = sorted(answer["parts"], key=lambda part: -abs(part["value"]))
    say_table(["part", "share"], [[part["name"], f"{part['value']:+.3f}"] for part in largest[:SHOWN]])
    rest = largest[SHOWN:]
    print(f"{len(rest)} others together {sum(part['value'] for part in rest):+.3f}\n")
    names = ["gradient", "integrated", "occlusion"]
    say_table(["source", *names], [[w["text"], *(f"{w[name]:+.3f}" for name in names)] for w in answer["source"]])


def _patch(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.minimal import minimal_pair, noisy_pair, places_of
    from translator.analysis.patching import grid

    if (args.corrupt is None) == (args.noise is None):
        raise InputError("give either a second TEXT or --noise WORD, the part of the first text that gets noise")
    trace = trace_of(engine, args)
    step = None if args.step is None else index_of("step", args.step, len(trace.tgt))
    word, against = args.word or None, args.against or None
    if args.noise is None:
        runs = minimal_pair(engine, trace, args.corrupt, step=step, word=word, against=against, method=args.method)
    else:
        runs = noisy_pair(engine, trace, places_of(trace, args.noise), step=step, word=word, against=against)
    found = grid(runs, args.what, args.kind, progress=_progress)
    return {
        "translations": runs.translations,
        **named(runs.step, runs.word, runs.against),
        "clean": runs.clean_delta,
        "corrupt": runs.corrupt_delta,
        "what": found.what,
        "kind": found.kind,
        "rows": found.rows,
        "columns": found.columns,
        "restored": found.restored,
        "unmatched": runs.unmatched,
    }


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total}", end="" if done < total else "\n", file=sys.stderr, flush=True)


def _say_patch(answer: Answer) -> None:
    print(*answer["translations"], sep="\n")
    shown = f"log p({answer['word']}) - log p({answer['against']})"
    print(f"step {answer['step']}: {shown} is {answer['clean']:+.3f} clean, {answer['corrupt']:+.3f} corrupted")
    if answer["unmatched"]:
        print(f"without a partner: {' '.join(answer['unmatched'])}")
    title = f"{answer['kind']} {answer['what']}"
    say_map(answer["restored"], answer["rows"], answer["columns"], "+.2f", title)


def _decoder_lens(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.decoder_lens import decoder_lens

    found = decoder_lens(engine, trace_of(engine, args))
    return {"translation": found.translation, "embedding": found.embedding, "layers": found.layers}


def _say_decoder_lens(answer: Answer) -> None:
    for n, text in enumerate([answer["embedding"], *answer["layers"]]):
        print(f"{n}\t{text}")


def _why_here(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.why_here import Words, why_here

    trace = trace_of(engine, args)
    names = ("layer", "head", "query", "key")
    counts = list(trace.weights(args.kind).shape)
    if args.kind == "decoder":
        counts[3] = min(counts[3], args.query)  # nobody looks ahead
    place = [index_of(name, getattr(args, name), count) for name, count in zip(names, counts, strict=True)]
    found = why_here(engine, trace, args.kind, *place)

    def split(parts: Any, values: Any) -> list[Answer]:
        return [{"name": part.name, "value": float(value)} for part, value in zip(parts, values, strict=True)]

    def words(pairs: Words) -> list[Answer]:
        return [{"text": token.surface, "value": value} for token, value in pairs]

    return {
        "head": f"{args.kind} L{args.layer} H{args.head}",
        "query_token": trace.queries(args.kind)[found.query].surface,
        "key_token": trace.keys(args.kind)[found.key].surface,
        "score": found.score,
        "weight": found.weight,
        "query": split(found.query_parts, found.by_query),
        "key": split(found.key_parts, found.by_key),
        "table": found.table,
        "writes": {"up": words(found.cell.up), "down": words(found.cell.down)},
        "head_writes": {"up": words(found.head.up), "down": words(found.head.down)},
    }


def _say_why_here(answer: Answer) -> None:
    cell = f"{answer['head']}, {answer['query_token']} looks at {answer['key_token']}"
    print(f"{cell}: score {answer['score']:+.3f}, weight {answer['weight']:.3f}")
    for side in ("query", "key"):
        largest = sorted(answer[side], key=lambda part: -abs(part["value"]))[:SHOWN]
        say_table([f"wrote the {side}", "share"], [[part["name"], f"{part['value']:+.3f}"] for part in largest])
    for name, said in (("writes", "from this key it pushes"), ("head_writes", "from all keys it pushes")):
        for way in ("up", "down"):
            words = "  ".join(f"{each['text']} {each['value']:+.2f}" for each in answer[name][way])
            print(f"{said} {way}: {words}")


_WHAT = replace(field("patch", "what"), choices=STATES[1:], value="residual")  # one grid at a time
_KIND = replace(field("why", "kind"), value=None, says="nothing: the encoder by tokens, cross by heads")

VIEWS = {
    "contrast": View(
        "contrast two tokens at one step",
        _contrast,
        _say_contrast,
        {
            **options(*fields("contrast", "step", "word", "against")),
            "--source": {
                "default": "integrated",
                "choices": SOURCES,
                "help": "whose values count as value of the source words (integrated)",
            },
        },
    ),
    "patch": View(
        "activation patching between two sentences",
        _patch,
        _say_patch,
        {
            "corrupt": {"nargs": "?", "metavar": "TEXT", "help": "the second sentence, which is patched"},
            "--what": option(_WHAT),
            "--kind": option(_KIND),
            **options(*fields("patch", "step", "word", "against")),
            **options(field("patch", "noise")),
        },
    ),
    "why-here": View(
        "split one attention score and the head's output over their components",
        _why_here,
        _say_why_here,
        CELL,
    ),
    "decoder-lens": View("the translation decoded from each encoder layer", _decoder_lens, _say_decoder_lens),
}
