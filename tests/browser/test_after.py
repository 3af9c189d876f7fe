"""What comes once a translation is shown: marks of what was left out, and ALTI+ as an aggregate."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

import translator
from benchmarks.shown import pick, trace, wait_shown, wait_translated
from translator.analysis.alti import alti

pytestmark = pytest.mark.browser
TEXT = "Guten Morgen."
LINK = "#d=de-en&t=Guten+Morgen.&m=greedy"
WORD = {"s": "Morgen", "score": 0.8, "ids": [1]}
RATES = {"src": {"found": 0.766, "wrong": 0.0253}, "tgt": {"found": 0.744, "wrong": 0.0182}}


def marking(answer: dict) -> Callable[[Route], None]:
    """Answers for the server what may be left out, and lets it answer all else."""

    def handle(route: Route) -> None:
        if '"left_out"' not in (route.request.post_data or ""):
            return route.fallback()
        return route.fulfill(content_type="application/json", body=json.dumps(answer))

    return handle


def test_a_word_left_out_is_marked_and_asked_about(open_page: Callable[..., Page]) -> None:
    answer = {"src": [WORD], "tgt": [], "rates": RATES}
    page = open_page(LINK, routes={"**/component_server/**": marking(answer)})
    chip = page.locator(".chips.src .chip.doubted")
    chip.wait_for()
    assert chip.get_attribute("data-i") == "1" and "left out?" in chip.inner_text()
    assert page.locator(".chips.tgt .doubted").count() == 0
    entry = page.locator("#input-health li", has=page.locator(".doubts"))
    assert "Morgen" in entry.inner_text() and "77 of 100" in entry.inner_text() and "2.5 of 100" in entry.inner_text()
    entry.locator(".doubts").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".lab-views [data-view=omissions][aria-selected=true]")
    expect(page.locator("#lab-text")).to_have_value(TEXT)


def test_what_is_typed_next_is_not_said_to_be_left_out(open_page: Callable[..., Page]) -> None:
    answer = {"src": [WORD], "tgt": [], "rates": None}
    page = open_page(LINK, routes={"**/component_server/**": marking(answer)})
    page.wait_for_selector(".doubts")
    assert "not measured" in page.inner_text("#input-health")
    page.locator("#source-text textarea").press_sequentially(" Und")
    page.wait_for_selector("#input-health .doubts", state="detached")


def test_where_a_word_went_is_asked_by_keys(open_page: Callable[..., Page]) -> None:
    page = open_page(LINK)
    expect(page.locator(".went")).to_be_hidden()
    page.locator(".chips.src .chip").nth(1).press("Enter")
    where = page.locator(".went")
    where.wait_for()
    assert "Guten" in (where.get_attribute("aria-label") or "")
    where.press("Enter")
    page.wait_for_selector(".lab-views [data-view=align][aria-selected=true]")


DRAWS = """([rows, columns]) => (({ z }) => z.length === rows && z[0].length === columns)(
    document.querySelector('#attention-detail .plot').data[0])"""


def test_alti_is_asked_when_chosen_and_equals_the_function(open_page: Callable[..., Page]) -> None:
    page = open_page(LINK + "&v=aggregate&a=layer-mean")
    wait_translated(page, "Guten Morgen.", aggregate="layer-mean")
    page.select_option("#aggregate", "alti")
    wait_shown(page, aggregate="alti")
    page.wait_for_function("document.querySelector('.scale-name').innerText.includes('contribution')")
    sha = trace(page)["checkpoint"]["sha256"]
    model = translator.load("de-en", device="cpu")
    if model.bundle.info.sha256 != sha:
        pytest.skip("the page has another model")
    found = alti(model, model.translate(TEXT, method="greedy"))
    want = {"cross": found.total.source, "decoder": found.total.target, "encoder": found.memory}
    for kind, values in want.items():
        pick(page, kind=kind)
        page.wait_for_function(DRAWS, arg=[*values.shape])
        drawn = page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")
        np.testing.assert_allclose([[cell or 0 for cell in row] for row in drawn], values, atol=1e-4)


def test_a_link_to_alti_opens_it(open_page: Callable[..., Page]) -> None:
    page = open_page(LINK + "&v=aggregate&a=alti")
    wait_shown(page, aggregate="alti")
    page.wait_for_function("document.querySelector('.scale-name').innerText.includes('contribution')")
