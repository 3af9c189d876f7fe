"""The lab in a real browser: run, switch a head off, translate again, ask further, in three languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tiny_checkpoint: Path) -> Iterator[str]:
    from translator.ui.models import Models
    from translator.ui.page import build, launch_settings

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
    page.locator("#lab-text").fill("Das Haus ist alt.")
    page.locator(".lab-run").click()
    page.locator(".lab-head").first.wait_for(timeout=60_000)
    page.locator(".lab-run").wait_for(timeout=60_000)
    yield page
    page.close()


def test_a_head_is_switched_off_and_the_sentence_translated_again(lab: Any) -> None:
    lab.locator(".lab-presets button").first.click()
    head = lab.locator('.lab-head[data-head="cross:1:0"]')
    assert head.get_attribute("aria-checked") == "true"
    head.click()
    assert lab.locator('.lab-head[data-head="cross:1:0"]').get_attribute("aria-checked") == "false"
    lab.locator(".lab-again").click()
    lab.locator(".after h3", has_text="1 head off").wait_for(timeout=30_000)
    assert lab.locator(".lab-ribbons svg path").count() > 0
    assert "Δ" in lab.locator(".after").inner_text()


def test_arrow_keys_walk_the_board_and_a_line_switches_a_layer(lab: Any) -> None:
    lab.locator(".lab-presets button").first.click()
    lab.locator('.lab-head[data-head="cross:0:0"]').focus()
    lab.keyboard.press("ArrowDown")
    lab.keyboard.press("Space")
    assert lab.locator(".lab-head.off").get_attribute("data-head") == "cross:1:0"
    lab.locator(".lab-line", has_text="L1").click()
    assert lab.locator(".lab-head.off").count() == 3


@pytest.mark.parametrize("view", ["lens", "faithfulness", "beams", "cell", "profile", "edit"])
def test_a_view_draws_what_was_asked(lab: Any, view: str) -> None:
    lab.locator(f'.lab-views [data-view="{view}"]').click()
    lab.locator(".lab-figures .main-svg").first.wait_for(timeout=30_000)
    assert lab.locator(".lab-view-error").is_hidden()


def test_a_target_of_ones_own_and_an_error_in_words(lab: Any) -> None:
    lab.locator('.lab-views [data-view="force"]').click()
    lab.locator(".lab-options input").fill("<b>The house</b> is old.")
    lab.locator(".lab-ask-view").click()
    lab.locator(".lab-table td").first.wait_for(timeout=30_000)
    assert lab.locator(".lab-table b").count() == 0
    lab.locator('.lab-views [data-view="cell"]').click()
    lab.locator(".lab-options input").last.fill("99")
    lab.locator(".lab-ask-view").click()
    lab.locator(".lab-view-error", has_text="key is 98").wait_for(timeout=30_000)


@pytest.mark.parametrize(
    ("language", "title"), [("zh", "注意力头开关板"), ("de", "Schalttafel der Köpfe"), ("en", "Head switchboard")]
)
def test_it_speaks_three_languages(lab: Any, language: str, title: str) -> None:
    lab.locator(f'[data-language="{language}"]').first.click()
    assert lab.locator(".lab-board h2").inner_text() == title
    assert not lab.errors
