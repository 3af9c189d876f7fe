"""The `lab` views that decode or score a translation: force, edit, beams, lens, positions."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from translator.analysis.cli.view import Answer, View, index_of, say_both, say_table, scored, surfaces, trace_of
from translator.registry.decoding import setting
from translator.registry.lab import field, fields
from translator.registry.options import option, options

if TYPE_CHECKING:
    from translator.pipeline import Translator


def _force(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.forced import force

    found = force(engine, args.text, args.target, method=args.method)
    tokens = [
        {"text": token.surface, "log_prob": log_prob, "rank": rank}
        for token, log_prob, rank in zip(found.trace.tgt, found.trace.log_probs, found.ranks, strict=True)
    ]
    return {"tokens": tokens, "given": scored(found.trace), "chosen": scored(found.chosen), "verdict": found.verdict}


def _say_force(answer: Answer) -> None:
    rows = [[each["text"], f"{each['log_prob']:.3f}", str(each["rank"])] for each in answer["tokens"]]
    say_table(["token", "log p", "rank"], rows)
    given, chosen = answer["given"], answer["chosen"]
    scores = f"given {given['score']:.3f}, chosen {chosen['score']:.3f}"
    print(f"{scores} ({chosen['translation']}): {answer['verdict']}")


def _edit(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.edit import continue_from, runner_up

    trace = trace_of(engine, args)
    step = index_of("step", args.step, len(trace.tgt))
    found = continue_from(engine, trace, step, args.choice if args.choice.strip() else runner_up(trace, step))
    return {"before": scored(trace), "after": scored(found)}


def _beams(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.beams import beam_tree

    own = engine.bundle.decode
    width = own.beam if args.beam is None else args.beam
    penalty = own.length_penalty if args.penalty is None else args.penalty
    tree = beam_tree(engine, args.text, beam=width, length_penalty=penalty)
    nodes = [
        {
            "step": node.step + 1,
            "parent": node.parent,
            "fate": node.fate,
            "score": node.score,
            "normalised": node.normalised,
            "text": node.text,
        }
        for node in tree.nodes
    ]
    return {"nodes": nodes, "beam": scored(tree.trace), "greedy": scored(tree.greedy)}


def _say_beams(answer: Answer) -> None:
    for node in answer["nodes"]:
        numbers = f"{node['score']:.3f}\t{node['normalised']:.3f}"
        print(f"{node['step']}\t{node['fate']}\t{numbers}\t{node['text']}")
    for name in ("beam", "greedy"):
        print(f"{name}\t{answer[name]['score']:.3f}\t{answer[name]['translation']}")


def _lens(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.lens import lens

    trace = trace_of(engine, args)
    found = lens(engine, trace, count=1)
    return {
        "tokens": surfaces(trace.tgt),
        "layers": [[step[0].token.surface for step in row] for row in found.best],
        "log_probs": found.log_probs,
        "ranks": found.ranks,
        "divergence": found.divergence,
        "decided": found.decided,
    }


def _say_lens(answer: Answer) -> None:
    say_table(["layer", *answer["tokens"]], [[str(n), *row] for n, row in enumerate(answer["layers"])])


def _positions(engine: Translator, args: argparse.Namespace) -> Answer:
    from translator.analysis.positions import move

    trace = trace_of(engine, args)
    found = move(engine, trace, side=args.side, shift=args.shift, scale=args.scale)
    return {"before": scored(trace), "after": scored(found)}


_TARGET = options(field("force", "target"), required=True)
_WIDTH = replace(field("beams", "beam"), high=setting("beam").high)  # one's own machine grants what there is

VIEWS = {
    "force": View("score a translation of yours", _force, _say_force, _TARGET),
    "edit": View(
        "replace one token and decode on from there",
        _edit,
        say_both,
        options(*fields("edit", "step", "choice")),
    ),
    "beams": View(
        "beam tree: every hypothesis of a beam search",
        _beams,
        _say_beams,
        {"--beam --width": option(_WIDTH), **options(field("beams", "penalty"))},
    ),
    "lens": View("logit lens: the prediction of each decoder layer", _lens, _say_lens),
    "positions": View(
        "shift, scale or remove the positions",
        _positions,
        say_both,
        options(*fields("positions", "side", "shift", "scale")),
    ),
}
