"""The explorer as a person sees it: tokens, numbers, heads, steps, words, arcs, aggregates."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from translator.decode.search import advance
from translator.ui.payload import unpack

pytestmark = pytest.mark.browser
FIRST = "en-zh-talk"


def maps(payload: dict[str, Any], kind: str) -> np.ndarray:
    """The weights of one kind of attention of a stored translation, [L, H, rows, columns]."""
    sent, shape = unpack(payload["weights"][kind], "u16"), payload["shapes"][kind]
    if kind != "decoder":
        return sent.reshape(shape)
    found, (rows, columns) = np.zeros(shape, np.float32), np.tril_indices(shape[2])  # the future is not sent
    found[:, :, rows, columns] = sent.reshape(*shape[:2], -1)
    return found


def cross(payload: dict[str, Any]) -> np.ndarray:
    """The cross weights of a stored translation, [L, H, T, S]."""
    return maps(payload, "cross")


def texts(page: Page, selector: str) -> list[str]:
    return [node.strip() for node in page.locator(selector).all_text_contents()]


def chosen(page: Page) -> tuple[int, int]:
    return int(page.input_value("#layer")), int(page.input_value("#head"))


def test_all_ids_are_there_at_first_sight(open_page: Callable[..., Page]) -> None:
    page = open_page()
    ids = """source-text direction translate translation decode-steps attention-kind layer head attention-detail
        attention-mosaic attention-arcs step-slider candidates aggregate token-level
        export-html permalink input-health"""
    assert [name for name in ids.split() if page.locator(f"#{name}").count() != 1] == []


def test_the_first_example_is_whole_on_one_screen(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    assert page.input_value("#source-text textarea") == stored["source"]
    expect(page.locator("#translation textarea")).to_have_value(stored["translation"])
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height <= 900
    assert texts(page, ".chips.src .chip") == [token["s"] for token in stored["src"]]


def test_ticks_carry_every_token_and_both_readings_of_a_row(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    tgt = [token["s"] for token in stored["tgt"]]
    assert texts(page, "#attention-detail .xtick text") == [token["s"] for token in stored["src"]]
    assert texts(page, "#attention-detail .ytick text") == tgt
    assert texts(page, "#attention-detail .y2tick text") == [stored["start"]["s"], *tgt[:-1]]
    assert "</s>" in texts(page, "#attention-detail .xtick text") and "<s>" in texts(
        page, "#attention-detail .y2tick text"
    )


def test_a_repeated_word_keeps_its_own_place(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page("?direction=de-en"), example("de-en-books")
    page.click("text=A relative clause")
    page.wait_for_function("document.querySelectorAll('#attention-detail .xtick').length > 14")
    shown = texts(page, "#attention-detail .xtick text")
    assert shown == [token["s"] for token in stored["src"]]
    assert shown.count(",") == 2


def test_hovering_a_cell_reads_out_its_weight(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    layer, head = chosen(page)
    row, column = 2, 4
    spot = page.evaluate(
        """([i, j]) => { const plot = document.querySelector('#attention-detail .plot');
        const box = plot.getBoundingClientRect(), l = plot._fullLayout;
        return [box.x + l.xaxis._offset + l.xaxis.l2p(j), box.y + l.yaxis._offset + l.yaxis.l2p(i)]; }""",
        [row, column],
    )
    page.mouse.move(*spot)
    weight = cross(stored)[layer, head, row, column]
    page.wait_for_function(f"document.querySelector('.readout').textContent.includes('{weight:.4f}')")
    said = page.inner_text(".readout")
    assert stored["src"][column]["s"] in said and stored["tgt"][row]["s"] in said


def test_another_head_is_picked_without_a_request(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.focus("#attention-mosaic canvas")
    before = chosen(page)
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"document.querySelector('#head').value !== '{before[1]}'")
    layer, head = chosen(page)
    page.wait_for_timeout(200)
    drawn = page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")
    np.testing.assert_allclose(drawn, cross(stored)[layer, head], atol=1e-6)
    assert asked == []


def test_a_click_on_a_tile_chooses_it(open_page: Callable[..., Page]) -> None:
    page = open_page()
    box = page.locator("#attention-mosaic canvas").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    page.wait_for_function(
        "document.querySelector('#layer').value === '0' && document.querySelector('#head').value === '0'"
    )
    assert page.evaluate("document.querySelectorAll('#attention-mosaic, #attention-mosaic *').length") <= 500


def test_steps_are_replayed_by_keys_and_slider(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    total = len(stored["tgt"])
    page.locator("body").press("ArrowRight")
    page.wait_for_function("document.querySelector('#step-slider').value === '5'")
    page.locator("body").press("ArrowLeft")
    page.wait_for_function("document.querySelector('#step-slider').value === '4'")
    page.locator("#step-slider").fill(str(total))
    page.wait_for_function(f"document.querySelector('.stepout').textContent.includes('Step {total} of {total}')")
    last = stored["steps"][-1]
    assert f"p = {np.exp(last['lp']):.2f}" in page.inner_text(".stepout")
    assert texts(page, "#candidates .t")[0] == last["c"][0]["s"]
    assert page.locator(".chips.tgt .chip").nth(total - 1).get_attribute("aria-current") == "step"


def test_play_runs_through_the_steps_and_stops(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.locator("[data-play]").click()
    page.wait_for_function("document.querySelector('[data-play]').getAttribute('aria-label') === 'Pause'")
    page.wait_for_function("document.querySelector('#step-slider').value > 4")
    page.locator("[data-play]").click()
    page.wait_for_function("document.querySelector('[data-play]').getAttribute('aria-label') === 'Play'")


def test_words_sum_over_keys_and_average_over_queries(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    layer, head = chosen(page)
    page.click("#token-level [data-unit=word]")
    words = stored["words"]
    assert len(words["tgt"]["s"]) < len(stored["tgt"])  # else nothing would show that the words are drawn
    page.wait_for_function(
        f"document.querySelector('#attention-detail .plot').data[0].z.length === {len(words['tgt']['s'])}"
    )
    drawn = np.array(page.evaluate("document.querySelector('#attention-detail .plot').data[0].z"))
    src, tgt = (np.eye(len(words[side]["s"]))[words[side]["g"]] for side in ("src", "tgt"))
    expected = (tgt / tgt.sum(axis=0)).T @ cross(stored)[layer, head] @ src
    np.testing.assert_allclose(drawn, expected, atol=1e-6)
    np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-3)


def test_hidden_specials_are_said_and_renormalised_on_demand(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    page.click(".specials")
    page.wait_for_function("document.querySelector('.state-note').textContent.includes('hidden')")
    assert texts(page, "#attention-detail .xtick text") == [token["s"] for token in stored["src"] if not token["f"] & 1]
    page.click(".more summary")
    page.get_by_text("Scale rows to 1").click()
    page.wait_for_function("document.querySelector('.state-note').textContent.includes('sum to 1 again')")
    drawn = np.array(page.evaluate("document.querySelector('#attention-detail .plot').data[0].z"))
    np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-5)


def test_the_future_is_hatched_and_has_no_number(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.click("#attention-kind [data-kind=decoder]")
    page.wait_for_function("!document.querySelector('.hatch').hidden")
    drawn = page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")
    assert all((weight is None) == (j > i) for i, row in enumerate(drawn) for j, weight in enumerate(row))


def test_the_mean_of_a_layer_is_the_mean_of_its_heads(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    layer, _ = chosen(page)
    page.click("[data-view=aggregate]")
    page.wait_for_selector("#aggregate:visible")
    page.wait_for_timeout(200)
    drawn = page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")
    np.testing.assert_allclose(drawn, cross(stored)[layer].mean(axis=0), atol=1e-6)
    page.select_option("#aggregate", "rollout")
    page.wait_for_function(
        "document.querySelector('#attention-kind [data-kind=encoder]').getAttribute('aria-pressed') === 'true'"
    )
    page.wait_for_timeout(200)
    drawn = page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")
    size = len(stored["src"])
    np.testing.assert_allclose(drawn, unpack(stored["rollout"], "u16").reshape(size, size), atol=1e-6)


def test_an_aggregate_is_that_of_its_heads(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    layer, _ = chosen(page)
    page.click("[data-view=aggregate]")
    heads = {"layer": cross(stored)[layer], "all": cross(stored).reshape(-1, *cross(stored).shape[2:])}
    for which, how in itertools.product(heads, ("mean", "max")):
        page.select_option("#aggregate", f"{which}-{how}")
        page.wait_for_function(f"window.__explorer.state.aggregate === '{which}-{how}' && !window.__explorer.frame")
        drawn = page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")
        np.testing.assert_allclose(drawn, getattr(heads[which], how)(axis=0), atol=1e-6)


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


def test_pointing_at_a_token_shows_only_its_arcs(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.click("[data-view=arcs]")
    page.wait_for_selector("#attention-arcs path", state="attached")
    everything = page.locator("#attention-arcs path").count()
    page.hover("#attention-arcs .token[data-side=rows] >> nth=1")
    page.wait_for_function(f"document.querySelectorAll('#attention-arcs path').length < {everything}")
    starts = page.evaluate(
        "new Set([...document.querySelectorAll('#attention-arcs path')].map(p => p.getAttribute('d').split(' ')[0]))"
        ".size"
    )
    assert starts == 1


def test_figure_three_is_two_clicks_away(open_page: Callable[..., Page], example: Callable) -> None:
    page = open_page()
    page.click(".more summary")
    page.get_by_text("3: one word, all heads").click()
    heads = min(8, example(FIRST)["shapes"]["encoder"][1])
    page.wait_for_function(f"document.querySelectorAll('#attention-arcs .legend .btn').length === {heads}")


@pytest.mark.parametrize(("name", "heads"), [("4: one head, whole", 1), ("5: one word, two heads", 2)])
def test_the_papers_other_figures_too(open_page: Callable[..., Page], name: str, heads: int) -> None:
    page = open_page()
    page.click(".more summary")
    page.get_by_text(name).click()
    page.wait_for_selector("#attention-arcs path", state="attached")
    drawn = "[...document.querySelectorAll('#attention-arcs path')]"
    assert page.evaluate("window.__explorer.state.kind") == "encoder"
    rows = page.evaluate(f"new Set({drawn}.map(path => path.getAttribute('d').split(' ')[0])).size")
    colours = page.evaluate(f"new Set({drawn}.map(path => path.getAttribute('stroke'))).size")
    assert (rows > 1) if heads == 1 else (rows == 1 and colours == 2)


def test_pins_scales_and_names_of_rows(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    layer, head = chosen(page)
    weights = cross(stored)[layer, head]
    page.focus("#attention-detail")
    page.keyboard.press("p")
    page.wait_for_function("document.querySelectorAll('.pin-frame').length === 2")
    page.click("[data-scale=row]")
    page.wait_for_function("document.querySelector('.scale-name').textContent.includes('largest')")
    drawn = np.array(page.evaluate("document.querySelector('#attention-detail .plot').data[0].z"))
    np.testing.assert_allclose(drawn, weights / weights.max(axis=1, keepdims=True), atol=1e-4)
    page.click(".more summary")
    page.locator(".sheet select").first.select_option("reads")
    page.wait_for_function("document.querySelectorAll('#attention-detail .y2tick').length === 0")
    assert texts(page, "#attention-detail .ytick text")[0] == stored["start"]["s"]
    page.locator(".sheet select").nth(1).select_option("cividis")
    page.wait_for_function(
        "document.querySelector('#attention-detail .plot').data[0].colorscale[0][1] === 'rgb(0,34,78)'"
    )


def test_the_strongest_links_stand_in_a_table(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    layer, head = chosen(page)
    row = cross(stored)[layer, head, int(page.input_value("#step-slider")) - 1]
    best = stored["src"][int(row.argmax())]["s"]
    assert texts(page, ".links tr th")[0].startswith(best)
    assert texts(page, ".links tr td:last-child")[0] == f"{row.max():.2f}"


def test_roles_filter_the_mosaic_and_sorting_keeps_every_head(
    open_page: Callable[..., Page], example: Callable
) -> None:
    page, stored = open_page(), example(FIRST)
    roles = stored["heads"]["cross"]["role"]
    labels = texts(page, ".roles button")
    assert labels[0] == f"All{len(roles)}"
    assert sum(int("".join(filter(str.isdigit, label))) for label in labels[1:]) == len(roles)
    page.select_option(".sort", "entropy")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")  # it is drawn
    page.focus("#attention-mosaic canvas")
    page.keyboard.press("Home")
    lowest = int(np.argmin(stored["heads"]["cross"]["entropy"]))
    heads = stored["shapes"]["cross"][1]
    page.wait_for_function(
        f"document.querySelector('#layer').value === '{lowest // heads}'"
        f" && document.querySelector('#head').value === '{lowest % heads}'"
    )


def test_a_sentence_is_translated_token_by_token(
    open_page: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unhurried(*arguments: Any) -> Any:
        time.sleep(0.1)  # several frames a token, however busy the machine
        return advance(*arguments)

    monkeypatch.setattr(import_module("translator.decode.search"), "advance", unhurried)
    page = open_page()
    page.evaluate("""window.seen = [];
        new MutationObserver(() => window.seen.push(document.querySelectorAll('.chips.tgt .chip').length))
        .observe(document.querySelector('.chips.tgt'), {childList: true})""")
    page.fill("#source-text textarea", "Good morning. We are here.")
    page.click("#translate")
    page.wait_for_function("document.body.classList.contains('busy')")
    page.wait_for_function("!document.body.classList.contains('busy')")
    page.wait_for_function("window.__explorer.trace && window.__explorer.trace.source === 'Good morning. We are here.'")
    assert page.locator(".notice:visible").count() == 0
    seen = page.evaluate("window.seen")
    assert len(set(seen)) > 1, "the tokens came all at once"
    assert page.evaluate("window.__explorer.trace.tgt.length") == seen[-1]


def test_an_answer_that_cannot_be_read_ends_the_wait(open_page: Callable[..., Page]) -> None:
    page = open_page(init="window.DecompressionStream = class { constructor() { throw new Error('not here'); } }")
    page.fill("#source-text textarea", "Good morning. We are here, and we would like to know what the weather is.")
    page.click("#translate")
    page.wait_for_selector(".notice.error:visible", timeout=20_000)  # the page itself gives up after 45 s
    assert "could not be read" in page.inner_text(".notice")
    assert not page.evaluate("document.body.classList.contains('busy')")


@pytest.mark.parametrize(("text", "said"), [("   ", "blank"), ("x" * 1200, "1,000")])
def test_refusals_stand_under_the_field_and_the_last_trace_stays(
    open_page: Callable[..., Page], text: str, said: str
) -> None:
    page = open_page()
    chips = page.locator(".chips.src .chip").count()
    page.fill("#source-text textarea", text)
    page.click("#translate")
    page.wait_for_selector(".notice.error:visible")
    assert said in page.inner_text(".notice")
    assert page.locator(".chips.src .chip").count() == chips
    assert not page.evaluate("document.body.classList.contains('busy')")


def test_the_health_strip_counts_while_one_types(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.locator("#source-text textarea").fill("")
    page.locator("#source-text textarea").press_sequentially("One two three.")
    page.wait_for_function("/^4\\s*words/.test(document.querySelector('#input-health').innerText)")


def test_a_beam_search_shows_its_hypotheses_at_every_step(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.click(".settings-toggle")
    page.locator("#method label", has_text="beam").click()
    page.fill("#source-text textarea", "We are here.")
    page.click("#translate")
    page.wait_for_function("(x => x.trace.source === 'We are here.' && !x.trace.live)(window.__explorer)")
    page.wait_for_function("document.querySelectorAll('.beam-list li').length > 1")
    steps = page.evaluate("window.__explorer.trace.steps.map(step => step.b)")
    for step in (0, len(steps) - 1):
        page.locator("#step-slider").fill(str(step + 1))
        page.wait_for_function(f"window.__explorer.state.step === {step} && !window.__explorer.frame")
        assert texts(page, ".beam-list .t") == [beam["s"] or "∅" for beam in steps[step]]
        said = [score.removeprefix("■ ").replace("−", "-") for score in texts(page, ".beam-list .p")]
        assert [float(score) for score in said] == pytest.approx([beam["n"] for beam in steps[step]], abs=0.006)
        assert page.locator(".beam-list .pickd").count() == 1, "the winner's own beginning is marked"


def test_a_head_says_what_it_does_over_a_corpus(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.evaluate("""() => { const x = window.__explorer, { layers, heads } = x.trace.maps.cross, all = layers * heads;
        x.trace.profile = { data: "corpus.tsv", sentences: 300, rates: Array(all).fill(.25),
            roles: { cross: Array(all).fill("sink") } };
        x.set({ head: 0, layer: 0 }); }""")
    page.wait_for_function("document.querySelector('.usual').textContent === 'usually: sink'")
    title = page.get_attribute(".usual", "title") or ""
    assert "300" in title and "corpus.tsv" in title and "0.25" in title
    page.hover("#attention-mosaic canvas", position={"x": 8, "y": 8})
    page.wait_for_function("document.querySelector('.readout').textContent.includes('usually: sink')")


def drawn_maps(page: Page) -> dict[str, int]:
    """How often Plotly drew a whole figure anew since the last look."""
    return page.evaluate("() => { const n = window.drawn || 0; window.drawn = 0; return n; }")


COUNT = """() => {
    const react = Plotly.react;
    Plotly.react = (...given) => { window.drawn = (window.drawn || 0) + 1; return react(...given); };
}"""


def switch(page: Page, kind: str) -> Any:
    """The rows that the large map shows once another kind of attention is chosen."""
    page.click(f"[data-kind={kind}]")
    page.wait_for_function(f"document.querySelector('[data-kind={kind}]').getAttribute('aria-pressed') === 'true'")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")


def test_the_other_kinds_are_drawn_ahead_and_drawn_anew_when_they_would_differ(
    open_page: Callable[..., Page], example: Callable
) -> None:
    page, stored = open_page(), example(FIRST)
    page.evaluate(COUNT)
    page.evaluate("window.__explorer.set({ palette: 'viridis' })")
    page.wait_for_function("window.drawn === 3", timeout=10_000)  # the one in sight and, when all is quiet, both others
    drawn_maps(page)
    layer, head = chosen(page)
    for kind in ("encoder", "decoder", "cross"):
        z = np.array([[value or 0 for value in row] for row in switch(page, kind)])
        np.testing.assert_allclose(z, maps(stored, kind)[layer, head], atol=1e-6)
        assert page.locator("#attention-detail .plot").count() == 1
    assert drawn_maps(page) == 0
    page.evaluate("window.__explorer.set({ head: (window.__explorer.state.head + 1) % 8 })")
    z = np.array([[value or 0 for value in row] for row in switch(page, "encoder")])
    np.testing.assert_allclose(z, maps(stored, "encoder")[layer, (head + 1) % 8], atol=1e-6)
    page.wait_for_function("window.drawn >= 2", timeout=10_000)
    page.evaluate("window.__explorer.set({ palette: 'cividis' })")
    for kind in ("cross", "decoder"):  # at once, before anything could be drawn ahead
        switch(page, kind)
        scale = page.evaluate("document.querySelector('#attention-detail .plot').data[0].colorscale")
        assert scale[0][1] == "rgb(0,34,78)"


def test_lines_stand_between_the_cells_of_a_zoomed_map_too(open_page: Callable[..., Page]) -> None:
    page = open_page()
    said = """() => {
        const box = document.querySelector('#attention-detail'), { style } = box.querySelector('.between');
        const { xaxis: x, yaxis: y } = box.querySelector('.plot')._fullLayout;
        const of = name => style[name].split(' ').map(parseFloat);
        return {
            size: of('backgroundSize'), cell: [x.l2p(1) - x.l2p(0), y.l2p(1) - y.l2p(0)],
            at: of('backgroundPosition'), first: [x.l2p(-.5), y.l2p(-.5)],
            gap: parseFloat(style.getPropertyValue('--gap')),
            box: [parseFloat(style.left) - x._offset, parseFloat(style.top) - y._offset],
        };
    }"""
    for zoomed in (False, True):
        if zoomed:
            page.focus("#attention-detail")
            page.keyboard.press("+")
            page.wait_for_selector(".reset-zoom:not([hidden])")
        found = page.evaluate(said)
        np.testing.assert_allclose(found["size"], found["cell"], atol=0.01)
        np.testing.assert_allclose(np.array(found["at"]) + found["gap"] / 2, found["first"], atol=0.01)
        np.testing.assert_allclose(found["box"], 0, atol=1)


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
        page.evaluate("window.__explorer.set({ head: (window.__explorer.state.head + 1) % 8 })")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        *size, ours = page.evaluate(PIXELS)
        page.wait_for_function("window.told === 1", timeout=10_000)
        *same, plotlys = page.evaluate(PIXELS)
        assert size == same and len(set(ours)) > 20
        np.testing.assert_allclose(ours, plotlys, atol=4)
        assert page.locator("#attention-detail .ytick text.now").count() == 1


def test_a_zoom_right_after_another_head_shows_that_head(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    layer, head = chosen(page)
    box = page.locator("#attention-detail .plot").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5
    page.evaluate("window.__explorer.set({ head: (window.__explorer.state.head + 1) % 8 })")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y + 90, steps=4)
    page.mouse.up()
    page.wait_for_selector(".reset-zoom:not([hidden])")
    drawn = page.evaluate("document.querySelector('#attention-detail .plot').calcdata[0][0].z")
    np.testing.assert_allclose(drawn, cross(stored)[layer, (head + 1) % 8], atol=1e-6)
    page.evaluate("window.__explorer.set({ head: (window.__explorer.state.head + 1) % 8 })")
    page.wait_for_timeout(1000)  # Plotly is told of this head while the map is zoomed
    page.click(".reset-zoom")
    whole = [-0.5, len(stored["src"]) - 0.5]
    range_ = "document.querySelector('#attention-detail .plot')._fullLayout.xaxis.range"
    page.wait_for_function(f"JSON.stringify({range_}) === '{json.dumps(whole, separators=(',', ':'))}'", timeout=10_000)
