"""Checkpoints other than the shipped ones on the same page: listed, switched, translated with, shown whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from benchmarks.served import free_port
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
def page(address: str, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page, faults = context.new_page(), []
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address)
    page.wait_for_selector("#direction label")
    yield page
    context.close()
    assert not faults


def translated(page: Page, name: str) -> None:
    """Press Translate, and wait until the explorer holds the whole trace of `name`."""
    page.fill("#source-text textarea", SENTENCE)
    page.click("#translate")
    page.wait_for_function(
        "name => { const x = window.__explorer.trace; return x && !x.live && x.direction === name && x.tgt.length; }",
        arg=name,
    )


def test_what_is_named_is_listed_first_and_the_shipped_stay(page: Page) -> None:
    listed = page.eval_on_selector_all("#direction input", "all => all.map(each => each.value)")
    assert listed[:4] == ["opus-mt-de-en", "tiny", "en-zh", "de-en"]
    assert page.inner_text("#direction label.selected") == "opus-mt-de-en"
    names = page.eval_on_selector_all("#direction label", "all => all.map(each => each.innerText.trim())")
    assert names[:4] == ["opus-mt-de-en", "tiny", "English → 中文", "Deutsch → English"]


def test_a_marian_folder_shows_all_its_maps_and_another_is_switched_to_without_a_reload(page: Page) -> None:
    page.wait_for_function("window.__explorer")
    translated(page, "opus-mt-de-en")
    page.wait_for_selector("#attention-detail .xtick")
    for kind, (layers, heads) in KINDS.items():
        page.click(f"#explorer [data-kind={kind}]")
        page.wait_for_function("kind => window.__explorer.state.kind === kind", arg=kind)
        assert page.evaluate("kind => window.__explorer.trace.maps[kind].layers", kind) == layers
        assert page.evaluate("kind => window.__explorer.trace.maps[kind].heads", kind) == heads
        sums = page.evaluate(
            """kind => { const { values, columns } = window.__explorer.trace.maps[kind], sums = [];
                for (let i = 0; i < values.length; i += columns)
                    sums.push(values.slice(i, i + columns).reduce((a, b) => a + b, 0));
                return [Math.min(...sums), Math.max(...sums)]; }""",
            kind,
        )
        assert sums == pytest.approx([1, 1], abs=1e-3)
    page.evaluate("window.__stays = true")
    page.click("#direction label:has(input[value='tiny'])")
    translated(page, "tiny")
    assert page.evaluate("window.__explorer.trace.checkpoint.name") == "tiny"
    page.click("#direction label:has(input[value='opus-mt-de-en'])")
    translated(page, "opus-mt-de-en")
    assert page.evaluate("window.__explorer.trace.checkpoint.name") == "opus-mt-de-en"
    assert page.evaluate("window.__stays")


def test_a_head_is_kept_for_another_sentence_and_left_with_its_checkpoint(page: Page) -> None:
    """A head of another model is another head: what opens is the one that this model links words best with."""
    page.wait_for_function("window.__explorer")
    translated(page, "opus-mt-de-en")
    chosen = "(({ layer, head }) => ({ layer, head }))(window.__explorer.state)"
    leading = page.evaluate("window.__explorer.trace.leading")
    assert page.evaluate(chosen) == leading
    other = {"layer": 0, "head": 3 if leading["head"] != 3 else 2}
    page.evaluate("other => window.__explorer.set(other)", other)
    page.fill("#source-text textarea", "Das Haus ist alt.")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("window.__explorer.trace.source === 'Das Haus ist alt.' && !window.__explorer.trace.live")
    assert page.evaluate(chosen) == other
    page.click("#direction label:has(input[value='tiny'])")
    translated(page, "tiny")
    assert page.evaluate("window.__explorer.trace.leading") != other
    assert page.evaluate(chosen) == page.evaluate("window.__explorer.trace.leading")


def test_a_head_that_another_attention_lacks_gives_way_to_its_last(page: Page) -> None:
    page.wait_for_function("window.__explorer")
    translated(page, "opus-mt-de-en")
    chosen = "(({ kind, layer, head }) => [kind, layer, head])(window.__explorer.state)"
    page.evaluate("window.__explorer.set({ kind: 'cross', layer: 0, head: 3 })")
    page.click("#explorer [data-kind=encoder]")
    assert page.evaluate(chosen) == ["encoder", 0, 1]
    page.evaluate("window.__explorer.set({ layer: 2 })")
    page.click("#explorer [data-kind=decoder]")
    assert page.evaluate(chosen) == ["decoder", 0, 1]
    page.wait_for_selector("#attention-detail .xtick")
    page.evaluate("window.__explorer.set({ head: 3 })")
    page.click(".more summary")
    page.get_by_text("5: one word, two heads").click()
    page.wait_for_selector("#attention-arcs path", state="attached")
    assert page.evaluate("window.__explorer.state.overlay") == [[0, 1], [0, 0]]


def test_exports_and_links_name_the_checkpoint_itself(page: Page, address: str) -> None:
    page.wait_for_function("window.__explorer")
    translated(page, "opus-mt-de-en")
    with page.expect_download() as download:
        page.click("text=NPZ")
    assert "opus-mt-de-en" in download.value.suggested_filename
    link = f"{address}#d=tiny&t=wir"
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_function("window.__explorer && window.__explorer.trace && !window.__explorer.trace.live")
    assert page.evaluate("window.__explorer.trace.direction") == "tiny"
    assert page.evaluate("document.querySelector('#direction input:checked').value") == "tiny"


def test_the_address_chooses_any_of_them(page: Page, address: str) -> None:
    page.goto(f"{address}?direction=tiny")
    page.wait_for_function("document.querySelector('#direction input:checked')?.value === 'tiny'")
