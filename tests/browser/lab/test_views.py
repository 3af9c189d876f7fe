"""The lab in a real browser: it runs by itself, saves, and draws what is asked."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from benchmarks.shown import settle
from tests.browser.lab.page import show

pytestmark = pytest.mark.browser


def test_it_runs_by_itself_once_and_shows_what_one_head_does(lab: Any) -> None:
    assert lab.opened_with == (1, "1 head off")
    lab.get_by_role("tab", name="Explorer").click()
    lab.get_by_role("tab", name="Lab").click()
    lab.locator(".lab-head").first.wait_for()
    lab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
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
    expect(lab.locator(".lab-figures figure")).to_have_count(3)
    lab.locator(".lab-options [aria-label='Query row']").fill("1")
    lab.locator(".lab-options [aria-label='Key column']").fill("1")


def test_an_alignment_is_drawn_and_what_was_missed_is_dashed(lab: Any) -> None:
    show(lab, "align")
    lab.locator(".lab-figures svg.ribbons path").first.wait_for(timeout=30_000)
    expect(lab.locator(".lab-options [aria-label='Layer']")).not_to_have_value("")
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
    settle(page)
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


def test_a_click_on_a_candidate_puts_it_there(lab: Any) -> None:
    show(lab, "edit")
    lab.locator(".lab-figures .barlayer .point").first.wait_for(timeout=30_000)
    second = lab.locator(".lab-table tbody tr").nth(1).locator("td").first.inner_text()
    bars = lab.locator(".lab-figures .nsewdrag")
    bars.click(position={"x": 2, "y": bars.bounding_box()["height"] * 1.5 / 9})
    lab.wait_for_function("document.querySelector('.lab-options [aria-label=\"Token\"]').value !== ''")
    expect(lab.locator(".lab-options [aria-label='Token']")).to_have_value(second)
    lab.locator('.lab-view[aria-busy="false"]').wait_for(timeout=30_000)


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
    expect(page.locator(".lab-options [aria-label='Your translation']")).to_have_value(now)
    page.close()
