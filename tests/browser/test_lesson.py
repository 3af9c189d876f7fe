"""The lesson in a real browser: links, equations without a network, tensors of one's own sentence, the question."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from benchmarks.shown import settle
from tests.browser.regular import Regular

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
WAIT = 180_000
"""Milliseconds; a test that is slow on a loaded machine is not wrong."""


@pytest.fixture(scope="module")
def address(tiny_checkpoint: Path) -> Iterator[str]:
    from translator.ui.models import Models
    from translator.ui.page import build, launch_settings

    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    models.gate.deadline = 120.0
    models.get("de-en")
    importlib.import_module("translator.ui.lesson.sentence")  # what a first visitor would wait for
    page = build(models)
    page.queue(api_open=False)
    settings = launch_settings(models)
    _, url, _ = page.launch(server_name="127.0.0.1", prevent_thread_lock=True, quiet=True, **settings)
    yield url
    page.close(verbose=False)
    models.gate.close()


@pytest.fixture
def visit(address: str, regular: Regular) -> Iterator[Any]:
    """Open the page at a fragment in a language and a width; nothing may be asked of another host, or go wrong."""
    wrong = []

    def opened(fragment: str, *, language: str = "en", width: int = 1440, script: str = "") -> Any:
        page = regular.page(address, width=width, height=900, stored={"explorer-language": language})
        page.add_init_script(script)
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        own = (address, "data:", "blob:")
        page.on("request", lambda request: None if request.url.startswith(own) else wrong.append(request.url))
        page.goto(address + fragment)
        return page

    yield opened
    regular.forget()
    assert not wrong


def drawn(page: Any) -> None:
    page.wait_for_selector(".lx:not([aria-busy]) .plot .main-svg")


def test_a_link_opens_its_station_with_its_sentence(visit: Any) -> None:
    page = visit("#lesson=scores&t=Ich%20renne%20in%20dem%20Park.&d=de-en")
    drawn(page)
    expect(page.locator("#lesson-text")).to_have_value("Ich renne in dem Park.")
    expect(page.locator(".lx h1")).to_have_text("From scores to weights")
    page.wait_for_selector(".lx .equation .katex .sqrt")
    page.wait_for_function("document.fonts.check('16px KaTeX_Main')")  # the formula's own letters, without a network
    expect(page.locator(".lx .code")).to_contain_text("scores = query @ key.transpose")
    labels = page.eval_on_selector_all(".lx .ytick text", "nodes => nodes.map(node => node.textContent)")
    assert labels[0] == "Ich" and labels[-1] == "</s>"


def test_the_fields_are_filled_before_they_are_read(visit: Any) -> None:
    """The page's own load is held back: until it is through, the direction and the sentence are not known."""
    slow = """
        let given;
        Object.defineProperty(window, "AttentionExplorer", {
            get: () => given,
            set: own => {
                const opened = own.opened;
                own.opened = async (...fields) => {
                    await new Promise(done => { window.openNow = done; });
                    window.openedAt = performance.now();
                    return opened(...fields);
                };
                given = own;
            },
        });
        const ask = window.fetch;
        window.fetch = (address, options) => {
            if (String(options?.body).includes('"fn_name":"station"')) window.askedAt ??= performance.now();
            return ask(address, options);
        };
    """
    page = visit("#lesson=cross", script=slow)
    page.wait_for_selector(".lx .answers label")
    page.wait_for_function("window.openNow !== undefined")
    settle(page)  # whoever reads the fields too soon has done it by now
    page.evaluate("openNow()")
    drawn(page)
    assert page.evaluate("window.openedAt < window.askedAt")


def test_a_station_may_come_before_its_words(visit: Any) -> None:
    late = """
        const ask = window.fetch;
        window.fetch = async (address, options) => {
            const asks = name => String(options?.body).includes(`"fn_name":"${name}"`);
            if (asks("course")) await new Promise(done => { window.teach = done; });
            const answer = await ask(address, options);
            if (asks("station")) answer.clone().text().then(() => { window.came = true; });
            return answer;
        };
    """
    page = visit("#lesson=tokens", script=late)
    page.wait_for_function("window.came && window.teach !== undefined")
    settle(page)
    page.evaluate("teach()")
    drawn(page)
    page.wait_for_selector(".lx .answers label")
    expect(page.locator(".lx h1")).to_have_text("Text to tokens")


