"""Validation of numbers, flags and choices that a caller passes."""

from __future__ import annotations

import operator
from numbers import Real
from typing import Any, cast, get_args

import numpy as np

from translator.errors import InputError


def whole(name: str, value: Any, low: int, high: int) -> int:
    """`value` as an int: a whole number of Python's or NumPy's; no float, even 4.0, and no bool.

    Raises:
        InputError: it is none, or not from `low` to `high`; the message calls it `name`.
    """
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = None
    ok = number is not None and low <= number <= high
    require(ok, name, value, f"a whole number from {low} to {high}")
    return cast(int, number)


def real(name: str, value: Any, low: float, high: float) -> float:
    """`value` as a number of Python's: a whole or a broken one of Python's or NumPy's, and no bool.

    Raises:
        InputError: it is none, or not from `low` to `high`; the message calls it `name`.
    """
    number = isinstance(value, Real) and not isinstance(value, bool)
    require(number and low <= value <= high, name, value, f"a number from {low} to {high}")
    return value if type(value) in (int, float) else float(value)


def require(ok: bool, name: str, value: object, want: str) -> None:
    """Refuse the `value` of `name`, saying what it must be, unless `ok`.

    Raises:
        InputError: it is not `ok`.
    """
    if not ok:
        try:
            said = repr(value)
        except ValueError:  # Python writes no number of more than 4,300 digits
            said = "a number without end"
        raise InputError(f"{name} is {said:.200}; it must be {want}")


def keep(config: object, name: str, value: object) -> None:
    """Put what a field of a frozen `config` was read as in the place of what was given: JSON knows no NumPy."""
    object.__setattr__(config, name, value)


def keep_whole(config: object, name: str, low: int, high: int) -> None:
    """Let the field `name` of a frozen `config` be what `whole` reads it as.

    Raises:
        InputError: as `whole`.
    """
    keep(config, name, whole(name, getattr(config, name), low, high))


def keep_real(config: object, name: str, low: float, high: float) -> None:
    """Let the field `name` of a frozen `config` be what `real` reads it as.

    Raises:
        InputError: as `real`.
    """
    keep(config, name, real(name, getattr(config, name), low, high))


def keep_flag(config: object, name: str) -> None:
    """Let the field `name` of a frozen `config` be a bool of Python's.

    Raises:
        InputError: it is no bool.
    """
    value = getattr(config, name)
    require(isinstance(value, (bool, np.bool_)), name, value, "true or false")
    keep(config, name, bool(value))


def choice(name: str, value: object, literal: Any) -> None:
    """Refuse a `value` that the type `literal` does not name.

    Raises:
        InputError: it is none of them; the message calls it `name` and says which there are.
    """
    options = get_args(literal)
    require(isinstance(value, str) and value in options, name, value, "one of " + ", ".join(options))
