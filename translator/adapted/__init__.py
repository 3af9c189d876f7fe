"""Any encoder-decoder model of `transformers` as a `Translator`: the same traces, from real decoding."""

from __future__ import annotations

from translator.adapted.translator import AdaptedTranslator, adapt

__all__ = ["AdaptedTranslator", "adapt"]
