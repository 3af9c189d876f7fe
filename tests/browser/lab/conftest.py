"""Pages with a lab: of a tiny checkpoint, and of a shipped one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from translator.ui.models import Models
from translator.ui.page import build, launch_settings


@pytest.fixture(scope="session")
def address(tiny_checkpoint: Path) -> Iterator[str]:
    """Where a page with a tiny checkpoint is."""
    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    page = build(models)
    _, url, _ = page.launch(prevent_thread_lock=True, quiet=True, **launch_settings(models))
    yield url
    page.close()


@pytest.fixture(scope="module")
def lab(address: str, browser: Any) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(address)
    page.get_by_role("tab", name="Lab").click()
    page.locator(".lab-head").first.wait_for(timeout=60_000)  # nobody pressed Run
    page.locator(".lab-run").wait_for(timeout=60_000)
    page.opened_with = (page.locator(".lab-head.off").count(), page.locator(".after h3").inner_text())
    page.locator("#lab-text").fill("Das Haus ist alt.")
    page.locator(".lab-run").click()
    page.locator(".lab-run").wait_for(timeout=60_000)
    yield page
    page.close()


@pytest.fixture(scope="session")
def shipped() -> Iterator[str]:
    """A page whose explorer opens with the stored example of a shipped model."""
    models = Models({"de-en": Path(__file__).parents[3] / "checkpoints" / "de-en"}, device="cpu")
    served = build(models)
    _, url, _ = served.launch(prevent_thread_lock=True, quiet=True, **launch_settings(models))
    yield url
    served.close()
