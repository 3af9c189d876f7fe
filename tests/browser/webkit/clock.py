"""Playwright's clock, as far as these tests use it: `clock.js` in an opened page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.webkit import PATIENCE

if TYPE_CHECKING:
    from tests.browser.webkit.page import Page

SCRIPT = Path(__file__).with_name("clock.js").read_text(encoding="utf-8")


class Clock:
    """Of a page."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def install(self) -> None:
        """Until the page goes elsewhere."""
        self._page.run(SCRIPT, 1000 * PATIENCE)

    def fast_forward(self, time: str) -> None:
        """Move it by "hours:minutes:seconds"; what is due by then runs once."""
        seconds = 0
        for part in time.split(":"):
            seconds = 60 * seconds + int(part)
        self._page.run("__clock(1000 * given[0])", seconds)
