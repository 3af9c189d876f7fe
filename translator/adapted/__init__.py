"""Any encoder-decoder model of `transformers` as a `Translator` with the same traces."""

from __future__ import annotations

from translator.adapted.loading import load_adapted
from translator.adapted.translator import AdaptedTranslator, adapt

__all__ = ["AdaptedTranslator", "adapt", "load_adapted"]
