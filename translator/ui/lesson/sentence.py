"""A station's answer for one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from translator.decode import Stop
from translator.errors import InputError
from translator.pipeline import Translator
from translator.ui.lesson import attention, entry, layer, output
from translator.ui.lesson.station import Ask, Shown

BUILDERS: dict[str, Callable[[Ask], Shown]] = {
    "tokens": entry.tokens,
    "embeddings": entry.embeddings,
    "positions": entry.positions,
    "projections": attention.projections,
    "scores": attention.scores,
    "masks": attention.masks,
    "heads": attention.heads,
    "residual": layer.residual,
    "feed-forward": layer.feed_forward,
    "cross": attention.cross,
    "choice": output.choice,
    "training": output.training,
}


def station(
    model: Translator, name: object, text: str, *, options: Mapping[str, Any], view: str = "", stop: Stop | None = None
) -> dict[str, Any]:
    """One station of one sentence as JSON: its views, the figure of `view` in both themes, numbers and controls.

    `stop` is asked at every step of a translation; True ends the work.

    Raises:
        InputError: there is no such station, or the text or an option is refused.
    """
    if not isinstance(name, str) or name not in BUILDERS:
        raise InputError(f"there is no station {str(name)[:20]!r}; there are {', '.join(BUILDERS)}")
    return BUILDERS[name](Ask(name, model, text, options, stop)).message(view)
