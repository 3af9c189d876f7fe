"""What the page says of a text before and after it is translated, of a model that is not there yet, and at first."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from benchmarks.shown import settle, wait_translated

pytestmark = pytest.mark.browser
STRIP = "document.querySelector('#input-health').innerText.replace(/\\s+/g, ' ').trim()"


def test_the_split_is_shown_before_anything_is_translated(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.fill("#source-text textarea", "One  unbelievably “long” story.")
    page.wait_for_function(f"{STRIP}.includes('not translated yet')")
    strip = page.evaluate(STRIP)
    words, tokens, limit = (int(number) for number in re.findall(r"\d+", strip)[:3])
    assert 0 < words <= tokens < limit and "normalised" in strip
    page.click(".counts")
    pieces = page.locator("#split .piece").all_text_contents()
    groups = page.locator("#split .word").all_text_contents()
    assert sum(any(map(str.isalnum, group)) for group in groups) == words == 4, "punctuation is no word"
    assert len(pieces) == tokens - 1, "every token but the end of the sentence"
    assert '"long"' in page.inner_text("#split"), "the normalised text"


def test_after_translating_the_strip_tells_where_attention_fell(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.click(".counts")
    said = page.inner_text("#split")
    assert "padding" in said and said.count("%") == 3
    assert page.locator("#split .piece").count() == page.locator(".chips.src .chip:not(.sp)").count()


def test_a_text_near_and_over_the_limit_is_said(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.fill("#source-text textarea", "go " * 122)
    page.wait_for_function(f"{STRIP}.includes('near the limit')")
    page.fill("#source-text textarea", "go " * 200)
    page.wait_for_function(f"{STRIP}.includes('at most 128 are allowed')")


def test_thousands_in_german_are_no_decimals(open_page: Callable[..., Page]) -> None:
    page = open_page(locale="de-DE")
    page.fill("#source-text textarea", "ab" * 600)
    page.wait_for_function(f"{STRIP}.includes('1 200 Zeichen; erlaubt sind höchstens 1 000')")


def test_a_text_that_is_too_long_is_said_once(open_page: Callable[..., Page]) -> None:
    page = open_page(width=390, height=844)
    for times in (200, 400):  # over the limit of tokens, and of characters
        page.fill("#source-text textarea", "go " * times)
        page.click("#translate")
        page.wait_for_function("document.querySelector('#input-health .bad')")
        page.wait_for_function("document.querySelector('.notice.error')?.textContent")
        said = page.inner_text("#input-health .bad b:not(.alarm)")
        page.wait_for_function("document.querySelector('.notice').classList.contains('vh')")
        expect(page.get_by_role("status").filter(has_text=said)).to_have_count(1)  # a screen reader hears it
        box = page.locator("#input-health .bad b:not(.alarm)").bounding_box()
        assert box is not None and box["x"] + box["width"] <= 390
        page.fill("#source-text textarea", "go")
        page.wait_for_function("document.querySelector('.notice').hidden")
        expect(page.locator("#input-health .bad")).to_have_count(0)


def test_the_address_decides_what_is_painted_first(open_page: Callable[..., Page], example: Callable) -> None:
    page = open_page(
        "?direction=de-en",
        init="""new MutationObserver(() => {
        const text = document.querySelector('.chips.src .chip')?.textContent;
        if (text) (window.first ??= []).push(text);
    }).observe(document, { childList: true, subtree: true })""",
    )
    assert set(page.evaluate("window.first")) == {example("de-en-who")["src"][0]["s"]}
    assert page.evaluate("document.querySelector('#direction input:checked').value") == "de-en"


def test_a_model_that_loads_is_said_and_what_is_shown_stays(open_page: Callable[..., Page]) -> None:
    state = {"state": "loading"}

    def answer(route: Route) -> None:
        if json.loads(route.request.post_data or "{}").get("fn_name") != "ready":
            return route.fallback()
        return route.fulfill(json=state)

    page = open_page(routes={"**/component_server/*": answer})
    page.wait_for_function("document.querySelector('.notice').textContent.includes('is loading')")
    assert page.locator(".chips.src .chip").count() > 3
    page.wait_for_function("document.documentElement.scrollHeight <= 900")  # the maps give way in the next frame
    state["state"] = "ready"
    page.wait_for_function("document.querySelector('.notice').hidden")


def test_a_model_that_will_not_come_is_said(open_page: Callable[..., Page]) -> None:
    def answer(route: Route) -> None:
        if json.loads(route.request.post_data or "{}").get("fn_name") != "ready":
            return route.fallback()
        return route.fulfill(json={"state": "en-zh is not available here: no such folder"})

    page = open_page(routes={"**/component_server/*": answer})
    page.wait_for_selector(".notice.error:visible")
    expect(page.locator(".notice")).to_contain_text("not available", use_inner_text=True)


def test_the_health_strip_counts_while_one_types(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.locator("#source-text textarea").fill("")
    page.locator("#source-text textarea").press_sequentially("One two three.")
    page.wait_for_function("/^3\\s*words/.test(document.querySelector('#input-health').innerText.trim())")


def test_no_counts_of_the_former_sentence_stand_beside_another(
    open_page: Callable[..., Page], held: threading.Event
) -> None:
    """As while a model loads: the text is not counted yet, or its first tokens come."""
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        if '"inspect"' in (route.request.post_data or ""):
            waiting.append(route)
        else:
            route.continue_()

    page = open_page(routes={"**/component_server/**": hold})
    assert "words" in page.evaluate(STRIP)
    page.fill("#source-text textarea", "We are here.")
    page.keyboard.press("Enter")
    page.wait_for_selector("#input-health :text('not counted yet')")
    page.wait_for_selector(".chips.tgt .chip:nth-child(2)")
    assert page.evaluate(STRIP) == "not counted yet"
    waiting[0].continue_()
    page.wait_for_selector("#input-health .counts:has-text('3 words')")
    assert "not translated yet" in page.evaluate(STRIP)
    held.set()
    wait_translated(page, "We are here.")
    assert re.search(r"^3\s*words.*of cross-attention", page.evaluate(STRIP), re.DOTALL)


def test_an_inspection_that_comes_after_the_translation_is_not_shown(open_page: Callable[..., Page]) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if '"inspect"' in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page = open_page(routes={"**/component_server/**": hold})
    with page.expect_request(lambda request: '"inspect"' in (request.post_data or "")):
        page.fill("#source-text textarea", "We are here.")
    page.click("#translate")
    wait_translated(page, "We are here.")
    assert len(held) == 1
    with page.expect_response("**/component_server/**"):
        held[0].continue_()
    settle(page)
    strip = page.evaluate(STRIP)
    assert "cross-attention goes to special tokens" in strip and "not translated yet" not in strip
