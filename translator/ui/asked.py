"""Parsing of lab and lesson requests from JSON, with errors in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from translator.errors import InputError, TranslatorError
from translator.registry.field import CHARACTERS

Asked = Mapping[str, Any]
C = TypeVar("C", bound=str)
F = TypeVar("F", bound=Callable[..., Any])


def mapping(value: object) -> Asked:
    """A request, or a part of it, as names with values.

    Raises:
        InputError: it is nothing of the kind.
    """
    if not isinstance(value, Mapping):
        raise InputError("the request must be names with values")
    return value


def told(make: Callable[[Asked], dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """`make` under its name; an error is an answer in words, {"error": …, "again": whether asking once more helps}."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        try:
            return make(mapping(request))
        except TranslatorError as error:
            return {"error": str(error), "again": not isinstance(error, InputError)}

    return marked(answer, __name__=make.__name__, where=getattr(make, "where", "gate"))


def marked(function: F, **marks: object) -> F:
    """`function` with something said about it.

    `where` is where a component's function runs: behind the "gate", like a translation; at the "desk", where what takes
    milliseconds has its own short queue; or "at once", for what neither computes nor waits. `tells_place` is said of an
    event whose page shows how many are before it.
    """
    for name, value in marks.items():
        setattr(function, name, value)
    return function


def whole_numbers(asked: Asked, name: str) -> list[int]:
    """The list of whole numbers called `name`, empty if there is none.

    Raises:
        InputError: it is no such list, or holds more than 1,000.
    """
    values = asked.get(name, [])
    if not isinstance(values, list) or len(values) > 1000 or not all(type(each) is int for each in values):
        raise InputError(f"{name} must be a list of at most 1,000 whole numbers")
    return values


def text(asked: Asked, name: str) -> str:
    """The text called `name`, "" if there is none.

    Raises:
        InputError: it is no text, or longer than a text may be.
    """
    value = asked.get(name, "")
    if not isinstance(value, str) or len(value) > CHARACTERS:
        raise InputError(f"{name} must be a text of at most {CHARACTERS:,} characters")
    return value
