"""What a person chose in the lab, read out of the request's JSON; every refusal is an `InputError` in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from translator.errors import InputError

Asked = Mapping[str, Any]
C = TypeVar("C", bound=str)


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
    raise InputError(f"{name} is {value!r}; it must be a whole number from {low}{most}")


def text(asked: Asked, name: str) -> str:
    """The text called `name`, "" if there is none.

    Raises:
        InputError: it is no text, or longer than 1,000 characters.
    """
    value = asked.get(name, "")
    if not isinstance(value, str) or len(value) > 1000:
        raise InputError(f"{name} must be a text of at most 1,000 characters")
    return value


def real(asked: Asked, name: str) -> float:
    """The number called `name`.

    Raises:
        InputError: it is no number.
    """
    value = asked.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{name} is {value!r}; it must be a number")
    return float(value)


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
