"""Playwright's page as far as these tests use it, in WebKitGTK by its driver and its inspector.

What neither can do is skipped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Error
from playwright.sync_api import TimeoutError as Late
from selenium.common.exceptions import WebDriverException

from tests.browser.webkit.clock import Clock
from tests.browser.webkit.expecting import Expecting
from tests.browser.webkit.hands import Keyboard, Mouse
from tests.browser.webkit.inspector import Inspected
from tests.browser.webkit.locator import Locator, parsed
from tests.browser.webkit.network import Network
from tests.browser.webkit.opened import no
from tests.browser.webkit.touch import TouchScreen

if TYPE_CHECKING:
    from tests.browser.webkit.context import Context

FIND = (Path(__file__).parent / "find.js").read_text(encoding="utf-8")
_RUN = """
const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1);
(async () => { %s })().then(found => done([JSON.stringify(found) ?? 'null']), error => done([null, String(error)]));
"""
BETWEEN = 0.05  # seconds between two looks
BUSY = 0.1  # seconds after which what a page tells is heard though it has not answered yet
UNCAUGHT = ("TypeError", "ReferenceError", "RangeError", "SyntaxError", "Error", "Unhandled", "InvalidStateError")


class Unread(Error):
    """A script that is none."""


class Told:
    """A message of the console."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.text, self.type = message["text"], message["level"]


