"""What the package offers says which types it takes and gives."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import translator


def signatures(name: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The function of a public name, or the constructor and the public methods of its class."""
    found = getattr(translator, name)
    if inspect.isfunction(found):
        yield name, found
    elif inspect.isclass(found):
        for attribute in dir(found):
            value = inspect.getattr_static(found, attribute)
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            ours = inspect.isfunction(function) and function.__module__.startswith("translator")
            if ours and (attribute == "__init__" or not attribute.startswith("_")):
                yield f"{name}.{attribute}", function


def untyped(function: Callable[..., Any]) -> list[str]:
    """The parameters, and "return", that have no type or one with Any in it."""
    signature = inspect.signature(function)
    types = {each.name: each.annotation for each in signature.parameters.values() if each.name not in ("self", "cls")}
    types["return"] = "None" if function.__name__ == "__init__" else signature.return_annotation
    return [name for name, kind in types.items() if kind is inspect.Signature.empty or re.search(r"\bAny\b", str(kind))]


@pytest.mark.parametrize("name", sorted(translator.__all__))
def test_a_public_signature_is_typed_without_any(name: str) -> None:
    found = {place: names for place, function in signatures(name) if (names := untyped(function))}
    assert not found


def test_signatures_are_found() -> None:
    assert {"Translator.translate", "Translator.stream"} <= {place for place, _ in signatures("Translator")}
    assert [place for place, _ in signatures("load")] == ["load"]


def half(first: int, second, third: list[Any]) -> None: ...


def test_what_is_not_typed_is_found() -> None:
    assert untyped(half) == ["second", "third"] and not untyped(test_what_is_not_typed_is_found)
