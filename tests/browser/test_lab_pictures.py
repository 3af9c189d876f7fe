"""Pictures of the lab's causes: every column named, captions and legends on the screen, at a desk and on a phone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import settle

pytestmark = pytest.mark.browser

TEXT = "The boy put the bottle on the table because he was thirsty."
FIRST = ".lab-figures figure:first-child"


def asked(view: str, **options: Any) -> str:
    """A link to a question."""
    return "#" + urlencode({"lab": view, "d": "en-zh", "t": TEXT, "o": json.dumps(options)})


def test_every_writer_of_a_map_of_shares_is_named(open_page: Callable[..., Page]) -> None:
    page = open_page(asked("contrast", step=2), shown=f"{FIRST} .xtick")
    names = page.locator(f"{FIRST} .xtick text")
    names.last.wait_for()
    settle(page)
    shown = names.evaluate_all("all => all.filter(each => each.checkVisibility()).map(each => each.textContent)")
    columns = page.locator(f"{FIRST} .plot").evaluate("({ data }) => data[0].customdata[0].length")
    assert len(shown) == len(set(shown)) == columns
    assert shown[0] == "self H1" and shown[-1] == "feed-forward"
    right = page.locator(f"{FIRST} .main-svg").first.bounding_box()
    last = names.last.bounding_box()
    assert right and last and last["x"] + last["width"] <= right["x"] + right["width"]


def test_on_a_phone_a_caption_stands_on_the_screen_and_a_legend_above_its_bars(
    open_page: Callable[..., Page],
) -> None:
    phone = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
    page = open_page(asked("contrast", step=2), shown=f"{FIRST} .xtick", **phone)
    bars = page.locator(".lab-figures figure").nth(1)
    bars.locator(".legend").wait_for()
    settle(page)
    for caption in page.locator(".lab-figures figcaption").all():
        assert caption.evaluate("({ scrollWidth }) => scrollWidth") <= 390 - 2 * 16
    figure = page.locator(FIRST)
    assert figure.evaluate("({ scrollWidth, clientWidth }) => scrollWidth > clientWidth")  # the map by itself
    figure.evaluate("figure => { figure.scrollLeft = figure.scrollWidth }")
    caption = figure.locator("figcaption").bounding_box()
    assert caption and caption["x"] >= 0
    legend, plot = bars.locator(".legend").bounding_box(), bars.locator(".nsewdrag").bounding_box()
    assert legend and plot and legend["y"] + legend["height"] <= plot["y"] + 1


def test_noise_is_asked_for_without_a_second_sentence(open_page: Callable[..., Page]) -> None:
    page = open_page(asked("patch"), shown=".lab-options [aria-label='Or noise on']")
    page.locator(".lab-options [aria-label='Or noise on']").fill("bottle")
    page.locator(".lab-ask-view").click()
    page.locator(".lab-lines", has_text="With noise:").wait_for()
    page.locator(f"{FIRST} .xtick text", has_text="noise: ").first.wait_for()
    step = page.locator(".lab-options [aria-label='Step']")
    expect(step).to_have_value(re.compile(r"^[1-9]\d*$"))
    page.locator(".lab-options [aria-label='Second sentence']").fill(TEXT.replace("bottle", "cup"))
    page.locator(".lab-ask-view").click()
    refusal = page.locator(".lab-view-error")
    refusal.wait_for()
    expect(refusal).to_contain_text("both a second sentence and noise on 'bottle'", use_inner_text=True)
