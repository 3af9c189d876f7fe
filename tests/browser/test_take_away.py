"""What can be taken away: pictures, tables, the trace, a page that works offline, and a link."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.shown import trace, wait_translated
from tests.browser.webkit.opened import WEBKIT
from translator.ui.payload import unpack

pytestmark = pytest.mark.browser


def save(page: Page, kind: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.click(f"[data-export={kind}]")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_pictures_are_pictures(open_page: Callable[..., Page], tmp_path: Path) -> None:
    page = open_page()
    assert save(page, "png", tmp_path).read_bytes().startswith(b"\x89PNG")
    svg = save(page, "svg", tmp_path).read_text(encoding="utf-8")
    assert svg.startswith("<svg") and "hospital" in svg
    page.click("[data-view=arcs]")
    assert save(page, "png", tmp_path).read_bytes().startswith(b"\x89PNG")
    assert "<path" in save(page, "svg", tmp_path).read_text(encoding="utf-8")


def png_size(data: bytes) -> tuple[int, int, int]:
    """Width and height in pixels, and pixels a metre."""
    at = data.index(b"pHYs") + 4
    return (*struct.unpack(">II", data[16:24]), struct.unpack(">I", data[at : at + 4])[0])


def test_a_picture_says_what_it_shows_in_the_size_that_was_asked_for(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = open_page("?direction=en-zh")
    svg = save(page, "svg", tmp_path).read_text(encoding="utf-8")
    checkpoint = trace(page)["checkpoint"]["sha256"]
    for said in ("My father works in a hospital.", "L3 H5", checkpoint[:12], "beam 4"):
        assert said in svg
    page.click(".paper summary")
    page.select_option(".paper-width", "85")
    page.select_option(".paper-dpi", "300")
    page.uncheck(".paper-caption")
    width, _, per_metre = png_size(save(page, "png", tmp_path).read_bytes())
    assert width == pytest.approx(85 / 25.4 * 300, abs=2) and per_metre == round(300 / 0.0254)
    bare = save(page, "svg", tmp_path).read_text(encoding="utf-8")
    assert 'width="85mm"' in bare and checkpoint[:12] not in bare and len(bare) < len(svg)


def test_a_pdf_is_one_page_of_the_pictures_size_with_real_letters(open_page: Callable[..., Page]) -> None:
    page = open_page(
        "?direction=en-zh", init="window.print = () => { top.printed = document.documentElement.outerHTML; }"
    )
    page.click("[data-export=pdf]")
    page.wait_for_function("window.printed")
    html = page.evaluate("window.printed")
    assert "hospital</text>" in html and "<title>attention-en-zh-cross-L3H5.pdf</title>" in html
    if not WEBKIT:  # whose driver prints nothing
        other = page.context.new_page()
        other.set_content(html)
        pdf = other.pdf(prefer_css_page_size=True)
        assert len(re.findall(rb"/Type /Page\b(?!s)", pdf)) == 1 and b"/Font" in pdf


@pytest.mark.parametrize("what", ["mosaic", "candidates"])
def test_any_figure_is_a_picture(open_page: Callable[..., Page], tmp_path: Path, what: str) -> None:
    page = open_page()
    page.select_option(".export .what", what)
    picture = save(page, "png", tmp_path)
    assert what in picture.name or "-all" in picture.name
    assert picture.read_bytes().startswith(b"\x89PNG")
    svg = save(page, "svg", tmp_path).read_text(encoding="utf-8")
    if what == "mosaic":
        layers, heads, *_ = np.shape(trace(page)["cross"])
        assert svg.count("<image") == layers * heads and ">H1<" in svg and ">L1<" in svg
    else:
        assert page.locator("#candidates .t").first.inner_text() in svg


def test_a_comparison_is_a_picture(open_page: Callable[..., Page], tmp_path: Path) -> None:
    page = open_page()
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector("#compare [data-side=b] .xtick")
    for kind, start in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.expect_download() as download:
            page.click(f"#compare [data-export={kind}]")
        download.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(start)
    assert (tmp_path / "svg").read_text(encoding="utf-8").count("<svg") >= 3


def test_numbers_are_exact_and_agree(open_page: Callable[..., Page], tmp_path: Path) -> None:
    page = open_page()
    page.fill("#source-text textarea", "We are here.")
    page.click("#translate")
    wait_translated(page, "We are here.")
    layer, head = int(page.input_value("#layer")), int(page.input_value("#head"))
    archive = np.load(io.BytesIO(save(page, "npz", tmp_path).read_bytes()))
    exact = archive["cross"]
    plain = json.loads(save(page, "json", tmp_path).read_text(encoding="utf-8"))
    np.testing.assert_array_equal(np.array(plain["cross"], dtype=np.float32), exact)
    lines = save(page, "csv", tmp_path).read_text(encoding="utf-8-sig").splitlines()
    rows = np.array([line.split(",")[-exact.shape[-1] :] for line in lines[1:]], dtype=np.float32)
    np.testing.assert_array_equal(rows, exact[layer, head])
    np.testing.assert_allclose(exact.sum(axis=-1), 1, atol=1e-5)


def test_the_offline_page_opens_without_a_network(
    open_page: Callable[..., Page], browser: Browser, tmp_path: Path
) -> None:
    page = open_page()
    path = save(page, "html", tmp_path)
    assert path.stat().st_size <= 2_500_000
    context = browser.new_context(viewport={"width": 1440, "height": 900}, offline=True)
    asked: list[str] = []
    offline = context.new_page()
    offline.on("request", lambda request: asked.append(request.url))
    offline.goto(path.as_uri())
    offline.wait_for_selector("#attention-detail .xtick", timeout=60_000)
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    ticks = "[...document.querySelectorAll('#attention-detail .xtick text')].map(n => n.textContent)"
    assert offline.evaluate(ticks) == page.evaluate(ticks)
    mine, near = np.array(trace(offline)["cross"]), np.array(trace(page)["cross"])
    np.testing.assert_allclose(mine, near, atol=1e-5)
    assert (mine != near).any(), "whole float32 here, sixteen bits there"
    assert offline.locator("#export-html:visible").count() == 0
    context.close()


def test_a_link_rebuilds_the_view_and_tells_the_server_nothing(
    open_page: Callable[..., Page], browser: Browser, address: str
) -> None:
    page = open_page()
    page.fill("#source-text textarea", "We are here.")
    page.click("#translate")
    wait_translated(page, "We are here.")
    page.click("#attention-kind [data-kind=encoder]")
    page.select_option("#head", index=1)
    page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text; }")
    page.click("#permalink")
    page.wait_for_function("window.copied")
    link = page.evaluate("window.copied")
    assert "#" in link and "here" not in link.split("#")[0]
    other = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    visited: list[str] = []
    other.on("request", lambda request: visited.append(request.url))
    other.goto(link)
    other.set_default_timeout(60_000)
    wait_translated(other, "We are here.")
    other.wait_for_function("document.querySelector('#head').value === '1'")
    expect(other.locator("#attention-kind [data-kind=encoder]")).to_have_attribute("aria-pressed", "true")
    assert all("here" not in url.split("#")[0].removeprefix(address) for url in visited)
    other.context.close()


@pytest.mark.parametrize("method", ["automatic", "sample"])
def test_the_snippet_and_the_link_give_the_same_again(
    open_page: Callable[..., Page], browser: Browser, method: str
) -> None:
    page = open_page()
    page.click(".settings-toggle")
    page.locator("#method label", has_text=method).click()
    page.fill("#source-text textarea", "We are here.")
    page.click("#translate")
    wait_translated(page, "We are here.")
    page.click("[data-export=python]")
    expect(page.locator(".snippet pre")).to_contain_text("trace")
    code, named = page.inner_text(".snippet pre"), {}
    exec(code, named)  # noqa: S102 - what a reader would do with it
    here, there = named["trace"], trace(page)
    assert there["settings"] == dataclasses.asdict(here.settings)
    assert there["translation"] == here.translation
    assert ("method=" in code) is (method != "automatic")
    page.keyboard.press("Escape")
    page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text; }")
    page.click("#permalink")
    page.wait_for_function("window.copied")
    other = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    other.goto(page.evaluate("window.copied"))
    other.set_default_timeout(60_000)
    wait_translated(other, "We are here.")
    assert trace(other)["settings"] == there["settings"]
    other.context.close()


def test_sixteen_bits_are_what_the_page_was_sent(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example("en-zh-father")
    sent = unpack(stored["weights"]["encoder"], "u16")
    np.testing.assert_allclose(np.ravel(trace(page)["encoder"]), sent, atol=1e-7)
