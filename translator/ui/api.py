"""The public endpoints /translate and /trace, with the page's limits and errors."""

# No `from __future__ import annotations`: Gradio makes the endpoints' schemas of the real types.
import base64
import zlib
from collections.abc import Sequence
from typing import Any

import gradio as gr
import numpy as np

from translator.errors import TranslatorError
from translator.registry.decoding import CONTROLLED, setting
from translator.trace import Token, Trace
from translator.ui import session
from translator.ui.models import Models

NONE: dict[str, Any] = {}


def api(models: Models) -> None:
    """Add the endpoints to the present `gr.Blocks`."""
    first = next(iter(models.names))

    def asked(request: gr.Request, text: str, direction: str, settings: object) -> Trace:
        try:
            given: Any = NONE if settings is None else settings
            return session.trace_of(models, text, direction, given, session=request.session_hash)
        except TranslatorError as error:
            raise gr.Error(str(error), print_exception=False) from error  # plain text: no page of ours shows it

    def translate(request: gr.Request, text: str, direction: str = first, settings: dict[str, Any] = NONE) -> str:
        return asked(request, text, direction, settings).translation

    def trace(
        request: gr.Request, text: str, direction: str = first, settings: dict[str, Any] = NONE
    ) -> dict[str, Any]:
        return described(asked(request, text, direction, settings))

    offered = (setting("method"), *(each for each, _ in CONTROLLED))
    wanted = (
        f"text: one sentence. direction: one of {', '.join(models.names)}; of one with many languages also with "
        "two of them, such as nllb:deu_Latn-eng_Latn. settings: names with values, such as "
        f"{'; '.join(f'{each.name}, {each.granting}' for each in offered)}; what is left out is the "
        "checkpoint's own."
    )
    gr.api(translate, api_name="translate", api_description=f"Translate one sentence. {wanted}")
    gr.api(
        trace,
        api_name="trace",
        api_description=f"Translate one sentence and return every step and every attention map. {wanted}",
    )


def described(trace: Trace) -> dict[str, Any]:
    """A trace as JSON: tokens, steps, and the three kinds of maps.

    `encoder` [L, H, S, S], `decoder` [L, H, T, T] and `cross` [L, H, T, S] have their `shape` and, as `uint16`, their
    probabilities times 65,535, rounded: little-endian, the last axis fastest, as base64 of a zlib stream. Row t of the
    last two reads the token before tgt[t] and predicts tgt[t]. Log-probabilities and entropies are in nats; spans are
    characters of `source` and of `translation`.
    """
    return {
        "source": trace.source,
        "normalised": trace.normalised,
        "translation": trace.translation,
        "truncated": trace.truncated,
        "checkpoint": vars(trace.checkpoint),
        "settings": vars(trace.settings),
        "src": _tokens(trace.src),
        "start": _token(trace.start),
        "tgt": _tokens(trace.tgt),
        "steps": [
            {
                "log_prob": step.log_prob,
                "entropy": step.entropy,
                "candidates": [{**_token(each.token), "log_prob": each.log_prob} for each in step.candidates],
            }
            for step in trace.steps
        ],
        **{kind: _packed(trace.weights(kind)) for kind in ("encoder", "decoder", "cross")},
    }


def _token(token: Token) -> dict[str, Any]:
    return {"text": token.surface, "id": token.id, "span": token.span, "special": token.special}


def _tokens(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    return [_token(token) for token in tokens]


def _packed(weights: np.ndarray) -> dict[str, Any]:
    """A third of what floats would take: who does not read his answers must not fill the memory."""
    fixed = np.rint(np.clip(weights, 0.0, 1.0) * 65_535).astype("<u2")
    data = zlib.compress(np.ascontiguousarray(fixed).tobytes(), 1)
    return {"shape": list(weights.shape), "uint16": base64.b64encode(data).decode("ascii")}
