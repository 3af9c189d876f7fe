"""The gallery in a browser without a network: the index, its cards, the whole explorer behind each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from benchmarks.shown import trace as shown_trace
from translator.pipeline import load
from translator.ui.gallery import write_gallery
from translator.ui.session import payload_of

pytestmark = pytest.mark.browser


def test_cards_lead_to_whole_explorers_and_back_without_a_network(
    tiny_checkpoint: Path, browser: Browser, tmp_path: Path
) -> None:
    model = load(tiny_checkpoint, device="cpu")
    traces = [model.translate(text) for text in ("wir rennen", "in den park")]
    index = write_gallery(tmp_path, [(trace, payload_of(model, trace, "f32")) for trace in traces])[0]
    context = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True, locale="de-DE")
    page = context.new_page()
    page.set_default_timeout(60_000)
    asked: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(index.as_uri())
    page.wait_for_selector("text=Jede Karte")  # the index speaks the reader's language
    assert page.locator(".gallery li").count() == 2
    for trace in traces:
        page.click(f".gallery a:has-text('{trace.source}')")
        page.wait_for_selector("#attention-detail .xtick")
        assert shown_trace(page)["source"] == trace.source
        for kind in ("encoder", "decoder", "cross"):
            assert np.shape(shown_trace(page)[kind]) == trace.weights(kind).shape
        page.click(".offline-top a")
        page.wait_for_selector(".gallery li")
    assert not faults
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    context.close()
