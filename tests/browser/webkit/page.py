"""Playwright's page as far as these tests use it, in WebKitGTK by its driver: Playwright's own WebKit is downloaded.

What the driver cannot do (answering for the server, looking at requests, a first visit's empty cache) is skipped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import pytest
from playwright.sync_api import Error
from playwright.sync_api import TimeoutError as Late
from selenium.common.exceptions import WebDriverException

from tests.browser.regular import STILL
from tests.browser.webkit.hands import Keyboard, Mouse
from tests.browser.webkit.locator import Locator, parsed

FIND = (Path(__file__).parent / "find.js").read_text(encoding="utf-8")
_RUN = """
const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1);
(async () => { %s })().then(found => done([JSON.stringify(found) ?? 'null']), error => done([null, String(error)]));
"""
BETWEEN = 0.05  # seconds between two looks
WATCH = """
window.faults ??= (() => {
    const faults = [];
    addEventListener('error', event => event.message.startsWith('ResizeObserver loop') || faults.push(event.message));
    addEventListener('unhandledrejection', event => faults.push(String(event.reason)));
    return faults;
})();
"""
_FORGET = """
localStorage.clear();
sessionStorage.clear();
for (const name of await caches.keys()) await caches.delete(name);
for (const each of await navigator.serviceWorker?.getRegistrations() ?? []) await each.unregister();
"""


class Unread(Error):
    """A script that is none."""


def no(what: str) -> NoReturn:
    """This cannot be done by WebDriver."""
    pytest.skip(f"WebKitGTK's driver has no {what}")


class Context:
    """Whose tabs they are; the driver has one visitor, who forgets all when he closes them."""

    def __init__(self, driver: Any, timeout: float, viewport: dict[str, int] | None = None) -> None:
        self._driver, self._timeout, self._viewport = driver, timeout, viewport
        self.pages: list[Page] = []

    def new_page(self) -> Page:
        """One more window; the first is there already."""
        if self.pages:
            self.pages[-1].behind = True
            self._driver.switch_to.new_window("window")
        page = Page(self._driver, self._timeout)
        self.pages.append(page)
        if self._viewport:
            page.set_viewport_size(self._viewport)
        return page

    def close(self) -> None:
        """Close all windows but one, remove what the pages stored, and tell of errors that no script caught."""
        heard = [(page.heard, fault) for page in self.pages if page.is_open() for fault in page.faults()]
        first, *others = self._driver.window_handles
        for handle in [*others, first]:
            self._driver.switch_to.window(handle)
            if self._driver.current_url.startswith("http"):
                Page(self._driver, self._timeout).run(_FORGET)
            if handle != first:
                self._driver.close()
        self._driver.switch_to.window(first)
        self.pages.clear()
        self._driver.delete_all_cookies()
        self._driver.get("about:blank")
        for tells, fault in heard:
            for tell in tells:
                tell(fault)

    def set_default_timeout(self, timeout: float) -> None:
        self._timeout = timeout

    def __getattr__(self, name: str) -> Any:
        no(name.replace("_", " "))


class Browser:
    """Playwright's, as far as one visitor goes."""

    def __init__(self, driver: Any, timeout: float) -> None:
        self._driver, self._timeout = driver, timeout

    def new_context(self, *, viewport: dict[str, int] | None = None, **options: Any) -> Context:
        """A visitor who reads English by day, as this WebKit does."""
        if asked := [name for name, value in options.items() if value not in (None, "light", "en-GB", "en-US")]:
            no(", ".join(asked))
        return Context(self._driver, self._timeout, viewport)

    def new_page(self, **options: Any) -> Page:
        return self.new_context(**options).new_page()

    def __getattr__(self, name: str) -> Any:
        no(name.replace("_", " "))


class Regular:
    """`tests.browser.regular.Regular`, whose pages are read one after the other."""

    def __init__(self, driver: Any, timeout: float) -> None:
        self.context = Context(driver, timeout)

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


