"""Stored examples that come later than what a visitor has done meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from benchmarks.shown import settle, trace, wait_translated

pytestmark = pytest.mark.browser


def let_come(page: Page, late: list[Route]) -> None:
    """What was held, and what follows from it."""
    for route in late:
        with page.expect_response(route.request.url):
            route.continue_()
    settle(page)


def test_a_translation_stays_when_an_example_comes(open_page: Callable[..., Page]) -> None:
    page = open_page()
    late: list[Route] = []
    page.route("**/*.json", lambda route: late.append(route))
    page.click(".examples button:nth-child(2)")
    page.fill("#source-text textarea", "We are here.")
    page.keyboard.press("Enter")
    wait_translated(page, "We are here.")
    assert len(late) == 1
    let_come(page, late)
    assert trace(page)["source"] == "We are here."
    assert page.input_value("#source-text textarea") == "We are here."
    assert page.input_value("#translation textarea") == trace(page)["translation"]


def test_a_first_translation_that_is_stopped_leaves_a_word(open_page: Callable[..., Page]) -> None:
    """Where no example has come there is no translation to go back to."""
    page = open_page(routes={"**/*.json": lambda route: route.abort()}, shown=".ax :text('is not stored')")
    page.fill("#source-text textarea", "We are here. " * 20)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.wait_for_selector(".ax :text('Nothing translated yet.')")
    expect(page.locator(".notice")).to_have_text("Stopped.", use_inner_text=True)


def test_what_is_written_into_a_comparison_stays_when_its_examples_come(open_page: Callable[..., Page]) -> None:
    late: list[Route] = []
    page = open_page("?direction=de-en", routes={"**/de-en-in-*.json": lambda route: late.append(route)})
    with page.expect_request("**/de-en-in-den*.json"), page.expect_request("**/de-en-in-dem*.json"):
        page.get_by_role("tab", name="Compare").click()
    page.fill("#compare-a textarea", "We are here.")
    assert len(late) == 2
    let_come(page, late)
    page.wait_for_selector("#compare .said:visible")
    expect(page.locator("#compare-b textarea")).to_have_value("Ich laufe in dem Park.")
    assert page.input_value("#compare-a textarea") == "We are here."
    page.get_by_role("button", name="too tired / too wide").click()
    page.wait_for_function("document.querySelector('#compare-a textarea').value.includes('too tired')")
