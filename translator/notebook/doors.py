"""What a notebook calls: a trace, two of them, or arrays of any model as the explorer."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from translator.analysis.aggregate import count_words
from translator.errors import InputError
from translator.notebook.arrays import Arrays, Views, arrays_trace
from translator.notebook.still import still, stills
from translator.trace import Trace
from translator.ui.offline import offline_page
from translator.ui.payload import Encoding, trace_payload

if TYPE_CHECKING:
    from IPython.display import HTML
    from typing_extensions import Unpack

    from translator.notebook.widget import ComparisonWidget, ExplorerWidget
    from translator.pipeline import Translator

ARRAYS = (
    *("encoder_attention", "decoder_attention", "cross_attention", "encoder_tokens", "decoder_tokens"),
    *("include_layers", "include_heads", "prettify_tokens"),
)
"""What `explore` takes of `arrays_trace`; the first five are maps and tokens."""
Bundle = dict[str, Any] | tuple[dict[str, Any], dict[str, Any]]


class Picture:
    """What is shown where the extra `notebook` is missing: the map as SVG."""

    def __init__(self, svg: str, text: str) -> None:
        self.svg, self.text = svg, text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return {"image/svg+xml": self.svg, "text/plain": self.text}


def explore(
    attention: object = None,
    tokens: Sequence[str] | None = None,
    *,
    model: Translator | None = None,
    theme: str = "auto",
    language: str = "auto",
    **arrays: Unpack[Arrays],
) -> ExplorerWidget | Picture:
    """The explorer of a trace, or of attention arrays of any model, for the last line of a notebook's cell.

    The widget's `kind`, `layer`, `head`, `step` and `cell` follow what is clicked, and can be set; indices count
    from 0. Without the extra `notebook` it is a picture.

    Args:
        attention: a `Trace`; or self-attention maps, one [1, H, N, N] a layer, with their `tokens`.
        tokens: the N tokens of `attention`.
        model: the translator that made the trace, which adds what its heads usually do and the text of hypotheses.
        theme: "auto" (the notebook's), "light" or "dark".
        language: "auto" (the browser's), "en", "de" or "zh".
        arrays: `encoder_attention`, `decoder_attention`, `cross_attention`, `encoder_tokens`, `decoder_tokens`,
            `include_layers`, `include_heads` and `prettify_tokens`, as in BertViz and in `arrays_trace`.
    Raises:
        InputError: arrays and tokens do not fit each other, or an argument is unknown.
    """
    if isinstance(attention, Trace):
        _refuse_rest("a trace", tokens=tokens, **arrays)
        trace = attention
    else:
        trace = _given(attention, tokens, arrays)
    if not find_spec("anywidget"):
        return Picture(still(trace), repr(trace))
    from translator.notebook.widget import ExplorerWidget

    return ExplorerWidget(trace, model=model, theme=theme, language=language)


def compare(first: Trace, second: Trace, *, theme: str = "auto", language: str = "auto") -> ComparisonWidget | Picture:
    """Two traces side by side at the same head, and their difference; `kind`, `layer`, `head`, `step` as in `explore`.

    Raises:
        InputError: one of them is no trace, or lacks a kind of attention.
    """
    for name, trace in (("first", first), ("second", second)):
        if not isinstance(trace, Trace) or len(trace.kinds) < 3:
            raise InputError(f"{name} is {trace!r:.80}; compare takes traces of translations, such as translate gives")
    if not find_spec("anywidget"):
        return Picture(stills(first, second), f"{first!r}\n{second!r}")
    from translator.notebook.widget import ComparisonWidget

    return ComparisonWidget(first, second, theme=theme, language=language)


def head_view(
    attention: object = None,
    tokens: Sequence[str] | None = None,
    sentence_b_start: int | None = None,
    prettify_tokens: bool = True,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    html_action: str = "view",
    **arrays: Unpack[Views],
) -> ExplorerWidget | Picture | HTML:
    """`explore` by the arguments of BertViz's `head_view`; `html_action` "return" gives the page as `IPython` HTML.

    `layer`, and the first of `heads`, are what is shown first. Both sentences of a pair are shown together, so
    `sentence_b_start` changes nothing. Errors: see `explore`.
    """
    found = _viewed(attention, tokens, sentence_b_start, html_action, {"prettify_tokens": prettify_tokens, **arrays})
    if not hasattr(found, "trait_names"):  # a picture, or HTML
        return found
    for name, value in (("layer", layer), ("head", heads[0] if heads else None)):
        if value is not None:
            setattr(found, name, value)
    return found


def model_view(
    attention: object = None,
    tokens: Sequence[str] | None = None,
    sentence_b_start: int | None = None,
    prettify_tokens: bool = True,
    display_mode: str = "auto",
    html_action: str = "view",
    **arrays: Unpack[Views],
) -> ExplorerWidget | Picture | HTML:
    """`explore` by the arguments of BertViz's `model_view`; see `head_view`. `display_mode` is the theme."""
    given = {"prettify_tokens": prettify_tokens, "theme": display_mode, **arrays}
    return _viewed(attention, tokens, sentence_b_start, html_action, given)


def shown(trace: Trace) -> Bundle:
    """What a trace is for a notebook: a widget where there can be one, and the picture that an export keeps."""
    if not _in_notebook():
        return {"text/plain": repr(trace)}
    found: Bundle = explore(trace)._repr_mimebundle_()
    return found


def page(trace: Trace) -> str:
    """The explorer of a trace as one HTML page."""
    return offline_page(payload(trace, "f32"))


def payload(trace: Trace, encoding: Encoding = "d4", model: Translator | None = None) -> dict[str, Any]:
    """A trace as the explorer holds it; of `model`, what its heads usually do."""
    if model is not None:
        from translator.ui.session import payload_of

        return payload_of(model, trace, encoding)
    text = [token for token in trace.src if not token.special]
    health = {
        "words": count_words(text, trace.source),
        "tokens": len(trace.src),
        "limit": 0,
        "unknown": sum(token.unknown for token in text),
        "changed": 0,
        "normalised": "",
        "problem": "",
    }
    return trace_payload(trace, health, encoding)


def _in_notebook() -> bool:
    """Whether this process is a notebook's kernel; a terminal shows text."""
    python = sys.modules.get("IPython")
    return python is not None and hasattr(python.get_ipython(), "kernel")


def _given(attention: Any, tokens: Sequence[str] | None, arrays: Mapping[str, Any]) -> Trace:
    for name in arrays:
        if name not in ARRAYS:
            raise InputError(f"there is no argument {name!r}; there are {', '.join(ARRAYS)}")
    if attention is not None:
        _refuse_rest("attention", **{name: arrays.get(name) for name in ARRAYS[:5]})
        return arrays_trace(encoder_attention=attention, encoder_tokens=tokens, **arrays)
    if tokens is not None:
        raise InputError("tokens are given without attention; name them encoder_tokens or decoder_tokens")
    return arrays_trace(**arrays)


def _refuse_rest(beside: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} is given beside {beside}, which has all that is shown; leave one of them out")


def _viewed(
    attention: Any, tokens: Any, second: Any, action: str, given: dict[str, Any]
) -> ExplorerWidget | Picture | HTML:
    if action not in ("view", "return"):
        raise InputError(f"html_action is {action!r}; it must be view or return")
    if second is not None and (not isinstance(second, int) or not 0 < second < len(tokens or ())):
        raise InputError(f"sentence_b_start is {second!r}; it must be a place within the {len(tokens or ())} tokens")
    if action == "view":
        return explore(attention, tokens, **given)
    from IPython.display import HTML

    given = {name: value for name, value in given.items() if name not in ("theme", "language")}
    return HTML(page(_given(attention, tokens, given)))
