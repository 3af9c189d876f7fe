"""The commands that measure heads over a corpus: align-bench and profile."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from translator.analysis.cli.view import add_device, say_heads
from translator.errors import CheckpointError, InputError

if TYPE_CHECKING:
    from translator.analysis.bench import Bench
    from translator.analysis.profile import Profile
    from translator.pipeline import Translator


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands."""
    command = commands.add_parser(
        "align-bench",
        help="alignment error rate of every head over a hand-aligned set; stored for the shipped set",
    )
    command.add_argument(
        "model", metavar="MODEL", help="checkpoint: a name (de-en), a folder, or a hub id (owner/name)"
    )
    command.add_argument(
        "--gold",
        type=Path,
        metavar="FILE.json",
        help="your own set, whose rates are not stored (default: the shipped set)",
    )
    add_device(command)
    command.set_defaults(run=_align_bench)

    command = commands.add_parser(
        "profile", help="measure every head over a corpus and store the profile in the checkpoint"
    )
    command.add_argument("model", metavar="MODEL", help="checkpoint: a name (de-en) or a folder")
    command.add_argument(
        "--data", required=True, type=Path, metavar="FILE", help="one source text per line, or source, tab, target"
    )
    command.add_argument("--limit", type=int, metavar="N", help="read only the first N lines")
    add_device(command)
    command.set_defaults(run=_profile)


def _align_bench(args: argparse.Namespace) -> None:
    from translator.analysis.bench import align_bench
    from translator.analysis.gold import read_gold, shipped_gold
    from translator.analysis.profile import stored_profile
    from translator.pipeline import load

    engine = load(args.model, device=args.device)
    gold = read_gold(args.gold) if args.gold else shipped_gold(engine.languages)
    if gold is None:
        raise InputError(f"there is no hand-aligned set for {'-'.join(engine.languages)}; give one with --gold")
    profile = stored_profile(engine)  # a damaged one is refused before the long part
    tell_bench(engine, align_bench(engine, gold, progress=_progress), profile, own=args.gold is not None)


def tell_bench(engine: Translator, bench: Bench, profile: Profile | None, *, own: bool) -> None:
    """Print what the bench found, and store it with the profile unless the set is the caller's `own`."""
    import numpy as np

    from translator.analysis.gold import FOLDER
    from translator.analysis.profile import alignment_table, store

    for reading, rates in zip(("predicts", "reads"), np.asarray(bench.heads), strict=True):
        say_heads(reading, rates, ".3f")
    ways = ", ".join(f"{name} {rate:.3f}" for name, rate in bench.ways.items())
    print(f"best head {bench.best_head.name} ({bench.best_head.reading}): {ways}")
    print(f"best map {bench.best.name} ({bench.best.reading}): {bench.rate:.3f}")
    if own:  # what cards tell must be comparable
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
    from translator.analysis.profile import alignment_table, head_profile, read_pairs
    from translator.checkpoints.destination import own_folder
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
    tell_profile(engine, profile)


def tell_profile(engine: Translator, profile: Profile) -> None:
    """Store a profile and print the role of every head.

    Raises:
        CheckpointError: it cannot be stored.
    """
    from translator.analysis.profile import judged, store

    _say_stored(store(engine, profile))
    for kind, heads in judged(profile).heads.items():
        for head in heads:
            print(f"{kind}\tL{head.layer + 1}H{head.head + 1}\t{head.role}\tentropy {head.entropy:.2f}")


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty() or done == total:
        print(f"\r{done} of {total}", end="" if done < total else "\n", file=sys.stderr, flush=True)
