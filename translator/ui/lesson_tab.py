"""Lesson: how a Transformer translates, in twelve stations on the person's own sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gradio as gr

from translator.errors import InputError, TranslatorError
from translator.ui import explorer, session
from translator.ui.lesson import course as lesson
from translator.ui.lesson.equations import markdown

TAB = "lesson-tab"


def lesson_tab(models: session.Models) -> None:
    """Build the tab inside the present `gr.Blocks`."""
    gr.Markdown(
        markdown(), elem_id="lesson-equations", latex_delimiters=[{"left": "$$", "right": "$$", "display": True}]
    )
    explorer.lesson_view(functions=server_functions(models))


def server_functions(models: session.Models) -> list[Callable[[dict], dict]]:
    """What the lesson asks for: `course` of a language, and `station` of a text, a direction, options and a view.

    Each answers {"error": …} rather than fail. A station runs behind the page's gate, like a translation.
    """

    def course(request: dict) -> dict:
        return lesson.course(str(_mapping(request).get("language")))

    def station(request: dict) -> dict:
        from translator.ui.lesson import sentence  # brings torch, which the page must not wait for

        asked = _mapping(request)
        text, options = session.checked_text(asked.get("text")), _mapping(asked.get("options", {}))
        direction = asked.get("direction", "")
        name, view = asked.get("station"), str(asked.get("view", ""))
        return models.gate.run(
            lambda stop: sentence.station(models.get(direction), name, text, options=options, view=view, stop=stop)
        )

    return [_told(course), _told(station)]


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError("the request must be names with values")
    return value


def _told(make: Callable[[dict], dict]) -> Callable[[dict], dict]:
    """`make`, with an error as an answer in words."""

    def answer(request: dict) -> dict:
        try:
            return make(request)
        except TranslatorError as error:
            return {"error": str(error)}

    answer.__name__ = make.__name__
    return answer
