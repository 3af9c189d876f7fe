"""Checkpoints other than the shipped ones on the same page: listed, switched, translated with, shown whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from benchmarks.served import free_port
from benchmarks.shown import pick, shown, trace, wait_shown, wait_translated
from tests.browser.regular import Regular
from translator.checkpoints.shelf import offered
from translator.ui.models import DIRECTIONS, Models
from translator.ui.serve import Server

pytestmark = pytest.mark.browser
SENTENCE = "Das Haus ist alt."
KINDS = {"encoder": (3, 2), "decoder": (1, 4), "cross": (1, 4)}
"""Layers and heads of the tiny Marian checkpoint."""


@pytest.fixture(scope="module")
def address(tiny_marian: Path, tiny_checkpoint: Path) -> Iterator[str]:
    """A page as `python -m translator serve MARIAN TINY` makes it."""
    models = Models(offered([str(tiny_marian), str(tiny_checkpoint)], DIRECTIONS), device="cpu")
    server = Server(models, server_name="127.0.0.1", server_port=free_port())
    yield server.url
    server.close()


@pytest.fixture
def page(address: str, regular: Regular) -> Iterator[Page]:
    page, faults = regular.page(address, width=1440, height=900), []
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address)
    page.wait_for_selector("#direction label")
    yield page
    regular.forget()
    assert not faults


def translated(page: Page, name: str) -> None:
    """Press Translate, and wait until the explorer holds the whole trace of `name`."""
    page.fill("#source-text textarea", SENTENCE)
    page.click("#translate")
    wait_translated(page, SENTENCE, direction=name)


def chosen(page: Page) -> dict[str, int]:
    return {name: shown(page)[name] for name in ("layer", "head")}


def test_what_is_named_is_listed_first_and_the_shipped_stay(page: Page) -> None:
    listed = page.eval_on_selector_all("#direction input", "all => all.map(each => each.value)")
    assert listed[:4] == ["opus-mt-de-en", "tiny", "de-en", "en-zh"]
    expect(page.locator("#direction label.selected")).to_have_text("opus-mt-de-en", use_inner_text=True)
    names = page.eval_on_selector_all("#direction label", "all => all.map(each => each.innerText.trim())")
    assert names[:4] == ["opus-mt-de-en", "tiny", "Deutsch → English", "English → 中文"]


def test_a_marian_folder_shows_all_its_maps_and_another_is_switched_to_without_a_reload(page: Page) -> None:
    translated(page, "opus-mt-de-en")
    page.wait_for_selector("#attention-detail .xtick")
    for kind, (layers, heads) in KINDS.items():
        pick(page, kind=kind)
        maps = np.array(trace(page)[kind])
        assert maps.shape[:2] == (layers, heads)
        np.testing.assert_allclose(maps.sum(axis=-1), 1, atol=1e-3)
    page.evaluate("window.__stays = true")
    page.click("#direction label:has(input[value='tiny'])")
    translated(page, "tiny")
    assert trace(page)["checkpoint"]["name"] == "tiny"
    page.click("#direction label:has(input[value='opus-mt-de-en'])")
    translated(page, "opus-mt-de-en")
    assert trace(page)["checkpoint"]["name"] == "opus-mt-de-en"
    assert page.evaluate("window.__stays")


def test_a_head_is_kept_for_another_sentence_and_left_with_its_checkpoint(page: Page) -> None:
    """A head of another model is another head: what opens is the one that this model links words best with."""
    translated(page, "opus-mt-de-en")
    leading = trace(page)["leading"]
    assert chosen(page) == leading
    other = {"layer": 0, "head": 3 if leading["head"] != 3 else 2}
    pick(page, **other)
    page.fill("#source-text textarea", "Das Haus ist neu.")
    page.keyboard.press("Control+Enter")
    wait_translated(page, "Das Haus ist neu.")
    assert chosen(page) == other
    page.click("#direction label:has(input[value='tiny'])")
    translated(page, "tiny")
    assert trace(page)["leading"] != other
    assert chosen(page) == trace(page)["leading"]


def test_a_head_that_another_attention_lacks_gives_way_to_its_last(page: Page) -> None:
    translated(page, "opus-mt-de-en")
    pick(page, kind="cross", layer=0, head=3)
    pick(page, kind="encoder")
    assert chosen(page) == {"layer": 0, "head": 1}
    pick(page, layer=2)
    pick(page, kind="decoder")
    assert chosen(page) == {"layer": 0, "head": 1}
    page.wait_for_selector("#attention-detail .xtick")
    pick(page, head=3)
    page.click(".more summary")
    page.get_by_text("5: one word, two heads").click()
    page.wait_for_selector("#attention-arcs path", state="attached")
    wait_shown(page, overlay=[[0, 1], [0, 0]])


def test_exports_and_links_name_the_checkpoint_itself(page: Page, address: str) -> None:
    translated(page, "opus-mt-de-en")
    with page.expect_download() as download:
        page.click("text=NPZ")
    assert "opus-mt-de-en" in download.value.suggested_filename
    link = f"{address}#d=tiny&t=wir"
    page.goto("about:blank")
    page.goto(link)
    wait_translated(page, "wir", direction="tiny")
    page.wait_for_function("document.querySelector('#direction input:checked').value === 'tiny'")


def test_the_address_chooses_any_of_them(page: Page, address: str) -> None:
    page.goto(f"{address}?direction=tiny")
    page.wait_for_function("document.querySelector('#direction input:checked')?.value === 'tiny'")
