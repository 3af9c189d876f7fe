"""Nothing collides, is cut or hides what has the focus, at any width and in any language."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import pick, settle, shown, wait_shown, wait_translated

pytestmark = pytest.mark.browser

WIDTHS = (360, 390, 641, 768, 901, 1024, 1100, 1241, 1280, 1440, 1920)
LONG = "A result of many words must be there to the last of them, whatever the width of the page that it is read on. "

TOOLS = """
const seen = node => node.checkVisibility({ visibilityProperty: true });
const all = (selector, root = document) => [...root.querySelectorAll(selector)].filter(seen);
const name = node => node.id || node.dataset?.t || node.textContent.trim().slice(0, 24) || node.className;
const sides = ({ left, right, top, bottom }) => ({ left, right, top, bottom });
const shape = node => sides(node.getBoundingClientRect());
const words = node => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return sides(range.getBoundingClientRect());
};
const within = (a, b) => ({
    left: Math.max(a.left, b.left), right: Math.min(a.right, b.right),
    top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom),
});
const empty = a => a.right - a.left < 1 || a.bottom - a.top < 1;
const area = a => (empty(a) ? 0 : (a.right - a.left) * (a.bottom - a.top));
/** Which of the named places lie over each other. */
const collisions = places => places.flatMap(([one, a], i) =>
    places.slice(i + 1).filter(([, b]) => !empty(within(a, b))).map(([other]) => `${one} over ${other}`));
"""

HEADER = """
const strip = shape(document.querySelector('#tabs .tab-container:not(.visually-hidden)'));
const tabs = all('#tabs .tab-container:not(.visually-hidden) button');
const [title, tagline] = ['h1', 'p'].map(part => words(document.querySelector(`#page-title ${part}`)));
const parts = [
    ['title', title],
    ['tagline', { ...tagline, top: Math.max(tagline.top, title.bottom) }],  // their lines touch
    ...tabs.map(node => [name(node), within(words(node), strip)]),
    ['directions', shape(document.querySelector('#direction .wrap'))],
    ...all('.chrome .seg, .chrome .theme').map(node => [node.className, shape(node)]),
].filter(([, place]) => !empty(place));
const out = parts.filter(([, place]) => place.left < 0 || place.right > innerWidth);
return [...out.map(([part]) => `${part} is out of the page`), ...collisions(parts)];
"""

INSIDE = """
const faults = [];
if (document.documentElement.scrollWidth > innerWidth) faults.push('the page scrolls sideways');
for (const node of all('.profile, .opts, .stepout, .health, .work .bar, #translation textarea')) {
    if (node.scrollWidth > node.clientWidth + 1) faults.push(`${name(node)} is too narrow`);
    if (node.scrollHeight > node.clientHeight + 1) faults.push(`${name(node)} is too low`);
}
for (const box of all('.work > *, .chain, .under')) {
    const parts = all('button, select, .stepout *, .health *, .profile *', box), edge = shape(box).right + 1;
    const out = parts.filter(node => !node.closest('.try, .sheet') && shape(node).right > edge);
    faults.push(...out.map(node => `${name(node)} is out of its place`));
}
const result = ['#copy', '#translation textarea'].map(part => [part, shape(document.querySelector(part))]);
if (result[0][1].right > innerWidth) faults.push('Copy is out of the page');
const rows = all('.under > *, .work > .head > *').map(node => [name(node), shape(node)]);
return [...faults, ...collisions(result), ...collisions(rows)];
"""

FOCUSED = """
const node = document.activeElement, whole = shape(node);
let part = whole;
for (let box = node.parentElement; box; box = box.parentElement)
    if (/hidden|clip|auto|scroll/.test(getComputedStyle(box).overflow)) part = within(part, shape(box));
