"""The lesson's fixed content: its text per language and each station's code."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from typing import Any

from translator.ui import frontend
from translator.ui.lesson.equations import STATIONS
from translator.ui.lesson.source import excerpt

LANGUAGES = ("en", *frontend.LANGUAGES)

CODE: dict[str, tuple[str, ...]] = {
    "tokens": ("translator.text.subword:SubwordTokenizer.encode", "translator.text.subword:SubwordTokenizer._known"),
    "embeddings": ("translator.model.transformer:Transformer.embed",),
    "positions": ("translator.model.positions:sinusoids",),
    "projections": ("translator.model.attention:Attention._part", "translator.model.attention:Attention.split"),
    "scores": ("translator.model.attention:Attention.attend", "translator.model.attention:Attention.weigh"),
    "masks": ("translator.model.attention:causal_keep", "translator.training.data:_padded"),
    "heads": ("translator.model.attention:Attention.split", "translator.model.attention:Attention.merge"),
    "residual": ("translator.model.layers:Residual.enter", "translator.model.layers:Residual.leave"),
    "feed-forward": ("translator.model.layers:FeedForward.forward", "translator.analysis.stations:as_convolution"),
    "cross": ("translator.model.layers:DecoderLayer.forward",),
    "choice": ("translator.decode.search:_best", "translator.decode.search:_sampler"),
    "training": (
        "translator.training.objective:_scores",
        "translator.training.objective:_slopes",
        "translator.training.schedule:noam",
    ),
}
"""Which functions do what a station tells; a test holds each to be there."""


@cache
def prose(language: str) -> dict[str, Any]:
    """The lesson's words: `words` (English to this language) and `stations` by name."""
    path = frontend.ASSETS / "lesson" / f"{language}.json"
    texts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return texts


def course(language: object) -> dict[str, Any]:
    """Everything about the stations that depends on no sentence, in a language; English where there is none."""
    return _course(next((each for each in LANGUAGES if each == language), "en"))  # kept by no name of a stranger's


@cache
def _course(language: str) -> dict[str, Any]:
    told = prose(language)
    stations = [
        {"name": name, **told["stations"][name], "code": [asdict(excerpt(each)) for each in CODE[name]]}
        for name in STATIONS
    ]
    return {"words": told["words"], "stations": stations}
