"""The first minute: from a sentence of one's own to what two heads do, with the page, a mouse and a keyboard alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.shown import settle, shown, trace, wait_shown, wait_translated

pytestmark = pytest.mark.browser
PRESSES = 8  # at most, besides the sentence's own letters


class Hand:
    """What presses and counts: the middle of what can be seen, or a key."""

    def __init__(self, page: Page) -> None:
        self.page, self.presses = page, 0

    def click(self, part: Locator) -> None:
        part.scroll_into_view_if_needed()
        settle(self.page)  # nobody presses what moves
        box = part.bounding_box()
        assert box, "what is not seen cannot be pressed"
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.presses += 1

    def key(self, name: str) -> None:
        self.page.keyboard.press(name)
        self.presses += 1


@pytest.mark.parametrize(
    ("way", "text", "pressed", "aligns", "looks_back"),
    [
        (
            "de-en",
            "Meine Tante verkauft am Samstag frisches Brot.",
            ("on", "am"),
            "Having written bread, this head looked at Brot",
            "Reading am, this head looked at verkauft",
        ),
        (
            "en-zh",
            "My aunt sells fresh bread on Saturday.",
            ("面包", "bread"),
            "Having written 新鲜, this head looked at fresh",
            "Reading bread, this head looked at fresh",
        ),
    ],
)
def test_from_an_own_sentence_to_a_head_that_aligns_and_one_that_looks_back(
    open_page: Callable[..., Page], way: str, text: str, pressed: tuple[str, str], aligns: str, looks_back: str
) -> None:
    page = open_page(f"?direction={way}")
    hand, told, role = Hand(page), page.locator(".saying"), page.locator(".profile")
    hand.click(page.locator("#source-text textarea"))
    hand.key("ControlOrMeta+a")
    page.keyboard.type(text)
    hand.key("Enter")
    wait_translated(page, text)

    hand.click(page.locator(".roles button", has_text="Aligns"))
    expect(role).to_contain_text("Aligns")
    hand.click(page.locator(".chips.tgt .chip", has_text=pressed[0]).first)
    expect(told).to_have_text(aligns)
    check_what_is_said(page, "cross", "step", aligns)

    hand.click(page.locator("[data-kind=encoder]"))
    wait_shown(page, kind="encoder")
    hand.click(page.locator(".roles button", has_text="Previous"))
    expect(role).to_contain_text("Looks one token back")
    hand.click(page.locator(".chips.src .chip", has_text=pressed[1]).first)
    expect(told).to_have_text(looks_back)
    check_what_is_said(page, "encoder", "query", looks_back)
    assert hand.presses <= PRESSES


def check_what_is_said(page: Page, kind: str, row: str, said: str) -> None:
    """The token that was looked at is the heaviest of the row in the weights themselves."""
    seen, found = shown(page), trace(page)
    weights = np.array(found[kind])[seen["layer"], seen["head"], seen[row]]
    assert said.endswith(f" {found['src'][weights.argmax()]['text']}")
