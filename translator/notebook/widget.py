"""The explorer as an anywidget: small for each cell, since scripts and words come once to a page, when it asks."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import anywidget
import numpy as np
import traitlets

from translator.analysis.distance import head_distances
from translator.errors import InputError
from translator.notebook.doors import page, payload
from translator.notebook.parts import packed_maps, sent_maps, sent_parts, special_shares
from translator.notebook.still import chosen, still, stills
from translator.trace import Trace, known_kind
from translator.ui import frontend

if TYPE_CHECKING:
    from translator.pipeline import Translator

FIRST_STEP = 3
"""Where the explorer begins, if there are so many steps."""
THEMES, LANGUAGES = ("auto", "light", "dark"), ("auto", "en", "de", "zh")


@cache
def _bundle() -> tuple[bytes, ...]:
    """The explorer, plotly.js and the words of the page's languages, each as zlib packs it: what a page needs once."""
    script = (frontend.STATIC / "embed.js").read_bytes()
    words = json.dumps(frontend.locales(), ensure_ascii=False, separators=(",", ":")).encode()
    return tuple(zlib.compress(each, 9) for each in (script, frontend.PLOTLY_JS.read_bytes(), words))


def packed(value: Any) -> bytes:
    """`value` as JSON that zlib has packed."""
    return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), 9)


def _apart(first: Trace, second: Trace) -> bytes:
    """How far each head of two traces is apart, by kind and unit, in four decimals; null where shapes differ."""
    units = {"sub": False, "word": True}
    found = {
        kind: {unit: head_distances(first, second, kind, words=words) for unit, words in units.items()}
        for kind in first.kinds
    }
    rounded = {
        kind: {unit: None if table is None else table.ravel().round(4).tolist() for unit, table in tables.items()}
        for kind, tables in found.items()
    }
    return packed(rounded)


