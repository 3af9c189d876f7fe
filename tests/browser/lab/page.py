"""The lab under test."""

from __future__ import annotations

from typing import Any

QUESTIONS = {
    "word": ("contrast", "force", "edit", "beams", "lens", "layers"),
    "carries": ("patch",),
    "there": ("why", "cell", "norms", "positions"),
    "left": ("align",),
    "believe": ("faithfulness", "rollout"),
    "matter": ("profile",),
}


def show(lab: Any, view: str) -> None:
    """Open a view by its question, as a person does."""
    (question,) = (name for name, views in QUESTIONS.items() if view in views)
    lab.locator(f'[data-question="{question}"]').click()
    lab.locator(f'.lab-views [data-view="{view}"]').click()
