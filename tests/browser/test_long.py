"""Sentences of thirty words and more: every name of a row and a column can be read, and the whole map can be seen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import settle, wait_translated

pytestmark = pytest.mark.browser

LONG = (
    "Der alte Mann, der seit vielen Jahren in dem kleinen Haus am Ende der Straße wohnt, erzählte den Kindern "
    "gestern Abend eine lange Geschichte über das Meer und seine Jugend."
)
COLLIDING = """() => {
    const labels = [...document.querySelectorAll('#attention-detail .plot .xtick text')].filter(n => n.textContent);
    const lines = labels.map(node => {  // a label is a strip as high as its letters, turned
        const { a, b, e, f } = node.getScreenCTM(), box = node.getBBox(), middle = box.y + box.height / 2;
        const length = Math.hypot(a, b);
        return { along: [a / length, b / length], size: parseFloat(getComputedStyle(node).fontSize),
                 at: new DOMPoint(box.x, middle).matrixTransform(node.getScreenCTM()) };
    });
    const apart = ({ at, along }, other) =>
        Math.abs((other.at.x - at.x) * along[1] - (other.at.y - at.y) * along[0]);
    return lines.slice(1).filter((line, i) => apart(line, lines[i]) < 1.1 * line.size).length;
}"""
CUT = """() => [...document.querySelectorAll('#lab .lab-ribbons')]
    .filter(n => n.scrollWidth > n.clientWidth + 1).length"""


def translate(page: Page, text: str = LONG) -> None:
    page.fill("#source-text textarea", text)
    page.keyboard.press("Enter")
    wait_translated(page, text)
    settle(page)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 800), (1440, 900), (1920, 900)])
def test_no_label_lies_on_its_neighbour_and_the_whole_map_is_seen_by_one_press(
    open_page: Callable[..., Page], width: int, height: int
) -> None:
    page = open_page("?direction=de-en", width=width, height=height)
    translate(page)
    for kind in ("decoder", "encoder", "cross"):
        page.click(f"[data-kind={kind}]")
        settle(page)
        assert page.evaluate(COLLIDING) == 0, kind
    page.get_by_role("button", name="Fit").click()
    settle(page)
    rows, columns = page.evaluate(
        "(z => [z.length, z[0].length])(document.querySelector('#attention-detail .plot').data[0].z)"
    )
    ends = page.evaluate("""(({ xaxis, yaxis }) => [xaxis.range, yaxis.range])(
        document.querySelector('#attention-detail .plot')._fullLayout)""")
    assert ends == [[-0.5, columns - 0.5], [rows - 0.5, -0.5]]
    top, bottom = page.evaluate("""(({ top, bottom }) => [top, bottom])(
        document.querySelector('#attention-detail .plot').getBoundingClientRect())""")
    bar = page.locator(".steps.steprow").bounding_box()
    assert bar is not None
    assert top >= 0 and bottom <= (bar["y"] if width <= 640 else height), "all of it is on the screen"
    assert page.evaluate(COLLIDING) == 0
    page.get_by_role("button", name="Fit").click()
    expect(page.get_by_role("button", name="Fit")).to_have_attribute("aria-pressed", "false")


def test_a_short_sentence_needs_no_fitting(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en")
    translate(page, "Ich bin hier.")
    assert page.locator(".fit-map:visible").count() == 0


@pytest.mark.parametrize("width", [390, 1440])
def test_ribbons_of_a_long_sentence_are_all_there(open_page: Callable[..., Page], width: int) -> None:
    page = open_page("?direction=de-en", width=width)
    translate(page)
    page.get_by_role("tab", name="Lab").click()
    page.wait_for_selector("#lab .ribbons")
    settle(page)
    assert page.evaluate(CUT) == 0
    assert page.locator("#lab .ribbons text").count() >= 60
