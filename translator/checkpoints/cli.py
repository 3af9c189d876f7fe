"""The commands `convert`, `push` and `space`."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands; heavy libraries are imported only when one of them runs."""
    command = commands.add_parser("convert", help="convert a checkpoint of another layout, or a pickle, to our format")
    command.add_argument("source", metavar="SOURCE", help="folder, file of weights, or hub id (owner/name@revision)")
    command.add_argument("folder", type=Path, metavar="FOLDER", help="output folder, such as checkpoints/my-model")
    command.add_argument("--heads", type=int, help="number of attention heads, where the weights do not determine it")
    command.add_argument("--src", metavar="CODE", help="source language, such as en")
    command.add_argument("--tgt", metavar="CODE", help="target language, such as zh")
    command.add_argument(
        "--dtype", default="float32", help="stored type: float32 (default), or float16 for half the size"
    )
    command.set_defaults(run=_convert)

    command = commands.add_parser("push", help="publish a checkpoint on the Hugging Face hub")
    command.add_argument("folder", type=Path, metavar="FOLDER", help="folder of the checkpoint")
    command.add_argument("repository", metavar="OWNER/NAME", help="hub id")
    command.add_argument("--scores", type=Path, metavar="FILE.json", help="output of `evaluate --json`, for the card")
    command.add_argument("--dataset", action="append", default=[], metavar="ID", help="hub id of a training data set")
    command.add_argument(
        "--licence", metavar="NAME", help="licence of the weights, such as cc-by-4.0 (default: the card's)"
    )
    command.add_argument("--private", action="store_true", help="make a new repository private")
    command.set_defaults(run=_push)

    command = commands.add_parser("space", help="publish or update this page as a Hugging Face Space")
    command.add_argument("repository", metavar="OWNER/NAME", help="hub id")
    command.add_argument("--private", action="store_true", help="make a new Space private")
    command.add_argument("--static", action="store_true", help="upload the output of `export --live` as a static Space")
    command.add_argument(
        "--folder",
        type=Path,
        default=Path("site"),
        metavar="DIR",
        help="folder to upload with --static (default: site)",
    )
    command.set_defaults(run=_space)


def _convert(args: argparse.Namespace) -> None:
    from translator.checkpoints.convert import convert
    from translator.errors import InputError

    if (args.src is None) != (args.tgt is None):
        raise InputError("give both --src and --tgt, or neither")
    languages = None if args.src is None else (args.src, args.tgt)
    print(convert(args.source, args.folder, heads=args.heads, languages=languages, dtype=args.dtype))


def _push(args: argparse.Namespace) -> None:
    from translator.checkpoints.publish import push

    told = {"scores": args.scores, "datasets": args.dataset, "licence": args.licence, "private": args.private}
    print(push(args.folder, args.repository, **told))


def _space(args: argparse.Namespace) -> None:
    from translator.checkpoints.publish import space, static_space

    if args.static:
        print(static_space(args.folder, args.repository, private=args.private))
    else:
        print(space(args.repository, private=args.private))
