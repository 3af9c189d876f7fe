"""What a visitor of the live page sees before, beside and around a translation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, expect

import translator
from benchmarks.shown import settle
from tests.browser.file_host import host as hosted
from tests.browser.live.page import TYPED, check, opened, painted, type_and_translate, until
from tests.browser.webkit.opened import WEBKIT
from translator import Translator

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
NAMES = """(ticks) => [...document.querySelectorAll(`#attention-detail :is(${ticks})`)]
    .filter((node) => node.textContent.trim() && getComputedStyle(node).visibility !== "hidden")
    .map((node) => [node.textContent, node.getBoundingClientRect()])
    .map(([name, { x, y, width, height }]) => [name, [x + width / 2, y + height / 2]])"""
"""Every name round the map, and its middle."""
COLOURS = """async ([image, size]) => {
    const picture = new Image();
    picture.src = document.querySelector(`#attention-detail ${image}`).href.baseVal;
    await picture.decode();
    const [columns, rows] = size ?? [picture.width, picture.height];
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    canvas.drawImage(picture, 0, 0);
    const middle = (at, cells, pixels) => Math.floor((at + 0.5) * pixels / cells);
    const colours = [];
    for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) {
            const x = middle(column, columns, picture.width), y = middle(row, rows, picture.height);
            colours.push(...canvas.getImageData(x, y, 1, 1).data);
        }
    return [[columns, rows], colours];
}"""
"""Of the middle of each cell; a picture of unknown size has a pixel for each. In WebKit Plotly's has more."""


PATIENT = """const own = setTimeout;
    window.setTimeout = (run, ms, ...rest) => own(run, ms === 60 ? 60_000 : ms, ...rest);"""
"""The page waits sixty milliseconds for its example, which a busy machine may exceed; like this, until it has come."""


@pytest.mark.parametrize("width", [1440, 390])
def test_the_first_look_is_drawn_once(browser: Browser, host: Any, width: int) -> None:
    """With its example, which has come by then: what is drawn before, and again, the first map waits for."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    context.route("**/plotly.js*", lambda route: None)
    context.add_init_script(PATIENT)
    context.add_init_script("""window.drawn = [];
        new MutationObserver(seen => drawn.push(...seen.map(each => each.target.className)))
            .observe(document, {attributes: true, attributeFilter: ["data-shown"], subtree: true});""")
    page = context.new_page()
    page.goto(host.address, wait_until="commit")
    page.wait_for_selector("#attention-detail .sketch text")
    settle(page)
    assert len(page.evaluate("drawn")) == 1
    context.close()


def test_a_page_does_not_wait_for_its_example(browser: Browser, host: Any) -> None:
    context = browser.new_context(service_workers="block")
    held: list[Any] = []
    context.route("**/examples/*.json", lambda route: held.append(route))
    page = context.new_page()
    page.goto(host.address, wait_until="commit")
    expect(page.locator("#source-text textarea")).to_be_editable()
    assert held and not page.locator("#attention-detail .sketch text").count()
    for route in held:
        route.continue_()
    page.wait_for_selector("#attention-detail .xtick")
    context.close()


@pytest.mark.parametrize("width", [1440, 390])
def test_until_plotly_has_come_the_map_stands_as_plotly_will_draw_it(browser: Browser, host: Any, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    held: list[Any] = []
    context.route("**/plotly.js*", lambda route: held.append(route))
    page = context.new_page()
    page.goto(host.address, wait_until="commit")
    page.wait_for_selector("#attention-detail .sketch text")
    sketched, (size, cells) = page.evaluate(NAMES, ".sketch text"), page.evaluate(COLOURS, [".sketch image", None])
    until(page, lambda: held)[0].continue_()
    page.wait_for_selector("#attention-detail .xtick")
    expect(page.locator(".sketch")).to_have_count(0)
    painted(page)
    drawn = page.evaluate(NAMES, ".xtick text, .ytick text, .y2tick text")
    assert len(drawn) > 8
    for name, place in drawn:
        away = min(np.abs(np.subtract(place, other)).max() for named, other in sketched if named == name)
        assert away <= 4, (name, place, sketched)  # pixels
    if not WEBKIT or width == 390:  # of a map that scrolls, its picture is a part
        _, colours = page.evaluate(COLOURS, [".heatmaplayer image", size])
        np.testing.assert_allclose(colours, cells, atol=8)  # 33 colours between
    context.close()


def test_a_phone(browser: Browser, host: Any, tiny: Translator) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, locale="de-DE")
    page = opened(context, host.address)
    check(type_and_translate(page, TYPED), tiny)
    expect(page.locator("#translate")).to_have_text("Übersetzen", use_inner_text=True)
    tabs = page.locator("#tabs > .tab-wrapper [role=tab]")
    for at in range(tabs.count()):
        tabs.nth(at).click()
        painted(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, tabs.nth(at).inner_text()
    context.close()


def test_the_words_of_a_language_come_when_it_is_chosen(browser: Browser, host: Any) -> None:
    context = browser.new_context(service_workers="block", locale="en-GB")  # which fetches them all, for later
    page = opened(context, host.address)
    words = lambda: [path for path, _ in host.asked if "words-" in path]  # noqa: E731
    assert not words()
    for language, said in {"de": "Übersetzen", "zh": "翻译", "en": "Translate"}.items():
        page.click(f"[data-language={language}]")
        until(page, lambda said=said: page.inner_text("#translate") == said)
    assert len(words()) == 2
    context.close()


def test_the_theme_is_the_system_s_until_one_is_chosen(browser: Browser, host: Any) -> None:
    """As on the served page, where Gradio follows it."""
    context = browser.new_context(color_scheme="dark")
    page = opened(context, host.address)
    is_dark = "document.body.classList.contains('dark')"
    assert page.evaluate(is_dark)
    expect(page.locator(".theme")).to_have_attribute("aria-pressed", "true")
    page.emulate_media(color_scheme="light")
    until(page, lambda: not page.evaluate(is_dark))
    page.click(".theme")  # chosen: dark
    page.emulate_media(color_scheme="dark")
    page.emulate_media(color_scheme="light")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.evaluate(is_dark)
    page.reload()
    page.wait_for_selector("#attention-detail .xtick")
    assert page.evaluate(is_dark)
    context.close()


def test_about_says_how_to_cite_it(context: BrowserContext, host: Any) -> None:
    page = opened(context, host.address)
    page.click("[role=tab]:has-text('About')")
    entry = page.inner_text("#about pre")
    assert entry.startswith("@software{attention_explorer,") and entry.endswith("}")
    assert f"version = {{{translator.__version__}}}" in entry


def test_another_language_is_noticed_and_its_direction_is_one_press_away(
    context: BrowserContext, two_ways: Path
) -> None:
    with hosted(two_ways) as serving:
        page = opened(context, serving.address)
        page.click("#source-text textarea")
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("Where did you buy this bread?")
        page.wait_for_selector("#input-health >> text=This looks like English")
        page.click("#input-health .switch")
        page.wait_for_selector("#direction input[value=en-de]:checked", state="attached")
