"""The explorer in a notebook: traces show themselves, and so do two of them, and arrays of any model."""

from __future__ import annotations

from translator.notebook.arrays import arrays_trace
from translator.notebook.doors import compare, explore, head_view, model_view, page, shown

__all__ = ["arrays_trace", "compare", "explore", "head_view", "model_view", "page", "shown"]
