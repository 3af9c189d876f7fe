"""The lab's commands of python -m translator: lab, align-bench, profile."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translator.errors import CheckpointError, InputError

if TYPE_CHECKING:
    from translator.pipeline import Translator
    from translator.trace import Trace


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands; heavy libraries are imported only when one of them runs."""
    command = commands.add_parser("lab", help="ask what the heads do: switch, force, edit, trace back, compare")
    views = command.add_subparsers(required=True, metavar="VIEW")
    for name, (run, help_text, options) in _views().items():
        view = views.add_parser(name, help=help_text)
        view.add_argument("text", metavar="TEXT")
        for flag, settings in options.items():
            view.add_argument(flag, **settings)
        _add_model(view)
        view.set_defaults(run=_with_translation(run))

    command = commands.add_parser(
        "align-bench",
        help="alignment error rate of every head over a hand-aligned set; the shipped set's goes into the profile",
    )
    command.add_argument("model", metavar="MODEL", help="a name (de-en), a folder, or a hub id (owner/name)")
    command.add_argument(
        "--gold", type=Path, metavar="FILE.json", help="a set of yours, told but not stored (default: the shipped one)"
    )
    _add_device(command)
    command.set_defaults(run=_align_bench)

    command = commands.add_parser("profile", help="measure every head over a corpus; write it into the checkpoint")
    command.add_argument("model", metavar="MODEL", help="a name (de-en) or a folder")
    command.add_argument(
        "--data", required=True, type=Path, metavar="FILE", help="a source text a line, or source, tab, target"
    )
    command.add_argument("--limit", type=int, metavar="N", help="the first N lines only")
    _add_device(command)
    command.set_defaults(run=_profile)


View = Callable[["Translator", "Trace", argparse.Namespace], None]


def _views() -> dict[str, tuple[View, str, dict[str, dict[str, Any]]]]:
    """Each view's function, help and options."""
    number = {"type": int, "required": True, "metavar": "N"}
    kind = {"--kind": {"default": "cross", "help": "encoder, decoder or cross (default)"}}
    place = {"--layer": {**number, "help": "from 1"}, "--head": {**number, "help": "from 1"}}
    off = {"action": "append", "required": True, "metavar": "HEAD", "help": "such as cross:L5H3, counted from 1"}
    return {
        "importance": (_importance, "Δ log-probability when each head alone is silent", {}),
        "switch": (_switch, "decode again with heads switched off", {"--off": off}),
        "force": (_force, "what the model makes of your translation", {"--target": {"required": True}}),
        "edit": (
            _edit,
            "another token at a step, and on from there",
            {"--step": number, "--choice": {"required": True}},
        ),
        "beams": (_beams, "every hypothesis of a beam search", {"--width": {"type": int, "default": 4}}),
        "norms": (_norms, "the norm-based map of one head", {**kind, **place}),
        "rollout": (_rollout, "which source token reached which target token", {"--flow": {"action": "store_true"}}),
        "lens": (_lens, "what each decoder layer would say", {}),
        "faithfulness": (_faithfulness, "attention against occlusion", {}),
        "align": (_align, "word links of one head, Pharaoh format", place),
        "positions": (
            _positions,
            "shift, scale or remove the positions",
            {
                "--side": {"default": "both"},
                "--shift": {"type": float, "default": 0.0},
                "--scale": {"type": float, "default": 1.0},
            },
        ),
        "cell": (_cell, "one attention cell, worked", {**kind, **place, "--query": number, "--key": number}),
    }


def _add_model(command: argparse.ArgumentParser) -> None:
    command.add_argument("--model", required=True, help="a name (de-en), a folder, or a hub id (owner/name)")
    command.add_argument(
        "--method", default="greedy", help="how the sentence is decoded: greedy (default), beam or sample"
    )
    _add_device(command)


def _add_device(command: argparse.ArgumentParser) -> None:
    command.add_argument("--device", default="auto", help="auto (default), cpu or cuda")
    command.add_argument("--threads", type=int, help="threads that PyTorch may use")


def _with_translation(view: View) -> Callable[[argparse.Namespace], None]:
    def run(args: argparse.Namespace) -> None:
        from translator.pipeline import load

        engine = load(args.model, device=args.device)
        view(engine, engine.translate(args.text, method=args.method), args)

    return run


