"""Languages, themes, small screens, the keyboard, and nothing asked of any other host."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import next_head, settle, wait_translated
from tests.browser.webkit.opened import WEBKIT

pytestmark = pytest.mark.browser


def test_the_page_speaks(open_page: Callable[..., Page]) -> None:
    page = open_page()
    for language, word, lang, tagline in (
        ("zh", "翻译", "zh-Hans", "翻译模型在看哪些词"),
        ("de", "Übersetzen", "de", "Worauf ein Übersetzungsmodell schaut"),
        ("en", "Translate", "en", "What a translation model looks at"),
    ):
        page.click(f"[data-language={language}]")
        page.wait_for_function(f"document.querySelector('#translate').textContent.trim() === '{word}'")
        expect(page.locator("html")).to_have_attribute("lang", lang)
        expect(page.locator("#page-title p")).to_have_text(tagline)
        page.wait_for_function("document.documentElement.scrollHeight <= 900")  # the maps give way in the next frame


def test_a_chinese_page_leaves_the_tokens_alone(open_page: Callable[..., Page]) -> None:
    page = open_page()
    before = page.locator(".chips.src").inner_text()
    page.click("[data-language=zh]")
    page.wait_for_function("document.querySelector('#attention-detail .annotation-text').textContent.includes('键')")
    assert page.locator(".chips.src").inner_text() == before


def test_dark_is_dark_and_stays(open_page: Callable[..., Page]) -> None:
    page = open_page()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click(".theme")
    page.wait_for_function(f"getComputedStyle(document.body).backgroundColor !== '{light}'")
    scale = page.evaluate("document.querySelector('#attention-detail .plot').data[0].colorscale[0][1]")
    page.wait_for_function(
        "document.querySelector('#attention-detail .plot').data[0].colorscale[0][1] === 'rgb(28,30,35)'"
    )
    assert scale
    page.reload()
    page.wait_for_selector("#attention-detail .xtick")
    expect(page.locator("body")).to_contain_class("dark")


def test_a_phone_needs_no_sideways_scroll_and_has_large_targets(open_page: Callable[..., Page]) -> None:
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True)
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.evaluate("""[...document.querySelectorAll('.ax button, .ax select, #translate, #step-slider')]
        .filter(n => n.offsetParent && n.getBoundingClientRect().height < 40)
        .map(n => n.className || n.id || n.textContent)""")
    assert small == []
    slider = page.locator("#step-slider").bounding_box()
    assert slider is not None and slider["y"] + slider["height"] <= 844, "the step control is docked"
    for tab in ("Compare", "Positions", "About"):
        if page.get_by_role("tab", name=tab).count() == 0:
            page.locator(".overflow-menu > button").click()
            page.locator(".overflow-dropdown button", has_text=tab).click()
        else:
            page.get_by_role("tab", name=tab).click()
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, tab


def test_the_keyboard_reaches_everything(open_page: Callable[..., Page]) -> None:
    page = open_page()
    reached = set()
    page.locator("#source-text textarea").focus()
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("""(() => { const n = document.activeElement;
            return n.id || n.dataset.kind || n.dataset.view || n.dataset.export || n.className || n.tagName; })()""")
        )
    wanted = {
        "translate",
        "step-slider",
        "layer",
        "head",
        "encoder",
        "arcs",
        "attention-detail",
        "png",
        "export-html",
        "permalink",
    }
    assert wanted <= reached, wanted - reached
    page.focus("#attention-mosaic canvas")
    assert page.evaluate("document.querySelector('#attention-mosaic canvas').getAttribute('aria-label')")


def test_every_control_has_a_name(open_page: Callable[..., Page]) -> None:
    page = open_page()
    nameless = page.evaluate("""[...document.querySelectorAll('.ax button, .ax select, .ax input, .chrome button')]
        .filter(n => n.offsetParent)
        .filter(n => !(n.textContent.trim() || n.getAttribute('aria-label') || n.title || n.labels?.length))
        .map(n => n.outerHTML.slice(0, 120))""")
    assert nameless == []


def test_no_request_leaves_the_host(open_page: Callable[..., Page], address: str) -> None:
    page = open_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.wait_for_selector("#attention-detail .xtick")
    page.get_by_role("tab", name="Positions").click()
    page.wait_for_selector("#position-heatmap .xtick")
    assert [url for url in asked if not url.startswith((address, "blob:", "data:"))] == []


def test_compare_shows_both_and_their_difference(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector("#compare [data-side=b] .xtick")
    read = "side => document.querySelector(`#compare ${side}`).firstChild.data[0].z"
    settle(page)
    a, b = (page.evaluate(read, f"[data-side={side}] .map") for side in "ab")
    if page.locator("#compare .map.difference:visible").count():
        difference = page.evaluate(read, ".map.difference")
        for one, two, three in zip(a, b, difference, strict=True):
            assert [y - x for x, y in zip(one, two, strict=True)] == pytest.approx(three, abs=1e-6)
    else:
        assert (len(a), len(a[0])) != (len(b), len(b[0]))
        assert page.inner_text("#compare .why")


def test_two_typed_sentences_are_compared(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector("#compare [data-side=b] .xtick")
    expect(page.locator("#compare .board")).to_be_visible()
    for side, text in (("a", "Ja."), ("b", "Mein kleiner Bruder und ich gehen heute in den alten Park.")):
        page.locator(f"#compare-direction-{side} label", has_text="Deutsch").click()
        page.fill(f"#compare-{side} textarea", text)
    settle(page)
    before = page.inner_text("#compare .said >> nth=1")
    page.click("#compare-run")
    page.wait_for_function("before => document.querySelectorAll('#compare .said')[1].innerText !== before", arg=before)
    expect(page.locator("#compare .why")).to_have_text(re.compile("^A is "), use_inner_text=True)
    expect(page.locator("#compare .board")).to_be_hidden()
    expect(page.get_by_text("Where the heads differ most")).to_be_hidden()
    page.click("[data-language=de]")
    expect(page.locator("[data-language=de]")).to_have_attribute("aria-pressed", "true")
    page.fill("#compare-b textarea", "ja " * 300)
    page.click("#compare-run")
    page.wait_for_function("/Satz B: .* erlaubt sind höchstens/.test(document.querySelector('#compare').innerText)")


def test_a_pair_has_its_direction_whatever_gradio_puts_back(open_page: Callable[..., Page]) -> None:
    """In WebKit the radios of a tab that is being built go back to what they began with after we have set them."""
    page = open_page("?direction=de-en")
    page.evaluate("""() => {
        let times = 0;
        document.addEventListener('change', event => {
            if (event.target.closest('#compare-direction-a') && event.target.value === 'de-en' && !times++)
                setTimeout(() => {
                    document.querySelector('#compare-direction-a input[value=en-zh]').click();
                    window.put_back = true;
                }, 30);
        }, true);
    }""")
    page.get_by_role("tab", name="Compare").click()
    chosen = "document.querySelector('#compare-direction-a input:checked')?.value"
    page.wait_for_selector("#compare [data-side=b] .xtick")
    page.wait_for_function(f"window.put_back && {chosen} === 'de-en'")
    settle(page)
    assert page.evaluate(chosen) == "de-en"
    page.locator("#compare-direction-a label", has_text="English →").click()
    page.wait_for_function(f"{chosen} === 'en-zh'")
    settle(page)
    assert page.evaluate(chosen) == "en-zh", "what a visitor chooses stays"


def test_two_samples_of_one_sentence_are_two(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector("#compare [data-side=b] .xtick")
    for side in "ab":
        page.locator(f"#compare-direction-{side} label", has_text="Deutsch").click()
        page.fill(f"#compare-{side} textarea", "Mein kleiner Bruder und ich gehen heute in den alten Park.")
    for label in page.locator("#compare-ask label", has_text="sample").all():
        label.click()
    page.click("#compare-run")
    said = "[...document.querySelectorAll('#compare .facts')].map(each => each.innerText)"
    page.wait_for_function(f"{said}.every((text, i) => text.includes('seed ' + i))")
    a, b = (text.split("log p")[1] for text in page.evaluate(said))
    assert a != b


def test_the_direction_is_seen_where_it_means_something(open_page: Callable[..., Page]) -> None:
    page = open_page()
    tabs = {"Compare": False, "Lab": True, "Positions": False, "Lesson": True, "About": False, "Explorer": True}
    for name, seen in tabs.items():
        tab = page.locator("#tabs > .tab-wrapper").get_by_role("tab", name=name)
        tab.click()
        page.locator("#direction").wait_for(state="visible" if seen else "hidden")
        page.locator(f"#{tab.get_attribute('aria-controls')}[role=tabpanel]").wait_for()


def test_arrows_choose_the_neighbouring_radio(open_page: Callable[..., Page]) -> None:
    page = open_page()
    checked = "[...document.querySelectorAll('#direction input')].map(each => each.checked).join()"
    page.focus("#direction input")
    for key, want in (("ArrowRight", "false,true"), ("ArrowDown", "true,false"), ("ArrowLeft", "false,true")):
        page.keyboard.press(key)
        page.wait_for_function(f"{checked} === '{want}'")
        page.wait_for_function("document.activeElement.checked")


def test_one_step_drives_both_sides_of_a_comparison(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en")
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector("#compare [data-side=b] .row-frame")
    read = """() => ['a', 'b'].map(side => { const box = document.querySelector(`#compare [data-side=${side}] .map`);
        const frame = box.lastChild.getBoundingClientRect(), plot = box.firstChild.getBoundingClientRect();
        const axis = box.firstChild._fullLayout.yaxis;
        return Math.round(axis.p2l(frame.y + frame.height / 2 - plot.y - axis._offset)); })"""
    for step in (1, 2):
        page.locator("#compare-step").fill(str(step))
        told = f"Step {step} of {page.get_attribute('#compare-step', 'max')}"
        expect(page.locator("#compare .where")).to_have_text(told, use_inner_text=True)
        assert page.evaluate(read) == [step - 1, step - 1]
    before = page.locator("#compare .now").all_text_contents()
    page.focus("#compare-step")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#compare-step")).to_have_value("3")
    expect(page.locator("#compare .where")).to_contain_text("Step 3 of")
    assert page.locator("#compare .now").all_text_contents() != before
    assert page.evaluate(read) == [2, 2]


def test_positions_follow_their_controls(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.get_by_role("tab", name="Positions").click()
    page.wait_for_selector("#position-lines .legendtext")
    page.fill("#position-curves input, #position-curves textarea", "1, 2")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('#position-lines .legendtext').length === 2")
    page.focus("#position-length input[type=range]")
    columns = "document.querySelector('#position-similarity .js-plotly-plot')._fullLayout.xaxis.range[1] + 0.5"
    settle(page)
    before = page.evaluate(columns)
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{columns} === {before + 1}")
    page.click("[data-language=de]")
    expect(page.locator("[data-language=de]")).to_have_attribute("aria-pressed", "true")
    page.fill("#position-curves input, #position-curves textarea", "999")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "document.querySelector('#position-lines output').textContent.startsWith('Dimension 999 liegt jenseits')"
    )
    settle(page)
    assert page.evaluate(columns) == before + 1, "only the curves are refused"


def test_figures_and_cards_speak_the_language_of_the_page(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.get_by_role("tab", name="Positions").click()
    for language, axis, curve in (("zh", "维度", "维 5"), ("de", "Dimension", "Dim. 5"), ("en", "dimension", "dim 5")):
        page.click(f"[data-language={language}]")
        page.wait_for_selector(f"#position-lines .legendtext >> text='{curve}'")
        expect(page.locator("#position-heatmap .xtitle, #position-heatmap .x2title").first).to_have_text(axis)
        hover = "document.querySelector('#position-heatmap .js-plotly-plot').data[0].hovertemplate"
        told = f" {axis} %{{x}}<br>%{{z:.4f}}<extra></extra>"
        page.wait_for_function(f"told => {hover}.includes(told)", arg=told)
    page.click("[data-language=de]")
    page.get_by_role("tab", name="Über").click()
    expect(page.locator("#about .model-cards").first).to_have_text("Modellkarten", use_inner_text=True)


def drag(page: Any, x: float, y: float, *, up: int) -> None:
    """By a finger, for which Playwright has no method of its own."""
    if WEBKIT:
        page.touchscreen.drag(x, y, up=up)
        return
    hand = page.context.new_cdp_session(page)
    for kind, moved in (("touchStart", [0]), *(("touchMove", [n]) for n in range(10, up + 1, 10)), ("touchEnd", [])):
        points = [{"x": x, "y": y - each} for each in moved]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_a_finger_on_a_figure_scrolls_the_page_and_its_bar_hides_nothing(open_page: Callable[..., Page]) -> None:
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True)
    page.get_by_role("tab", name="Positions").tap()
    page.wait_for_selector("#position-heatmap .xtick")
    settle(page)
    box = page.locator("#position-heatmap .nsewdrag").bounding_box()
    assert box is not None
    before = page.evaluate("scrollY")
    drag(page, box["x"] + 100, box["y"] + 60, up=200)
    page.wait_for_function(f"scrollY > {before} + 100", timeout=5_000)
    hidden = page.evaluate("""[...document.querySelectorAll('#position-heatmap .modebar-btn')].filter(button => {
        const { left, right, top, bottom } = button.getBoundingClientRect();
        return [...document.querySelectorAll('#position-heatmap .xtitle, #position-heatmap .xtick')].some(words => {
            const place = words.getBoundingClientRect();
            return place.left < right && place.right > left && place.top < bottom && place.bottom > top;
        });
    }).length""")
    assert hidden == 0 and page.locator("#position-heatmap .modebar-btn").count() == 2


COUNTED = """window.frames_asked = 0;
    const ask = window.requestAnimationFrame;
    window.requestAnimationFrame = run => { window.frames_asked++; return ask.call(window, run); };"""


def test_at_rest_no_frames_are_asked_for(open_page: Callable[..., Page]) -> None:
    """Sixty a second cost three hundredths of a core, and a phone's battery."""
    page = open_page(init=COUNTED)
    second = (
        "() => new Promise(done => { window.frames_asked = 0; setTimeout(() => done(window.frames_asked), 1000); })"
    )
    asked = [page.evaluate(second)]
    while asked[-1] > 2 and len(asked) < 20:  # Gradio's signs swing out, on a busy machine for ten seconds
        asked.append(page.evaluate(second))
    assert asked[-1] <= 2, asked
    before = page.locator("#head").input_value()
    next_head(page)
    assert page.locator("#head").input_value() != before
    page.fill("#source-text textarea", "We are here.")  # what Gradio shows while it works is shown still
    page.click("#translate")
    wait_translated(page, "We are here.")