return [name(node), area(part) / area(whole), !!node.closest('.under')];
"""

CAPTIONS = """
const svg = shape(document.querySelector('#attention-detail .main-svg'));
const captions = all('#attention-detail .annotation-text').map(node => [name(node), shape(node)]);
const cut = captions.filter(([, { left, right, top }]) => left < svg.left || right > svg.right || top < svg.top - 2);
const faults = [...cut.map(([caption]) => `${caption} is cut`), ...collisions(captions)];
for (const label of all('#attention-detail .xtick text')) {
    const { x, y, width } = label.getBBox(), turned = label.getScreenCTM();
    for (const corner of [x, x + width]) {  // a slanted label's upper ones
        const at = new DOMPoint(corner, y).matrixTransform(turned);
        if (at.x > svg.right || at.y < svg.top) faults.push(`${name(label)} is cut`);
        const over = captions.find(([, each]) => at.x > each.left && at.x < each.right && at.y < each.bottom - 4);
        if (over) faults.push(`${name(label)} on ${over[0]}`);
    }
}
return faults;
"""


def measured(page: Page, what: str) -> list[Any]:
    """What the script `what` finds once the page has been laid out and drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate(f"() => {{ {TOOLS} {what} }}")


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 844 if width <= 640 else 900})
    settle(page)


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_nothing_collides_or_is_cut_at_any_width(open_page: Callable[..., Page], language: str) -> None:
    page = open_page(stored={"explorer-language": language})
    page.evaluate(
        """text => {
            const result = document.querySelector('#translation textarea');
            result.value = text;
            result.dispatchEvent(new Event('input', { bubbles: true }));
        }""",
        LONG * 3,
    )
    said = {
        "words": 140, "tokens": 190, "limit": 128, "unknown": 3, "bytes": 14, "normalised": "go", "changed": 12,
        "problem": "the text has 190 tokens; at most 128 are allowed, so shorten it", "split": [],
    }  # fmt: skip
    found: dict[int, list[Any]] = {}
    for width in WIDTHS:
        resize(page, width)
        found[width] = measured(page, HEADER) + measured(page, INSIDE)
    page.route("**/component_server/**", lambda route: route.fulfill(json=said))  # what the strip then says
    page.locator("#source-text textarea").press_sequentially("x")
    page.wait_for_function("document.querySelector('#input-health').innerText.includes('140')")
    for width in WIDTHS:
        resize(page, width)
        found[width] += [f"{fault}, with a long strip" for fault in measured(page, INSIDE)]
    assert not {width: faults for width, faults in found.items() if faults}


UNFITTED = """
const supports = CSS.supports.bind(CSS);
CSS.supports = (...asked) => asked[0] !== 'field-sizing' && supports(...asked);
"""


def test_fields_are_as_tall_as_their_text_where_the_browser_does_not_see_to_it(open_page: Callable[..., Page]) -> None:
    """As in Safari before 26.2, which Chromium is made to say that it is."""
    page = open_page("?direction=de-en", init=UNFITTED, width=768)
    low = """() => [...document.querySelectorAll('textarea')].filter(node => node.clientWidth)
        .map(node => [node.closest('[id]').id, node.scrollHeight - node.clientHeight])
        .filter(([id, less]) => less > 0)"""
    height = "document.querySelector('#source-text textarea').clientHeight"
    sizing = page.evaluate("getComputedStyle(document.querySelector('#source-text textarea')).fieldSizing")
    assert sizing in ("fixed", None)
    page.fill("#source-text textarea", LONG)
    for width in (1440, 768, 390, 1440):
        resize(page, width)
        assert not page.evaluate(low)
    one = page.evaluate(height)
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector("#compare [data-side=b] .xtick")
    page.fill("#compare-b textarea", LONG)
    resize(page, 768)
    assert not page.evaluate(low)
    page.get_by_role("tab", name="Explorer").click()
    settle(page)
    assert not page.evaluate(low) and page.evaluate(height) > one
    page.fill("#source-text textarea", "Ja.")
    own = "document.querySelector('#source-text textarea').style.getPropertyValue('--fit')"
    page.wait_for_function(f"{own} === '48px'")  # it is as low as its text again; its row may be higher


def test_what_has_the_focus_can_be_seen(open_page: Callable[..., Page]) -> None:
    page = open_page(stored={"explorer-language": "de"})
    for width in (390, 1024, 1280, 1440):
        resize(page, width)
        settle(page)
        page.locator("#copy").focus()
        under = set()
        for _ in range(14):
            page.keyboard.press("Tab")
            named, part, there = measured(page, FOCUSED)
            if part < 0.9:  # a strip that scrolls to it
                settle(page)
                named, part, there = measured(page, FOCUSED)
            assert part > 0.9, (width, named)
            under |= {named} if there else set()
        assert len(under) >= 3, "the strip's own button, the list of examples, and Settings"


