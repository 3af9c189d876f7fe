"""The README's pictures, taken of the page itself: `python -m benchmarks.pictures` (part of `make assets`)."""

from __future__ import annotations

import argparse
import shutil
import socket
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks.page import OPTIONS
from translator.ui.models import DIRECTIONS, Models
from translator.ui.serve import Server

OUT = Path(__file__).resolve().parents[1] / "docs" / "images"
LAPTOP: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}}
DRAWN = "#attention-detail .xtick"


def explorer(page: Page) -> None:
    """The page as it opens."""
    page.wait_for_selector(DRAWN)
    page.wait_for_timeout(500)


def german(page: Page) -> None:
    """Wait until the other direction's example is drawn."""
    page.wait_for_function("window.__explorer?.trace?.source.startsWith('Ich')")
    explorer(page)


def lab(page: Page) -> None:
    """The switchboard after a run."""
    explorer(page)
    page.get_by_role("tab", name="Lab").click()
    page.locator(".lab-run").click()
    page.locator(".lab-head").first.wait_for()
    page.locator(".lab-run").wait_for()
    page.wait_for_timeout(500)


def lesson(page: Page) -> None:
    """The station on scores and weights."""
    explorer(page)
    page.get_by_role("tab", name="Lesson").click()
    page.get_by_text("From scores to weights").first.click()
    page.wait_for_selector("#lesson .main-svg, .lesson .main-svg")
    page.wait_for_timeout(1000)


SHOTS: dict[str, tuple[str, dict[str, Any], Any]] = {
    "explorer-light": ("?direction=de-en", LAPTOP, german),
    "explorer-dark": ("?direction=de-en", {**LAPTOP, "color_scheme": "dark"}, german),
    "explorer-zh": ("", {**LAPTOP, "locale": "zh-CN"}, explorer),
    "explorer-phone": ("?direction=de-en", PHONE, german),
    "lab": ("", LAPTOP, lab),
    "lesson": ("", LAPTOP, lesson),
}


def main() -> None:
    """Serve the shipped checkpoints, take every picture, and stop."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures", description=__doc__)
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    parser.add_argument("--only", nargs="+", default=list(SHOTS), choices=list(SHOTS))
    args = parser.parse_args()
    models = Models(dict(zip(DIRECTIONS, DIRECTIONS, strict=True)))
    models.warm().join()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(models, server_name="127.0.0.1", server_port=port)
    OUT.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=args.chromium, args=OPTIONS)
        for name in args.only:
            address, options, ready = SHOTS[name]
            context = browser.new_context(**options)
            page = context.new_page()
            page.set_default_timeout(120_000)
            page.goto(server.url + address)
            ready(page)
            page.screenshot(path=OUT / f"{name}.png")
            context.close()
        browser.close()
    server.close()


if __name__ == "__main__":
    main()
