"""Wide screens are used, up to 2,560 pixels, and lines of text stay short enough to be read."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from benchmarks.shown import settle

pytestmark = pytest.mark.browser

SCREENS = [(1920, 1080), (2560, 1440)]
RIGHT = "selector => Math.max(...[...document.querySelectorAll(selector)].map(n => n.getBoundingClientRect().right))"
LONGEST_LINE = """selector => Math.max(...[...document.querySelectorAll(selector)].filter(n => n.checkVisibility())
    .map(n => n.getBoundingClientRect().width / parseFloat(getComputedStyle(n).fontSize)))"""

BROKEN = """selector => [...document.querySelectorAll(selector)].filter(n => n.getClientRects().length > 1)
    .map(n => n.innerText)"""


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_maps_grow_with_the_screen(open_page: Callable[..., Page], width: int, height: int) -> None:
    page = open_page("?direction=de-en", width=width, height=height)
    settle(page)
    cells = page.evaluate("""(({ xaxis, yaxis }) => [xaxis._length, yaxis._length])(
        document.querySelector('#attention-detail .plot')._fullLayout)""")
    box = page.locator("#attention-detail").bounding_box()
    assert box is not None
    assert cells[0] > 0.6 * box["width"]
    assert cells[1] > 0.38 * height
    assert page.locator("#attention-mosaic").bounding_box()["width"] > 0.2 * width


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_positions_use_the_width(open_page: Callable[..., Page], width: int, height: int) -> None:
    page = open_page(width=width, height=height)
    page.get_by_role("tab", name="Positions").click()
    page.wait_for_selector("#position-similarity .plot .main-svg")
    settle(page)
    assert page.evaluate(RIGHT, "#positions .plot") > 0.9 * width
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    last = page.locator("#position-similarity").bounding_box()
    assert last is not None
    assert last["y"] + last["height"] <= height, "the three pictures are seen at once"


@pytest.mark.parametrize(("width", "height"), [(1440, 900), *SCREENS])
def test_about_stands_in_columns_of_a_readable_length(open_page: Callable[..., Page], width: int, height: int) -> None:
    page = open_page(width=width, height=height)
    page.get_by_role("tab", name="About").click()
    page.wait_for_selector("#about .only-en p:visible")
    settle(page)
    assert page.evaluate(RIGHT, "#about .only-en p") > 0.75 * width
    assert page.evaluate(LONGEST_LINE, "#about .only-en p") <= 45  # em: some 90 letters
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(BROKEN, "#about .only-en .prose :is(h2, p, pre)") == []


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_the_lesson_uses_the_width(open_page: Callable[..., Page], width: int, height: int) -> None:
    page = open_page("?direction=de-en", width=width, height=height)
    page.get_by_role("tab", name="Lesson").click()
    page.wait_for_selector(".lx:not([aria-busy]) .plot .main-svg")
    for station in (1, 5):  # pieces of the sentence; weights
        page.locator(".lx .stations button, .lx .stations a").nth(station - 1).click()
        page.wait_for_selector(".lx:not([aria-busy]) .plot .main-svg")
        settle(page)
        assert page.evaluate(RIGHT, ".lx .plot .main-svg") > 0.9 * width
        assert page.evaluate(LONGEST_LINE, ".lx .intro") <= 45
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
