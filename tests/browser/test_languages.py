"""A checkpoint of many languages on the page: two pickers, their keys, links, Compare, the lab and exports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import translator
from benchmarks.served import free_port
from benchmarks.shown import settle, trace, wait_translated
from tests.browser.regular import Regular
from translator.checkpoints.shelf import offered
from translator.ui.models import DIRECTIONS, Models
from translator.ui.serve import Server

pytestmark = pytest.mark.browser
SENTENCE = "Das Haus ist alt."
SRC, TGT = "#tabs > .languages input >> nth=0", "#tabs > .languages input >> nth=1"


@pytest.fixture(scope="module")
def address(tiny_multilingual: Path, tiny_checkpoint: Path) -> Iterator[str]:
    """A page as `python -m translator serve NLLB TINY` makes it."""
    models = Models(offered([str(tiny_multilingual), str(tiny_checkpoint)], DIRECTIONS), device="cpu")
    models.get("nllb"), models.get("tiny")
    server = Server(models, server_name="127.0.0.1", server_port=free_port())
    yield server.url
    server.close()


@pytest.fixture
def opened(address: str, regular: Regular) -> Iterator[Callable[..., Page]]:
    faults = []

    def open_(suffix: str = "", *, color_scheme: Any = None) -> Page:
        regular.forget()  # a link is opened elsewhere
        page = regular.page(address, width=1440, height=900)
        page.emulate_media(color_scheme=color_scheme)
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(address + suffix)
        # Attached, not visible: a link to Compare hides the explorer's field as soon as it is read.
        page.wait_for_selector("#direction label", state="attached")
        return page

    yield open_
    regular.forget()
    assert not faults


def translated(page: Page, direction: str) -> dict[str, Any]:
    page.fill("#source-text textarea", SENTENCE)
    page.click("#translate")
    wait_translated(page, SENTENCE, direction=direction)
    found: dict[str, Any] = trace(page)
    return found


def expect_values(page: Page, src: str, tgt: str) -> None:
    expect(page.locator(SRC)).to_have_value(src)
    expect(page.locator(TGT)).to_have_value(tgt)


def choose(page: Page, field: str, typed: str) -> None:
    """Type into a picker and press Enter, as without a mouse."""
    page.focus(field)
    page.keyboard.type(typed)
    page.keyboard.press("Enter")


def test_pickers_are_shown_only_for_a_checkpoint_with_many_languages(opened: Callable[..., Page]) -> None:
    page = opened()
    page.wait_for_selector(SRC)
    page.click("#direction label:has(input[value='tiny'])")
    page.wait_for_selector(SRC, state="hidden")
    page.click("#direction label:has(input[value='nllb'])")
    page.wait_for_selector(SRC)


def test_languages_are_searched_by_keys_swapped_and_translated_between(
    opened: Callable[..., Page], tiny_multilingual: Path
) -> None:
    page = opened()
    page.wait_for_selector(SRC)
    choose(page, SRC, "Germ")
    choose(page, TGT, "fran\u00e7")
    expect_values(page, "German", "French")
    assert page.get_attribute(SRC, "role") == "combobox"
    expect(page.get_by_role("combobox", name="Target language")).not_to_have_count(0)
    checkpoint = translated(page, "nllb:deu_Latn-fra_Latn")["checkpoint"]
    assert (checkpoint["src"], checkpoint["tgt"]) == ("deu_Latn", "fra_Latn")
    page.get_by_role("button", name="Swap languages").first.click()
    expect_values(page, "French", "German")
    again = translated(page, "nllb:fra_Latn-deu_Latn")
    model = translator.load(tiny_multilingual, device="cpu")
    expected = model.translate(SENTENCE, src="fra_Latn", tgt="deu_Latn")
    assert again["translation"] == expected.translation
    assert again["tgt"][0]["text"] == "deu_Latn", "the forced language token is the first that is produced"


def test_names_are_in_the_language_of_the_page(opened: Callable[..., Page]) -> None:
    page = opened("?direction=nllb:deu_Latn-zho_Hans")
    page.wait_for_selector(SRC)
    expect_values(page, "German", "Chinese (Simplified)")
    page.click(".chrome [data-language=de]")
    expect_values(page, "Deutsch", "Chinesisch (Vereinfacht)")
    page.click(".chrome [data-language=zh]")
    expect(page.locator(SRC)).to_have_value("德语")
    expect(page.locator(SRC)).to_have_attribute("aria-label", "源语言")


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1440)])
def test_open_pickers_are_against_no_rule_of_accessibility(
    opened: Callable[..., Page], scheme: Any, width: int
) -> None:
    page = opened("?direction=nllb:deu_Latn-zho_Hans", color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    for field in (SRC, TGT):
        page.click(field)
        settle(page)
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        assert not found, found
        box = page.locator("#tabs > .languages [role=listbox]:visible").bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width, "all of it is seen"


def test_a_link_remembers_the_languages(opened: Callable[..., Page]) -> None:
    page = opened("?direction=nllb&src=deu_Latn&tgt=fra_Latn")
    page.wait_for_selector(SRC)
    expect_values(page, "German", "French")
    translated(page, "nllb:deu_Latn-fra_Latn")
    page.wait_for_function("history.state?.explorer?.includes('d=nllb%3Adeu_Latn-fra_Latn')")
    link = page.evaluate("history.state.explorer")
    other = opened(link)
    wait_translated(other, SENTENCE, direction="nllb:deu_Latn-fra_Latn")
    other.wait_for_selector(SRC)
    expect_values(other, "German", "French")


def test_a_link_with_a_bad_code_is_refused_in_words_and_the_page_goes_on(opened: Callable[..., Page]) -> None:
    page = opened("?direction=nllb&src=deu_Latn&tgt=klingon")
    said = "() => document.querySelector('.notice.error')?.textContent.startsWith(\"The language is 'klingon'; this\")"
    page.wait_for_function(said)
    expect_values(page, "German", "klingon")
    page.click(".chrome [data-language=de]")
    page.wait_for_function("() => document.querySelector('.notice.error')?.textContent.startsWith('Die Sprache ist')")
    choose(page, TGT, "Franz")
    translated(page, "nllb:deu_Latn-fra_Latn")


def test_compare_takes_two_pairs_of_one_checkpoint(opened: Callable[..., Page]) -> None:
    link = "#compare=1&a=Das+Haus.&ad=nllb%3Adeu_Latn-fra_Latn&b=Das+Haus.&bd=nllb&k=cross&l=1&h=1&s=1"
    page = opened(link)
    page.wait_for_selector("#compare-ask .languages input >> nth=3")
    fields = page.locator("#compare-ask .languages input")
    expect(fields).to_have_count(4)
    for number, name in enumerate(("German", "French", "German", "Chinese (Simplified)")):
        expect(fields.nth(number)).to_have_value(name)
    shown = page.locator("#compare")
    shown.get_by_text("fra_Latn").first.wait_for()
    expect(shown.get_by_text("deu_Latn")).not_to_have_count(0)
    page.focus("#compare-ask .languages input >> nth=3")
    page.keyboard.type("Dutch")
    page.keyboard.press("Enter")
    page.click("#compare-run")
    shown.get_by_text("nld_Latn").first.wait_for()


def test_the_lab_asks_in_the_languages_that_are_chosen(opened: Callable[..., Page]) -> None:
    page = opened("?direction=nllb:deu_Latn-fra_Latn")
    page.wait_for_selector(SRC)
    translated(page, "nllb:deu_Latn-fra_Latn")
    with page.expect_request(lambda request: '"fn_name":"lab_board"' in (request.post_data or "")) as asked:
        page.click("#lab-tab-button")
    assert '"direction":"nllb:deu_Latn-fra_Latn"' in (asked.value.post_data or "")
    expect(page.locator(SRC)).to_be_visible()  # they hold for the lab too


def test_exports_name_the_languages(opened: Callable[..., Page], tmp_path: Path) -> None:
    page = opened("?direction=nllb:deu_Latn-fra_Latn")
    page.wait_for_selector(SRC)
    translated(page, "nllb:deu_Latn-fra_Latn")
    with page.expect_download() as download:
        page.locator(".export").get_by_role("button", name="NPZ").click()
    path = tmp_path / "trace.npz"
    download.value.save_as(path)
    info = translator.Trace.load(path).checkpoint
    assert (info.src_language, info.tgt_language) == ("deu_Latn", "fra_Latn")
    expect(page.locator("#explorer")).to_contain_text("nllb (German → French)", use_inner_text=True)
    page.locator(".export").get_by_role("button", name="Python").click()
    program = page.locator(".snippet pre")
    expect(program).to_contain_text('src="deu_Latn", tgt="fra_Latn"', use_inner_text=True)
