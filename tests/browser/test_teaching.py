"""For a room full of people: numbers in the cells, a pace for the steps, and a mode to present in."""

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
WRITTEN = """() => {
    const plot = document.querySelector('#attention-detail .plot').getBoundingClientRect();
    const { xaxis, yaxis } = document.querySelector('#attention-detail .plot')._fullLayout;
    const { z } = document.querySelector('#attention-detail .plot').data[0];
    return [...document.querySelectorAll('#attention-detail .numbers text')].map(node => {
        const box = node.getBoundingClientRect(), i = Math.round(yaxis.p2l((box.top + box.bottom) / 2 - plot.top
            - yaxis._offset)), j = Math.round(xaxis.p2l((box.left + box.right) / 2 - plot.left - xaxis._offset));
        const wide = Math.abs(xaxis.l2p(1) - xaxis.l2p(0)), high = Math.abs(yaxis.l2p(1) - yaxis.l2p(0));
        return [node.textContent, z[i][j], box.width < wide && box.height < high + 6,
                parseFloat(getComputedStyle(node).fontSize)];
    });
}"""
CONTRAST = """() => {
    const light = text => {
        const [r, g, b] = text.match(/\\d+/g).map(Number).map(c => c / 255)
            .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const { colorscale } = document.querySelector('#attention-detail .plot').data[0];
    const nearest = weight => colorscale.reduce((a, b) =>
        Math.abs(b[0] - weight) < Math.abs(a[0] - weight) ? b : a)[1];
    return Math.min(...[...document.querySelectorAll('#attention-detail .numbers text')].map(node => {
        const back = light(nearest(Number(node.textContent)));
        const [a, b] = [light(getComputedStyle(node).fill), back].sort((one, other) => one - other);
        return (b + 0.05) / (a + 0.05);
    }));
}"""


def numbers(page: Page) -> None:
    page.click(".more summary")
    page.get_by_label("Numbers in the cells").check()
    page.keyboard.press("Escape")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_weights_are_written_into_the_cells_and_can_be_read_on_every_colour(
    open_page: Callable[..., Page], theme: str
) -> None:
    page = open_page("?direction=de-en", stored={"explorer-theme": theme})
    assert not page.evaluate(WRITTEN)
    numbers(page)
    page.wait_for_selector("#attention-detail .numbers text")
    for press in ("[data-kind=encoder]", "[data-scale=root]", "[data-kind=decoder]", "[data-scale=linear]"):
        page.click(press)
        settle(page)
        written = page.evaluate(WRITTEN)
        assert len(written) > 10
        for text, weight, inside, size in written:
            assert abs(float(text) - weight) <= 0.0051 and inside and size >= 9
    assert page.evaluate(CONTRAST) >= 4.2  # the colour is the nearest of 33, not its own
    page.locator("#attention-mosaic canvas").focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert all(abs(float(text) - weight) <= 0.0051 for text, weight, *_ in page.evaluate(WRITTEN))


def test_cells_that_are_too_small_have_no_numbers(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en")
    numbers(page)
    page.fill("#source-text textarea", LONG)
    page.keyboard.press("Enter")
    wait_translated(page, LONG)
    settle(page)
    assert not page.evaluate(WRITTEN)


@pytest.mark.parametrize(("pace", "least", "most"), [("0.5", 1260, 2600), ("4", 120, 600)])
def test_steps_are_played_at_the_pace_that_is_chosen(
    open_page: Callable[..., Page], pace: str, least: int, most: int
) -> None:
    page = open_page("?direction=de-en")
    page.get_by_label("Playback speed").select_option(pace)
    page.evaluate("""() => { window.times = [];
        new MutationObserver(() => window.times.push(performance.now()))
            .observe(document.querySelector('.stepout'), { childList: true, characterData: true, subtree: true }); }""")
    page.click("[data-play]")
    page.wait_for_function("window.times.length >= 4")
    between = page.evaluate("window.times.slice(1).map((time, i) => time - window.times[i]).sort((a, b) => a - b)")
    assert least <= between[len(between) // 2] <= most


def test_one_key_presents_and_escape_leaves(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en", width=1440, height=900)
    size = "selector => parseFloat(getComputedStyle(document.querySelector(selector)).fontSize)"
    read = [
        ".chip",
        ".stepout",
        "#attention-detail .ytick text",
        "#attention-detail .xtick text",
        ".saying",
        ".readout",
    ]
    before = [page.evaluate(size, each) for each in read]
    page.locator("#attention-detail").focus()
    page.keyboard.press("f")
    page.wait_for_selector(".ax.presenting")
    settle(page)
    for each, was in zip(read, before, strict=True):
        now = page.evaluate(size, each)
        assert now >= 18 and now > 1.3 * was, each
    for gone in ("#source-text", ".opts", ".export", ".side", ".settings-toggle", "#tabs [role=tab]", ".theme"):
        assert page.locator(f"{gone}:visible").count() == 0, gone
    for left in (".chips.src", ".chips.tgt", "#attention-mosaic", "#attention-detail .plot", "[data-play]"):
        expect(page.locator(left)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    bottom = page.evaluate("document.querySelector('#attention-detail .plot').getBoundingClientRect().bottom")
    assert bottom <= 900
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")  # the first lets the cell go
    expect(page.locator("#source-text")).to_be_visible()
    assert [page.evaluate(size, each) for each in read[:2]] == before[:2]
    page.get_by_role("button", name="Presentation mode").click()
    expect(page.locator("#source-text")).to_be_hidden()
    page.get_by_role("button", name="Presentation mode").click()
    expect(page.locator("#source-text")).to_be_visible()


def test_a_letter_that_is_typed_presents_nothing(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.locator("#source-text textarea").click()
    page.keyboard.type("fff")
    settle(page)
    assert page.locator(".ax.presenting").count() == 0