def _table(names: list[str], rows: list[list[str]]) -> None:
    """Columns that line up in a terminal."""
    widths = [max(len(cell) for cell in column) for column in zip(names, *rows, strict=True)]
    for row in (names, *rows):
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def _heads(title: str, values: Any, form: str = "+.3f") -> None:
    """A table of layers by heads."""
    _table([title, *(f"H{h + 1}" for h in range(values.shape[1]))], [
        [f"L{layer + 1}", *(f"{value:{form}}" for value in row)] for layer, row in enumerate(values)
    ])  # fmt: skip


def _importance(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.interventions import head_importance

    print(trace.translation)
    for kind, values in head_importance(engine, trace).items():
        _heads(kind, values)


def _switch(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.interventions import silence, switch

    found = switch(engine, trace, silence(engine.bundle.model, [_head(trace, name) for name in args.off]))
    print(f"{trace.translation}\t{trace.score:.3f}\n{found.after.translation}\t{found.after.score:.3f}")
    print(f"the first translation's log-probability changes by {found.change:+.3f} nats")


def _head(trace: Trace, name: str) -> tuple[str, int, int]:
    import re

    match = re.fullmatch(r"(encoder|decoder|cross):L(\d{1,3})H(\d{1,3})", name)
    if match is None:
        raise InputError(f"{name[:40]!r} names no head; write cross:L5H3")
    layers, heads = trace.weights(match[1]).shape[:2]
    return match[1], _index("layer", int(match[2]), layers), _index("head", int(match[3]), heads)


def _index(name: str, number: int, count: int) -> int:
    """A number that a person counts from 1, from 0."""
    if not 1 <= number <= count:
        raise InputError(f"{name} is {number}; it must be from 1 to {count}")
    return number - 1


def _force(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.forced import force

    found = force(engine, args.text, args.target, method=args.method)
    rows = [
        [token.surface, f"{log_prob:.3f}", str(rank)]
        for token, log_prob, rank in zip(found.trace.tgt, found.trace.log_probs, found.ranks, strict=True)
    ]
    _table(["token", "log p", "rank"], rows)
    print(f"given {found.score:.3f}, chosen {found.chosen_score:.3f} ({found.chosen.translation}): {found.verdict}")


def _edit(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.edit import continue_from

    found = continue_from(engine, trace, _index("step", args.step, len(trace.tgt)), args.choice)
    print(f"{trace.translation}\t{trace.score:.3f}\n{found.translation}\t{found.score:.3f}")


def _beams(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.beams import beam_tree

    tree = beam_tree(engine, args.text, beam=args.width)
    for node in tree.nodes:
        print(f"{node.step + 1}\t{node.fate}\t{node.score:.3f}\t{node.normalised:.3f}\t{node.text}")
    print(
        f"beam\t{tree.trace.score:.3f}\t{tree.trace.translation}\ngreedy\t{tree.greedy.score:.3f}\t{tree.greedy.translation}"
    )


def _map(values: Any, rows: list[str], columns: list[str]) -> None:
    _table(["", *columns], [[name, *(f"{v:.2f}" for v in row)] for name, row in zip(rows, values, strict=True)])


def _norms(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.norms import norms

    layers, heads = trace.weights(args.kind).shape[:2]
    layer, head = _index("layer", args.layer, layers), _index("head", args.head, heads)
    maps = getattr(norms(engine, trace), args.kind)
    _map(maps[layer, head], [t.surface for t in trace.queries(args.kind)], [t.surface for t in trace.keys(args.kind)])


def _rollout(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.flow import flow
    from translator.analysis.rollout import rollout

    found = (flow if args.flow else rollout)(trace.encoder, trace.decoder, trace.cross)
    _map(found.source, [token.surface for token in trace.tgt], [token.surface for token in trace.src])
    print("source share " + " ".join(f"{share:.2f}" for share in found.source_share))


def _lens(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.lens import lens

    found = lens(engine, trace, count=1)
    rows = [[str(n), *(step[0].token.surface for step in row)] for n, row in enumerate(found.best)]
    _table(["layer", *(token.surface for token in trace.tgt)], rows)


def _faithfulness(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.faithfulness import METHODS, faithfulness

    found = faithfulness(engine, trace)
    for method in METHODS:
        said = "beyond chance" if found.believable(method) else "no better than chance"
        print(f"{method}\t{found.mean(method):+.3f}\t{said}")
    print(f"chance\t{found.chance:+.3f}")


def _align(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.alignment import pharaoh
    from translator.analysis.bench import Aligner, align
    from translator.analysis.gold import words_of

    texts = zip((trace.normalised, trace.translation), engine.languages, strict=True)
    src, tgt = (words_of(text, language) for text, language in texts)
    layers, heads = trace.cross.shape[:2]
    aligner = Aligner(layer=_index("layer", args.layer, layers), head=_index("head", args.head, heads))
    links = align(engine, trace, aligner, (len(src), len(tgt)))
    print(" ".join(src), " ".join(tgt), pharaoh(links), sep="\n")


def _positions(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.positions import move

    found = move(engine, trace, side=args.side, shift=args.shift, scale=args.scale)
    print(f"{trace.translation}\t{trace.score:.3f}\n{found.translation}\t{found.score:.3f}")


def _cell(engine: Translator, trace: Trace, args: argparse.Namespace) -> None:
    from translator.analysis.cell import cell

    names = ("layer", "head", "query", "key")
    counts = zip(names, trace.weights(args.kind).shape, strict=True)
    found = cell(engine, trace, args.kind, *(_index(name, getattr(args, name), count) for name, count in counts))
    for name in ("q", "k", "products", "v", "carried"):
        print(name, " ".join(f"{value:+.3f}" for value in getattr(found, name)))
    print(f"dot {found.dot:+.4f} × {found.scale:.4f} = {found.scores[found.key]:+.4f}; softmax {found.weight:.6f}")


def _align_bench(args: argparse.Namespace) -> None:
    import numpy as np

    from translator.analysis.bench import align_bench
    from translator.analysis.gold import FOLDER, read_gold, shipped_gold
    from translator.analysis.profile import alignment_table, store, stored_profile
    from translator.pipeline import load

    engine = load(args.model, device=args.device)
    gold = read_gold(args.gold) if args.gold else shipped_gold(engine.languages)
    if gold is None:
        raise InputError(f"there is no hand-aligned set for {'-'.join(engine.languages)}; give one with --gold")
    profile = stored_profile(engine)  # a damaged one is refused before the long part
    bench = align_bench(engine, gold, progress=_progress)
    for reading, rates in zip(("predicts", "reads"), np.asarray(bench.heads), strict=True):
        _heads(reading, rates, ".3f")
    ways = ", ".join(f"{name} {rate:.3f}" for name, rate in bench.ways.items())
    print(f"best head {bench.best_head.name} ({bench.best_head.reading}): {ways}")
    print(f"best map {bench.best.name} ({bench.best.reading}): {bench.rate:.3f}")
    if args.gold:  # what cards tell must be comparable
        print(f"not stored: only rates by a set in {FOLDER} go into a checkpoint", file=sys.stderr)
    elif profile is None:
        print("not stored: run the command profile first, then align-bench", file=sys.stderr)
    else:
        try:
            _say_stored(store(engine, replace(profile, alignment=alignment_table(bench))))
        except CheckpointError as error:  # the hub's, say: the rates are told all the same
            print(f"not stored: {error}", file=sys.stderr)


def _say_stored(folder: Path) -> None:
    print(f"stored in {folder}: profile.json, and its section of README.md", file=sys.stderr)


def _profile(args: argparse.Namespace) -> None:
    import os

    from translator.analysis.bench import align_bench
    from translator.analysis.gold import shipped_gold
    from translator.analysis.profile import alignment_table, head_profile, read_pairs, store
    from translator.checkpoints.place import own_folder
    from translator.pipeline import load

    if args.limit is not None and args.limit < 1:
        raise InputError(f"limit is {args.limit}; it must be 1 or more")
    engine = load(args.model, device=args.device)
    own_folder(engine.bundle)  # refused before the long part
    first = os.environ.get("RANK", "0") == "0"
    profile = head_profile(
        engine, read_pairs(args.data, args.limit), data=args.data.name, progress=_progress if first else None
    )
    if not first:
        return
    gold = shipped_gold(engine.languages)
    if gold is not None:
        profile = replace(profile, alignment=alignment_table(align_bench(engine, gold, progress=_progress)))
    _say_stored(store(engine, profile))
    for kind, heads in profile.heads.items():
        for head in heads:
            print(f"{kind}\tL{head.layer + 1}H{head.head + 1}\t{head.role}\tentropy {head.entropy:.2f}")


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty() or done == total:
        print(f"\r{done} of {total}", end="" if done < total else "\n", file=sys.stderr, flush=True)
