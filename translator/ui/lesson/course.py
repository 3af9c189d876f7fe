"""What the lesson answers: its words in a language with the code of each station, and one station of one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from typing import Any

from translator.decode import Stop
from translator.errors import InputError
from translator.pipeline import Translator
from translator.ui import frontend
from translator.ui.lesson import attention, entry, layer, output
from translator.ui.lesson.equations import STATIONS
from translator.ui.lesson.source import excerpt
from translator.ui.lesson.station import Ask, Shown

LANGUAGES = ("en", *frontend.LANGUAGES)

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

CODE: dict[str, tuple[str, ...]] = {
    "tokens": ("translator.text.subword:SubwordTokenizer.encode", "translator.text.subword:SubwordTokenizer._dropped"),
    "embeddings": ("translator.model.transformer:Transformer.embed",),
    "positions": ("translator.model.positions:sinusoids",),
    "projections": ("translator.model.attention:Attention._part", "translator.model.attention:Attention.split"),
    "scores": ("translator.model.attention:Attention.attend",),
    "masks": ("translator.model.attention:causal_keep", "translator.training.data:_padded"),
    "heads": ("translator.model.attention:Attention.split", "translator.model.attention:Attention.merge"),
    "residual": ("translator.model.layers:Residual.enter", "translator.model.layers:Residual.leave"),
    "feed-forward": ("translator.model.layers:FeedForward.forward", "translator.analysis.stations:as_convolution"),
    "cross": ("translator.model.layers:DecoderLayer.forward",),
    "choice": ("translator.decode.search:_best", "translator.decode.search:_sampler"),
    "training": ("translator.training.schedule:noam", "translator.training.objective:_SmoothedCrossEntropy.forward"),
}
"""Which functions do what a station tells; a test holds each to be there."""


@cache
def prose(language: str) -> dict[str, Any]:
    """The lesson's words: `words` (English to this language) and `stations` by name."""
    path = frontend.ASSETS / "lesson" / f"{language}.json"
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def course(language: str) -> dict[str, Any]:
    """Everything about the stations that depends on no sentence, in a language; English where there is none."""
    told = prose(language if language in LANGUAGES else "en")
    stations = [
        {"name": name, **told["stations"][name], "code": [asdict(excerpt(each)) for each in CODE[name]]}
        for name in STATIONS
    ]
    return {"words": told["words"], "stations": stations}


def station(
    model: Translator, name: object, text: str, *, options: Mapping[str, Any], view: str = "", stop: Stop | None = None
) -> dict[str, Any]:
    """One station of one sentence as JSON: its views, the figure of `view` in both themes, numbers and controls.

    `stop` is asked at every step of a translation; True ends the work.

    Raises:
        InputError: there is no such station, or the text or an option is refused.
    """
    if not isinstance(name, str) or name not in BUILDERS:
        raise InputError(f"there is no station {str(name)[:20]!r}; there are {', '.join(STATIONS)}")
    return BUILDERS[name](Ask(model, text, options, stop)).message(view)
