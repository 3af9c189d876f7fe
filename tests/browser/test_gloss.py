"""A Chinese translation word by word, for who does not read it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import settle

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [390, 1440])
def test_each_word_stands_with_its_pinyin_and_where_it_comes_from(open_page: Callable[..., Page], width: int) -> None:
    page = open_page("?direction=en-zh", width=width)
    toggle = page.get_by_role("button", name="Word by word")
    expect(page.locator("#gloss")).to_be_hidden()
    toggle.click()
    expect(toggle).to_have_attribute("aria-expanded", "true")
    word = page.locator("#gloss li", has_text="医院")
    expect(word.locator(".pinyin")).to_have_text("yīyuàn")
    expect(word).to_contain_text("hospital")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.reload()
    expect(page.locator("#gloss li", has_text="医院")).to_be_visible()  # it is remembered
    toggle.click()
    expect(page.locator("#gloss")).to_be_hidden()


def test_it_is_offered_for_chinese_alone(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en")
    expect(page.locator(".chips.tgt .chip").first).to_be_visible()
    expect(page.locator(".gloss-toggle")).to_be_hidden()


def test_ones_own_sentence_has_it_too(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=en-zh")
    page.get_by_role("button", name="Word by word").click()
    page.fill("#source-text textarea", "We drink tea.")
    page.click("#translate")
    expect(page.locator("#gloss li", has_text="茶").first.locator(".pinyin")).to_contain_text("chá")
    expect(page.locator("#gloss")).to_contain_text("tea")


def test_its_lines_do_not_lie_on_each_other_in_a_room_full_of_people(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=en-zh")
    page.get_by_role("button", name="Word by word").click()
    expect(page.locator("#gloss li").first).to_be_visible()
    page.locator(".chips.tgt .chip").first.focus()
    page.keyboard.press("f")
    page.wait_for_selector(".ax.presenting")
    settle(page)
    assert page.evaluate("""[...document.querySelectorAll('#gloss li > *')].every(n =>
        parseFloat(getComputedStyle(n).lineHeight) >= 1.2 * parseFloat(getComputedStyle(n).fontSize))""")
    assert page.evaluate("(n => n.scrollHeight <= n.clientHeight + 1)(document.querySelector('#gloss'))")
