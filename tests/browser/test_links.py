"""Links that a visitor gets: half of one, a wrong one, one put into a page that is open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import shown, trace, wait_shown, wait_translated

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("settings", ["&m=beam&b=x", "&m=sample&tp=abc", "&m=toString&te=", "&k=toString&l=1.5&s=x"])
def test_what_a_link_says_wrongly_is_left_out(open_page: Callable[..., Page], settings: str) -> None:
    page = open_page("#t=We+are+here.&d=en-zh" + settings)
    wait_translated(page, "We are here.")
    page.wait_for_function("!document.body.classList.contains('busy')")


@pytest.mark.parametrize("direction", ["opus-mt-fr-en", "xx"])
def test_a_link_to_a_model_that_is_not_here_is_said(open_page: Callable[..., Page], direction: str) -> None:
    page = open_page(f"#t=Bonjour+le+monde&d={direction}")
    page.wait_for_function(f"document.querySelector('.notice.error').textContent.includes('no direction {direction}')")
    page.wait_for_function("!document.body.classList.contains('busy')")
    assert shown(page)["source"] != "Bonjour le monde"


def test_a_link_put_into_an_open_page_is_followed(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.evaluate("location.href = '#d=de-en&t=Guten+Morgen.&k=decoder&l=2&h=3'")
    wait_translated(page, "Guten Morgen.", kind="decoder", layer=1, head=2)


def test_a_link_keeps_how_maps_are_shown(open_page: Callable[..., Page]) -> None:
    page = open_page()
    wanted = {"view": "aggregate", "aggregate": "all-max", "scale": "root", "specials": "hidden", "unit": "word"}
    for name in ("view", "scale", "unit"):
        page.click(f"#explorer [data-{name}={wanted[name]}]")
    page.select_option("#aggregate", wanted["aggregate"])
    page.locator("#explorer .specials").uncheck()
    wait_shown(page, **wanted)
    page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text; }")
    page.click("#permalink")
    page.wait_for_function("window.copied")
    link = page.evaluate("window.copied")
    other = open_page("#" + link.split("#")[1])
    wait_shown(other, **wanted)


def test_a_link_carries_a_forced_beginning(open_page: Callable[..., Page]) -> None:
    page = open_page("#t=We+are+here.&d=en-zh&m=greedy")
    wait_translated(page, "We are here.")
    page.locator("#candidates li:not(.pickd) button.t").first.click()
    said = page.inner_text(".notice:has-text(' on translated with ')")
    link = page.evaluate("history.state.explorer")
    other = open_page(link)
    expect(other.locator(".notice:has-text(' on translated with ')")).to_have_text(said, use_inner_text=True)
    assert trace(other)["tgt"] == trace(page)["tgt"]


def test_a_link_without_a_head_opens_at_one_that_aligns(open_page: Callable[..., Page]) -> None:
    page = open_page("#t=We+are+here.&d=en-zh")
    wait_translated(page, "We are here.")
    found, at = trace(page), shown(page)
    assert found["roles"]["cross"][at["layer"] * len(found["cross"][0]) + at["head"]] == "aligns"


def test_a_view_is_taken_away_as_link_numbers_and_picture(open_page: Callable[..., Page]) -> None:
    asked = {"step": 2, "word": None, "against": None}
    link = "#" + urlencode({"lab": "contrast", "d": "de-en", "t": "Ich renne.", "o": json.dumps({"step": 2})})
    page = open_page(link, shown=".lab-take [data-take=csv]")
    expect(page.locator(".lab-views [aria-selected=true]")).to_have_attribute("data-view", "contrast")
    expect(page.locator("#lab-text")).to_have_value("Ich renne.")
    page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text; }")
    page.click(".lab-take [data-take=link]")
    page.wait_for_function("window.copied")
    copied = dict(parse_qsl(page.evaluate("new URL(window.copied).hash.slice(1)")))
    assert copied["lab"] == "contrast" and copied["t"] == "Ich renne."
    chosen = json.loads(copied["o"])
    assert chosen["step"] == 2 and set(chosen) == set(asked)  # and what the server chose
    with page.expect_download() as saved:
        page.click(".lab-take [data-take=json]")
    whole = json.loads(Path(saved.value.path()).read_text())
    assert whole["view"] == "contrast" and len(whole["figures"]) == 2 and whole["table"]["rows"]
    assert all(isinstance(value, float) for value in whole["figures"][1][0]["y"])
    with page.expect_download() as saved:
        page.click(".lab-take [data-take=csv]")
    table = Path(saved.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert table[0] == "part,share" and any("gradient" in line for line in table)
    with page.expect_download() as saved:
        page.click(".lab-take [data-take=svg]")
    assert saved.value.suggested_filename.endswith(".svg")
