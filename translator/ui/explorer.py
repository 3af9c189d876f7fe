"""Our live components, the only place that creates a `gr.HTML`.

Templates are constant and hold no more than a place for the script to mount in; user text reaches the page as data
and is set by `textContent`. (Gradio runs a value that stands in a template as script.)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradio as gr
import plotly.graph_objects as go

from translator.ui.gate import pause
from translator.ui.message import send

_PLACE = '<div class="mount"></div>'
_MOUNT = "const go = () => window.AttentionExplorer ? window.AttentionExplorer.{call} : setTimeout(go, 20); go();"


def _component(
    call: str,
    value: Any = None,
    *,
    elem_id: str | None,
    functions: Sequence[Callable[..., Any]] = (),
    template: str = _PLACE,
) -> gr.HTML:
    return gr.HTML(
        value,
        html_template=template,
        js_on_load=_MOUNT.format(call=call),
        apply_default_css=False,
        elem_id=elem_id,
        server_functions=list(functions) or None,
    )


def explorer(
    message: dict[str, Any] | None, *, functions: Sequence[Callable[..., Any]], elem_id: str = "explorer"
) -> gr.HTML:
    """The explorer: chips, steps, mosaic, heat map, arcs, candidates, exports over one translation.

    Its value is a message (`send`): a "step", a "trace", an "error" or an "example".

    Args:
        functions: what the page may ask the server for: inspect, ready, exact, resume, npz, offline, left_out, alti,
            local.
    """
    mount = "explorer(element, props, watch, server)"
    return _component(mount, send(message), elem_id=elem_id, functions=functions)


def compare_view(*, functions: Sequence[Callable[..., Any]], elem_id: str = "compare") -> gr.HTML:
    """Two translations side by side and their difference; its value is the message {"a": trace, "b": trace}.

    Args:
        functions: what it asks the server for: ready.
    """
    return _component("compare(element, props, watch, server)", elem_id=elem_id, functions=functions)


def lesson_view(*, functions: Sequence[Callable[..., Any]], elem_id: str = "lesson") -> gr.HTML:
    """The lesson's stations; `functions` are what it asks the server for: course, station."""
    return _component("lesson(element, server)", elem_id=elem_id, functions=functions)


def lab_view(*, functions: Sequence[Callable[..., Any]], elem_id: str = "lab") -> gr.HTML:
    """The lab; `functions` are what it asks the server for: those of `lab_tab.server_functions`."""
    return _component("lab(element, server)", elem_id=elem_id, functions=functions)


def chrome() -> gr.HTML:
    """The page's language and theme switches."""
    return _component("chrome(element)", elem_id="page-chrome")


def plotly_view(figure: str | None = None, *, elem_id: str | None = None) -> gr.HTML:
    """Any plotly figure, shown with the page's settings and themes; its value is what `show` makes.

    `gr.Plot` is not used anywhere: it replaces `window.Plotly` by an older one.
    """
    template = '<div class="plot-view"><div class="plot"></div><output aria-live="polite"></output></div>'
    return _component("plot(element, props, watch)", figure, elem_id=elem_id, template=template)


def show(draw: Callable[..., go.Figure], *arguments: Any, **options: Any) -> str:
    """A figure of `translator.figures` as the value of a `plotly_view`.

    It is "light", the whole figure, and "dark", [path, value] of whatever else that theme has: its numbers are sent
    once.
    """
    light, dark = (_drawn(draw, *arguments, theme=theme, **options) for theme in ("light", "dark"))
    return json.dumps({"light": light, "dark": list(_changes(light, dark))}, separators=(",", ":"))


def _drawn(draw: Callable[..., go.Figure], *arguments: Any, **options: Any) -> Any:
    """A figure as its JSON says it."""
    pause()
    figure = draw(*arguments, **options)
    pause()
    return json.loads(figure.to_json())


def _changes(one: Any, other: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Where `other` is something else than `one`, and what."""
    if one == other:  # of large tables at once
        return
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from _changes(one[name], other[name], (*path, name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place in range(len(one)):
            yield from _changes(one[place], other[place], (*path, place))
    else:
        yield path, other


def refuse(text: str) -> str:
    """A message in place of a figure, as the value of a `plotly_view`."""
    return json.dumps({"error": text})
