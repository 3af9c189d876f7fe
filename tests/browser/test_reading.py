"""What is read: by an eye, by a screen reader, with the Tab key, and on paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import settle, shown, wait_shown, wait_translated
from tests.browser.regular import Regular
from tests.browser.webkit.opened import WEBKIT

pytestmark = pytest.mark.browser

PATIENCE = 60_000

SENTENCES = {
    "en-zh": "The government announced yesterday that it would not increase taxes for small companies.",
    "de-en": "Die Donaudampfschifffahrtsgesellschaft veröffentlicht ihre Geschwindigkeitsbegrenzungsverordnung.",
}
CUT = """() => [...document.querySelectorAll('.readout, .saying, .stepout')]
    .filter(n => n.scrollWidth > n.clientWidth + 1 || n.scrollHeight > n.clientHeight + 1).map(n => n.innerText)"""


def translate(page: Page, text: str) -> None:
    page.fill("#source-text textarea", text)
    page.keyboard.press("Enter")
    wait_translated(page, text)


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_no_sentence_about_a_row_is_cut(open_page: Callable[..., Page], language: str) -> None:
    page = open_page(stored={"explorer-language": language})
    for way, sentence in SENTENCES.items():
        page.locator("#direction label", has=page.locator(f"[value={way}]")).click()
        page.click("[data-kind=cross]")
        translate(page, sentence)
        wait_shown(page, direction=way, kind="cross")
        for step in range(shown(page)["rows"]):
            page.locator("#step-slider").fill(str(step + 1))
            wait_shown(page, step=step)
            assert not page.evaluate(CUT), (way, step)
        page.click("[data-kind=encoder]")
        wait_shown(page, kind="encoder")
        for query in range(shown(page)["columns"]):
            page.locator(".chips.src .chip").nth(query).click()
            wait_shown(page, query=query)
            assert not page.evaluate(CUT), (way, query)


HANGING = """() => { const parts = [...document.querySelectorAll('.profile > span')];
    const lines = new Set(parts.map(n => n.getBoundingClientRect().top));
    return [lines.size, ...parts.filter(n => getComputedStyle(n, '::after').content !== 'none'
        && n.nextElementSibling?.getBoundingClientRect().top !== n.getBoundingClientRect().top)
        .map(n => n.innerText)]; }"""


@pytest.fixture(scope="module", params=["en", "de", "zh"])
def read(request: pytest.FixtureRequest, address: str, regular: Regular) -> Iterator[tuple[Page, str]]:
    """A page in a language, opened once for all that is read in it; what a test opens there it closes."""
    language: str = request.param
    page, faults = regular.page(address, width=1440, height=900, stored={"explorer-language": language}), list[str]()
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(f"{address}?direction=de-en")
    page.wait_for_selector("#attention-detail .xtick")
    yield page, language
    regular.forget()
    assert not faults


def test_a_profile_of_two_lines_has_no_mark_at_an_end_and_its_languages_percent(read: tuple[Page, str]) -> None:
    page, language = read
    page.set_viewport_size({"width": 1200, "height": 900})
    settle(page)
    lines, *hanging = page.evaluate(HANGING)
    assert lines >= 2 or language == "zh"
    assert not hanging
    sign = "\u202f%" if language == "de" else "%"
    for place in (".profile", "#input-health", ".special-share"):
        assert set(re.findall(r"\d([^\d\w]*%)", page.inner_text(place))) == {sign}, place


def test_pills_of_examples_leave_no_gap(read: tuple[Page, str]) -> None:
    page, _ = read
    for width in (1280, 1360, 1440, 1600, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        gaps = page.evaluate("""() => {
            const pills = [...document.querySelectorAll('.examples button, .more-examples')]
                .filter(n => n.checkVisibility({ visibilityProperty: true })).map(n => n.getBoundingClientRect());
            return pills.slice(1).map((each, i) => each.left - pills[i].right);
        }""")
        assert max(gaps, default=0) <= 12, (width, gaps)


GROUPS = {
    "en": ("Direction", "Decoding", "Language of the page"),
    "de": ("Richtung", "Dekodierung", "Sprache der Seite"),
    "zh": ("方向", "解码", "页面语言"),
}


def test_groups_have_a_name_in_every_language(read: tuple[Page, str]) -> None:
    page, language = read
    direction, decoding, languages = GROUPS[language]
    expect(page.get_by_role("group", name=direction, exact=True)).to_be_visible()
    expect(page.get_by_role("group", name=languages, exact=True)).to_be_visible()
    page.click(".settings-toggle")
    expect(page.get_by_role("group", name=decoding, exact=True)).to_be_visible()
    page.click(".settings-toggle")
    expect(page.locator("#settings")).to_be_hidden()


ALL = {"en": "All, 48 heads", "de": "Alle, 48 Köpfe", "zh": "全部，48 个头"}


def test_a_role_is_read_out_with_its_number_of_heads(read: tuple[Page, str]) -> None:
    page, language = read
    expect(page.locator(".roles").get_by_role("button", name=ALL[language], exact=True)).to_be_visible()


def test_tab_goes_from_the_tabs_to_the_fields_the_result_and_then_the_settings(
    open_page: Callable[..., Page],
) -> None:
    page = open_page()
    settle(page)
    seen = []
    for _ in range(30):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("""() => {
            const node = document.activeElement;
            return node.getAttribute('role') === 'tab' ? 'tab' : node.closest('#direction') ? 'direction'
                : node.matches('#source-text textarea') ? 'text' : node.matches('#translation textarea') ? 'result'
                : node.matches('.settings-toggle') ? 'settings' : node.matches('.theme') ? 'theme' : '';
        }""")
        )
    places = [seen.index(name) for name in ("tab", "direction", "theme", "text", "result", "settings")]
    assert places == sorted(places)
    result = page.locator("#translation textarea")
    expect(result).to_have_attribute("readonly", "")
    before = result.input_value()
    result.focus()
    page.keyboard.type("nothing")
    assert result.input_value() == before


def test_the_python_program_needs_no_scrolling(open_page: Callable[..., Page]) -> None:
    for width in (390, 1440):
        page = open_page("?direction=de-en", width=width)
        translate(page, SENTENCES["de-en"])
        page.click("[data-export=python]")
        page.wait_for_selector(".snippet pre")
        settle(page)
        box = (
            "(n => [n.scrollWidth - n.clientWidth, n.closest('dialog').scrollWidth - n.closest('dialog').clientWidth])"
        )
        assert page.evaluate(f"{box}(document.querySelector('.snippet pre'))") == [0, 0]


def fills_one_page(page: Page) -> None:
    """What a page that is to be printed shows fits on one sheet."""
    page.set_viewport_size({"width": 1040, "height": 700})  # A4 lying on its side, less its margins
    settle(page)
    width, height = page.evaluate("""[...document.querySelectorAll('.work > .head, #attention-detail .plot, #ask')]
        .map(n => n.getBoundingClientRect())
        .reduce(([x, y], r) => [Math.max(x, r.right), Math.max(y, r.bottom)], [0, 0])
    """)
    assert width <= 1040 and height <= 700
    page.emulate_media(media="null")  # what is emulated would be printed, too
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_paper_stand_sentence_translation_map_and_its_label(open_page: Callable[..., Page], theme: str) -> None:
    page = open_page("?direction=de-en", stored={"explorer-theme": theme})
    translate(page, "Der alte Mann, der seit vielen Jahren in dem kleinen Haus am Ende der Straße wohnt, schläft.")
    page.emulate_media(media="print")
    shown = page.evaluate("""() => ['#source-text textarea', '#translation textarea', '.work > .head .title',
        '#attention-detail .plot', '.scale', '.saying', '#tabs .tab-container', '#translate', '.settings-toggle',
        '.mosaic', '.side', '.opts', '.more', '.export button', '.steps .pad', '.theme']
        .filter(s => document.querySelector(s).checkVisibility())""")
    assert shown == [
        "#source-text textarea", "#translation textarea", ".work > .head .title", "#attention-detail .plot", ".scale",
        ".saying",
    ]  # fmt: skip
    if not WEBKIT:  # whose driver prints nothing
        fills_one_page(page)
    assert page.evaluate("document.body.classList.contains('dark')") == (theme == "dark")


def test_a_dark_page_is_printed_dark_on_white(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en", stored={"explorer-theme": "dark"})
    ink = "getComputedStyle(document.querySelector('#attention-detail .ytick text')).fill"
    assert int(page.evaluate(ink).removeprefix("rgb(").split(",")[0]) > 150
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    red = int(page.evaluate(ink).removeprefix("rgb(").split(",")[0])
    assert red < 100 and not page.evaluate("document.body.classList.contains('dark')")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    settle(page)
    assert page.evaluate("document.body.classList.contains('dark')")
    assert int(page.evaluate(ink).removeprefix("rgb(").split(",")[0]) > 150
