"""The large map: enlarged, with lines between its cells, drawn ahead, and its pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from benchmarks.shown import next_head, shown
from translator import figures

pytestmark = pytest.mark.browser
FIRST = "en-zh-father"


def drawn_maps(page: Page) -> dict[str, int]:
    """How often Plotly drew a whole figure anew since the last look."""
    return page.evaluate("() => { const n = window.drawn || 0; window.drawn = 0; return n; }")


COUNT = """() => {
    const react = Plotly.react;
    window.colours = [];
    Plotly.react = (...given) => {
        window.drawn = (window.drawn || 0) + 1;
        window.colours.push(JSON.stringify(given[1][0].colorscale));
        return react(...given);
    };
}"""
THREE_ALIKE = "colours.filter((each) => each === colours.at(-1)).length === 3"


def switch(page: Page, kind: str) -> Any:
    """The rows that the large map shows once another kind of attention is chosen."""
    page.click(f"[data-kind={kind}]")
    page.wait_for_function(f"document.querySelector('[data-kind={kind}]').getAttribute('aria-pressed') === 'true'")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")


def test_a_part_drawn_with_the_mouse_is_enlarged_and_given_back(open_page: Callable[..., Page]) -> None:
    page = open_page()
    ticks = "document.querySelectorAll('#attention-detail .xtick').length"
    whole = page.evaluate(ticks)
    box = page.locator("#attention-detail .nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 0.1 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.6 * box["height"], steps=5)
    page.mouse.up()
    page.wait_for_function(f"{ticks} < {whole}")
    assert page.evaluate(ticks) >= 2
    page.click("#attention-detail .reset-zoom")
    page.wait_for_function(f"{ticks} === {whole}")


def test_the_other_kinds_are_drawn_ahead_and_drawn_anew_when_they_would_differ(
    open_page: Callable[..., Page], example: Callable
) -> None:
    page, stored = open_page(), example(FIRST)
    page.evaluate(COUNT)
    page.click(".more summary")
    palette = page.get_by_label("Colours")
    palette.select_option("viridis")
    # The one in sight and, when all is quiet, both others; in the former colours these may just have been drawn too.
    page.wait_for_function(THREE_ALIKE, timeout=10_000)
    assert page.evaluate("colours.at(-1)") != "undefined"
    drawn_maps(page)
    layer, head = shown(page)["layer"], shown(page)["head"]
    for kind in ("encoder", "decoder", "cross"):
        z = np.array([[value or 0 for value in row] for row in switch(page, kind)])
        np.testing.assert_allclose(z, stored["maps"][kind][layer, head], atol=1e-6)
        assert page.locator("#attention-detail .plot").count() == 1
    assert drawn_maps(page) == 0
    next_head(page)
    z = np.array([[value or 0 for value in row] for row in switch(page, "encoder")])
    np.testing.assert_allclose(z, stored["maps"]["encoder"][layer, (head + 1) % 8], atol=1e-6)
    page.wait_for_function("window.drawn >= 2", timeout=10_000)
    page.click(".more summary")
    palette.select_option("cividis")
    for kind in ("cross", "decoder"):  # at once, before anything could be drawn ahead
        switch(page, kind)
        scale = page.evaluate("document.querySelector('#attention-detail .plot').data[0].colorscale")
        assert scale[0][1] == "rgb(0,34,78)"


def test_lines_stand_between_the_cells_of_a_zoomed_map_too(open_page: Callable[..., Page]) -> None:
    page = open_page()
    said = """() => {
        const box = document.querySelector('#attention-detail');
        const svg = box.querySelector('.between'), plot = box.querySelector('.plot');
        const { xaxis: x, yaxis: y } = plot._fullLayout, { z: [row], z: { length } } = plot.data[0];
        const edges = (axis, count) => Array.from({ length: count + 1 }, (_, i) => axis.l2p(i - .5))
            .filter(at => at > -.01 && at < axis._length + .01);
        const path = svg.firstChild.getAttribute('d'), { style } = svg;
        return {
            across: [...path.matchAll(/M(\\S+?) 0V/g)].map(each => +each[1]), columns: edges(x, row.length),
            down: [...path.matchAll(/M0 ([^H]+)H/g)].map(each => +each[1]), rows: edges(y, length),
            box: [parseFloat(style.left) - x._offset, parseFloat(style.top) - y._offset],
            seen: getComputedStyle(svg.firstChild).stroke !== 'none',
            size: [svg.clientWidth - x._length, svg.clientHeight - y._length],
        };
    }"""
    for zoomed in (False, True):
        if zoomed:
            page.focus("#attention-detail")
            page.keyboard.press("+")
            page.wait_for_selector(".reset-zoom:not([hidden])")
        found = page.evaluate(said)
        assert len(found["columns"]) > 2 and found["seen"]
        np.testing.assert_allclose(found["across"], found["columns"], atol=0.01)
        np.testing.assert_allclose(found["down"], found["rows"], atol=0.01)
        np.testing.assert_allclose([*found["box"], *found["size"]], 0, atol=1)


PIXELS = """async () => {
    const image = new Image();
    image.src = document.querySelector('#attention-detail .heatmaplayer image').href.baseVal;
    await image.decode();
    const canvas = document.createElement('canvas'), pen = canvas.getContext('2d');
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    pen.drawImage(image, 0, 0);
    return [canvas.height, canvas.width, [...pen.getImageData(0, 0, canvas.width, canvas.height).data]];
}"""


@pytest.mark.parametrize("kind", ["cross", "decoder"])
def test_the_picture_of_another_head_is_what_plotly_draws_of_it(open_page: Callable[..., Page], kind: str) -> None:
    page = open_page()
    switch(page, kind)
    told = "window.told = 0; const r = Plotly.restyle; Plotly.restyle = (...g) => { window.told++; return r(...g); };"
    page.evaluate(f"() => {{ {told} }}")
    for zoomed in (False, True):
        if zoomed:
            page.focus("#attention-detail")
            page.keyboard.press("+")
            page.wait_for_selector(".reset-zoom:not([hidden])")
        page.evaluate("window.told = 0")
        next_head(page)
        *size, ours = page.evaluate(PIXELS)
        page.wait_for_function("window.told === 1", timeout=10_000)
        *same, plotlys = page.evaluate(PIXELS)
        assert size == same and len(set(ours)) > 20
        np.testing.assert_allclose(ours, plotlys, atol=4)
        assert page.locator("#attention-detail .ytick text.now").count() == 1


def test_a_zoom_right_after_another_head_shows_that_head(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    layer, head = shown(page)["layer"], shown(page)["head"]
    box = page.locator("#attention-detail .plot").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5
    next_head(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y + 90, steps=4)
    page.mouse.up()
    page.wait_for_selector(".reset-zoom:not([hidden])")
    drawn = page.evaluate("document.querySelector('#attention-detail .plot').calcdata[0][0].z")
    np.testing.assert_allclose(drawn, stored["maps"]["cross"][layer, (head + 1) % 8], atol=1e-6)
    next_head(page)
    after = np.round(stored["maps"]["cross"][layer, (head + 2) % 8][0, 0], 4)  # Plotly is told while the map is zoomed
    page.wait_for_function(
        f"Math.abs(document.querySelector('#attention-detail .plot').calcdata[0][0].z[0][0] - {after}) < 1e-3"
    )
    page.click(".reset-zoom")
    whole = [-0.5, len(stored["src"]) - 0.5]
    range_ = "document.querySelector('#attention-detail .plot')._fullLayout.xaxis.range"
    page.wait_for_function(f"JSON.stringify({range_}) === '{json.dumps(whole, separators=(',', ':'))}'", timeout=10_000)


def test_plotly_draws_every_kind_of_trace_that_figures_are_made_of(open_page: Callable[..., Page]) -> None:
    sources = (Path(figures.__file__).parent).glob("*.py")
    made = {kind for each in sources for kind in re.findall(r"\.add_(\w+)\(", each.read_text(encoding="utf-8"))}
    known = open_page().evaluate("Object.keys(Plotly.PlotSchema.get().traces)")
    assert made - {"annotation", "shape", "hline", "vline"} == set(known)
