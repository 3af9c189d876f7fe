"""A station of the lesson and its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import plotly.graph_objects as go

from translator.decode import Stop
from translator.errors import InputError
from translator.pipeline import Translator
from translator.trace import Trace
from translator.ui import explorer


@dataclass(frozen=True)
class Control:
    """Something that a person may turn: `kind` is "choice", "slider" or "number"."""

    name: str
    kind: str
    value: Any
    choices: tuple[tuple[Any, str], ...] = ()
    low: float = 0
    high: float = 1
    step: float = 1


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

    model: Translator
    text: str
    options: Mapping[str, Any]
    stop: Stop | None = None

    def whole(self, name: str, low: int, high: int, default: int) -> int:
        """A whole number from `low` to `high`; one out of range (another sentence's, say) moves to the nearer end."""
        return int(self.real(name, low, high, default))

    def real(self, name: str, low: float, high: float, default: float) -> float:
        """A number from `low` to `high`; one out of range is moved to the nearer end.

        Raises:
            InputError: it is no number.
        """
        value = self.options.get(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            raise InputError(f"{name} must be a number from {low:g} to {high:g}")
        return min(max(value, low), high)

    def choice(self, name: str, known: tuple[str, ...]) -> str:
        """One of `known`; anything else gives the first."""
        value = self.options.get(name)
        return value if value in known else known[0]

    def translate(self, **settings: Any) -> Trace:
        """The translation, greedy unless said otherwise."""
        return self.model.translate(self.text, stop=self.stop, **{"method": "greedy", **settings})


def layer_and_head(
    ask: Ask, layers: int, heads: int, default: tuple[int, int] = (0, 0)
) -> tuple[int, int, tuple[Control, ...]]:
    """The layer and the head that were chosen (from 0), and the controls that choose them (from 1, as on screen)."""
    layer, head = ask.whole("layer", 1, layers, default[0] + 1), ask.whole("head", 1, heads, default[1] + 1)
    count = tuple((i + 1, str(i + 1)) for i in range(layers))
    numbers = tuple((i + 1, str(i + 1)) for i in range(heads))
    return layer - 1, head - 1, (Control("layer", "choice", layer, count), Control("head", "choice", head, numbers))
