"""Fields as options of a command: the parser's help says choices, range and default, its refusals are the fields'."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from translator.registry.field import Field, told


class Read(argparse.Action):
    """Store what the field reads of what was typed; what it refuses is an `InputError`, one line and no usage."""

    def __init__(self, *args: Any, field: Field, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.field = field

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Store it.

        Raises:
            InputError: the field refuses it.
        """
        setattr(namespace, self.dest, self.field.parse(str(values)))


def option(each: Field, *, default: Any = None, required: bool = False) -> dict[str, Any]:
    """What argparse's `add_argument` takes for a field.

    Args:
        default: instead of the field's own; `argparse.SUPPRESS` for an option that leaves no trace.
        required: the command cannot choose by itself.
    """
    usual = each.value if default is None else default
    found: dict[str, Any] = {
        "action": Read,
        "field": each,
        "metavar": _metavar(each),
        "help": _help(each, None if required else usual),
    }
    return {**found, **({"required": True} if required else {"default": usual})}


def flag(each: Field) -> str:
    """A field's name as an option: --length-penalty."""
    return "--" + each.name.replace("_", "-")


def options(*fields: Field, required: bool = False) -> dict[str, dict[str, Any]]:
    """Each field's options by its flag."""
    return {flag(each): option(each, required=required) for each in fields}


def _metavar(each: Field) -> str:
    if each.kind == "choice":
        plain = not any(" " in told(choice) for choice in each.choices)
        return "{" + ",".join(map(told, each.choices)) + "}" if plain else each.name.upper()
    return each.name.upper() if each.kind == "text" else "N" if each.whole else "X"


def _help(each: Field, usual: object) -> str:
    """What it is, what it must be, and what stands there unless one says so."""
    shown = _metavar(each).startswith("{") or each.kind == "text"
    parts = [each.says or each.label.lower(), *([] if shown else [each.want()])]
    stands = [] if usual in (None, "", argparse.SUPPRESS) else [f"(default: {told(usual)})"]
    return " ".join(["; ".join(parts), *stands])
