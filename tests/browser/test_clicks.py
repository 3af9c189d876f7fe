"""What the mouse does on the large map: a real press, a real release, nothing sent by script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import wait_shown

pytestmark = pytest.mark.browser

PLOT = "#attention-detail .plot"
SPOT = """([i, j]) => { const l = document.querySelector('#attention-detail .plot')._fullLayout;
    return { x: l.xaxis._offset + l.xaxis.l2p(j), y: l.yaxis._offset + l.yaxis.l2p(i) }; }"""


def move(page: Page, row: int, column: int) -> None:
    """Move the mouse to the middle of a cell, once the map stands still: what comes above it may push it down."""
    page.hover(PLOT, position=page.evaluate(SPOT, [row, column]))


def press(page: Page, row: int, column: int, *, keys: str = "", times: int = 1) -> None:
    """Click the middle of a cell as a hand does: go there, press, release."""
    move(page, row, column)
    if keys:
        page.keyboard.down(keys)
    for count in range(1, times + 1):
        page.mouse.down(click_count=count)
        page.mouse.up(click_count=count)
    if keys:
        page.keyboard.up(keys)


def test_a_click_on_a_cell_goes_to_its_step(open_page: Callable[..., Page]) -> None:
    page = open_page()
    for row in (1, 5, 2):
        press(page, row, 3)
        expect(page.locator("#step-slider")).to_have_value(str(row + 1))


def test_a_shift_click_pins_row_and_column_and_another_lets_them_go(open_page: Callable[..., Page]) -> None:
    page = open_page()
    before = page.input_value("#step-slider")
    press(page, 4, 2, keys="Shift")
    expect(page.locator("#attention-detail .pin-frame")).to_have_count(2)
    press(page, 4, 2, keys="Shift")
    expect(page.locator("#attention-detail .pin-frame")).to_have_count(0)
    assert page.input_value("#step-slider") == before


def test_a_drag_zooms_and_is_no_click_and_a_double_click_shows_all_again(open_page: Callable[..., Page]) -> None:
    page = open_page()
    before = page.input_value("#step-slider")
    move(page, 1, 1)
    page.mouse.down()
    box, end = page.locator(PLOT).bounding_box(), page.evaluate(SPOT, [5, 6])
    assert box is not None
    page.mouse.move(box["x"] + end["x"], box["y"] + end["y"], steps=6)
    page.mouse.up()
    expect(page.locator("#attention-detail .reset-zoom")).to_be_visible()
    assert page.input_value("#step-slider") == before
    press(page, 3, 3, times=2)
    expect(page.locator("#attention-detail .reset-zoom")).to_be_hidden()


def test_a_click_on_a_cell_of_the_encoder_chooses_its_row(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.click("[data-kind=encoder]")
    page.wait_for_function("document.querySelectorAll('#attention-detail .y2tick').length === 0")
    press(page, 4, 1)
    wait_shown(page, query=4)


def test_a_click_on_a_cell_goes_to_its_step_in_the_offline_page_too(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = open_page()
    with page.expect_download() as download:
        page.click("#export-html")
    download.value.save_as(tmp_path / "page.html")
    offline = page.context.new_page()
    offline.goto((tmp_path / "page.html").as_uri())
    offline.wait_for_selector("#attention-detail .xtick")
    for row in (1, 5, 2):
        press(offline, row, 3)
        wait_shown(offline, step=row)
    press(offline, 4, 2, keys="Shift")
    expect(offline.locator("#attention-detail .pin-frame")).to_have_count(2)