class Page(Expecting):
    """One tab."""

    def __init__(self, context: Context, inspected: Inspected, timeout: float) -> None:
        self.context, self.driver, self._inspected = context, context.running.driver, inspected
        self._timeout = timeout
        self.handle = self.driver.current_window_handle
        self.network = Network(inspected)
        self._scripts: list[str] = []
        self._dialogs: list[tuple[Locator, Callable[[Locator], Any]]] = []
        self._went = self._loaded = False
        self._thread = ThreadPoolExecutor(1)
        self.keyboard, self.mouse, self.touchscreen = Keyboard(self), Mouse(self), TouchScreen(self)
        self.clock = Clock(self)

    def here(self) -> Any:
        """The driver, in this tab."""
        if self.driver.current_window_handle != self.handle:
            self.driver.switch_to.window(self.handle)
        return self.driver

    def pump(self) -> None:
        """Hear what the page has told meanwhile."""
        while not self._inspected.events.empty():
            self._take(self._inspected.events.get())

    def _take(self, event: dict[str, Any]) -> None:
        domain, _, name = event["method"].partition(".")
        told = event["params"]
        if domain == "Network":
            self.network.take(name, told)
        elif name == "frameNavigated" and "parentId" not in told["frame"]:
            self._went = True
        elif name == "loadEventFired":
            self._loaded = self._went
        elif name == "messageAdded":
            message = told["message"]
            self.network.tell("console", Told(message))
            text = message["text"]
            if message["source"] == "javascript" and message["level"] == "error" and text.startswith(UNCAUGHT):
                self.network.tell("pageerror", text)

    def _do(self, command: Callable[..., Any], *given: Any) -> Any:
        """What the driver does may wait for what is heard of it here."""
        self.pump()
        future = self._thread.submit(command, *given)
        while not future.done():
            with suppress(TimeoutError):
                future.exception(timeout=BUSY)
            if not future.done():
                self.pump()
        return future.result()

    def run(self, body: str, *given: Any) -> Any:
        """What the body of an asynchronous function returns, by way of JSON; `find` and `given` are known to it.

        Raises:
            Error: it threw.
        """
        try:
            found, *error = self._do(self.here().execute_async_script, _RUN % (FIND + body), *given)
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
            self.pump()
            with suppress(Error):
                for asks, answer in self._dialogs:
                    if asks.is_visible():
                        answer(asks)
                if found := holds():
                    return found
            if time.monotonic() > end:
                raise Late(f"Timeout exceeded: {what}")
            time.sleep(BETWEEN)

    # Where it goes.

    def goto(self, address: str, *, wait_until: str = "load", **_: Any) -> None:
        """Open an address anew, even where only its fragment is another."""
        if address.partition("#")[0] == self.url.partition("#")[0] and "#" in address:
            self.here().execute_script("location.assign(arguments[0])", address)
        else:
            self._go(self.here().get, address, wait_until=wait_until)

    def reload(self, **_: Any) -> None:
        self._go(self.here().refresh)

    def _go(self, go: Callable[..., Any], *given: Any, wait_until: str = "load") -> None:
        self.pump()
        self._went = self._loaded = False
        self._do(go, *given)
        self.until(lambda: self._went if wait_until == "commit" else self._loaded, f"{given} to load")

    def go_back(self, **_: Any) -> None:
        self.here().back()

    def go_forward(self, **_: Any) -> None:
        self.here().forward()

    @property
    def url(self) -> str:
        return str(self.here().current_url)

    def content(self) -> str:
        return str(self.evaluate("document.documentElement.outerHTML"))

    def title(self) -> str:
        return str(self.here().title)

    def is_closed(self) -> bool:
        return self.handle not in self.driver.window_handles

    def close(self) -> None:
        self.close_window()

    def close_window(self) -> None:
        self.here().close()
        self.driver.switch_to.window(self.driver.window_handles[0])

    def set_default_timeout(self, timeout: float) -> None:
        self._timeout = timeout

    def set_viewport_size(self, size: dict[str, int]) -> None:
        """Make the window so large that the page has this size."""
        width, height = size["width"], size["height"]
        for _ in range(5):
            inner = self.here().execute_script("return [innerWidth, innerHeight]")
            if inner == [width, height]:
                return
            outer = self.driver.get_window_size()
            wanted = outer["width"] + width - inner[0], outer["height"] + height - inner[1]
            self.driver.set_window_size(*(max(1, side) for side in wanted))
        if self.driver.execute_script("return innerWidth") != width:
            no(f"window {width} pixels wide")

    def emulate_media(self, *, color_scheme: str | None = None, media: str | None = None) -> None:
        if media:
            self._inspected.always("media", "Page.setEmulatedMedia", media="" if media == "null" else media)
        if color_scheme:
            given = {"name": "PrefersColorScheme", "value": color_scheme.capitalize()}
            self._inspected.always("scheme", "Page.overrideUserPreference", **given)

    # What runs before it, answers for its server, and hears of it.

    def add_init_script(self, script: str) -> None:
        self._scripts.append(script)
        self._inspected.always("scripts", "Page.setBootstrapScript", source="\n;".join(self._scripts))

    def route(self, wanted: Any, handle: Callable[..., Any]) -> None:
        self.network.route(wanted, handle)

    def add_locator_handler(self, asks: Locator, answer: Callable[[Locator], Any]) -> None:
        self._dialogs.append((asks, answer))

    # What is asked and waited for.

    def evaluate(self, text: str, arg: Any = None) -> Any:
        return self.asked(text, "given[0]", arg)

    def asked(self, text: str, about: str, *given: Any, truth: bool = False) -> Any:
        """The value of a script, or of the function that it is, called with `about`; or whether it is true."""
        told = f"typeof found === 'function' ? found({about}) : found"
        told = f"return !!await ({told})" if truth else f"return {told}"
        try:
            return self.run(f"const found = ({text}\n); {told}", *given)
        except Unread:
            return self.run(f"const found = eval({json.dumps(text)}); {told}", *given)  # several statements

    def wait_for_function(self, text: str, *, arg: Any = None, timeout: float | None = None, **_: Any) -> None:
        self.until(lambda: self.asked(text, "given[0]", arg, truth=True), text, timeout)

    def wait_for_timeout(self, milliseconds: float) -> None:
        time.sleep(milliseconds / 1000)
        self.pump()

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
        if name.startswith(("_", "expect_")) or not hasattr(Locator, name):
            no(name.replace("_", " "))

        def asked(selector: str, *given: Any, **more: Any) -> Any:
            return getattr(self.locator(selector).first, name)(*given, **more)

        return asked
