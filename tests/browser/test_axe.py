"""What axe-core finds of the Web Content Accessibility Guidelines: names, roles, contrast, order of headings."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

pytestmark = pytest.mark.browser

BASE = Path(__file__).parents[2] / "assets" / "js" / "base.js"
TABS = ("Explorer", "Compare", "Positions", "Lab", "Lesson", "About")


STILL = """() => !document.querySelector('[aria-busy=true]')
    && !document.getAnimations().some(each => each.effect.getComputedTiming().endTime < Infinity)"""
"""Nothing is pale because it is being computed, or half way from pale to clear."""


def faults(page: Page, where: str) -> list[str]:
    """Rule, place and reason of all that is against a rule, once nothing changes any more."""
    page.wait_for_function(STILL)
    found: list[dict[str, Any]] = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
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
    for tab in TABS:
        page.get_by_role("tab", name=tab, exact=True).click()
        page.wait_for_timeout(1000)
        for folded in page.locator("#about .label-wrap:visible").all():
            folded.click()
        found += faults(page, tab)
    assert not found, "\n".join(found)


@pytest.mark.timeout(300)
def test_nothing_that_opens_is_against_a_rule(open_page: Callable[..., Page]) -> None:
    page = open_page()
    found = []
    for button in ("Encoder", "Decoder", "Arcs", "Aggregate", "Words", "Per row"):
        page.locator(".ax button", has_text=button).first.click()
        page.wait_for_timeout(200)
        found += faults(page, button)
    for part in (".settings-toggle", ".ax .more summary", ".ax .health"):
        page.locator(part).first.click()
        page.wait_for_timeout(200)
        found += faults(page, part)
    page.get_by_role("tab", name="Lesson", exact=True).click()
    for station in range(12):
        page.locator(".lx .stations a").nth(station).click()
        page.wait_for_timeout(300)
        found += faults(page, f"station {station + 1}")
    page.get_by_role("tab", name="Lab", exact=True).click()
    page.wait_for_selector(".lab-grid .lab-head")
    for view in range(11):
        page.locator(".lab-views button").nth(view).click()
        if page.locator(".lab-ask-view:visible").count():
            page.click(".lab-ask-view")
        page.wait_for_timeout(800)
        found += faults(page, f"view {view + 1}")
    assert not found, "\n".join(found)


def test_ink_is_readable_on_every_colour(open_page: Callable[..., Page]) -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1, which of all pairs of inks black and white alone reach on any colour."""
    ours = re.findall(
        r"^const (?:luminance|inkOn) = .*?;$(?=\nconst)", BASE.read_text(encoding="utf-8"), re.DOTALL | re.M
    )
    assert len(ours) == 2
    least = open_page().evaluate(
        "() => {"
        + "\n".join(ours)
        + """
        const of = text => luminance([1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16)));
        const ratio = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        let least = 21;
        for (let r = 0; r < 256; r += 5) for (let g = 0; g < 256; g += 5) for (let b = 0; b < 256; b += 5)
            least = Math.min(least, ratio(luminance([r, g, b]), of(inkOn([r, g, b]))));
        return least;
    }"""
    )
    assert least >= 4.5
