"""The lab in a real browser: run, switch a head off, translate again, ask further, in three languages."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.shown import settle
from translator import CancelledError
from translator.analysis import patching

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tiny_checkpoint: Path) -> Iterator[str]:
    from translator.ui.models import Models
    from translator.ui.page import build, launch_settings

    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    page = build(models)
    _, url, _ = page.launch(prevent_thread_lock=True, quiet=True, **launch_settings(models))
    yield url
    page.close()


@pytest.fixture(scope="module")
def lab(address: str, browser: Any) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(address)
    page.get_by_role("tab", name="Lab").click()
    page.locator(".lab-head").first.wait_for(timeout=60_000)  # nobody pressed Run
    page.locator(".lab-run").wait_for(timeout=60_000)
    page.opened_with = (page.locator(".lab-head.off").count(), page.locator(".after h3").inner_text())
    page.locator("#lab-text").fill("Das Haus ist alt.")
    page.locator(".lab-run").click()
    page.locator(".lab-run").wait_for(timeout=60_000)
    yield page
    page.close()


QUESTIONS = {
    "word": ("contrast", "force", "edit", "beams", "lens", "layers"),
    "carries": ("patch",),
    "there": ("why", "cell", "norms", "positions"),
    "left": ("align",),
    "believe": ("faithfulness", "rollout"),
    "matter": ("profile",),
}


def show(lab: Any, view: str) -> None:
    """Open a view by its question, as a person does."""
    (question,) = (name for name, views in QUESTIONS.items() if view in views)
    lab.locator(f'[data-question="{question}"]').click()
    lab.locator(f'.lab-views [data-view="{view}"]').click()


def test_it_runs_by_itself_once_and_shows_what_one_head_does(lab: Any) -> None:
    assert lab.opened_with == (1, "1 head off")
    lab.get_by_role("tab", name="Explorer").click()
    lab.get_by_role("tab", name="Lab").click()
    assert lab.locator("#lab-text").input_value() == "Das Haus ist alt."
    assert lab.locator(".lab").get_attribute("aria-busy") == "false"


def test_numbers_and_ribbons_are_saved(lab: Any) -> None:
    """The table agrees with the board; the picture holds every word and nothing of the page's style."""

    def saved(what: str) -> bytes:
        with lab.expect_download() as waiting:
            lab.locator(f'.lab-export [data-save="{what}"]').click()
        return Path(waiting.value.path()).read_bytes()

    rows = list(csv.DictReader(io.StringIO(saved("csv").decode("utf-8-sig"))))
    assert len(rows) == 3 * 4
    shown = lab.locator(".lab-head span").all_inner_texts()
    cross = [float(row["change of log p (nats)"]) for row in rows if row["attention"] == "cross"]
    assert [f"{value:+.2f}".replace("-", "−") for value in cross if abs(value) >= 0.005] == [
        text for text in shown if text != "0.00"
    ]
    whole = json.loads(saved("json"))
    assert whole["source"] == "Das Haus ist alt." and len(whole["heads"]) == len(rows)
    words = [html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", saved("svg").decode())]
    made = [re.sub(r"[\x00-\x1f]", "\ufffd", word) for word in whole["change"]["before"]["words"]]
    assert {*made, "Das", "Haus", "ist", "alt", "."} <= set(words)
    assert saved("png")[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_click_on_the_map_works_that_cell(lab: Any) -> None:
    show(lab, "cell")
    lab.locator(".lab-figures .heatmaplayer").first.wait_for(timeout=30_000)
    lab.locator(".lab-figures .nsewdrag").first.click(position={"x": 4, "y": 60})
    lab.wait_for_function("document.querySelector('.lab-options [aria-label=\"Query row\"]').value > 1")
    lab.locator('.lab-view[aria-busy="false"]').wait_for(timeout=30_000)
    assert lab.locator(".lab-figures figure").count() == 3
    lab.locator(".lab-options [aria-label='Query row']").fill("1")
    lab.locator(".lab-options [aria-label='Key column']").fill("1")


def test_an_alignment_is_drawn_and_what_was_missed_is_dashed(lab: Any) -> None:
    show(lab, "align")
    lab.locator(".lab-figures svg.ribbons path").first.wait_for(timeout=30_000)
    assert lab.locator(".lab-options [aria-label='Layer']").input_value() != ""
    links = re.search(r"Pharaoh: (\d+-\d+)", lab.locator(".lab-lines").inner_text())
    assert links
    source, target = map(int, links[1].split("-"))
    other = f"{(source + 1) % 5}-{target}"
    lab.locator(".lab-options [aria-label='Your links']").fill(f"{links[1]} {other}")
    lab.locator(".lab-ask-view").click()
    lab.locator(".lab-lines", has_text="error rate against yours").wait_for(timeout=30_000)
    assert lab.locator("svg.ribbons path.missed").count() <= 1


def test_a_phone_shows_it_without_scrolling_sideways(address: str, browser: Any) -> None:
    """Every tab is on the strip, the board and the ribbons fit, the field is readable in the dark."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    page.goto(address)
    page.get_by_role("tab").nth(5).wait_for(timeout=30_000)
    page.get_by_role("tab", name="Lab").click()
    page.locator("svg.ribbons").wait_for(timeout=60_000)
    page.locator(".lab-run").wait_for(timeout=60_000)
    wide = page.evaluate(
        """() => [document.documentElement, ...document.querySelectorAll('.lab-grid, .lab-ribbons')]
            .map(node => node.scrollWidth - node.clientWidth)"""
    )
    assert max(wide) <= 0, wide
    look = page.evaluate(
        """() => {
          const look = getComputedStyle(document.querySelector("#lab-text"));
          return [look.color, look.backgroundColor];
        }"""
    )
    ink, paper = ([int(part) for part in re.findall(r"\d+", each)[:3]] for each in look)
    assert sum(ink) - sum(paper) > 400, look
    context.close()


def test_a_head_is_switched_off_and_the_sentence_translated_again(lab: Any) -> None:
    show(lab, "profile")
    lab.locator(".lab-presets button").first.click()
    head = lab.locator('.lab-head[data-head="cross:1:0"]')
    assert head.get_attribute("aria-checked") == "true"
    head.click()
    assert lab.locator('.lab-head[data-head="cross:1:0"]').get_attribute("aria-checked") == "false"
    lab.locator(".lab-again").click()
    lab.locator(".after h3", has_text="1 head off").wait_for(timeout=30_000)
    assert lab.locator(".lab-ribbons svg path").count() > 0
    assert "Δ" in lab.locator(".after").inner_text()


def test_each_head_has_its_own_gate(lab: Any) -> None:
    """The slider moves the heads touched last; the gates travel with the translation and the JSON."""
    show(lab, "profile")
    lab.locator(".lab-presets button").first.click()
    slider = lab.locator(".lab-gate input")
    assert slider.is_disabled()
    lab.locator('.lab-head[data-head="cross:0:0"]').click()
    slider.fill("0.5")
    lab.locator('.lab-head[data-head="cross:1:1"]').click()
    assert lab.locator(".lab-gate span").inner_text() == "Gate of L2H2"
    slider.fill("0.25")
    assert lab.locator('.lab-head[data-head="cross:0:0"] em').inner_text() == "0.50"
    assert lab.locator('.lab-head[data-head="cross:1:1"] em').inner_text() == "0.25"
    with lab.expect_request(lambda request: "lab_switch" in (request.post_data or "")) as asked:
        lab.locator(".lab-again").click()
    assert "[[0.5,1],[1,0.25]]" in asked.value.post_data.replace(" ", "")
    lab.locator(".after h3", has_text="2 heads off").wait_for(timeout=30_000)


def test_a_click_on_a_candidate_puts_it_there(lab: Any) -> None:
    show(lab, "edit")
    lab.locator(".lab-figures .barlayer .point").first.wait_for(timeout=30_000)
    second = lab.locator(".lab-table tbody tr").nth(1).locator("td").first.inner_text()
    lab.locator(".lab-figures .nsewdrag").scroll_into_view_if_needed()
    bars = lab.locator(".lab-figures .nsewdrag").bounding_box()
    lab.mouse.click(bars["x"] + 2, bars["y"] + bars["height"] * 1.5 / 9)
    lab.wait_for_function("document.querySelector('.lab-options [aria-label=\"Token\"]').value !== ''")
    assert lab.locator(".lab-options [aria-label='Token']").input_value() == second
    lab.locator('.lab-view[aria-busy="false"]').wait_for(timeout=30_000)


def test_a_slider_stands_where_its_number_says(lab: Any) -> None:
    show(lab, "align")
    label = lab.locator(".lab-options label", has_text="Threshold")
    assert label.locator("input").input_value() == label.locator("output").inner_text() == "0.3"


def test_arrow_keys_walk_the_board_and_a_line_switches_a_layer(lab: Any) -> None:
    show(lab, "profile")
    lab.locator(".lab-presets button").first.click()
    lab.locator('.lab-head[data-head="cross:0:0"]').focus()
    lab.keyboard.press("ArrowDown")
    lab.keyboard.press("Space")
    assert lab.locator(".lab-head.off").get_attribute("data-head") == "cross:1:0"
    lab.locator(".lab-line", has_text="L1").click()
    assert lab.locator(".lab-head.off").count() == 3


@pytest.mark.parametrize("view", ["lens", "faithfulness", "beams", "cell", "profile", "edit", "contrast", "why"])
def test_a_view_draws_what_was_asked(lab: Any, view: str) -> None:
    show(lab, view)
    lab.locator(".lab-figures .main-svg").first.wait_for(timeout=30_000)
    assert lab.locator(".lab-view-error").is_hidden()


def test_a_target_of_ones_own_and_an_error_in_words(lab: Any) -> None:
    show(lab, "force")
    lab.locator(".lab-options [aria-label='Your translation']").fill("<b>The house</b> is old.")
    lab.locator(".lab-ask-view").click()
    lab.locator(".lab-table td").first.wait_for(timeout=30_000)
    assert lab.locator(".lab-table b").count() == 0
    show(lab, "cell")
    lab.locator(".lab-options input").last.fill("99")
    lab.locator(".lab-ask-view").click()
    lab.locator(".lab-view-error", has_text="“Key column” is 99").wait_for(timeout=30_000)


def test_another_sentence_takes_nothing_of_the_former(address: str, browser: Any) -> None:
    held: list[Any] = []

    def hold_the_first(route: Any) -> None:
        if held or "lab_ask" not in (route.request.post_data or ""):
            route.continue_()
        else:
            held.append(route)

    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.route("**/component_server/**", hold_the_first)
    page.goto(address)
    page.get_by_role("tab", name="Lab").click()
    page.locator(".lab-head").first.wait_for(timeout=60_000)
    page.locator(".lab-run").wait_for(timeout=60_000)
    first = page.locator(".before p").first.inner_text()
    page.locator("#lab-text").fill("Guten Morgen.")
    page.locator(".lab-run").click()
    page.locator(".lab-table td").first.wait_for(timeout=60_000)
    with page.expect_response(held[0].request.url):
        held[0].continue_()
    settle(page)
    now = page.locator(".before p").first.inner_text()
    assert now != first
    show(page, "force")
    page.locator(".lab-ask-view").click()
    page.locator(".lab-lines", has_text=now).wait_for(timeout=30_000)
    assert page.locator(".lab-options [aria-label='Your translation']").input_value() == now
    page.close()


def test_a_patched_cell_gives_another_translation(lab: Any) -> None:
    """By the mouse, and by the keys alone: each takes a cell, and the same again gives it back."""
    show(lab, "patch")
    lab.locator("#lab-text").fill("Ich renne in den Park.")
    lab.locator(".lab-options [aria-label='Second sentence']").fill("Ich renne in dem Park.")
    lab.locator(".lab-run").click()
    lab.locator(".lab-ask-view").click()
    board = lab.locator(".lab-figures .plot").first
    lab.locator(".lab-figures .nsewdrag").first.wait_for(timeout=30_000)
    lab.locator('.lab-view[aria-busy="false"]').wait_for(timeout=30_000)
    area = lab.locator(".lab-figures .nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    lab.mouse.click(box["x"] + 3, box["y"] + 3)
    said = lab.locator(".lab-lines p").last
    lab.locator(".lab-lines", has_text="States put in: 1.").wait_for(timeout=30_000)
    assert "0.00 of the difference" in said.inner_text()  # the first word is the same in both
    board.locator(".shapelayer path").first.wait_for(state="attached")
    board.focus()
    lab.keyboard.press("ArrowDown")
    lab.keyboard.press("Enter")
    lab.locator(".lab-lines", has_text="States put in: 2.").wait_for(timeout=30_000)
    lab.keyboard.press("ArrowUp")
    lab.keyboard.press("Enter")
    lab.locator(".lab-lines", has_text="States put in: 1.").wait_for(timeout=30_000)


def test_a_pair_can_be_tried_without_typing(lab: Any) -> None:
    show(lab, "patch")
    lab.locator(".lab-options button", has_text="Try").click()
    lab.locator("#lab-text").wait_for()
    assert lab.locator("#lab-text").input_value() == "Ich laufe in den Park."
    assert lab.locator(".lab-options [aria-label='Second sentence']").input_value() == "Ich laufe in dem Park."
    lab.locator('.lab-view[aria-busy="false"]').wait_for(timeout=30_000)


def test_a_slider_goes_through_the_layers(lab: Any) -> None:
    show(lab, "layers")
    slider = lab.locator(".lab-slides input")
    slider.wait_for(timeout=30_000)
    last = lab.locator(".lab-slide").inner_text()
    assert "layer 2:" in last
    slider.focus()
    lab.keyboard.press("ArrowLeft")
    assert "layer 1:" in lab.locator(".lab-slide").inner_text()
    rows = lab.locator(".lab-table tbody tr")
    assert rows.count() == 3 and rows.last.locator("td").last.inner_text() in last


def test_a_board_shows_how_far_it_is_and_can_be_stopped(
    address: str, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Held after its fourth batch, it shows a part of the whole; stopped, it computes no further."""
    held, stopped, batches = threading.Event(), threading.Event(), []
    run, grid = patching._run, patching.grid

    def slow(*args: Any) -> Any:
        batches.append(1)
        if len(batches) > 4:
            held.wait(60)
        return run(*args)

    def watched(*args: Any, **settings: Any) -> Any:
        try:
            return grid(*args, **settings)
        except CancelledError:
            stopped.set()
            raise

    monkeypatch.setattr(patching, "ROWS", 2)
    monkeypatch.setattr(patching, "_run", slow)
    monkeypatch.setattr(patching, "grid", watched)
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.get_by_role("tab", name="Lab").click()
    page.locator(".lab-run").wait_for(timeout=60_000)
    page.locator(".lab-head").first.wait_for(timeout=60_000)
    show(page, "patch")
    page.locator(".lab-options button", has_text="Try").click()
    far = page.locator(".lab-far")
    far.wait_for(timeout=60_000)
    page.wait_for_function(
        "(({value, max}) => value > 0 && value < 1 && max === 5)(document.querySelector('.lab-far'))"
    )
    page.locator(".lab-stop-view").click()
    page.locator('.lab-view[aria-busy="false"]').wait_for()
    assert far.is_hidden()
    held.set()
    assert stopped.wait(60) and len(batches) == 5
    page.close()


@pytest.fixture(scope="module")
def shipped() -> Iterator[str]:
    """A page whose explorer opens with the stored example of a shipped model."""
    from translator.ui.models import Models
    from translator.ui.page import build, launch_settings

    models = Models({"de-en": Path(__file__).parents[2] / "checkpoints" / "de-en"}, device="cpu")
    served = build(models)
    _, url, _ = served.launch(prevent_thread_lock=True, quiet=True, **launch_settings(models))
    yield url
    served.close()


@pytest.mark.parametrize("way", ["mouse", "touch", "keyboard"])
def test_a_cell_is_asked_why_here(shipped: str, browser: Any, way: str) -> None:
    """Click, tap or Enter chooses a cell of the first column; the lab works that cell and no other."""
    phone = way == "touch"
    size = {"width": 390, "height": 844} if phone else {"width": 1440, "height": 900}
    context = browser.new_context(viewport=size, has_touch=phone, is_mobile=phone)
    page = context.new_page()
    page.goto(shipped)
    button, area = page.locator(".ax .why-cell"), page.locator("#attention-detail .nsewdrag").first
    button.wait_for(timeout=60_000)
    area.wait_for(state="attached", timeout=60_000)
    area.scroll_into_view_if_needed()
    settle(page)
    box = area.bounding_box()
    corner = box["x"] + 4, box["y"] + 0.6 * min(box["height"], 300)
    if way == "mouse":
        page.mouse.click(*corner)
        page.mouse.move(0, 0)
    elif phone:
        page.touchscreen.tap(*corner)
    else:
        page.locator("#attention-detail").focus()
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
    first = page.locator(".ax .chips.src .chip").first.inner_text()
    page.locator(f'.ax .why-cell[aria-label$="→ {first}"]').wait_for()
    if way == "keyboard":
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.classList.contains('why-cell')"):
                break
        page.keyboard.press("Enter")
    else:
        button.click()
    lines = page.locator('.lab-view[data-view="why"] .lab-lines p')
    lines.first.wait_for(timeout=60_000)
    assert f"reads {first} with score" in lines.first.inner_text()
    assert page.locator(".lab-options [aria-label='Key column']").input_value() == "1"
    assert page.locator(".lab-options [aria-label='Query row']").input_value() != "1"
    context.close()


def test_a_candidate_and_a_link_lead_to_the_lab(shipped: str, browser: Any) -> None:
    """The lab answers about the translation that the explorer shows."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(shipped)
    page.locator(".ax .cand .ask").nth(1).wait_for(timeout=60_000)
    text = page.locator("#source-text textarea").input_value()
    others = page.locator(".ax .cand li:not(.pickd):not(.rest)")
    other = others.nth(1).locator(".t").inner_text()  # the likeliest would be taken without being named
    others.nth(1).locator(".ask").click()
    page.locator('.lab-view[data-view="contrast"] .lab-lines p').first.wait_for(timeout=60_000)
    assert page.locator(".lab-options [aria-label='Against']").input_value() == other
    assert page.locator("#lab-text").input_value() == text
    page.get_by_role("tab", name="Explorer").click()
    page.locator(".ax .links .ask").first.focus()
    page.keyboard.press("Enter")
    page.locator('.lab-view[data-view="why"] .lab-lines p').first.wait_for(timeout=60_000)
    assert page.locator(".lab-view-error").is_hidden()
    page.close()


def test_compare_leads_to_the_patching_board(address: str, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.get_by_role("tab", name="Compare").click()
    page.locator(".cx .carries").click(timeout=60_000)
    first, second = (
        page.locator(f"#compare-{side} textarea, #compare-{side} input").first.input_value() for side in "ab"
    )
    page.locator('.lab-view[data-view="patch"]').wait_for()
    assert page.locator("#lab-text").input_value() == first
    assert page.locator(".lab-options [aria-label='Second sentence']").input_value() == second
    page.locator('.lab-view[aria-busy="false"]').wait_for(timeout=60_000)
    page.close()


def test_arrow_keys_walk_the_questions(lab: Any) -> None:
    show(lab, "contrast")
    lab.locator('[data-question="word"]').focus()
    lab.keyboard.press("ArrowRight")
    assert lab.evaluate("document.activeElement.dataset.question") == "carries"
    assert lab.locator('.lab-views [data-view="patch"]').get_attribute("aria-selected") == "true"
    assert lab.locator(".lab-top").is_hidden()


@pytest.mark.parametrize(
    ("language", "title"), [("zh", "注意力头开关板"), ("de", "Schalttafel der Köpfe"), ("en", "Head switchboard")]
)
def test_it_speaks_three_languages(lab: Any, language: str, title: str) -> None:
    show(lab, "profile")
    lab.locator(f'[data-language="{language}"]').first.click()
    assert lab.locator(".lab-board h2").inner_text() == title
    assert not lab.errors
