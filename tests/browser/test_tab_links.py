"""Compare and Positions: where they open, and links that bring back what was set."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import settle

pytestmark = pytest.mark.browser
CATCH = "navigator.clipboard.writeText = async text => { window.copied = text; }"


def copied(page: Page, button: str) -> str:
    page.evaluate(CATCH)
    page.click(button)
    page.wait_for_function("window.copied")
    return page.evaluate("window.copied")


def test_too_tired_and_too_wide_open_at_it_where_the_two_differ_and_a_link_brings_it_back(
    open_page: Callable[..., Page], example: Callable, address: str
) -> None:
    page = open_page("?direction=en-zh")
    page.get_by_role("tab", name="Compare").click()
    page.get_by_role("button", name="too tired / too wide").click()
    settle(page)  # the tab has begun with the same pair, whose words and choice are there before
    now = page.locator("#compare [data-side=a] .now")
    expect(now).to_contain_text("it looks at")
    expect(page.locator("#compare [data-kind=encoder]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#compare .where")).to_contain_text("Query 8")
    tired, wide = (example(name)["maps"]["encoder"][:, :, 7] for name in ("en-zh-tired", "en-zh-wide"))
    apart = abs(tired - wide).sum(axis=-1) / 2
    chosen = [int(page.input_value(f"#compare select.{name}")) for name in ("layer", "head")]
    assert apart[tuple(chosen)] == pytest.approx(apart.max())
    page.select_option("#compare select.head", index=(chosen[1] + 1) % 8)
    link = copied(page, "#compare [data-link]")
    other = open_page(link.removeprefix(address), shown="#compare [data-side=b] .xtick")
    expect(other.locator("#compare [data-side=a] .now")).to_contain_text("it looks at")
    expect(other.locator("#compare select.head")).to_have_value(str((chosen[1] + 1) % 8))
    expect(other.locator("#compare-b textarea")).to_have_value(re.compile(r"too wide\.$"))


def test_a_link_brings_positions_back(open_page: Callable[..., Page], address: str) -> None:
    page = open_page()
    page.get_by_role("tab", name="Positions").click()
    page.wait_for_selector("#position-heatmap .main-svg")
    page.locator("#position-layout label", has_text="concatenated").click()
    page.fill("#position-curves textarea, #position-curves input", "1, 2")
    page.locator("#position-curves textarea, #position-curves input").press("Enter")
    settle(page)
    link = copied(page, "#position-link")
    assert "positions=1" in link and "layout=concatenated" in link
    other = open_page(link.removeprefix(address), shown="#position-lines .main-svg")
    expect(other.locator("#position-layout label", has_text="concatenated")).to_contain_class("selected")
    expect(other.locator("#position-lines .legendtext")).to_have_text(["dim 1", "dim 2"])


def test_a_rollout_whose_rows_are_equal_says_why(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.click("[data-view=aggregate]")
    page.select_option("#aggregate", "rollout")
    expect(page.locator(".profile")).to_contain_text("All rows are almost equal: each of the 6 layers")
