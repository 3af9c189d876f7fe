"""WebKit, the engine of Safari, as Debian has it: WebKitGTK by its driver, for tests and measurements."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

DRIVER, SCREEN = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
"""Where they are; None if they are not installed."""
PATIENCE = 240
"""Seconds that a script may take."""


@contextmanager
def webkit() -> Iterator[Any]:
    """A browser of selenium, on a screen that is only in memory.

    Raises:
        RuntimeError: the driver or Xvfb is not installed.
    """
    if DRIVER is None or SCREEN is None:
        raise RuntimeError(
            "WebKitGTK's driver or Xvfb is missing; `python tests/browser/install.py webkit` installs both"
        )
    from selenium import webdriver

    read, write = os.pipe()
    with subprocess.Popen(
        [SCREEN, "-displayfd", str(write), "-screen", "0", "1600x1100x24"], pass_fds=[write]
    ) as screen:
        os.close(write)
        with open(read, encoding="ascii") as number:
            display = f":{number.readline().strip()}"
        own = {
            "DISPLAY": display,
            "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }
        service = webdriver.webkitgtk.service.Service(DRIVER, env={**os.environ, **own})
        browser = webdriver.WebKitGTK(options=webdriver.webkitgtk.options.Options(), service=service)
        browser.set_script_timeout(PATIENCE)
        try:
            yield browser
        finally:
            browser.quit()
            screen.terminate()
