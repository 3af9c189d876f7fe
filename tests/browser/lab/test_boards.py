"""Boards: heads switched off, cells patched, and how far a board is."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.lab.page import show
from translator import CancelledError
from translator.analysis import patching

pytestmark = pytest.mark.browser


def test_a_head_is_switched_off_and_the_sentence_translated_again(lab: Any) -> None:
    show(lab, "profile")
    lab.locator(".lab-presets button").first.click()
    head = lab.locator('.lab-head[data-head="cross:1:0"]')
    expect(head).to_have_attribute("aria-checked", "true")
    head.click()
    expect(lab.locator('.lab-head[data-head="cross:1:0"]')).to_have_attribute("aria-checked", "false")
    lab.locator(".lab-again").click()
    lab.locator(".after h3", has_text="1 head off").wait_for(timeout=30_000)
    expect(lab.locator(".lab-ribbons svg path")).not_to_have_count(0)
    expect(lab.locator(".after")).to_contain_text("Δ", use_inner_text=True)


def test_each_head_has_its_own_gate(lab: Any) -> None:
    """The slider moves the heads touched last; the gates travel with the translation and the JSON."""
    show(lab, "profile")
    lab.locator(".lab-presets button").first.click()
    slider = lab.locator(".lab-gate input")
    expect(slider).to_be_disabled()
    lab.locator('.lab-head[data-head="cross:0:0"]').click()
    slider.fill("0.5")
    lab.locator('.lab-head[data-head="cross:1:1"]').click()
    expect(lab.locator(".lab-gate span")).to_have_text("Gate of L2H2", use_inner_text=True)
    slider.fill("0.25")
    expect(lab.locator('.lab-head[data-head="cross:0:0"] em')).to_have_text("0.50", use_inner_text=True)
    expect(lab.locator('.lab-head[data-head="cross:1:1"] em')).to_have_text("0.25", use_inner_text=True)
    with lab.expect_request(lambda request: "lab_switch" in (request.post_data or "")) as asked:
        lab.locator(".lab-again").click()
    assert "[[0.5,1],[1,0.25]]" in asked.value.post_data.replace(" ", "")
    lab.locator(".after h3", has_text="2 heads off").wait_for(timeout=30_000)


def test_a_slider_stands_where_its_number_says(lab: Any) -> None:
    show(lab, "align")
    label = lab.locator(".lab-options label", has_text="Threshold")
    expect(label.locator("input")).to_have_value("0.3")
    expect(label.locator("output")).to_have_text("0.3", use_inner_text=True)


def test_arrow_keys_walk_the_board_and_a_line_switches_a_layer(lab: Any) -> None:
    show(lab, "profile")
    lab.locator(".lab-presets button").first.click()
    lab.locator('.lab-head[data-head="cross:0:0"]').focus()
    lab.keyboard.press("ArrowDown")
    lab.keyboard.press("Space")
    expect(lab.locator(".lab-head.off")).to_have_attribute("data-head", "cross:1:0")
    lab.locator(".lab-line", has_text="L1").click()
    expect(lab.locator(".lab-head.off")).to_have_count(3)


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
    lab.locator('.lab-figures .plot[tabindex="0"]').first.wait_for()  # its cells can be taken
    lab.locator(".lab-figures .nsewdrag").first.click(position={"x": 3, "y": 3})
    said = lab.locator(".lab-lines p").last
    lab.locator(".lab-lines", has_text="States put in: 1.").wait_for(timeout=30_000)
    # the first word is the same in both
    expect(said).to_contain_text("0.00 of the difference", use_inner_text=True)
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
    expect(lab.locator("#lab-text")).to_have_value("Ich laufe in den Park.")
    expect(lab.locator(".lab-options [aria-label='Second sentence']")).to_have_value("Ich laufe in dem Park.")
    lab.locator('.lab-view[aria-busy="false"]').wait_for(timeout=30_000)


def test_a_slider_goes_through_the_layers(lab: Any) -> None:
    show(lab, "layers")
    slider = lab.locator(".lab-slides input")
    slider.wait_for(timeout=30_000)
    expect(lab.locator(".lab-slide")).to_contain_text("layer 2:", use_inner_text=True)
    last = lab.locator(".lab-slide").inner_text()
    slider.focus()
    lab.keyboard.press("ArrowLeft")
    expect(lab.locator(".lab-slide")).to_contain_text("layer 1:", use_inner_text=True)
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
    expect(far).to_be_hidden()
    held.set()
    assert stopped.wait(60) and len(batches) == 5
    page.close()
