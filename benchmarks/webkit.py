"""WebKit, the engine of Safari, as Debian has it: WebKitGTK by its driver, for tests and measurements."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

DRIVER, SCREEN = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
"""Where they are; None if they are not installed."""
PATIENCE = 240
"""Seconds that a script may take."""
MISSING = "WebKitGTK's driver or Xvfb is missing; `python tests/browser/install.py webkit` installs both"
NO_BARS = "* { min-width: 0; min-height: 0; padding: 0; margin: 0; border-width: 0; font-size: 1px; }"
"""The browser's own buttons would make its window 640 pixels wide at least."""


@contextmanager
def screen_in_memory() -> Iterator[str]:
    """A screen of X that is only in memory; its name.

    Raises:
        RuntimeError: Xvfb is not installed.
    """
    if SCREEN is None:
        raise RuntimeError(MISSING)
    read, write = os.pipe()
    with subprocess.Popen(
        [SCREEN, "-displayfd", str(write), "-screen", "0", "1600x1100x24"], pass_fds=[write]
    ) as screen:
        os.close(write)
        with open(read, encoding="ascii") as number:
            display = f":{number.readline().strip()}"
        try:
            yield display
        finally:
            screen.terminate()


@contextmanager
def webkit(
    home: Path | None = None,
    language: str | None = None,
    screen: Callable[[], AbstractContextManager[str]] = screen_in_memory,
) -> Iterator[Any]:
    """A browser of selenium, on a screen of its own.

    One with a `home` is for tests: it puts downloads into that folder's `downloads`, may be as narrow as a phone, reads
    the language ("de-DE"), which the system must know, and nobody waits until a page has loaded.

    Raises:
        RuntimeError: the driver or Xvfb is not installed.
    """
    if DRIVER is None:
        raise RuntimeError(MISSING)
    from selenium import webdriver

    with screen() as display:
        own = {
            "DISPLAY": display,
            "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }
        options = webdriver.webkitgtk.options.Options()
        if home:
            own |= _settle(home)
            options.page_load_strategy = "none"
        if language:
            own |= {"LC_ALL": f"{language.replace('-', '_')}.UTF-8", "LANGUAGE": language.replace("-", "_")}
        service = webdriver.webkitgtk.service.Service(DRIVER, env={**os.environ, **own})
        browser = webdriver.WebKitGTK(options=options, service=service)
        browser.set_script_timeout(PATIENCE)
        try:
            yield browser
        finally:
            browser.quit()


def _settle(home: Path) -> dict[str, str]:
    """Make the folder of a browser's settings; the environment that leads there."""
    (home / "downloads").mkdir(parents=True, exist_ok=True)
    (home / "gtk-3.0").mkdir()
    (home / "gtk-3.0" / "gtk.css").write_text(NO_BARS, encoding="utf-8")
    (home / "user-dirs.dirs").write_text(f'XDG_DOWNLOAD_DIR="{home / "downloads"}"\n', encoding="utf-8")
    return {"XDG_CONFIG_HOME": str(home)}
