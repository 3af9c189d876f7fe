"""The `lab` views about heads and their maps."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from translator.analysis.cli.view import (
    Answer,
    View,
    index_of,
    say_both,
    say_heads,
    say_map,
    scored,
    surfaces,
    trace_of,
)
from translator.errors import InputError
from translator.registry.lab import field, fields
from translator.registry.options import option, options

if TYPE_CHECKING:
    from translator.pipeline import Translator
    from translator.trace import Trace


def head_named(trace: Trace, name: str) -> tuple[str, int, int]:
    """Kind, layer and head (from 0) of a head written as "cross:L5H3".

    Raises:
        InputError: it names no head of this model.
    """
    match = re.fullmatch(r"(encoder|decoder|cross):L(\d{1,3})H(\d{1,3})", name)
    if match is None:
        raise InputError(f"{name[:40]!r} names no head; write cross:L5H3")
    layers, heads = trace.weights(match[1]).shape[:2]
    return match[1], index_of("layer", int(match[2]), layers), index_of("head", int(match[3]), heads)


def place_of(trace: Trace, args: argparse.Namespace) -> tuple[int, int]:
    """Layer and head from 0, as `--kind`, `--layer` and `--head` name them.

    Raises:
        InputError: there is no such head.
    """
    layers, heads = trace.weights(args.kind).shape[:2]
    return index_of("layer", args.layer, layers), index_of("head", args.head, heads)


def _importance(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.interventions import head_importance

    trace = trace_of(engine, args)
    return {"translation": trace.translation, "importance": head_importance(engine, trace)}


def _say_importance(answer: Answer) -> None:
    print(answer["translation"])
    for kind, values in answer["importance"].items():
        say_heads(kind, values)


def _switch(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.interventions import silence, switch

    trace = trace_of(engine, args)
    found = switch(engine, trace, silence(engine.bundle.model, [head_named(trace, name) for name in args.off]))
    return {"off": args.off, "before": scored(trace), "after": scored(found.after), "change": found.change}


def _say_switch(answer: Answer) -> None:
    say_both(answer)
    print(f"the first translation's log-probability changes by {answer['change']:+.3f} nats")


def _norms(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.norms import norms

    trace = trace_of(engine, args)
    maps = getattr(norms(engine, trace), args.kind)
    rows, columns = surfaces(trace.queries(args.kind)), surfaces(trace.keys(args.kind))
    return {"kind": args.kind, "rows": rows, "columns": columns, "values": maps[place_of(trace, args)]}


def _rollout(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.flow import flow
    from translator.analysis.rollout import rollout

    trace = trace_of(engine, args)
    found = {"rollout": rollout, "flow": flow}[args.by](trace.encoder, trace.decoder, trace.cross)
    return {
        "rows": surfaces(trace.tgt),
        "columns": surfaces(trace.src),
        "values": found.source,
        "target": found.target,
        "source_share": found.source_share,
    }


def _say_map(answer: Answer) -> None:
    say_map(answer["values"], answer["rows"], answer["columns"])


def _say_rollout(answer: Answer) -> None:
    _say_map(answer)
    print("source share " + " ".join(f"{share:.2f}" for share in answer["source_share"]))


def _faithfulness(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.faithfulness import METHODS, faithfulness

    found = faithfulness(engine, trace_of(engine, args))
    methods = {
        method: {
            "mean": found.mean(method),
            "beyond_chance": found.believable(method),
            "correlation": found.correlation[method],
        }
        for method in METHODS
    }
    return {"words": found.words, "loss": found.loss, "methods": methods, "chance": found.chance}


def _say_faithfulness(answer: Answer) -> None:
    for method, found in answer["methods"].items():
        said = "beyond chance" if found["beyond_chance"] else "no better than chance"
        print(f"{method}\t{found['mean']:+.3f}\t{said}")
    print(f"chance\t{answer['chance']:+.3f}")


def _align(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.alignment import error_rate, pharaoh, read_pharaoh
    from translator.analysis.bench import Aligner, align
    from translator.analysis.gold import words_of

    trace = trace_of(engine, args)
    texts = zip((trace.normalised, trace.translation), engine.languages, strict=True)
    src, tgt = (words_of(text, language) for text, language in texts)
    layers, heads = trace.cross.shape[:2]
    aligner = Aligner(
        map=args.map,
        layer=index_of("layer", args.layer, layers),
        head=index_of("head", args.head, heads) if args.head else None,
        reading=args.reading,
        way=args.way,
        threshold=args.threshold,
    )
    counts = len(src), len(tgt)
    links = align(engine, trace, aligner, counts)
    answer: Answer = {"source": src, "target": tgt, "links": sorted(links), "pharaoh": pharaoh(links)}
    if args.gold.strip():
        answer["error_rate"] = error_rate([links], [read_pharaoh(args.gold, *counts)])
    return answer


def _say_align(answer: Answer) -> None:
    print(" ".join(answer["source"]), " ".join(answer["target"]), answer["pharaoh"], sep="\n")
    if "error_rate" in answer:
        print(f"alignment error rate {answer['error_rate']:.3f}")


NUMBERS_OF_A_CELL = ("q", "k", "products", "v", "carried")


def _cell(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.cell import cell

    trace = trace_of(engine, args)
    names = ("layer", "head", "query", "key")
    counts = zip(names, trace.weights(args.kind).shape, strict=True)
    found = cell(engine, trace, args.kind, *(index_of(name, getattr(args, name), count) for name, count in counts))
    return {
        "query": trace.queries(args.kind)[found.query].surface,
        "key": trace.keys(args.kind)[found.key].surface,
        **{name: getattr(found, name) for name in NUMBERS_OF_A_CELL},
        "dot": found.dot,
        "scale": found.scale,
        "score": found.scores[found.key],
        "weight": found.weight,
    }


def _say_cell(answer: Answer) -> None:
    for name in NUMBERS_OF_A_CELL:
        print(name, " ".join(f"{value:+.3f}" for value in answer[name]))
    dot, scale, score, weight = (answer[name] for name in ("dot", "scale", "score", "weight"))
    print(f"dot {dot:+.4f} × {scale:.4f} = {score:+.4f}; softmax {weight:.6f}")


KIND = options(field("norms", "kind"))
PLACE = options(*fields("norms", "layer", "head"), required=True)
CELL = KIND | PLACE | options(*fields("why", "query", "key"), required=True)
_ALIGN = options(*fields("align", "layer", "head"), required=True)
_ALIGN |= {"--map": option(field("align", "map"), default="raw")}
_ALIGN |= {"--reading": option(field("align", "reading"), default="output")}
_ALIGN |= options(*fields("align", "way", "threshold", "gold"))
_BY = field("rollout", "method")
_OFF = {
    "action": "append",
    "required": True,
    "metavar": "HEAD",
    "help": "head to ablate, such as cross:L5H3; repeatable",
}

VIEWS = {
    "importance": View("Δ log-probability when each head alone is ablated", _importance, _say_importance),
    "switch": View("decode again with heads switched off", _switch, _say_switch, {"--off": _OFF}),
    "norms": View("the norm-based map of one head", _norms, _say_map, {**KIND, **PLACE}),
    "rollout": View(
        "attention rollout from source to target tokens",
        _rollout,
        _say_rollout,
        {
            "--by": {**option(_BY), "dest": "by"},
            "--flow": {"action": "store_const", "const": "flow", "dest": "by", "help": "the same as --by flow"},
        },
    ),
    "faithfulness": View("compare attention with occlusion", _faithfulness, _say_faithfulness),
    "align": View("word alignment by one head, in Pharaoh format", _align, _say_align, _ALIGN),
    "cell": View("one attention cell, computed step by step", _cell, _say_cell, CELL),
}
