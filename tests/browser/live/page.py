"""The live page under test: opened, typed into, read."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.file_host import Host
from tests.browser.webkit.opened import WEBKIT
from translator import Translator

PREPARED, TYPED = "Ich renne in den Park.", "Das Haus ist alt."
PATIENCE = 60_000


def opened(context: BrowserContext, address: str, init: str = "", shows: str = "#attention-detail .xtick") -> Page:
    """The page, once it shows a map, or what else it opens with."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    if init:
        page.add_init_script(init)
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(address)
    page.wait_for_selector(shows)
    return page


def until(page: Page, what: Callable[[], Any]) -> Any:
    """Wait for something; the page's policy lets no test do that by a script of its own."""
    end = time.monotonic() + PATIENCE / 1000
    while not (found := what()):
        assert time.monotonic() < end, page.inner_text("body")[:1000]
        page.evaluate("() => new Promise(requestAnimationFrame)")
    return found


def unplug(context: BrowserContext, host: Host) -> None:
    """No network: for the browser, where it can be told so, and from the host in any case."""
    host.gone = True
    if not WEBKIT:
        context.set_offline(True)


def painted(page: Page) -> None:
    """Wait until what has happened is laid out and painted."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def type_and_translate(page: Page, text: str) -> dict[str, Any]:
    """Type a sentence by the keyboard, press Enter, and wait for its trace."""
    page.click("#source-text textarea")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    return until(page, lambda: (trace := shown(page)) and trace["source"] == text and trace)


def shown(page: Page) -> dict[str, Any] | None:
    return page.evaluate("window.AttentionExplorer.trace()")


def check(trace: dict[str, Any], model: Translator) -> None:
    """The translation that is shown is Python's, with every map."""
    expected = model.translate(trace["source"])
    assert [token["id"] for token in trace["tgt"]] == [token.id for token in expected.tgt]
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(np.array(trace[kind]), expected.weights(kind), atol=2e-5, rtol=0)
