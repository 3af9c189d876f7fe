"""The commands `train`, `prepare`, `rare`, `evaluate`, `adequacy` and `describe`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from translator.pipeline import Translator
    from translator.training.evaluate import Evaluation
    from translator.training.loop import Process

SETTINGS: dict[str, tuple[type, str]] = {
    "method": (str, "greedy, beam or sample"),
    "beam": (int, "width of the beam"),
    "length_penalty": (float, "strength of the length penalty"),
    "max_length": (int, "produced tokens at most, end of sentence included"),
}

RARE: dict[str, tuple[type, str]] = {
    "count": (int, "words of the list that are asked about (default: 10,000)"),
    "least": (int, "sentences from which on a word is not rare (default: 10)"),
    "most": (int, "pairs for each word at most (default: 10)"),
    "tried": (int, "pairs for each word that the checkpoint judges (default: 30)"),
    "bound": (float, "nats a token that the rest of a target may lose (default: 0.3)"),
    "seed": (int, "seed (default: 1)"),
}


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `train` and `evaluate`; heavy libraries are imported only when one of them runs."""
    command = commands.add_parser("train", help="train a checkpoint, or resume a run")
    command.add_argument("config", type=Path, metavar="CONFIG", help="settings of the run as JSON (see configs/)")
    command.add_argument(
        "--data", required=True, type=Path, metavar="DIR", help="folder with train.tsv.gz and dev.tsv.gz"
    )
    command.add_argument("--out", type=Path, metavar="DIR", help="folder of the run (default: runs/NAME)")
    command.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="folder of the checkpoint (default: checkpoints/NAME)"
    )
    command.add_argument("--export-only", action="store_true", help="export the run as it stands, without training")
    command.add_argument("--device", default="auto", help="device: auto (default), cpu or cuda")
    command.add_argument("--threads", type=int, help="number of PyTorch threads")
    command.set_defaults(run=_train)

    command = commands.add_parser(
        "prepare", help="hold everyday test sets and their near copies out of the training text"
    )
    command.add_argument(
        "config", type=Path, metavar="CONFIG", help="which sets to draw, as JSON (see configs/data-*.json)"
    )
    command.add_argument(
        "--data", required=True, type=Path, metavar="DIR", help="folder with the pair's folder and mono"
    )
    command.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="output folder: the data that training reads"
    )
    command.set_defaults(run=_prepare)

    command = commands.add_parser(
        "rare", help="add pairs with rare words, in the place of common ones, to training text"
    )
    command.add_argument("list", type=Path, metavar="LIST", help="words of the source language, the commonest first")
    command.add_argument("--data", required=True, type=Path, metavar="DIR", help="folder that training reads")
    command.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="output folder: the same with the corpus 'rare' in train"
    )
    command.add_argument("--model", required=True, help="checkpoint that judges: a name (en-zh), a folder, or a hub id")
    command.add_argument("--revision", help="revision of a hub id: a commit (40 hex digits) or a branch")
    for name, (kind, text) in RARE.items():
        command.add_argument(f"--{name}", type=kind, default=argparse.SUPPRESS, help=text)
    command.add_argument("--device", default="auto", help="device: auto (default), cpu or cuda")
    command.add_argument("--threads", type=int, help="number of PyTorch threads")
    command.set_defaults(run=_rare)

    command = commands.add_parser("evaluate", help="score a checkpoint on test files: BLEU, chrF, speed")
    command.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="test file: source, target, corpus (.tsv, .tsv.gz)"
    )
    command.add_argument(
        "--model", required=True, help="checkpoint: a name (de-en), a folder, or a hub id (owner/name)"
    )
    command.add_argument("--revision", help="revision of a hub id: a commit (40 hex digits) or a branch")
    command.add_argument("--json", type=Path, metavar="FILE.json", help="also write the scores to this file")
    command.add_argument("--device", default="auto", help="device: auto (default), cpu or cuda")
    command.add_argument("--threads", type=int, help="number of PyTorch threads")
    for name, (kind, text) in SETTINGS.items():
        command.add_argument(f"--{name.replace('_', '-')}", type=kind, default=argparse.SUPPRESS, help=text)
    command.set_defaults(run=_evaluate)

    command = commands.add_parser("adequacy", help="measure the share of ideas that everyday translations keep")
    command.add_argument(
        "--model", required=True, help="checkpoint: a name (de-en), a folder, or a hub id (owner/name)"
    )
    command.add_argument("--revision", help="revision of a hub id: a commit (40 hex digits) or a branch")
    command.add_argument(
        "--sentences", type=Path, metavar="FILE", help="file of sentences with ideas (default: from assets/adequacy)"
    )
    command.add_argument("--store", action="store_true", help="store the result in the checkpoint's card")
    command.add_argument("--lost", action="store_true", help="print each sentence with the ideas it lost")
    command.add_argument("--device", default="auto", help="device: auto (default), cpu or cuda")
    command.add_argument("--threads", type=int, help="number of PyTorch threads")
    for name, (kind, text) in SETTINGS.items():
        command.add_argument(f"--{name.replace('_', '-')}", type=kind, default=argparse.SUPPRESS, help=text)
    command.set_defaults(run=_adequacy)

    command = commands.add_parser("describe", help="score a checkpoint on all test files and write its model card")
    command.add_argument("model", help="checkpoint: a name (de-en) or a folder")
    command.add_argument(
        "--data", required=True, type=Path, metavar="DIR", help="folder with the training and test files"
    )
    command.add_argument("--hardware", required=True, help="hardware it was trained on, for the card")
    command.add_argument("--selection", required=True, help="how the weights were selected, for the card")
    command.add_argument(
        "--licence", required=True, help="licence of the weights in the hub's notation, such as cc-by-4.0"
    )
    command.add_argument(
        "--weaknesses", type=Path, metavar="FILE.md", help="Markdown on known weaknesses, for the card"
    )
    command.set_defaults(run=_describe)


