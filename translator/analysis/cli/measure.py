"""The commands arena, index and omission-bench, which store measurements in the checkpoint."""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translator.analysis.cli.view import add_device
from translator.errors import InputError

if TYPE_CHECKING:
    from translator.analysis.arena import Judged
    from translator.pipeline import Translator

DEPTH = 3
"""Words that the arena deletes at most."""


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the three commands."""
    texts: dict[str, Any] = {
        "required": True,
        "type": Path,
        "metavar": "FILE",
        "help": "one source text per line; anything after a tab is ignored",
    }
    limit: dict[str, Any] = {"type": int, "metavar": "N", "help": "read only the first N lines"}
    command = commands.add_parser(
        "arena", help="compare attribution methods over a corpus and store the table in the card"
    )
    command.add_argument("model", metavar="MODEL", help="checkpoint: a name (de-en) or a folder")
    command.add_argument("--data", **texts)
    command.add_argument("--limit", **limit)
    add_device(command)
    command.set_defaults(run=_arena)

    command = commands.add_parser("index", help="build the index over a corpus that `lab search` uses")
    command.add_argument("model", metavar="MODEL", help="checkpoint: a name (de-en) or a folder")
    command.add_argument("--data", **texts)
    command.add_argument("--limit", **limit)
    add_device(command)
    command.set_defaults(run=_index)

    command = commands.add_parser(
        "omission-bench",
        help="fit and evaluate the omission meter on constructed cases and store it in the checkpoint",
    )
    command.add_argument("model", metavar="MODEL", help="checkpoint: a name (de-en) or a folder")
    command.add_argument(
        "--data",
        required=True,
        type=Path,
        metavar="DIR",
        help="folder with dev.tsv.gz, and train.tsv.gz for the lexicon",
    )
    command.add_argument(
        "--cases",
        type=int,
        default=2000,
        metavar="N",
        help="number of cases, half omissions, half inventions (default: 2000)",
    )
    add_device(command)
    command.set_defaults(run=_omission_bench)


def _texts(args: argparse.Namespace) -> list[str]:
    from translator.text.lines import read_lines

    if args.limit is not None and args.limit < 1:
        raise InputError(f"limit is {args.limit}; it must be 1 or more")
    texts = [line.split("\t")[0] for line in islice(read_lines(args.data), args.limit)]
    if not all(text.strip() for text in texts):
        raise InputError(f"{args.data} has a line without text; take it out")
    return texts


def _arena(args: argparse.Namespace) -> None:
    from translator.analysis.arena import arena_table
    from translator.checkpoints.destination import own_folder
    from translator.pipeline import load

    texts = _texts(args)
    engine = load(args.model, device=args.device)
    own_folder(engine.bundle)  # refused before the long part
    tell_arena(engine, args.data.name, *arena_table(engine, texts, depth=DEPTH, progress=_progress))


def tell_arena(engine: Translator, data: str, methods: dict[str, Judged], sentences: int) -> None:
    """Store the table of the corpus called `data`, and print it.

    Raises:
        CheckpointError: it cannot be stored.
    """
    from translator.analysis.measured import ArenaTable, arena_section, store_arena

    table = ArenaTable(engine.bundle.info.sha256, data, sentences, DEPTH, methods)
    folder = store_arena(engine, table)
    print(arena_section(table))
    print(f"stored in {folder}: arena.json, and its section of README.md", file=sys.stderr)


def _index(args: argparse.Namespace) -> None:
    from translator.analysis.index import FILE, store_index
    from translator.analysis.indexing import make_index
    from translator.checkpoints.destination import own_folder
    from translator.pipeline import load

    texts = _texts(args)
    engine = load(args.model, device=args.device)
    own_folder(engine.bundle)
    folder = store_index(engine, make_index(engine, texts, data=args.data.name, progress=_progress))
    print(f"{len(texts)} sentences, {(folder / FILE).stat().st_size:,} bytes: {folder / FILE}")


def _omission_bench(args: argparse.Namespace) -> None:
    from translator.analysis.cases import lowered, made_cases
    from translator.analysis.lexicon import learn_lexicon
    from translator.analysis.measured import meter_section, store_meter
    from translator.analysis.omission_bench import judged_cases, measured_meter
    from translator.checkpoints.destination import own_folder
    from translator.pipeline import load
    from translator.text.lines import read_lines

    if args.cases < 80:
        raise InputError(f"cases is {args.cases}; it must be 80 or more")
    engine = load(args.model, device=args.device)
    own_folder(engine.bundle)
    files = {name: next((p for p in (args.data / f"{name}.tsv.gz", args.data / f"{name}.tsv") if p.is_file()), None)
             for name in ("train", "dev")}  # fmt: skip
    pairs = {}
    for name, path in files.items():
        if path is None:
            raise InputError(f"{args.data} holds no {name}.tsv.gz; the cases are made from dev, the lexicon from train")
        rows = (line.split("\t") for line in read_lines(path))
        pairs[name] = [(row[0], row[1]) for row in rows if len(row) > 1]
    sides = engine.languages
    lexicon = learn_lexicon(
        (lowered(src, sides[0]), lowered(tgt, sides[1])) for name in ("train", "dev") for src, tgt in pairs[name]
    )
    cases = made_cases(pairs["dev"], lexicon, sides, args.cases)
    meter = measured_meter(engine, *judged_cases(engine, cases, progress=_progress), data=f"dev of {args.data.name}")
    folder = store_meter(engine, meter)
    print(meter_section(meter))
    print(f"stored in {folder}: omissions.json, and its section of README.md", file=sys.stderr)


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty() or done == total:
        print(f"\r{done} of {total}", end="" if done < total else "\n", file=sys.stderr, flush=True)
