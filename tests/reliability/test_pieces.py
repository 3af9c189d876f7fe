"""What follows a translation asks for its turn in pieces too: exports, packed answers, figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from translator import trace as traces
from translator.errors import CancelledError
from translator.ui import lab_tab, translate_tab
from translator.ui.gate import Gate, pause
from translator.ui.job import Job
from translator.ui.models import Models

ASKED = {"text": "Das Haus ist groß, aber alt.", "direction": "de-en"}
ROLLOUT = {"view": "rollout", "options": {"method": "rollout"}}


@pytest.fixture
def asks(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """How often a function of the page asks for its turn while it answers, and that its answer is no error."""
    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    known = {each.__name__: each for each in translate_tab.server_functions(models) + lab_tab.server_functions(models)}
    stop, counted = Job.stop, list[int]()
    monkeypatch.setattr(Job, "stop", lambda job: bool(counted.append(0)) or stop(job))

    def count(name: str, **request: Any) -> int:
        counted.clear()
        (found,) = models.gate.submit(lambda stop: iter([known[name]({**ASKED, **request})])).messages()
        assert "error" not in found, found
        return len(counted)

    return count


@pytest.mark.slow
def test_an_offline_page_asks_before_each_of_its_maps_is_packed(asks: Callable[..., int]) -> None:
    assert asks("offline") >= asks("exact") + 3


@pytest.mark.slow
def test_an_npz_asks_before_each_piece(asks: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    few = asks("npz")
    assert few >= asks("exact") + 7  # one for each array
    monkeypatch.setattr(traces, "PIECE", 100)
    assert asks("npz") > few + 20


@pytest.mark.slow
def test_a_figure_asks_before_each_theme_is_drawn_and_before_each_is_written(asks: Callable[..., int]) -> None:
    greedy = asks("npz", settings={"method": "greedy"}) - 7
    assert asks("lab_ask", **ROLLOUT) == greedy + 4


def test_a_pause_ends_work_that_was_stopped_and_is_nothing_outside_of_a_request() -> None:
    gate = Gate()

    def work(_: Callable[[], bool]) -> Any:
        gate.stop("mine")
        pause()
        yield 1

    job = gate.submit(work, name="mine")
    with pytest.raises(CancelledError):
        list(job.messages())
    gate.close()
    pause()
