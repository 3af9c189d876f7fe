"""Playwright's browser and its contexts, in WebKitGTK by its driver: Playwright's own WebKit is downloaded."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.webkit import screen_in_memory, webkit
from tests.browser.regular import STILL
from tests.browser.webkit.inspector import Inspector, port
from tests.browser.webkit.opened import no
from tests.browser.webkit.page import Page
from tests.browser.webkit.touch import NO_MOUSE, Finger, touch_screen

LANGUAGE = "en-GB"
_FORGET = """
localStorage.clear();
sessionStorage.clear();
for (const name of await window.caches?.keys() ?? []) await caches.delete(name);
for (const each of await navigator.serviceWorker?.getRegistrations() ?? []) await each.unregister();
"""
USUAL = {"width": 1280, "height": 720}
"""Playwright's page, where nothing else is said."""
NO_WORKERS = "if (navigator.serviceWorker) navigator.serviceWorker.register = () => new Promise(() => {});"


class Running:
    """One browser with its inspector, for a language; with a finger where its screen can be touched."""

    finger: Finger | None = None

    def __init__(self, stack: ExitStack, home: Path, language: str, touched: bool) -> None:
        home /= language + touched * "-touched"
        self.downloads = home / "downloads"
        screen = partial(touch_screen, home) if touched else screen_in_memory
        self.driver = stack.enter_context(webkit(home=home, language=language, screen=screen))
        self.inspector = Inspector(port(self.driver.service.process.pid))
        stack.callback(self.inspector.close)
        self.driver.set_window_rect(1500, 1000, 60, 60)  # out of the way of the pages
        self.inspector.newest()  # stays, for with the last window the driver would end
        if touched:
            self.finger = Finger(home)


class Browser:
    """Browsers for all languages that are asked for; each remembers until its context is closed."""

    def __init__(self, home: Path, timeout: float) -> None:
        self._home, self._timeout, self._stack = home, timeout, ExitStack()
        self._running: dict[tuple[str, bool], Running] = {}

    def new_context(self, *, locale: str | None = None, has_touch: bool = False, **options: Any) -> Context:
        key = locale or LANGUAGE, has_touch
        if key not in self._running:
            self._running[key] = Running(self._stack, self._home, *key)
        return Context(self._running[key], self._timeout, **options)

    def new_page(self, **options: Any) -> Page:
        context = self.new_context(**options)
        page = context.new_page()
        page.close = context.close  # type: ignore[method-assign]  # nobody else knows of it
        return page

    def close(self) -> None:
        self._stack.close()

    def __getattr__(self, name: str) -> Any:
        no(name.replace("_", " "))


class Context:
    """Whose tabs they are; the driver has one visitor, who forgets all when he closes them."""

    def __init__(
        self,
        running: Running,
        timeout: float,
        *,
        viewport: dict[str, int] | None = None,
        color_scheme: str | None = None,
        service_workers: str = "allow",
        offline: bool = False,
        is_mobile: bool = False,
        **options: Any,
    ) -> None:
        """`is_mobile` is a phone's way to lay pages out, which a window as narrow has of itself."""
        if asked := [name for name, value in options.items() if value]:
            no(", ".join(asked))
        self.running, self._timeout, self._viewport = running, timeout, viewport or USUAL
        self._scheme, self._offline = color_scheme, offline
        self._scripts = [NO_WORKERS] * (service_workers == "block") + [NO_MOUSE] * bool(running.finger)
        self._routes: list[tuple[Any, Callable[..., Any]]] = []
        self._hears: list[tuple[str, Callable[..., Any]]] = []
        self.pages: list[Page] = []

    def new_page(self) -> Page:
        driver = self.running.driver
        driver.switch_to.window(driver.window_handles[0])
        driver.switch_to.new_window("window")
        page = Page(self, self.running.inspector.newest(), self._timeout)
        self.pages.append(page)
        page.set_viewport_size(self._viewport)
        if self._scheme:
            page.emulate_media(color_scheme=self._scheme)
        for script in self._scripts:
            page.add_init_script(script)
        for wanted, handle in self._routes:
            page.route(wanted, handle)
        if self._offline:
            page.route("http**", lambda route: route.abort())
        for event, hear in self._hears:
            page.on(event, hear)
        return page

    def add_init_script(self, script: str) -> None:
        self._scripts.append(script)
        for page in self.pages:
            page.add_init_script(script)

    def route(self, wanted: Any, handle: Callable[..., Any]) -> None:
        self._routes.append((wanted, handle))
        for page in self.pages:
            page.route(wanted, handle)

    def on(self, event: str, hear: Callable[..., Any]) -> None:
        self._hears.append((event, hear))
        for page in self.pages:
            page.on(event, hear)

    def close(self) -> None:
        """Close its windows, and remove what all pages stored."""
        for page in self.pages:
            if page.is_closed():
                continue
            page.pump()
            if page.url.startswith("http"):
                page.run(_FORGET)
            page.close_window()
        self.pages.clear()

    def set_default_timeout(self, timeout: float) -> None:
        self._timeout = timeout

    def __getattr__(self, name: str) -> Any:
        no(name.replace("_", " "))


class Regular:
    """`tests.browser.regular.Regular`, whose pages are read one after the other."""

    def __init__(self, browser: Browser) -> None:
        self.context = browser.new_context()

    def page(self, server: str, *, width: int, height: int, stored: dict[str, str] | None = None) -> Page:
        page = self.context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        if stored:
            page.goto(server + STILL)
            page.evaluate("stored => Object.assign(localStorage, stored)", stored)
            page.goto("about:blank")
        return page

    def forget(self) -> None:
        self.context.close()
