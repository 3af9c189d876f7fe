"""Playwright's `with page.expect_…`: what follows from what is done meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.browser.webkit.downloads import Download, forget, taken
from tests.browser.webkit.network import Network, likes

if TYPE_CHECKING:
    from tests.browser.webkit.context import Context


class Info:
    """What a `with page.expect_…` waits for."""

    value: Any = None


class Expecting:
    """What a page does to wait."""

    context: Context
    network: Network
    until: Callable[..., Any]
    pump: Callable[[], None]
    _went: bool
    _loaded: bool

    def on(self, event: str, hear: Callable[..., Any]) -> None:
        self.network.hears.setdefault(event, []).append(hear)

    @contextmanager
    def _expect(self, event: str, wanted: Any) -> Iterator[Info]:
        info = Info()

        def hear(what: Any) -> None:
            if info.value is None and likes(wanted, what):
                info.value = what

        self.on(event, hear)
        try:
            yield info
            self.until(lambda: info.value, f"a {event} like {wanted}")
        finally:
            self.network.hears[event].remove(hear)

    @contextmanager
    def expect_navigation(self, *, timeout: float | None = None) -> Iterator[None]:
        self.pump()
        self._went = self._loaded = False
        yield
        self.until(lambda: self._loaded, "another page", timeout)

    def expect_request(self, wanted: Any, **_: Any) -> Any:
        return self._expect("request", wanted)

    def expect_response(self, wanted: Any, **_: Any) -> Any:
        return self._expect("response", wanted)

    @contextmanager
    def expect_download(self, **_: Any) -> Iterator[Info]:
        info, folder = Info(), self.context.running.downloads
        forget(folder)
        yield info
        info.value = Download(self.until(lambda: taken(folder), "a download"))
