"""The `lab` views alti, arena, omissions and search."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from translator.analysis.cli.heads import KIND, place_of
from translator.analysis.cli.view import Answer, View, index_of, say_map, say_table, surfaces, trace_of
from translator.errors import CheckpointError, InputError
from translator.registry.lab import ORDERS, field, fields
from translator.registry.options import option, options

if TYPE_CHECKING:
    from translator.analysis.omissions import Judge, Word
    from translator.analysis.search import Corpus
    from translator.pipeline import Translator


def _alti(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.alti import alti

    trace = trace_of(engine, args)
    found = alti(engine, trace).total
    return {
        "translation": trace.translation,
        "rows": surfaces(trace.tgt),
        "columns": surfaces(trace.src),
        "values": found.source,
        "prefix": surfaces(trace.reads),
        "target": found.target,
        "source_share": found.source_share,
    }


def _say_alti(answer: Answer) -> None:
    print(answer["translation"])
    say_map(answer["values"], answer["rows"], answer["columns"])
    print("source share " + " ".join(f"{share:.2f}" for share in answer["source_share"]))


def _arena(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.arena import RANDOM, arena
    from translator.analysis.attribution import METHODS

    trace = trace_of(engine, args)
    found = arena(engine, trace, depth=args.depth)
    methods = {
        name: {
            "correlation": found.mean(name),
            "beyond_chance": found.mean(name) > found.chance,
            "lost": found.lost[name].mean(),
            "shares": found.shares[name],
        }
        for name in (*METHODS, RANDOM)
    }
    return {
        "translation": trace.translation,
        "words": found.words,
        "steps": [token.surface for token in trace.tgt if not token.special],
        "occlusion": found.occlusion,
        "deletion": found.deletion,
        "methods": methods,
        "chance": found.chance,
        "believe": found.believable,
    }


def _say_arena(answer: Answer) -> None:
    print(answer["translation"])
    ranked = sorted(answer["methods"].items(), key=lambda item: -item[1]["correlation"])
    rows = [[name, f"{found['correlation']:+.2f}", f"{found['lost']:.2f}"] for name, found in ranked]
    say_table(["method", "agrees with occlusion", "nats lost by deletion"], rows)
    print(f"random orders stay below {answer['chance']:+.2f} in 95 of 100 draws")
    print(f"believe {answer['believe']}" if answer["believe"] else "none is beyond chance")


def _omissions(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.omissions import omissions

    trace = trace_of(engine, args) if args.translation is None else engine.force(args.text, args.translation)
    found = omissions(engine, trace)
    return {
        "translation": trace.translation,
        "source": [_word(word, "left_out") for word in found.source],
        "target": [_word(word, "invented") for word in found.target],
        "measured": {"cases": found.meter.cases, **{s: _rates(getattr(found.meter, s)) for s in ("source", "target")}},
    }


def _word(word: Word, name: str) -> Answer:
    return {"text": word.text, "score": word.score, name: word.marked}


def _rates(judge: Judge) -> Answer:
    return {"found": judge.found, "wrong": judge.wrong, "auroc": judge.auroc}


def _say_omissions(answer: Answer) -> None:
    print(answer["translation"])
    for side, name, said in (("source", "left_out", "left out?"), ("target", "invented", "invented?")):
        say_table(
            [side, "score", ""], [[w["text"], f"{w['score']:.2f}", said if w[name] else ""] for w in answer[side]]
        )
    measured = answer["measured"]
    if not measured["cases"]:
        print("not measured for this checkpoint: run the command omission-bench")
        return
    for side, what in (("source", "words left out"), ("target", "words invented")):
        found, wrong = measured[side]["found"], measured[side]["wrong"]
        print(f"of {what} it marks {found:.0%}, of other words {wrong:.1%} ({measured['cases']} cases)")


def corpus_of(engine: Translator) -> Corpus:
    """The checkpoint's index, to be searched.

    Raises:
        CheckpointError: it has none, or a damaged one.
    """
    from translator.analysis.index import stored_index
    from translator.analysis.search import Corpus

    index = stored_index(engine)
    if index is None:
        raise CheckpointError(f"{engine.name} has no index to search; make one with the command index")
    return Corpus(engine, index)


def _search(engine: Translator, args: argparse.Namespace) -> Answer:
    corpus = corpus_of(engine)
    answer: Answer = {"data": corpus.index.data, "sentences": len(corpus.index.texts)}
    if args.place is not None:
        return answer | _neighbours(engine, corpus, args)
    layers, heads = engine.bundle.model.config.head_counts.get(args.kind, (0, 0))
    if args.layer is None or args.head is None:
        raise InputError("search needs --layer and --head, or --place with --side for the neighbours of a state")
    if args.text is None:
        place = index_of("layer", args.layer, layers), index_of("head", args.head, heads)
        if args.joint:
            return answer | _joint(corpus, args.kind, *place)
        hits = corpus.head_rows(args.kind, *place, order=args.order, count=args.count)
        habit = corpus.habit(args.kind, *place)
        return answer | {"order": args.order, "habit": asdict(habit), "hits": list(map(asdict, hits))}
    if args.query is None or args.key is None:
        raise InputError("with a text, search needs --query and --key, the cell that others are to be like")
    trace = trace_of(engine, args)
    place = place_of(trace, args)
    rows, columns = trace.weights(args.kind).shape[2:]
    cell = index_of("query", args.query, rows), index_of("key", args.key, columns)
    hits = corpus.like_cell(trace, args.kind, *place, *cell, count=args.count)
    return answer | {"order": "like", "hits": list(map(asdict, hits))}


def _neighbours(engine: Translator, corpus: Corpus, args: argparse.Namespace) -> Answer:
    if args.text is None:
        raise InputError("--place is a token of a text; give the text")
    trace = trace_of(engine, args)
    tokens = trace.src if args.side == "encoder" else trace.reads
    layer = args.layer if args.layer is not None else corpus.index.states[args.side].shape[0] - 1
    found = corpus.neighbours(trace, args.side, layer, index_of("place", args.place, len(tokens)), count=args.count)
    return {"token": tokens[args.place - 1].surface, "neighbours": list(map(asdict, found))}


def _joint(corpus: Corpus, kind: str, layer: int, head: int) -> Answer:
    from translator.analysis.joint import joint

    found = joint(corpus, kind, layer, head)
    clouds = {"queries": (found.queries, found.query_tokens), "keys": (found.keys, found.key_tokens)}
    return {
        name: [{"text": token.surface, "at": point} for point, token in zip(points, tokens, strict=True)]
        for name, (points, tokens) in clouds.items()
    } | {"kept": found.kept, "agreement": found.agreement}


def _say_search(answer: Answer) -> None:
    print(f"{answer['sentences']} sentences ({answer['data']})")
    if "queries" in answer:
        for name in ("queries", "keys"):
            for point in answer[name]:
                print(f"{name}\t{point['at'][0]:+.3f}\t{point['at'][1]:+.3f}\t{point['text']}")
        print(f"the plane keeps {answer['kept']:.0%}; it agrees with the scores by {answer['agreement']:+.2f}")
        return
    for hit in answer.get("hits", ()):
        alike = [f"{hit['score']:+.2f}"] if answer["order"] == "like" else []
        looks = f"{hit['query_text']} reads {hit['key_text']}"
        print(*alike, f"{hit['weight']:.2f}", looks, hit["source"], hit["translation"], sep="\t")
    for near in answer.get("neighbours", ()):
        print(f"{near['cosine']:+.2f}\t{near['text']}\t{near['source']}\t{near['translation']}")


def _number(help_text: str) -> dict[str, Any]:
    return {"type": int, "metavar": "N", "help": help_text}


_ORDER = replace(field("elsewhere", "order"), choices=ORDERS[1:3], value=ORDERS[1], says="without a text")

VIEWS = {
    "alti": View("contributions of source and prefix to each token (ALTI+)", _alti, _say_alti),
    "arena": View(
        "compare attribution methods on one sentence",
        _arena,
        _say_arena,
        {
            "--depth": {
                "type": int,
                "default": 1,
                "metavar": "N",
                "help": "maximum number of deleted words (default: 1)",
            }
        },
    ),
    "omissions": View(
        "mark omissions and inventions",
        _omissions,
        _say_omissions,
        {
            "translation": {
                "nargs": "?",
                "metavar": "TRANSLATION",
                "help": "your own translation instead of the model's",
            }
        },
    ),
    "search": View(
        "find similar rows or states in the checkpoint's index",
        _search,
        _say_search,
        {
            "text": {"nargs": "?", "metavar": "TEXT", "help": "text whose cell or state is the query"},
            **KIND,
            "--layer": _number("layer, from 1; with --place, 0 is the embeddings (default: the last)"),
            **options(field("elsewhere", "head")),
            "--order": option(_ORDER),
            "--joint": {"action": "store_true", "help": "print the joint plane of the head's queries and keys"},
            **options(*fields("elsewhere", "query", "key")),
            "--side": {
                "default": "encoder",
                "choices": ("encoder", "decoder"),
                "help": "side of the state (default: encoder)",
            },
            "--place": _number("find neighbours of this token's state, from 1"),
            "--count": {"type": int, "default": 10, "metavar": "N", "help": "number of results (default: 10)"},
        },
        text=False,
    ),
}
