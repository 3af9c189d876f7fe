"""A view of `lab` and its output, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from translator.errors import InputError
from translator.registry.decoding import setting
from translator.registry.options import option
from translator.trace import Token

if TYPE_CHECKING:
    from translator.pipeline import Translator
    from translator.trace import Trace

Answer = dict[str, Any]


@dataclass(frozen=True)
class View:
    """One view of `lab`.

    `answer` gives everything that the view shows, by name; `say` prints that answer for a person. `options` are
    argparse's own, by flag (two where it has a second name) or by the name of a positional argument that follows the
    text; those that the page asks for too come from `translator.registry.lab`. `text` says whether the view starts from
    a text at all.
    """

    help: str
    answer: Callable[[Translator, argparse.Namespace], Answer]
    say: Callable[[Answer], None]
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    text: bool = True


def add_views(command: argparse.ArgumentParser, views: Mapping[str, View]) -> None:
    """Give `command` one subcommand for each view, every one with `--json`."""
    parsers = command.add_subparsers(required=True, metavar="VIEW")
    for name, view in views.items():
        parser = parsers.add_parser(name, help=view.help)
        if view.text:
            parser.add_argument("text", metavar="TEXT", help="text to translate")
        for flags, settings in view.options.items():
            parser.add_argument(*flags.split(), **settings)
        parser.add_argument("--json", action="store_true", help="print the result as one line of JSON")
        add_model(parser)
        parser.set_defaults(run=_run(view))


def add_model(command: argparse.ArgumentParser) -> None:
    """The options of every command that translates one text first."""
    command.add_argument("--model", required=True, help="a name (de-en), a folder, or a hub id (owner/name)")
    command.add_argument("--method", **option(setting("method")))
    add_device(command)


def add_device(command: argparse.ArgumentParser) -> None:
    """The options that say where the model runs."""
    command.add_argument("--device", default="auto", help="device: auto (default), cpu or cuda")
    command.add_argument("--threads", type=int, help="number of PyTorch threads")


def _run(view: View) -> Callable[[argparse.Namespace], None]:
    def run(args: argparse.Namespace) -> None:
        from translator.pipeline import load

        answer = view.answer(load(args.model, device=args.device), args)
        if args.json:
            print(json.dumps(plain(answer), ensure_ascii=False, allow_nan=False))
        else:
            view.say(answer)

    return run


def trace_of(engine: Translator, args: argparse.Namespace) -> Trace:
    """The text that was given, translated as was asked."""
    return engine.translate(args.text, method=args.method)


def plain(value: Any) -> Any:
    """`value` as JSON knows it: arrays and tuples as lists, NumPy's numbers as Python's, what is not finite as null."""
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):  # of NumPy; imported only where a view needs it
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def surfaces(tokens: Iterable[Token]) -> list[str]:
    """The tokens as a person reads them."""
    return [token.surface for token in tokens]


def scored(trace: Trace) -> Answer:
    """A translation and its summed log-probability in nats."""
    return {"translation": trace.translation, "score": trace.score}


def index_of(name: str, number: int, count: int) -> int:
    """A number that a person counts from 1, from 0.

    Raises:
        InputError: there are not so many.
    """
    if not 1 <= number <= count:
        raise InputError(f"{name} is {number}; it must be a whole number from 1 to {count}")
    return number - 1


def say_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns that line up in a terminal."""
    widths = [max(len(cell) for cell in column) for column in zip(names, *rows, strict=True)]
    for row in (names, *rows):
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def say_heads(title: str, values: Any, form: str = "+.3f") -> None:
    """A table of layers by heads."""
    say_map(
        values, [f"L{n + 1}" for n in range(len(values))], [f"H{n + 1}" for n in range(len(values[0]))], form, title
    )


def say_map(values: Any, rows: Sequence[str], columns: Sequence[str], form: str = ".2f", title: str = "") -> None:
    """A table of numbers with names on both sides."""
    body = [[name, *(f"{value:{form}}" for value in row)] for name, row in zip(rows, values, strict=True)]
    say_table([title, *columns], body)


def say_both(answer: Answer) -> None:
    """A translation `before` and `after`, each with its score."""
    for each in (answer["before"], answer["after"]):
        print(f"{each['translation']}\t{each['score']:.3f}")
