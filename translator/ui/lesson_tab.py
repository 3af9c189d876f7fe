"""The Lesson tab: how a Transformer translates, in twelve stations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from translator.ui import explorer, session
from translator.ui.asked import Asked, mapping, marked, told
from translator.ui.lesson import course as lesson
from translator.ui.lesson.equations import markdown
from translator.ui.models import Models


def lesson_tab(models: Models) -> None:
    """Build the tab inside the present `gr.Blocks`."""
    gr.Markdown(
        markdown(), elem_id="lesson-equations", latex_delimiters=[{"left": "$$", "right": "$$", "display": True}]
    )
    explorer.lesson_view(functions=server_functions(models))


def server_functions(models: Models) -> list[Callable[[dict[str, Any]], dict[str, Any]]]:
    """What the lesson asks for: `course` of a language, and `station` of a text, a direction, options and a view.

    Each answers {"error": …} rather than fail. A station runs behind the page's gate, like a translation.
    """

    def course(request: Asked) -> dict[str, Any]:
        return lesson.course(request.get("language"))

    def station(request: Asked) -> dict[str, Any]:
        from translator.ui.lesson import sentence  # brings torch, which the page must not wait for

        text, options = session.checked_text(request.get("text")), mapping(request.get("options", {}))
        direction = request.get("direction", "")
        name, view = request.get("station"), str(request.get("view", ""))
        return models.gate.run(
            lambda stop: sentence.station(models.get(direction), name, text, options=options, view=view, stop=stop)
        )

    return [told(marked(course, where="at once")), told(station)]