def _train(args: argparse.Namespace) -> None:
    from translator.checkpoints.destination import free_folder
    from translator.checkpoints.shelf import new_checkpoints_folder
    from translator.checkpoints.store import choose_device
    from translator.errors import InputError
    from translator.training.claim import read_config
    from translator.training.data import read_dev
    from translator.training.export import export
    from translator.training.run import train

    config = read_config(args.config)
    run = args.out or Path("runs") / config.name
    out = free_folder(args.checkpoint or new_checkpoints_folder() / config.name)  # refused before the work of hours
    if out in (run.resolve(), *run.resolve().parents):
        raise InputError(f"the run's folder {run} lies in {out}, where the checkpoint goes; name another one")
    if args.export_only:
        dev = read_dev(config, args.data)
    else:
        trainer, corpus = train(config, args.data, run, device=args.device)
        dev = corpus.dev
        if _done(trainer.process):
            return
    exported = export(run, dev, out, device=choose_device(args.device))
    for name, scores in exported.scores.items():
        print(f"dev BLEU {scores['bleu']:.2f}, chrF {scores['chrf']:.2f}: {name}")
    print(f"{exported.folder} is {exported.chosen} of {run}")


def _prepare(args: argparse.Namespace) -> None:
    from translator.training.claim import read_settings
    from translator.training.hold_out import HoldOut, prepare

    for name, count in prepare(read_settings(args.config, HoldOut), args.data, args.out).items():
        print(f"{name}: {count:,}")


def _rare(args: argparse.Namespace) -> None:
    from translator.pipeline import load
    from translator.training.rare import RarePlan, write_rare
    from translator.training.self_training import Teacher

    plan = RarePlan(**{name: getattr(args, name) for name in RARE if hasattr(args, name)})
    bundle = load(args.model, device=args.device, revision=args.revision).bundle
    told = write_rare(Teacher(bundle.model, bundle.src, bundle.tgt), plan, args.list, args.data, args.out)
    for name, count in told.items():
        print(f"{name}: {count:,}")


def _evaluate(args: argparse.Namespace) -> None:
    from translator.pipeline import load
    from translator.training.evaluate import evaluate_file
    from translator.training.loop import Process

    process = Process.join()
    settings: dict[str, Any] = {name: getattr(args, name) for name in SETTINGS if hasattr(args, name)}
    translator = load(args.model, device=args.device, revision=args.revision)
    evaluations = [evaluate_file(translator, path, process=process, **settings) for path in args.files]
    if _done(process):
        return
    tell(translator, evaluations, settings, args.json)


def tell(
    translator: Translator, evaluations: Sequence[Evaluation], settings: dict[str, Any], path: Path | None
) -> None:
    """Print what `evaluate` found, and write it to `path` as JSON.

    Raises:
        OSError: it cannot be written.
    """
    from translator.files import write_whole
    from translator.training.evaluate import table, to_json

    print(table(evaluations))
    if path is not None:
        write_whole(path, to_json(translator, evaluations, settings))
    for one in evaluations:
        for reason in one.refused:
            print(f"{one.name}: {reason}", file=sys.stderr)


def _adequacy(args: argparse.Namespace) -> None:
    from translator.errors import InputError
    from translator.pipeline import load
    from translator.training.adequacy import adequacy_path, judge, read_adequacy, report, store

    settings: dict[str, Any] = {"method": "beam"}
    settings |= {name: getattr(args, name) for name in SETTINGS if hasattr(args, name)}
    if args.store and (len(settings) > 1 or args.sentences is not None):
        raise InputError("--store takes no other sentences or settings; a card describes the checkpoint as it is")
    translator = load(args.model, device=args.device, revision=args.revision)
    path = args.sentences or adequacy_path(*translator.languages)
    sentences = read_adequacy(path)
    if not sentences:
        raise InputError(f"{path} holds no sentences; name a file of sentences and ideas with --sentences")
    texts = translator.translate_batch([sentence.source for sentence in sentences], **settings)
    found = judge(sentences, texts, translator.languages[1])
    print(report(found))
    if args.store:
        print(f"stored in {store(translator.bundle, found)}: README.md", file=sys.stderr)
    for number, ideas in found.lost.items() if args.lost else ():
        print(f"\n{sentences[number].source}\n{texts[number]}\n  lost: {'; '.join(ideas)}")


def _describe(args: argparse.Namespace) -> None:
    from translator.pipeline import load
    from translator.text.lines import read_lines
    from translator.training.describe import describe
    from translator.training.evaluate import table

    weaknesses = "\n".join(read_lines(args.weaknesses)) if args.weaknesses else ""
    translator = load(args.model)
    told = {"hardware": args.hardware, "selection": args.selection, "licence": args.licence, "weaknesses": weaknesses}
    print(table(describe(translator, args.data, **told)))
    print(f"stored in {translator.bundle.folder}: README.md", file=sys.stderr)


def _done(process: Process) -> bool:
    """Leave the group of processes; True where another one does the rest."""
    process.leave()
    return process.rank > 0