class NotebookWidget(anywidget.AnyWidget):
    """What both widgets share: one state of kind, layer, head and step; scripts and maps on request."""

    _esm = (frontend.STATIC / "notebook.js").read_text(encoding="utf-8")
    _version = traitlets.Unicode(frontend.version()).tag(sync=True)
    _traces = traitlets.List(traitlets.Bytes()).tag(sync=True)
    _maps = traitlets.List(traitlets.Dict()).tag(sync=True)
    _picture = traitlets.Bytes().tag(sync=True)
    theme = traitlets.Unicode("auto").tag(sync=True)
    language = traitlets.Unicode("auto").tag(sync=True)
    kind = traitlets.Unicode("cross").tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    def __init__(self, traces: list[Trace], payloads: list[dict[str, Any]], picture: str, **chosen: Any) -> None:
        self.traces = traces
        self.picture = picture
        kind = traces[0].kinds[-1]
        layers, heads = np.min([trace.weights(kind).shape[:2] for trace in traces], axis=0).tolist()
        leading = payloads[0]["leading"]
        layer, head = min(leading["layer"], layers - 1), min(leading["head"], heads - 1)
        shares = [{"weights": {}, "shares": special_shares(trace)} for trace in traces]
        super().__init__(
            _traces=[packed({**each, **share}) for each, share in zip(payloads, shares, strict=True)],
            _maps=[self._sent(trace, (kind, layer, head)) for trace in traces],
            _picture=zlib.compress(picture.encode(), 9),
            kind=kind,
            layer=layer,
            head=head,
            step=max(0, min(FIRST_STEP, *(self._rows(trace, kind) - 1 for trace in traces))),
            **chosen,
        )
        self.on_msg(self._asked)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.traces))})"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        found = super()._repr_mimebundle_(**options)
        data, metadata = found if isinstance(found, tuple) else (found or {}, {})
        return {**data, "image/svg+xml": self.picture, "text/plain": repr(self)}, metadata

    def _asked(self, _: Any, content: Any, buffers: Any) -> None:
        """Answer a page with its bundle, maps or a file of the trace; question and answer have the same number."""
        name = content.get("ask") if isinstance(content, dict) else None
        answers: dict[str, Callable[[], tuple[bytes, ...]]] = {
            "bundle": _bundle,
            "maps": lambda: (self._looked_at(content),),
            **self._files(),
        }
        if name in answers:
            self.send({"answer": content.get("number")}, list(answers[name]()))

    def _looked_at(self, question: dict[str, Any]) -> bytes:
        """The maps of the `places` [[layer, head], ...] of a `kind` of one `trace`, in their order."""
        return packed_maps(self.traces[question["trace"]], question["kind"], question["places"])

    @staticmethod
    def _sent(trace: Trace, first: tuple[str, int, int]) -> dict[str, Any]:
        """What of a trace's maps a page has at once, `first` among them."""
        raise NotImplementedError

    def _files(self) -> dict[str, Callable[[], tuple[bytes, ...]]]:
        return {}

    @staticmethod
    def _rows(trace: Trace, kind: str) -> int:
        rows: int = trace.weights(kind).shape[2]
        return rows

    @traitlets.validate("kind", "layer", "head", "step", "theme", "language")
    def _checked(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        choices = {"theme": THEMES, "language": LANGUAGES, "kind": self.traces[0].kinds}
        if name == "kind":
            known_kind(value)
        if name in choices:
            if value not in choices[name]:
                raise InputError(f"{name} is {value!r}; it must be one of {', '.join(choices[name])}")
            return value
        shapes = [trace.weights(self.kind).shape for trace in self.traces]
        axis = ("layer", "head", "step").index(name)
        most = (max if name == "step" else min)(shape[axis] for shape in shapes)
        if not 0 <= value < most:
            raise InputError(f"{name} is {value}; {self.kind} attention has {name}s 0 to {most - 1}")
        return value

    @traitlets.observe("kind")
    def _fit(self, _: Any) -> None:
        """Encoder and decoder may differ in layers and heads: what is chosen stays within the kind."""
        self.set_trait("cell", None) if self.has_trait("cell") else None
        shapes = [trace.weights(self.kind).shape for trace in self.traces]
        for name, axis, pick in (("layer", 0, min), ("head", 1, min), ("step", 2, max)):
            most = pick(shape[axis] for shape in shapes) - 1
            if getattr(self, name) > most:
                setattr(self, name, most)


class ExplorerWidget(NotebookWidget):
    """The explorer of one trace.

    `kind` ("encoder", "decoder", "cross"), `layer`, `head` and `step` (the row: a produced token, or in the encoder a
    source token) are what is shown; `cell` is the cell (row, column) that was clicked last, or None. All count from 0,
    as the axes of `trace.cross[layer, head, row, column]`, and all can be set, or watched by `observe`.
    """

    cell = traitlets.Tuple(traitlets.Int(), traitlets.Int(), default_value=None, allow_none=True).tag(sync=True)

    def __init__(
        self, trace: Trace, *, model: Translator | None = None, theme: str = "auto", language: str = "auto"
    ) -> None:
        self._model = model
        super().__init__([trace], [payload(trace, "d4", model)], still(trace), theme=theme, language=language)

    @property
    def trace(self) -> Trace:
        """What is shown."""
        return self.traces[0]

    @property
    def weights(self) -> Any:
        """The map that is shown, [rows, columns]."""
        return self.trace.weights(self.kind)[self.layer, self.head]

    @staticmethod
    def _sent(trace: Trace, first: tuple[str, int, int]) -> dict[str, Any]:
        return sent_maps(trace, first)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        self.picture = still(self.trace, *chosen(self.trace, self.kind, self.layer, self.head))
        return super()._repr_mimebundle_(**options)

    def _files(self) -> dict[str, Callable[[], tuple[bytes, ...]]]:
        return {
            "exact": lambda: (packed(payload(self.trace, "f32", self._model)),),
            "npz": lambda: (zlib.compress(self.trace.to_bytes()),),
            "offline": lambda: (zlib.compress(page(self.trace).encode()),),
        }

    @traitlets.validate("cell")
    def _cell_there(self, proposal: Any) -> Any:
        cell = proposal["value"]
        rows, columns = self.trace.weights(self.kind).shape[2:]
        if cell is not None and not (0 <= cell[0] < rows and 0 <= cell[1] < columns):
            raise InputError(
                f"cell is {cell}; {self.kind} attention has rows 0 to {rows - 1}, columns 0 to {columns - 1}"
            )
        return cell


class ComparisonWidget(NotebookWidget):
    """Two traces side by side; `kind`, `layer`, `head` and `step` are those of both.

    The kernel says how far the heads are apart; a map comes when it is looked at.
    """

    _distances = traitlets.Bytes().tag(sync=True)

    def __init__(self, first: Trace, second: Trace, *, theme: str = "auto", language: str = "auto") -> None:
        pair = [first, second]
        look = {"theme": theme, "language": language, "_distances": _apart(first, second)}
        super().__init__(pair, [payload(each) for each in pair], stills(first, second), **look)

    @staticmethod
    def _sent(trace: Trace, first: tuple[str, int, int]) -> dict[str, Any]:
        return sent_parts(trace, first, small=False)
