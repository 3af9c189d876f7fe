"""The lab's figures with next to nothing in them, which a live page draws its own numbers into (web's figures.ts)."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from translator.figures import attention, decoding
from translator.trace import Beam, Candidate, Step, Token

PUT, OTHER = Token(5, "a"), Token(6, "b")


def lab_figures() -> dict[str, Any]:
    """Each figure as both themes draw it: one step of two tokens, of which the first is the one that is produced."""
    candidates = Candidate(PUT, -0.5), Candidate(OTHER, -1.5)
    beams = Beam((PUT.id,), -0.5, -0.5, 0, False), Beam((OTHER.id,), -1.5, -1.5, 0, False)
    step = Step(0, PUT, -0.5, 1.0, candidates, np.zeros((1, 1, 1)), beams)
    trace: Any = SimpleNamespace(tgt=(PUT,), log_probs=[-0.5], steps=(step,))
    map_of_one = np.ones((1, 1)), [PUT.surface], [PUT.surface]
    return {
        "map": _both(attention.attention_heatmap, *map_of_one),
        "map_predicting": _both(attention.attention_heatmap, *map_of_one, predicts=[PUT.surface]),
        "candidates": _both(decoding.candidates, step),
        "confidence": _both(decoding.token_confidence, trace),
        "tree": _both(decoding.beam_tree, (step,), str, winner=(PUT.id,)),
    }


def _both(draw: Callable[..., go.Figure], *arguments: Any, **options: Any) -> dict[str, Any]:
    return {theme: json.loads(draw(*arguments, theme=theme, **options).to_json()) for theme in ("light", "dark")}
