"""The first press, a second one, Back and Forward, a second tab, and a page that its server has forgotten."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from benchmarks.shown import pick, settle, shown, wait_shown, wait_translated

pytestmark = pytest.mark.browser

MINE = "Der Hund schläft im Garten."


def press(page: Page, text: str) -> None:
    page.fill("#source-text textarea", text)
    page.click("#translate")
    wait_translated(page, text)


def test_the_first_press_counts_even_while_the_page_opens(open_page: Callable[..., Page]) -> None:
    held: list[Route] = []
    page = open_page(
        "?direction=de-en",
        shown="#source-text textarea",
        routes={"**/examples/*.json*": lambda route: held.append(route)},
    )
    press(page, MINE)
    assert held, "no example was on its way"
    for route in held:
        with page.expect_response(route.request.url):
            route.continue_()
    settle(page)
    assert page.input_value("#source-text textarea") == MINE
    assert shown(page)["source"] == MINE


def test_an_opened_page_is_not_dimmed(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en")
    page.wait_for_function("document.querySelector('#direction [value=de-en]').checked")
    settle(page)
    assert not page.evaluate("document.body.matches('.other-pair, .other-text')")


@pytest.mark.parametrize("way", ["back", "reload"])
def test_who_comes_back_finds_the_own_sentence_and_head(open_page: Callable[..., Page], address: str, way: str) -> None:
    page = open_page("?direction=de-en")
    press(page, MINE)
    pick(page, layer=4, head=2)
    page.locator("#step-slider").fill("2")
    wait_shown(page, step=1)
    page.wait_for_function("history.state.explorer.includes('s=2')")
    if way == "reload":
        page.reload()
    else:
        page.goto(address + "?direction=en-zh")
        page.wait_for_selector("#attention-detail .xtick")
        page.go_back()
    wait_translated(page, MINE)
    expect(page.locator("#source-text textarea")).to_have_value(MINE)
    wait_shown(page, layer=4, head=2, step=1)
    if way == "back":
        page.go_forward()
        wait_shown(page, direction="en-zh")


def test_a_text_in_the_address_is_translated(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en&text=Ich+lerne+Deutsch.")
    wait_translated(page, "Ich lerne Deutsch.")
    expect(page.locator("#source-text textarea")).to_have_value("Ich lerne Deutsch.")


def test_two_tabs_keep_to_themselves(open_page: Callable[..., Page], address: str) -> None:
    page = open_page("?direction=de-en")
    other = page.context.new_page()
    other.goto(address + "?direction=en-zh")
    other.wait_for_selector("#attention-detail .xtick")
    for each, text in ((page, MINE), (other, "We are here.")):
        each.fill("#source-text textarea", text)
    for each in (page, other):
        each.click("#translate")
    wait_translated(page, MINE)
    wait_translated(other, "We are here.")
    assert shown(page)["source"] == MINE, "the other tab's answer has not come here"
    other.close()


def test_a_page_that_its_server_has_forgotten_goes_on(open_page: Callable[..., Page]) -> None:
    """As after an hour: the session and the stored translation are gone, the page is as it was."""
    page = open_page("?direction=de-en")
    press(page, MINE)
    page.evaluate("""() => {  // what the server knew the page and its translation by
        const forget = body => body.replace(/("session_hash":")[^"]*/g, '$1forgotten0')
            .replace(/("id":")[^"]*/g, '$1forgotten0');
        const fetched = window.fetch;
        window.fetch = (url, options = {}) => fetched(url, typeof options.body === 'string'
            ? { ...options, body: forget(options.body) } : options);
    }""")
    with page.expect_download() as download:
        page.click("[data-export=npz]")
    assert download.value.path().stat().st_size > 1000
    expect(page.locator(".export .said")).to_have_text("Saved")


def test_what_was_typed_is_there_after_a_reload_by_a_script(open_page: Callable[..., Page]) -> None:
    """As Gradio does once a server that was restarted answers again."""
    page = open_page("?direction=de-en")
    press(page, MINE)
    page.fill("#source-text textarea", "Wir sind da.")
    page.wait_for_function("history.state.typed === 'Wir sind da.'")
    with page.expect_navigation():
        page.evaluate("setTimeout(() => location.reload(), 0)")
    wait_translated(page, MINE)
    expect(page.locator("#source-text textarea")).to_have_value("Wir sind da.")
    page.click("#translate")
    wait_translated(page, "Wir sind da.")


def test_a_page_left_open_for_an_hour_translates(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en", locale="en-GB")  # a visitor of its own: all his pages have the clock
    page.clock.install()
    press(page, MINE)
    page.clock.fast_forward("01:00:00")
    settle(page)
    assert shown(page)["source"] == MINE
    expect(page.locator(".notice.error")).to_have_count(0)
    press(page, "Wir sind da.")
    assert shown(page)["source"] == "Wir sind da."
    expect(page.locator(".notice.error")).to_have_count(0)
    expect(page.locator("#stop")).to_be_hidden()
