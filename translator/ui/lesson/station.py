"""A station of the lesson and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import plotly.graph_objects as go

from translator.decode import Stop
from translator.errors import InputError
from translator.pipeline import Translator
from translator.registry import lesson
from translator.trace import Trace
from translator.ui import explorer


@dataclass(frozen=True)
class Control:
    """Something that a person may turn: `kind` is "choice", "range" (a slider) or "number"."""

    name: str
    kind: str
    value: Any
    choices: tuple[tuple[Any, str], ...] = ()
    low: float = 0
    high: float = 1
    step: float | str = 1


@dataclass(frozen=True, eq=False)
class View:
    """One figure: its name, the tensor that it shows and its shape; `draw(theme=...)` makes it."""

    name: str
    tensor: str
    shape: tuple[int, ...]
    draw: Callable[..., go.Figure]


@dataclass(frozen=True, eq=False)
class Shown:
    """What a station shows of one sentence: views, numbers by name, controls, and sentences by name."""

    views: tuple[View, ...]
    numbers: Mapping[str, str] = field(default_factory=dict)
    controls: tuple[Control, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    def message(self, view: str) -> dict[str, Any]:
        """As JSON for the page, with the figure of one view drawn; an unknown name shows the first.

        A figure that cannot be drawn (a run without a log, say) gives its reason in its place.
        """
        chosen = next((each for each in self.views if each.name == view), self.views[0])
        try:
            figure = explorer.show(chosen.draw)
        except InputError as error:
            figure = explorer.refuse(str(error))
        return {
            "views": [{"name": each.name, "tensor": each.tensor, "shape": list(each.shape)} for each in self.views],
            "view": chosen.name,
            "figure": figure,
            "numbers": dict(self.numbers),
            "texts": dict(self.texts),
            "controls": [asdict(control) for control in self.controls],
        }


@dataclass(frozen=True, eq=False)
class Ask:
    """One sentence, and what was turned at this station; values from a browser, so each is checked when it is read."""

    station: str
    model: Translator
    text: str
    options: Mapping[str, Any]
    stop: Stop | None = None

    def turned(
        self, name: str, *, value: Any = None, high: int | None = None, told: tuple[str, ...] = ()
    ) -> tuple[Any, Control]:
        """What a field of this station stands at, moved into its range, and the control that shows it.

        Args:
            value: what stands there first, where this sentence says it.
            high: the greatest number, where the model or the sentence says it.
            told: the names of the choices, where they are others than the choices themselves.
        Raises:
            InputError: a number was to come, and what came is none.
        """
        field = lesson.field(self.station, name)
        first = field.value if value is None else value
        found = field.nearest(self.options.get(name, first), high=high)
        if field.kind == "choice":
            names = told or tuple(map(str, field.choices))
            return found, Control(name, "choice", found, tuple(zip(field.choices, names, strict=True)))
        found = found if field.whole else round(found, 2)
        low, most = field.span(high)
        return found, Control(name, field.kind, found, low=low, high=most, step=1 if field.step is None else field.step)

    def counted(self, name: str, count: int, *, value: int | None = None) -> tuple[int, Control]:
        """As `turned`, for a number from 1 to `count` that is chosen from a list; counted from 0 in code."""
        found, _ = self.turned(name, value=value, high=count)
        return found - 1, Control(name, "choice", found, tuple((i, str(i)) for i in range(1, count + 1)))

    def translate(self, **settings: Any) -> Trace:
        """The translation, greedy unless said otherwise."""
        return self.model.translate(self.text, stop=self.stop, **{"method": "greedy", **settings})


def layer_and_head(
    ask: Ask, layers: int, heads: int, first: tuple[int | None, int | None] = (None, None)
) -> tuple[int, int, tuple[Control, ...]]:
    """The layer and the head that were chosen (from 0), and the controls that choose them (from 1, as on screen)."""
    layer, of_layer = ask.counted("layer", layers, value=first[0])
    head, of_head = ask.counted("head", heads, value=first[1])
    return layer, head, (of_layer, of_head)
