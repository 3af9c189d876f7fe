"""What axe-core finds of the Web Content Accessibility Guidelines: names, roles, contrast, order of headings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from benchmarks.shown import settle

pytestmark = pytest.mark.browser

TABS = {
    "Explorer": "#attention-detail .xtick",
    "Compare": "#compare [data-side=b] .xtick",
    "Positions": "#position-heatmap .main-svg",
    "Lab": ".lab-grid .lab-head",
    "Lesson": ".lx:not([aria-busy]) .plot .main-svg",
    "About": "#about h2",
}
"""The tabs, and what of each is there last."""


def faults(page: Page, where: str) -> list[str]:
    """Rule, place and reason of all that is against a rule, once nothing changes any more."""
    settle(page)  # nothing is pale because it is being computed, or half way from pale to clear
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    run = "async () => (await axe.run({ resultTypes: ['violations'] })).violations"
    found: list[dict[str, Any]] = page.evaluate(run)
    return [
        f"{where}: {rule['id']} at {' '.join(map(str, node['target']))}: {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1440)])
def test_nothing_is_against_a_rule(open_page: Callable[..., Page], scheme: Any, width: int) -> None:
    page = open_page(width=width, color_scheme=scheme)
    found = []
    for tab, last in TABS.items():
        page.get_by_role("tab", name=tab, exact=True).click()
        page.locator(last).locator("visible=true").first.wait_for()
        settle(page)
        for folded in page.locator("#about .label-wrap:visible").all():
            folded.click()
        found += faults(page, tab)
    assert not found, "\n".join(found)


@pytest.mark.timeout(600)  # three minutes on a slow host
def test_nothing_that_opens_is_against_a_rule(open_page: Callable[..., Page]) -> None:
    page = open_page()
    found = []
    for button in ("Encoder", "Decoder", "Arcs", "Aggregate", "Words", "Per row"):
        page.locator(".ax button", has_text=button).first.click()
        found += faults(page, button)
    for part in (".settings-toggle", ".ax .more summary", ".ax .health"):
        page.locator(part).first.click()
        found += faults(page, part)
    page.get_by_role("tab", name="Lesson", exact=True).click()
    page.wait_for_selector(TABS["Lesson"])
    for station in range(12):
        page.locator(".lx .stations a").nth(station).click()
        found += faults(page, f"station {station + 1}")
    page.get_by_role("tab", name="Lab", exact=True).click()
    page.wait_for_selector(".lab-grid .lab-head")
    views = [(question, view) for question in range(page.locator(".lab-questions button").count()) for view in range(6)]
    for question, view in views:
        page.locator(".lab-questions button").nth(question).click()
        shown = page.locator(".lab-views button:visible")
        if view >= max(shown.count(), 1):
            continue
        if shown.count():
            shown.nth(view).click()
        if page.locator(".lab-ask-view:visible").count():
            page.click(".lab-ask-view")
        found += faults(page, f"question {question + 1}, view {view + 1}")
    assert not found, "\n".join(found)