def test_the_settings_open_right_below_their_button(open_page: Callable[..., Page]) -> None:
    page = open_page(width=390, height=844, stored={"explorer-language": "de"})
    for width in (390, 1280):
        resize(page, width)
        page.click(".settings-toggle")
        expect(page.locator("#settings")).to_be_visible()
        settle(page)
        button, panel = (page.locator(each).bounding_box() for each in (".settings-toggle", "#settings"))
        assert button is not None and panel is not None
        assert 0 <= panel["y"] - button["y"] - button["height"] <= 16
        expect(page.locator("#settings")).to_contain_text("Dekodierung", use_inner_text=True)
        page.keyboard.press("Tab")
        assert page.evaluate("!!document.activeElement.closest('#settings')")
        page.click(".settings-toggle")
        expect(page.locator("#settings")).to_be_hidden()


def test_the_captions_of_a_map_of_one_word_are_whole(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en", stored={"explorer-language": "de"})
    text = "Glückwünsche"
    page.fill("#source-text textarea", text)
    page.click("#translate")
    wait_translated(page, text)
    found = {}
    for width in (1280, 390):
        resize(page, width)
        for kind in ("cross", "encoder", "decoder"):
            pick(page, kind=kind)
            for unit, specials in (("sub", True), ("word", False)):
                page.click(f"#explorer [data-unit={unit}]")
                page.locator("#explorer .specials").set_checked(specials)
                wait_shown(page, unit=unit, specials="shown" if specials else "hidden")
                found[width, kind, unit] = measured(page, CAPTIONS)
    assert not {where: faults for where, faults in found.items() if faults}


def test_maps_keep_to_their_place_on_wide_screens_and_after_a_turn(open_page: Callable[..., Page]) -> None:
    page = open_page()
    for width, most in ((2560, 640), (1180, 640), (641, 640), (390, 390), (1440, 448)):
        resize(page, width)
        heads, frame, canvas, tools = (
            page.locator(f".work {each}").first.bounding_box()
            for each in (".heads", ".tile-frame", "#attention-mosaic canvas", "[data-view=aggregate]")
        )
        assert heads is not None and frame is not None and canvas is not None and tools is not None
        assert heads["width"] <= most
        layer, head = shown(page)["layer"], shown(page)["head"]
        columns, first = (4, 0) if width <= 640 else (8, layer)
        wanted = canvas["x"] + canvas["width"] * (head % columns + 0.5) / columns
        assert abs(frame["x"] + frame["width"] / 2 - wanted) < 4, f"the frame lies on its tile at {width}"
        rows = 2 if width <= 640 else 6
        row = head // columns if width <= 640 else first
        assert abs(frame["y"] + frame["height"] / 2 - canvas["y"] - canvas["height"] * (row + 0.5) / rows) < 4
        if width > 1180:
            drawn = page.locator("#attention-detail .plot").bounding_box()
            assert drawn is not None
            assert tools["x"] < drawn["x"] + drawn["width"] + 100, "what chooses the view stays near the map"


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_no_choice_of_compare_is_cut(open_page: Callable[..., Page], language: str) -> None:
    page = open_page(stored={"explorer-language": language})
    page.locator("#tabs [role=tab]").nth(1).click()
    page.wait_for_selector("#compare-direction-a")
    for width in (390, 1200, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        assert not page.evaluate("""[...document.querySelectorAll('.compare-side fieldset')].filter(group => {
            const { right } = group.getBoundingClientRect();
            return right > group.closest('.compare-side').getBoundingClientRect().right + 1
                || [...group.querySelectorAll('label')].some(n => n.getBoundingClientRect().right > right + 1);
        }).map(group => group.innerText)"""), width


def test_no_question_mark_of_a_phone_lies_on_its_neighbour(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=en-zh", width=390, height=844)
    page.wait_for_selector(".links .ask")
    for place in (".cand", ".links"):
        tops = page.evaluate(
            """place => [...document.querySelectorAll(place + ' .ask')]
            .filter(n => n.checkVisibility()).map(n => n.getBoundingClientRect())
            .map(({ top, bottom }) => [top, bottom])
        """,
            place,
        )
        assert len(tops) > 1
        assert all(upper[1] < lower[0] for upper, lower in pairwise(tops)), place
