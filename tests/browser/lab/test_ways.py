"""The ways into the lab and out of it: from a cell, a candidate, a link, Compare; by keys; in three languages."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from benchmarks.shown import settle
from tests.browser.lab.page import show

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_a_cell_is_asked_why_here(shipped: str, browser: Any, way: str) -> None:
    """Click, tap or Enter chooses a cell of the first column; the lab works that cell and no other."""
    phone = way == "touch"
    size = {"width": 390, "height": 844} if phone else {"width": 1440, "height": 900}
    context = browser.new_context(viewport=size, has_touch=phone, is_mobile=phone)
    page = context.new_page()
    page.goto(shipped)
    button, area = page.locator(".ax .why-cell"), page.locator("#attention-detail .nsewdrag").first
    button.wait_for(timeout=60_000)
    area.wait_for(state="attached", timeout=60_000)
    area.scroll_into_view_if_needed()
    settle(page)
    box = area.bounding_box()
    corner = box["x"] + 4, box["y"] + 0.6 * min(box["height"], 300)
    if way == "mouse":
        page.mouse.click(*corner)
        page.mouse.move(0, 0)
    elif phone:
        page.touchscreen.tap(*corner)
    else:
        page.locator("#attention-detail").focus()
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
    first = page.locator(".ax .chips.src .chip").first.inner_text()
    page.locator(f'.ax .why-cell[aria-label$="→ {first}"]').wait_for()
    if way == "keyboard":
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.classList.contains('why-cell')"):
                break
        page.keyboard.press("Enter")
    else:
        button.click()
    lines = page.locator('.lab-view[data-view="why"] .lab-lines p')
    lines.first.wait_for(timeout=60_000)
    expect(lines.first).to_contain_text(f"reads {first} with score", use_inner_text=True)
    expect(page.locator(".lab-options [aria-label='Key column']")).to_have_value("1")
    expect(page.locator(".lab-options [aria-label='Query row']")).not_to_have_value("1")
    context.close()


def test_a_candidate_and_a_link_lead_to_the_lab(shipped: str, browser: Any) -> None:
    """The lab answers about the translation that the explorer shows."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(shipped)
    page.locator(".ax .cand .ask").nth(1).wait_for(timeout=60_000)
    text = page.locator("#source-text textarea").input_value()
    others = page.locator(".ax .cand li:not(.pickd):not(.rest)")
    other = others.nth(1).locator(".t").inner_text()  # the likeliest would be taken without being named
    others.nth(1).locator(".ask").click()
    page.locator('.lab-view[data-view="contrast"] .lab-lines p').first.wait_for(timeout=60_000)
    expect(page.locator(".lab-options [aria-label='Against']")).to_have_value(other)
    expect(page.locator("#lab-text")).to_have_value(text)
    page.get_by_role("tab", name="Explorer").click()
    page.locator(".ax .links .ask").first.focus()
    page.keyboard.press("Enter")
    page.locator('.lab-view[data-view="why"] .lab-lines p').first.wait_for(timeout=60_000)
    expect(page.locator(".lab-view-error")).to_be_hidden()
    page.close()


def test_compare_leads_to_the_patching_board(address: str, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.get_by_role("tab", name="Compare").click()
    page.locator(".cx .carries").click(timeout=60_000)
    first, second = (
        page.locator(f"#compare-{side} textarea, #compare-{side} input").first.input_value() for side in "ab"
    )
    page.locator('.lab-view[data-view="patch"]').wait_for()
    expect(page.locator("#lab-text")).to_have_value(first)
    expect(page.locator(".lab-options [aria-label='Second sentence']")).to_have_value(second)
    page.locator('.lab-view[aria-busy="false"]').wait_for(timeout=60_000)
    page.close()


def test_arrow_keys_walk_the_questions(lab: Any) -> None:
    show(lab, "contrast")
    lab.locator('[data-question="word"]').focus()
    lab.keyboard.press("ArrowRight")
    expect(lab.locator('[data-question="carries"]')).to_be_focused()
    expect(lab.locator('.lab-views [data-view="patch"]')).to_have_attribute("aria-selected", "true")
    expect(lab.locator(".lab-top")).to_be_hidden()


@pytest.mark.parametrize(
    ("language", "title"), [("zh", "注意力头开关板"), ("de", "Schalttafel der Köpfe"), ("en", "Head switchboard")]
)
def test_it_speaks_three_languages(lab: Any, language: str, title: str) -> None:
    show(lab, "profile")
    lab.locator(f'[data-language="{language}"]').first.click()
    expect(lab.locator(".lab-board h2")).to_have_text(title, use_inner_text=True)
    assert not lab.errors
