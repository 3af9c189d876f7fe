"""What a person chose in the lab, read out of the request's JSON; every refusal is an `InputError` in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from translator.errors import InputError

Asked = Mapping[str, Any]
C = TypeVar("C", bound=str)


def number(asked: Asked, name: str, low: int = 1) -> int:
    """The whole number called `name`, at least `low`; a browser sends 4.0 for 4."""
    value = asked.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value % 1 != 0 or value < low:
        raise InputError(f"{name} is {value!r}; it must be a whole number from {low}")
    return int(value)


def text(asked: Asked, name: str) -> str:
    """The text called `name`, "" if there is none."""
    value = asked.get(name, "")
    if not isinstance(value, str) or len(value) > 1000:
        raise InputError(f"{name} must be a text of at most 1,000 characters")
    return value


def real(asked: Asked, name: str) -> float:
    """The number called `name`."""
    value = asked.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{name} is {value!r}; it must be a number")
    return float(value)


def choice(asked: Asked, name: str, known: Sequence[C], default: C) -> C:
    """One of `known`, or `default` where nothing was chosen."""
    value = asked.get(name) or default
    for each in known:
        if value == each:
            return each
    raise InputError(f"{name} is {str(value)[:20]!r}; it must be one of {', '.join(known)}")