def test_a_question_is_answered_and_the_way_goes_on(visit: Any) -> None:
    page = visit("#lesson=masks")
    drawn(page)
    page.click(".lx .check")
    expect(page.locator(".lx .why")).to_have_text("Choose an answer first.")
    page.click(".lx .answers label >> nth=1")
    page.click(".lx .check")
    expect(page.locator(".lx .why")).to_have_text(re.compile(r"^Not quite\."))
    page.click(".lx .answers label >> nth=0")
    page.click(".lx .check")
    expect(page.locator(".lx .why")).to_have_text(re.compile(r"^Right\."))
    page.click(".lx .next")
    drawn(page)
    page.wait_for_function("location.hash === '#lesson=heads'")
    page.wait_for_selector(".lx .stations li:nth-child(6) svg", state="attached")


def test_the_sentence_is_the_pages(visit: Any) -> None:
    page = visit("#lesson=tokens")
    drawn(page)
    page.fill("#lesson-text", "Das Haus ist alt. <b>%{x}")
    page.click(".lx .ask button")
    page.wait_for_function("document.querySelector('.lx .plot').textContent.includes('Haus')")
    assert page.query_selector(".lx .plot b") is None
    page.click("#tabs button[data-tab-id=explorer-tab]")
    expect(page.locator("#source-text textarea")).to_have_value("Das Haus ist alt. <b>%{x}")
    page.wait_for_function("location.hash === ''")
    page.fill("#source-text textarea", "Guten Morgen!")
    page.click("#tabs button[data-tab-id=lesson-tab]")
    page.wait_for_function("document.querySelector('.lx .plot').textContent.includes('Guten')")


def test_what_is_turned_changes_the_numbers(visit: Any) -> None:
    page = visit("#lesson=scores")
    drawn(page)
    entropy = page.text_content(".lx .numbers div:nth-child(3) dd")
    page.click(".lx [data-name='divide by'] button:last-child")
    now = "document.querySelector('.lx .numbers div:nth-child(3) dd').textContent"
    page.wait_for_function(f"old => {now} !== old", arg=entropy)
    assert float(page.text_content(".lx .numbers div:nth-child(3) dd")) < float(entropy)


def test_a_refusal_is_told_and_can_be_mended(visit: Any) -> None:
    page = visit("#lesson=tokens")
    drawn(page)
    page.fill("#lesson-text", " ")
    page.click(".lx .ask button")
    page.wait_for_selector(".lx .notice:not([hidden])")
    expect(page.locator(".lx .notice")).to_contain_text("blank")
    assert page.locator(".lx .notice button").count() == 0, "asking once more would not help"
    page.fill("#lesson-text", "Ich renne.")
    page.click(".lx .ask button")
    drawn(page)
    expect(page.locator(".lx .notice")).to_be_hidden()


@pytest.mark.parametrize(("language", "title"), [("zh", "看原文"), ("de", "Der Blick auf die Quelle")])
def test_a_phone_in_other_languages_has_no_sideways_scroll(visit: Any, language: str, title: str) -> None:
    page = visit("#lesson=cross", language=language, width=390)
    drawn(page)
    expect(page.locator(".lx h1")).to_have_text(title)
    page.wait_for_selector(".lx .answers label")
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    touched = ".stations a, .views button, .ways .btn:not([hidden]), .answers label"
    small = page.evaluate(
        f"[...document.querySelectorAll('.lx :is({touched})')]"
        ".filter(node => node.getBoundingClientRect().height < 44).map(node => node.textContent)"
    )
    assert not small


def test_equations_are_the_same_in_every_language(visit: Any) -> None:
    page = visit("#lesson=scores", language="zh")
    drawn(page)
    page.click("#tabs button[role=tab]:first-child")  # what was redrawn is put in the page's language
    settle(page)
    said = page.text_content("#lesson-equations .katex-html >> nth=4")
    assert "head" in said and "头" not in said
