"""The explorer as a person sees it: tokens, numbers, heads, steps, words, arcs, aggregates."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from benchmarks.shown import pick, settle, shown, wait_shown
from translator.ui.payload import unpack

pytestmark = pytest.mark.browser
FIRST = "en-zh-father"


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
    page.wait_for_function("document.documentElement.scrollHeight <= 900")  # the maps give way in the next frame
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
    settle(page)  # the map stands still
    spot = page.evaluate(
        """([i, j]) => { const l = document.querySelector('#attention-detail .plot')._fullLayout;
        return { x: l.xaxis._offset + l.xaxis.l2p(j), y: l.yaxis._offset + l.yaxis.l2p(i) }; }""",
        [row, column],
    )
    page.hover("#attention-detail .plot", position=spot)
    weight = stored["maps"]["cross"][layer, head, row, column]
    page.wait_for_function(f"document.querySelector('.readout').textContent.includes('{weight:.4f}')")
    said = page.inner_text(".readout")
    assert stored["src"][column]["s"] in said and stored["tgt"][row]["s"] in said


def test_another_head_is_picked_without_a_request(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.url} {request.post_data}"))
    page.focus("#attention-mosaic canvas")
    before = chosen(page)
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"document.querySelector('#head').value !== '{before[1]}'")
    layer, head = chosen(page)
    settle(page)
    drawn = page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")
    np.testing.assert_allclose(drawn, stored["maps"]["cross"][layer, head], atol=1e-6)
    assert [each for each in asked if "left_out" not in each] == []  # the translation's marks are asked for once, later


def test_a_click_on_a_tile_chooses_it(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.click("#attention-mosaic canvas", position={"x": 5, "y": 5})
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
    page, stored = open_page(), example("en-zh-talk")  # which has a word of two tokens
    page.click("text=Time moves")
    wait_shown(page, columns=len(stored["src"]))
    layer, head = chosen(page)
    page.click("#token-level [data-unit=word]")
    words = stored["words"]
    assert len(words["tgt"]["s"]) < len(stored["tgt"])  # else nothing would show that the words are drawn
    page.wait_for_function(
        f"document.querySelector('#attention-detail .plot').data[0].z.length === {len(words['tgt']['s'])}"
    )
    drawn = np.array(page.evaluate("document.querySelector('#attention-detail .plot').data[0].z"))
    src, tgt = (np.eye(len(words[side]["s"]))[words[side]["g"]] for side in ("src", "tgt"))
    expected = (tgt / tgt.sum(axis=0)).T @ stored["maps"]["cross"][layer, head] @ src
    np.testing.assert_allclose(drawn, expected, atol=1e-6)
    np.testing.assert_allclose(drawn.sum(axis=1), 1, atol=1e-3)


def test_hidden_specials_are_said_and_renormalised_on_demand(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    page.click(".specials")
    page.wait_for_function("document.querySelector('.state-note').textContent.includes('hidden')")
    assert texts(page, "#attention-detail .xtick text") == [token["s"] for token in stored["src"] if not token["f"] & 1]
    page.click(".more summary")
    page.get_by_text("Scale rows to 1").click()
    page.wait_for_function("document.querySelector('.state-note').textContent.includes('rescaled to sum to 1')")
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
    settle(page)
    drawn = page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")
    np.testing.assert_allclose(drawn, stored["maps"]["cross"][layer].mean(axis=0), atol=1e-6)
    page.select_option("#aggregate", "rollout")
    page.wait_for_function(
        "document.querySelector('#attention-kind [data-kind=encoder]').getAttribute('aria-pressed') === 'true'"
    )
    settle(page)
    drawn = page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")
    size = len(stored["src"])
    np.testing.assert_allclose(drawn, unpack(stored["rollout"], "u16").reshape(size, size), atol=1e-6)


def test_an_aggregate_is_that_of_its_heads(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    layer, _ = chosen(page)
    page.click("[data-view=aggregate]")
    heads = {
        "layer": stored["maps"]["cross"][layer],
        "all": stored["maps"]["cross"].reshape(-1, *stored["maps"]["cross"].shape[2:]),
    }
    for which, how in itertools.product(heads, ("mean", "max")):
        page.select_option("#aggregate", f"{which}-{how}")
        wait_shown(page, aggregate=f"{which}-{how}")
        drawn = page.evaluate("document.querySelector('#attention-detail .plot').data[0].z")
        np.testing.assert_allclose(drawn, getattr(heads[which], how)(axis=0), atol=1e-6)


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


def test_the_papers_other_figures_too(open_page: Callable[..., Page]) -> None:
    page = open_page()
    drawn = "[...document.querySelectorAll('#attention-arcs path')]"
    for name, heads in (("4: one head, whole", 1), ("5: one word, two heads", 2)):
        page.click("[data-view=heatmap]")
        page.click("[data-kind=cross]")
        wait_shown(page, kind="cross", view="heatmap")
        page.click(".more summary")
        page.get_by_text(name).click()
        page.wait_for_selector("#attention-arcs path", state="attached")
        settle(page)
        assert shown(page)["kind"] == "encoder"
        rows = page.evaluate(f"new Set({drawn}.map(path => path.getAttribute('d').split(' ')[0])).size")
        colours = page.evaluate(f"new Set({drawn}.map(path => path.getAttribute('stroke'))).size")
        assert (rows > 1) if heads == 1 else (rows == 1 and colours == 2)


def test_pins_scales_and_names_of_rows(open_page: Callable[..., Page], example: Callable) -> None:
    page, stored = open_page(), example(FIRST)
    layer, head = chosen(page)
    weights = stored["maps"]["cross"][layer, head]
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
    row = stored["maps"]["cross"][layer, head, int(page.input_value("#step-slider")) - 1]
    best = stored["src"][int(row.argmax())]["s"]
    assert texts(page, ".links tr th")[0].startswith(best)
    assert texts(page, ".links tr th + td")[0] == f"{row.max():.2f}"


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


def test_a_head_says_what_it_does_over_a_corpus(open_page: Callable[..., Page], example: Callable) -> None:
    every = len(example(FIRST)["heads"]["cross"]["role"])
    profile = {"data": "corpus.tsv", "sentences": 300, "rates": [0.25] * every, "roles": {"cross": ["sink"] * every}}

    def profiled(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "profile": profile})

    page = open_page(routes={f"**/{FIRST}*.json": profiled})
    pick(page, layer=0, head=0)
    page.wait_for_function("document.querySelector('.usual').textContent === 'usually: sink'")
    title = page.get_attribute(".usual", "title") or ""
    assert "300" in title and "corpus.tsv" in title and "0.25" in title
    page.hover("#attention-mosaic canvas", position={"x": 8, "y": 8})
    page.wait_for_function("document.querySelector('.readout').textContent.includes('usually: sink')")
