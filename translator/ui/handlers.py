"""The page's callable events and endpoints, collected from its `gr.Blocks` once.

From then on Gradio sends the page and its files; every call is judged, queued and answered here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

import gradio as gr

from translator.ui.fields import Field, Kind

_KINDS: dict[str, Kind] = {
    "Textbox": "typed",
    "Radio": "text",
    "Dropdown": "text",
    "Markdown": "text",
    "Slider": "number",
    "Number": "number",
    "Checkbox": "flag",
}


@dataclass(frozen=True)
class Handler:
    """One event of the page, or one public endpoint.

    `finish` makes of each result what the page is sent.
    """

    work: Callable[..., Any]
    fields: tuple[Field, ...]
    finish: tuple[Callable[[Any], Any], ...] = ()
    asks: bool = False
    """Whether `work` wants to know who asks, before all values."""
    tells_place: bool = False
    """Whether its page shows how many are before it; then the first value is the page's number of the run."""
    about: str = ""
    """What programs are told of it."""

    def answers(self, session: str, values: Sequence[Any] | Mapping[str, Any]) -> Generator[list[Any], None, list[Any]]:
        """Yield what `work` says on its way, and return its answer: one value for each output.

        A `work` that is a generator yields the one and returns the other.

        Args:
            session: of the visitor who reads the answers.
            values: of `fields`, in their order or by name.
        """
        who = [gr.Request(session_hash=session)] if self.asks else []
        found = self.work(*who, **values) if isinstance(values, Mapping) else self.work(*who, *values)
        if not inspect.isgenerator(found):
            return self._finished(found)
        while True:
            try:
                said = next(found)
            except StopIteration as end:
                return self._finished(end.value)
            yield self._finished(said)

    def _finished(self, results: Any) -> list[Any]:
        each = results if len(self.finish) > 1 else [results]
        return [finish(result) for finish, result in zip(self.finish, each, strict=True)]


def events_of(page: gr.Blocks) -> dict[int, Handler]:
    """Every event that runs a function of ours, by Gradio's number for it."""
    return {number: _handler(fn) for number, fn in page.fns.items() if fn.fn is not None and fn.queue}


def endpoints_of(page: gr.Blocks) -> dict[str, Handler]:
    """Every public endpoint, by its name."""
    public = (fn for fn in page.fns.values() if fn.fn is not None and fn.api_name and fn.api_visibility == "public")
    return {str(fn.api_name): _handler(fn) for fn in public}


def functions_of(page: gr.Blocks) -> dict[tuple[int, str], Callable[[Any], Any]]:
    """What components may ask the server, by the component's number and the function's name."""
    return {
        (number, name): value
        for number, block in page.blocks.items()
        for name, value in vars(block).items()
        if getattr(value, "_is_server_fn", False)
    }


def _handler(fn: Any) -> Handler:
    hints = get_type_hints(fn.fn)
    parameters = list(inspect.signature(fn.fn).parameters.values())
    asks = bool(parameters) and hints.get(parameters[0].name) is gr.Request
    if all(type(block).__name__ == "Api" for block in fn.inputs) and fn.inputs:
        fields = tuple(_parameter(each, hints[each.name]) for each in parameters[asks:])
        return Handler(fn.fn, fields, (lambda value: value,), asks, about=str(fn.api_description or ""))
    fields = tuple(Field(_KINDS[type(block).__name__], _label(block), empty=True) for block in fn.inputs)
    finish = tuple(block.postprocess for block in fn.outputs)
    return Handler(fn.fn, fields, finish, asks, tells_place=getattr(fn.fn, "tells_place", False))


def _parameter(parameter: inspect.Parameter, hint: Any) -> Field:
    kinds: dict[Any, Kind] = {str: "text", int: "number", float: "number", bool: "flag"}
    kind = kinds.get(hint, "settings")
    given = parameter.default is not inspect.Parameter.empty
    return Field(kind, parameter.name, empty=kind == "settings", needed=not given)


def _label(block: Any) -> str:
    return str(getattr(block, "label", None) or type(block).__name__)
