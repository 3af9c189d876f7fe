"""What a page's explorer says of itself (`data-shown`), and how a visitor chooses in it: for tests and measurements."""

from __future__ import annotations

import json
import time
from typing import Any

from playwright.sync_api import Page, Request

SHOWN = "JSON.parse(document.querySelector('.ax')?.dataset.shown ?? '{}')"
"""In the page: source, translation, direction, live, rows, columns and what is chosen; indices count from 0."""
TRACE = "AttentionExplorer.trace()"
"""In the page: the translation that is shown, as plain arrays."""
_HOLDS = f"""wanted => {{
    const shown = {SHOWN};
    return Object.entries(wanted).every(([name, value]) => JSON.stringify(shown[name]) === JSON.stringify(value));
}}"""


def shown(page: Page) -> dict[str, Any]:
    """What is shown now; empty before anything is."""
    return page.evaluate(SHOWN)


def wait_shown(page: Page, **wanted: Any) -> None:
    """Wait until the page shows what is wanted, by the names of `SHOWN`, and has painted it."""
    page.wait_for_function(_HOLDS, arg=wanted)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait_translated(page: Page, source: str, **wanted: Any) -> None:
    """Wait until the whole translation of a text is shown."""
    wait_shown(page, source=source, live=False, **wanted)


def pick(page: Page, *, kind: str | None = None, layer: int | None = None, head: int | None = None) -> None:
    """Choose as a visitor does, by the controls over the map, and wait for it."""
    if kind is not None:
        page.click(f"#explorer [data-kind={kind}]")
        wait_shown(page, kind=kind)
    for name, index in (("layer", layer), ("head", head)):
        if index is not None:
            page.select_option(f"#explorer #{name}", index=index)
            wait_shown(page, **{name: index})


def next_head(page: Page) -> int:
    """Choose the head after the one that is chosen, counting round; which it is."""
    heads = page.locator("#explorer #head option").count()
    head = (int(shown(page)["head"]) + 1) % heads
    pick(page, head=head)
    return head


def trace(page: Page) -> dict[str, Any]:
    """The translation that is shown, as the page's own program gives it to anyone."""
    found: dict[str, Any] = json.loads(page.evaluate(f"JSON.stringify({TRACE})"))
    return found


QUIET = """() => !document.querySelector('[aria-busy=true]')
    && !document.getAnimations().some(each => each.effect.getComputedTiming().endTime < Infinity)"""
"""In the page: a function that says whether nothing is being computed or moved."""
_IDLE = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
    () => requestIdleCallback(() => done(), { timeout: 2000 }))))"""


def settle(page: Page) -> None:
    """Wait until the page has laid out, painted and animated whatever has happened, and has nothing else to do."""
    page.evaluate(_IDLE)
    page.wait_for_function(QUIET)
    page.evaluate(_IDLE)


class InFlight:
    """The requests of a page that have not ended; Gradio's heartbeat, which never does, is left out."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._open: set[Request] = set()
        page.on("request", self._begun)
        for ended in ("requestfinished", "requestfailed"):
            page.on(ended, lambda request: self._open.discard(request))

    def _begun(self, request: Request) -> None:
        if "/heartbeat/" not in request.url:
            self._open.add(request)

    def wait(self, seconds: float = 20) -> None:
        """Wait until every answer has come and been taken.

        Raises:
            TimeoutError: some request goes on.
        """
        end = time.monotonic() + seconds
        while self._open:
            if time.monotonic() > end:
                raise TimeoutError(f"no end of {sorted(request.url for request in self._open)}")
            self.page.evaluate(_IDLE)  # events are heard while the page is asked something
        settle(self.page)
