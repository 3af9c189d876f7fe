"""Parsing of lab and lesson requests from JSON, with errors in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from translator.errors import InputError, TranslatorError

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


def told(make: Callable[[Asked], dict]) -> Callable[[dict], dict]:
    """`make` under its name; an error is an answer in words, {"error": …, "again": whether asking once more helps}."""

    def answer(request: dict) -> dict:
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


def number(asked: Asked, name: str, low: int = 1, high: int | None = None) -> int:
    """The whole number called `name`, from `low` to `high` if there is one; a browser sends 4.0 for 4.

    Raises:
        InputError: it is no such number.
    """
    value: Any = asked.get(name)
    top = math.inf if high is None else high
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value % 1 == 0
    if whole and low <= value <= top:
        return int(value)
    most = "" if high is None else f" to {high}"
    raise InputError(f"{_found(name, value)}; it must be a whole number from {low}{most}")


def text(asked: Asked, name: str) -> str:
    """The text called `name`, "" if there is none.

    Raises:
        InputError: it is no text, or longer than 1,000 characters.
    """
    value = asked.get(name, "")
    if not isinstance(value, str) or len(value) > 1000:
        raise InputError(f"{name} must be a text of at most 1,000 characters")
    return value


def real(asked: Asked, name: str, low: float, high: float) -> float:
    """The number called `name`, from `low` to `high`.

    Raises:
        InputError: it is no such number.
    """
    value: Any = asked.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
        return float(value)
    raise InputError(f"{_found(name, value)}; it must be a number from {low} to {high}")


def _found(name: str, value: object) -> str:
    """What came instead, cut short; a field that was left empty sends null."""
    return f"{name} is missing" if value is None else f"{name} is {value!r:.40}"


def choice(asked: Asked, name: str, known: Sequence[C], default: C) -> C:
    """One of `known`, or `default` where nothing was chosen.

    Raises:
        InputError: it is none of them.
    """
    value = asked.get(name) or default
    for each in known:
        if value == each:
            return each
    raise InputError(f"{name} is {str(value)[:20]!r}; it must be one of {', '.join(known)}")