class Page:
    """One tab."""

    behind = False
    """Another window was opened after it: there it is asked, but no hand reaches it."""

    def __init__(self, driver: Any, timeout: float) -> None:
        self.driver, self._timeout = driver, timeout
        self._handle = driver.current_window_handle
        self.heard: list[Callable[[str], Any]] = []
        self.keyboard, self.mouse = Keyboard(self), Mouse(self)

    def here(self) -> Any:
        """The driver, in this tab."""
        if self.driver.current_window_handle != self._handle:
            self.driver.switch_to.window(self._handle)
        return self.driver

    def run(self, body: str, *given: Any) -> Any:
        """What the body of an asynchronous function returns, by way of JSON; `find` and `given` are known to it.

        Raises:
            Error: it threw.
        """
        try:
            found, *error = self.here().execute_async_script(_RUN % (FIND + body), *given)
        except WebDriverException as raised:
            raise Unread(str(raised.msg)) from None
        if error:
            raise Error(error[0])
        return json.loads(found)

    def until(self, holds: Callable[[], Any], what: str, timeout: float | None = None) -> Any:
        """Wait until `holds()` is true; its value. What is thrown while a page goes is not heeded.

        Raises:
            TimeoutError: it never was.
        """
        end = time.monotonic() + (timeout or self._timeout) / 1000
        while True:
            with suppress(Error):
                if found := holds():
                    return found
            if time.monotonic() > end:
                raise Late(f"Timeout exceeded: {what}")
            time.sleep(BETWEEN)

    # Where it goes.

    def goto(self, address: str, **_: Any) -> None:
        """Open an address anew, even where only its fragment is another."""
        if address.partition("#")[0] == self.url.partition("#")[0] and "#" in address:
            self.here().execute_script("location.assign(arguments[0])", address)
        else:
            self.here().get(address)
        self.driver.execute_script(WATCH)

    def reload(self, **_: Any) -> None:
        self.here().refresh()
        self.driver.execute_script(WATCH)

    def go_back(self, **_: Any) -> None:
        self.here().back()

    def go_forward(self, **_: Any) -> None:
        self.here().forward()

    @property
    def url(self) -> str:
        return str(self.here().current_url)

    def title(self) -> str:
        return str(self.here().title)

    def is_open(self) -> bool:
        """Whether nobody has closed it."""
        return self._handle in self.driver.window_handles

    def close(self) -> None:
        """Close the window; with the last one the driver would end."""
        if len(self.driver.window_handles) == 1:
            self.driver.get("about:blank")
            return
        self.here().close()
        self.driver.switch_to.window(self.driver.window_handles[0])

    def faults(self) -> list[str]:
        """Errors that no script caught, since the page was opened."""
        return list(self.here().execute_script("return window.faults ?? []"))

    def set_default_timeout(self, timeout: float) -> None:
        self._timeout = timeout

    def set_viewport_size(self, size: dict[str, int]) -> None:
        """Make the window so large that the page has this size, as far as the window manager lets it."""
        width, height = size["width"], size["height"]
        for _ in range(3):
            inner = self.here().execute_script("return [innerWidth, innerHeight]")
            if inner == [width, height]:
                return
            outer = self.driver.get_window_size()
            self.driver.set_window_size(outer["width"] + width - inner[0], outer["height"] + height - inner[1])
        if self.driver.execute_script("return innerWidth") != width:
            no(f"window {width} pixels wide")

    # What is asked and waited for.

    def evaluate(self, text: str, arg: Any = None) -> Any:
        return self.asked(text, "given[0]", arg)

    def asked(self, text: str, about: str, *given: Any) -> Any:
        """The value of a script, or of the function that it is, called with `about`."""
        told = f"return typeof found === 'function' ? found({about}) : found"
        try:
            return self.run(f"const found = ({text}\n); {told}", *given)
        except Unread:
            return self.run(f"const found = eval({json.dumps(text)}); {told}", *given)  # several statements

    def wait_for_function(self, text: str, *, arg: Any = None, timeout: float | None = None, **_: Any) -> None:
        self.until(lambda: self.evaluate(text, arg), text, timeout)

    def wait_for_selector(self, selector: str, *, state: str = "visible", timeout: float | None = None) -> Locator:
        found = self.locator(selector).first
        found.wait_for(state=state, timeout=timeout)
        return found

    def eval_on_selector_all(self, selector: str, text: str) -> Any:
        return self.asked(text, "find.all(given[0])", parsed(selector))

    # Whom it asks: the first that a selector finds.

    def locator(self, selector: str, **more: Any) -> Locator:
        return Locator(self, []).locator(selector, **more)

    def get_by_role(self, role: str, **named: Any) -> Locator:
        return Locator(self, []).get_by_role(role, **named)

    def get_by_text(self, text: Any, *, exact: bool = False) -> Locator:
        return Locator(self, []).get_by_text(text, exact=exact)

    def get_by_label(self, text: Any, *, exact: bool = False) -> Locator:
        return Locator(self, []).get_by_label(text, exact=exact)

    def query_selector(self, selector: str) -> Locator | None:
        found = self.locator(selector)
        return found.first if found.count() else None

    def __getattr__(self, name: str) -> Any:
        """What a locator does too, asked of a selector; what is not known cannot be done."""
        if name in ("context", "touchscreen") or name.startswith(("_", "expect_")) or not hasattr(Locator, name):
            no(name.replace("_", " "))

        def asked(selector: str, *given: Any, **more: Any) -> Any:
            return getattr(self.locator(selector).first, name)(*given, **more)

        return asked

    def on(self, event: str, tell: Callable[..., Any]) -> None:
        """Errors are told when the page is closed; nothing else is heard."""
        if event != "pageerror":
            no(f"event of a {event}")
        self.heard.append(tell)

    def emulate_media(self, **media: Any) -> None:
        """Light, as it is, and on the screen."""
        if media != {"color_scheme": "light"}:
            no(" or ".join(media))
