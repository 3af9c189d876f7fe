"""Translations on the page without a server, and every tab that is made of one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

import translator
from benchmarks.shown import trace
from tests.browser.file_host import host as hosted
from tests.browser.live.page import (
    PATIENCE,
    PREPARED,
    TYPED,
    check,
    opened,
    painted,
    shown,
    type_and_translate,
    until,
)
from tests.browser.webkit.opened import WEBKIT
from translator import Translator
from translator.figures import positions
from translator.ui.live.site import write_site

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def test_a_typed_sentence_is_translated_here_and_sent_nowhere(
    context: BrowserContext, host: Any, tiny: Translator
) -> None:
    page = opened(context, host.address)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(f"{request.method} {request.url} {request.post_data}"))
    check(type_and_translate(page, TYPED), tiny)
    expect(page.locator("#translation textarea")).to_have_value(tiny.translate(TYPED).translation)
    assert sent and all(each.startswith(f"GET {host.address}") and "Haus" not in each for each in sent)
    engines = [path for path, _ in host.asked if path.endswith(".wasm")]
    # Chromium has relaxed SIMD since version 114, WebKitGTK 2.50 has it not
    assert [Path(path).name for path in engines] == ["engine.wasm" if WEBKIT else "relaxed.wasm"]
    for part in ("#decode-steps", "#attention-kind", "#layer", "#head", "#attention-detail"):
        assert page.is_visible(part)
    page.click("#attention-kind [data-kind=encoder]")
    page.wait_for_selector("#attention-detail .xtick")


def test_the_shipped_checkpoint_translates_as_python_does(context: BrowserContext, tmp_path: Path) -> None:
    model = translator.load("de-en", device="cpu")
    write_site(tmp_path, [model])
    with hosted(tmp_path) as serving:
        page = opened(context, serving.address)
        check(type_and_translate(page, "Gestern habe ich ein gutes Buch gelesen."), model)
        small = type_and_translate(page, "wann fährt der nächste zug nach münchen?")
        check(small, model)
        written = model.source_ids("Wann fährt der nächste Zug nach München?")
        assert tuple(token["id"] for token in small["src"]) == written


def test_an_address_says_direction_and_text(context: BrowserContext, host: Any, tiny: Translator) -> None:
    page = opened(context, f"{host.address}?direction=tiny&text=Das%20Haus%20ist%20alt.")
    until(page, lambda: (shown(page) or {}).get("source") == TYPED)
    expect(page.locator("#source-text textarea")).to_have_value(TYPED)


def test_nothing_asks_the_lab_for_a_view_that_it_lacks(context: BrowserContext, host: Any, tiny: Translator) -> None:
    """Else a visitor fetches the model only to read that the view needs a server."""
    page = opened(context, host.address)
    for text in (PREPARED, TYPED):
        if text == TYPED:
            type_and_translate(page, text)
        page.click("#attention-kind [data-kind=encoder]")
        page.click(".chips.src .chip >> nth=1")
        painted(page)
        assert page.locator(".cand li button.t").count() > 0  # to go on with another candidate needs no lab
        asking = page.locator(":is(#explorer, #compare) :is(.ask, .why-cell, .doubts)").locator("visible=true")
        assert asking.evaluate_all("nodes => nodes.map((node) => node.title)") == []
    page.click("[role=tab]:has-text('Compare')")
    for side, text in (("a", TYPED), ("b", PREPARED)):
        page.fill(f"#compare-{side} textarea", text)
    page.click("#compare-run")
    page.wait_for_selector(f"#compare :text('{tiny.translate(TYPED).translation[:12]}')")
    expect(page.locator("#compare .carries")).to_be_hidden()


def test_the_lab_and_compare(context: BrowserContext, host: Any, tiny: Translator) -> None:
    page = opened(context, host.address)
    page.click("[role=tab]:has-text('Lab')")
    page.click(".lab-run")
    until(page, lambda: page.locator(".lab-grid button").count() >= 4)
    page.click("[role=tab]:has-text('Compare')")
    for side, text in (("a", TYPED), ("b", PREPARED)):
        page.fill(f"#compare-{side} textarea", text)
    page.click("#compare-run")
    page.wait_for_selector(f"#compare :text('{tiny.translate(TYPED).translation[:12]}')")


def plotted(page: Page, figure: str) -> list[dict[str, Any]]:
    """What Plotly drew in a figure of Positions, arrays as plain lists; none while there is nothing."""
    return page.evaluate(
        """(id) => (document.querySelector(`${id} .plot`).data ?? []).map(({ z, y, name, zmax }) =>
            ({ z: z && Array.from(z, (row) => Array.from(row)), y: Array.from(y), name, zmax }))""",
        f"#position-{figure}",
    )


def same(found: np.ndarray | list[Any], expected: Any) -> bool:
    return np.shape(found) == np.shape(expected) and np.allclose(found, expected, atol=1e-5)


def test_positions_are_drawn_as_by_python(context: BrowserContext, host: Any, tiny: Translator) -> None:
    link = "#positions=1&table=sinusoidal&layout=concatenated&n=40&d=20&curves=1, 3-4"
    page = opened(context, host.address + link, shows="#position-heatmap .main-svg")
    table = positions.sinusoidal(40, 20, layout="concatenated")
    heat = lambda each: (drawn := plotted(page, "heatmap")) and same(drawn[0]["z"], each)  # noqa: E731
    until(page, lambda: heat(table))
    lines = until(page, lambda: plotted(page, "lines"))
    assert [each["name"] for each in lines] == ["dim 1", "dim 3", "dim 4"]
    assert same([each["y"] for each in lines], table[:, [1, 3, 4]].T)
    (likeness,) = plotted(page, "similarity")
    expected = positions.similarity_matrix(table).data[0]
    assert same(likeness["z"], expected.z) and likeness["zmax"] == pytest.approx(expected.zmax)
    page.fill("#position-curves input", "3, 400")
    page.keyboard.press("Enter")
    page.wait_for_selector("#position-lines :text('dimension 400 is beyond the last one, 19')")
    page.check("#position-table input[value=tiny]", force=True)
    until(page, lambda: heat(tiny.bundle.model.src_positions.numpy()[:40, :20]))


def test_a_link_carries_a_forced_beginning(context: BrowserContext, host: Any, tiny: Translator) -> None:
    page = opened(context, host.address)
    own = type_and_translate(page, TYPED)
    page.locator("#candidates li:not(.pickd) button.t").first.click()
    said = page.inner_text(".notice:has-text(' on translated with ')")
    begun, count = shown(page), int(re.findall(r"\d+", said)[0])
    given = [token["id"] for token in begun["tgt"][:count]]
    assert given != [token["id"] for token in own["tgt"][:count]]
    expected = tiny.translate(TYPED, prefix=given)
    assert [token["id"] for token in begun["tgt"]] == [token.id for token in expected.tgt]
    link = page.evaluate("location.origin + location.pathname + history.state.explorer")
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(".notice:has-text(' on translated with ')")).to_have_text(said, use_inner_text=True)
    assert shown(page)["tgt"] == begun["tgt"]


def test_a_link_to_a_comparison_opens_it(context: BrowserContext, host: Any, tiny: Translator) -> None:
    link = f"#compare=1&a={TYPED}&ad=tiny&b={PREPARED}&bd=tiny"
    page = opened(context, host.address + link, shows="#compare [data-side=b] .xtick")
    page.wait_for_selector(f"#compare :text('{tiny.translate(TYPED).translation[:12]}')")
    expect(page.locator("#compare-tab")).to_be_visible()


def test_an_offline_page_is_made_here(context: BrowserContext, host: Any, browser: Browser, tmp_path: Path) -> None:
    page = opened(context, host.address)
    type_and_translate(page, TYPED)
    with page.expect_download() as download:
        page.click(".export button:has-text('Offline page')")
    path = tmp_path / "offline.html"
    download.value.save_as(path)
    alone = browser.new_context(offline=True)
    taken = alone.new_page()
    taken.goto(path.as_uri())
    taken.wait_for_selector("#attention-detail .xtick", timeout=PATIENCE)
    assert trace(taken)["source"] == TYPED
    alone.close()
