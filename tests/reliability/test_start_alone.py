"""The page starts in seconds where there is nothing to translate with, says so, and ends when told."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from benchmarks.served import App
from translator.ui.models import DIRECTIONS


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_without_checkpoints_and_network_the_page_starts_and_says_so_and_ends_when_told(tmp_path: Path) -> None:
    offline = {"TRANSLATOR_CHECKPOINTS": str(tmp_path), "HF_ENDPOINT": "http://127.0.0.1:9", "TRANSLATOR_MODELS": ""}
    app = App(offline)
    try:
        assert app.cpu_seconds < 8, "on a core of its own it has to be there in eight seconds"
        with httpx.Client(base_url=f"{app.url}/gradio_api/call", timeout=60) as page:
            for direction in DIRECTIONS:
                asked = page.post("/v2/translate", json={"text": "Hallo.", "direction": direction}).json()
                said = page.get(f"/translate/{asked['event_id']}").text
                assert "event: error" in said and f"{direction} is not available here" in said
    finally:
        ended = app.close()
    assert ended < 5
