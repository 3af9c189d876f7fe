"""A setting says when it applies, and no label shows a setting that did not make the picture."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import wait_shown, wait_translated

pytestmark = pytest.mark.browser

TOGGLE, FOOTER = "#explorer .settings-toggle", ".export .model"


def translate(page: Page, text: str) -> None:
    page.fill("#source-text textarea", text)
    page.click("#translate")
    wait_translated(page, text)


def test_a_changed_setting_waits_for_the_press_and_says_so(open_page: Callable[..., Page]) -> None:
    page = open_page()
    made = page.inner_text(FOOTER)
    page.click(TOGGLE)
    expect(page.locator(".settings-when")).to_contain_text("take effect at the next press of Translate")
    page.locator("#method label", has_text="sample").click()
    expect(page.locator(".settings-when")).to_contain_text("Changed")
    expect(page.locator(".settings-when")).to_contain_text("beam 4")
    expect(page.locator(TOGGLE)).to_contain_text("changed, not used yet")
    expect(page.locator(TOGGLE)).not_to_contain_text("sampled")
    assert page.inner_text(FOOTER) == made
    page.locator("#method label", has_text="automatic").click()
    expect(page.locator(TOGGLE)).not_to_contain_text("not used yet")
    page.locator("#method label", has_text="sample").click()
    translate(page, "We are here.")
    expect(page.locator(TOGGLE)).to_contain_text("sampled, seed 0")
    expect(page.locator(TOGGLE)).not_to_contain_text("not used yet")
    expect(page.locator(FOOTER)).to_contain_text("sampled, seed 0")
    page.locator(".examples button").first.click()
    expect(page.locator(TOGGLE)).to_contain_text("beam 4")
    expect(page.locator(TOGGLE)).to_contain_text("changed, not used yet")


def test_while_tokens_come_no_label_tells_how_the_former_ones_were_made(
    open_page: Callable[..., Page], held: object
) -> None:
    page = open_page()
    page.fill("#source-text textarea", "Good morning. We are here.")
    page.click("#translate")
    wait_shown(page, live=True)
    expect(page.locator(FOOTER)).to_be_empty()
    expect(page.locator(TOGGLE)).not_to_contain_text("beam")
    page.evaluate("document.querySelector('#stop').click()")  # a mouse that fast would mean a double click
    expect(page.locator(TOGGLE)).to_contain_text("beam 4")
    expect(page.locator(FOOTER)).to_contain_text("beam 4")


def test_the_other_tabs_say_it_too(open_page: Callable[..., Page]) -> None:
    page = open_page()
    for tab, said in (("Compare", "at the next press of Compare"), ("Positions", "takes effect at once")):
        page.get_by_role("tab", name=tab).click()
        expect(page.locator(".prose.settings-note:visible")).to_contain_text(said)
