"""One thing that can be asked for: its name, its choices or its range, its default, and how it is read and refused."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from translator.errors import InputError

CHARACTERS = 1000
"""Characters of a text, of a sentence to translate and of one that is filled in."""

Kind = Literal["choice", "number", "range", "text", "pairs"]


@dataclass(frozen=True)
class Field:
    """One thing to fill in.

    Args:
        name: as a program calls it; `label` is what a person reads on the page.
        kind: "choice" of `choices`; "number" or "range" (a slider) from `low` to `high`, in steps of `step` ("any": any
            number); "text"; "pairs" of whole numbers, which only a program gives.
        high: None where the model or the sentence says it.
        value: what stands there first; None: chosen when answering, by the model or the sentence.
        whole: the number is a whole one.
        says: what the label leaves open, in the help of the command line and in the documentation.
    """

    name: str
    label: str
    kind: Kind
    choices: tuple[str | bool, ...] = ()
    low: float | None = None
    high: float | None = None
    step: float | Literal["any"] | None = None
    value: str | float | bool | None = None
    whole: bool = False
    says: str = ""

    def read(self, asked: Mapping[str, Any], *, high: int | None = None) -> Any:
        """What was asked: a text, a choice, an int or a float; None where nothing came and the answer may choose.

        A browser sends 4.0 for 4, and "" or null for what was left empty.

        Args:
            high: the greatest number here, where only the model or the sentence says it.
        Raises:
            InputError: it is not what can be asked; names the field, the value and the remedy.
        """
        value = asked.get(self.name)
        if self.kind == "text" and (value is not None or self.value is not None):
            return self._text("" if value is None else value)
        if self.kind == "choice" and value in (None, ""):
            value = self.value
        if value is None and self.value is None:
            return None
        return self._choice(value) if self.kind == "choice" else self._number(value, high)

    def nearest(self, value: Any, *, high: int | None = None) -> Any:
        """What was turned, perhaps for another sentence: a number out of range moves to the nearer end.

        An unknown choice is the default, and of a number that must be whole the broken part is dropped.

        Args:
            high: the greatest number here, where only the model or the sentence says it.
        Raises:
            InputError: a number was to come, and what came is none.
        """
        if self.kind == "choice":
            return value if value in self.choices else self.value
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value:  # of NaN nothing is near
            low, most = self.span(high)
            value = min(max(value, low), most)
            value = math.floor(value) if self.whole and math.isfinite(value) else value
        return self._number(value, high)

    def span(self, high: float | None = None) -> tuple[float, float]:
        """The least and the greatest number, without bounds where none is given.

        Args:
            high: the greatest number here, where only the model or the sentence says it.
        """
        most = high if self.high is None else self.high
        return -math.inf if self.low is None else self.low, math.inf if most is None else most

    def parse(self, typed: str) -> Any:
        """What was typed at a command line, as `read` gives it.

        Raises:
            InputError: as `read`.
        """
        value: Any = typed
        if self.kind == "choice":
            value = next((each for each in self.choices if told(each) == typed), typed)
        elif self.kind != "text":
            with contextlib.suppress(ValueError):  # refused below, in the same words as any other
                value = int(typed) if self.whole else float(typed)
        return self.read({self.name: value})

    def _text(self, value: object) -> str:
        if not isinstance(value, str) or len(value) > CHARACTERS:
            raise InputError(f"{self.name} must be a text of at most {CHARACTERS:,} characters")
        return value

    def _choice(self, value: object) -> str | bool:
        flag = isinstance(value, (bool, np.bool_))  # 1 is no flag, though it equals one
        for each in self.choices:
            if isinstance(each, bool) == flag and isinstance(value, (str, bool, np.bool_)) and value == each:
                return each
        raise InputError(f"{self.name} is {value!r:.40}; it must be {self.want()}")

    def _number(self, value: Any, high: float | None) -> int | float:
        low, most = self.span(high)
        known = isinstance(value, (int, float)) and not isinstance(value, bool)
        whole = known and (not self.whole or value % 1 == 0)
        if whole and low <= value <= most:
            return int(value) if self.whole else float(value)
        came = f"{self.name} is missing" if value is None else f"{self.name} is {value!r:.40}"
        raise InputError(f"{came}; it must be {self.want(high)}")

    def want(self, high: float | None = None) -> str:
        """What it must be, in words: "a whole number from 1 to 12", "one of greedy, beam, sample".

        Args:
            high: the greatest number here, where only the model or the sentence says it.
        """
        if self.kind == "choice":
            return f"one of {', '.join(map(told, self.choices))}"
        if self.kind in ("text", "pairs"):
            return f"a text of at most {CHARACTERS:,} characters" if self.kind == "text" else "pairs of whole numbers"
        most = high if self.high is None else self.high
        what = "a whole number" if self.whole else "a number"
        return f"{what} from {self.low}" + ("" if most is None else f" to {most}")

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest number.

        Raises:
            ValueError: only the model or the sentence says one of them.
        """
        if self.low is None or self.high is None:
            raise ValueError(f"{self.name} has no range of its own")
        return self.low, self.high


def told(value: object) -> str:
    """A choice or a default as it is typed: true and false as JSON has them."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def given(**said: object) -> dict[str, Any]:
    """What of a field there is, as JSON; what it has not is left out."""
    return {name: value for name, value in said.items() if value is not None and value != ()}


def for_form(each: Field) -> dict[str, Any]:
    """A field as a page's form reads it; what it has not is left out."""
    said = given(choices=each.choices, low=each.low, high=each.high, step=each.step)
    return {"name": each.name, "label": each.label, "kind": each.kind, **said, "value": each.value}
