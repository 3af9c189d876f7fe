"""The first tour: offered once, six stops on one's own sentence, by keyboard too."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import wait_shown

pytestmark = pytest.mark.browser


def test_it_is_offered_once_and_goes_by_keyboard_through_six_stops(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=en-zh")
    expect(page.locator(".tour")).to_be_hidden()  # nothing covers the page
    page.click(".tour-invite [data-tour]")
    card = page.get_by_role("dialog", name="Tour")
    expect(card).to_contain_text("1 / 6")
    for stop in range(2, 7):
        page.keyboard.press("ArrowRight")
        expect(card).to_contain_text(f"{stop} / 6")
        if stop == 3:
            wait_shown(page, kind="cross")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(page.locator(".export [data-tour]")).to_be_focused()
    page.reload()
    page.wait_for_selector("#attention-detail .xtick")
    expect(page.locator(".tour-invite")).to_be_hidden()


def test_a_phone_can_begin_and_skip_it(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en", width=390, height=844)
    page.click(".export [data-tour]")
    expect(page.get_by_role("dialog", name="Tour")).to_contain_text("Your sentence")
    page.get_by_role("button", name="Skip the tour").click()
    expect(page.get_by_role("dialog", name="Tour")).to_be_hidden()
