"""Types of the values a visitor may send: text, number, flag or named settings, never nested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from translator.errors import InputError

Kind = Literal["text", "typed", "number", "flag", "settings"]
"""What was typed into a box is a string, or a number."""
SETTINGS, NAME = 32, 64
"""Settings that one call may name, and the characters of a name."""

_TYPES: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "typed": (str, int, float),
    "number": (int, float),
    "flag": (bool,),
}
_IS = {
    "text": "a string",
    "typed": "a string or a number",
    "number": "a number",
    "flag": "true or false",
    "settings": "names with plain values",
}


class FieldError(InputError):
    """A value is not of its field's kind; `field` is its name."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class Field:
    """One value that a call gives."""

    kind: Kind
    name: str
    empty: bool = False
    """Whether it may be null."""
    needed: bool = True


def check(value: object, kind: Kind, name: str, *, empty: bool = False) -> object:
    """`value`, if it is of this kind; objects and lists would be taken by Gradio for files that it should fetch.

    Args:
        name: of the field, for the message.
        empty: whether the field may be null, as the page sends one that was left empty.
    Raises:
        FieldError: it is not; the message repeats nothing of it.
    """
    if value is None and empty:
        return None
    if kind == "settings":
        return _settings(value, name)
    if type(value) not in _TYPES[kind]:
        raise FieldError(name, f"{name} must be {_IS[kind]}{' or null' if empty else ''}")
    return value


def _settings(value: object, name: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise FieldError(name, f"{name}: the settings must be names with values")
    if len(value) > SETTINGS or any(len(str(key)) > NAME for key in value):
        raise FieldError(
            name, f"{name} must be at most {SETTINGS} names of at most {NAME} characters, with their values"
        )
    for each in value.values():
        if each is not None and not isinstance(each, (str, int, float, bool)):
            raise FieldError(name, f"{name} must be {_IS['settings']}: strings, numbers, true or false")
    return cast(Mapping[str, object], value)
