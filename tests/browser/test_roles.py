"""What heads do, told in words on the page: roles, shares, and where a head looked."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from benchmarks.shown import pick, settle, shown, trace, wait_translated
from tests.browser.typed import type_into

pytestmark = pytest.mark.browser


def test_a_role_is_told_with_its_share_and_choosing_it_shows_the_head_that_has_it_most(
    open_page: Callable[..., Page], example: Callable
) -> None:
    page, stored = open_page(), example("en-zh-father")
    table = stored["heads"]["cross"]
    names = {"aligns": "Aligns", "sink": "Sink", "diffuse": "Diffuse"}
    role = next(name for name in names if name in table["role"])
    page.locator(".roles button", has_text=names[role]).click()
    best = max((n for n, each in enumerate(table["role"]) if each == role), key=lambda n: table["share"][n])
    page.wait_for_function(f"document.querySelector('.profile b').textContent.includes('{table['share'][best]:.0%}')")
    chosen = shown(page)["layer"] * stored["shapes"]["cross"][1] + shown(page)["head"]
    assert table["role"][chosen] == role and table["share"][chosen] == table["share"][best]


@pytest.mark.parametrize("step", [1, 9])
def test_choosing_a_role_shows_a_row_in_which_the_head_does_it(open_page: Callable[..., Page], step: int) -> None:
    page, text = open_page("?direction=de-en"), "Um 18:30 ging meine Nachbarin in den Park, denn es war warm."
    type_into(page, text)
    page.keyboard.press("Enter")
    wait_translated(page, text)
    found = trace(page)
    for kind, beside in (("encoder", {"Previous": -1, "Same": 0, "Next": 1}), ("decoder", {"Previous": -1, "Same": 0})):
        pick(page, kind=kind)
        for name, offset in beside.items():
            button = page.locator(".roles button", has_text=name)
            if not button.count():
                continue
            page.locator(".chips.src .chip" if kind == "encoder" else ".chips.tgt .chip").nth(step).click()
            button.click()
            page.wait_for_function(f"document.querySelector('.roles [aria-pressed=true]').innerText.includes('{name}')")
            settle(page)  # the same role may have been pressed for another kind of attention
            seen = shown(page)
            row = seen["query" if kind == "encoder" else "step"]
            assert np.argmax(found[kind][seen["layer"]][seen["head"]][row]) == row + offset, (kind, name)


def test_a_head_that_looks_at_a_piece_is_told_to_look_at_the_word(open_page: Callable[..., Page]) -> None:
    page, text = open_page("?direction=en-zh"), "My neighbour walked home in the rain."
    type_into(page, text)
    page.keyboard.press("Enter")
    wait_translated(page, text)
    pieces = [token["text"] for token in trace(page)["src"]]
    assert pieces[1:3] == ["neighb", "our"], "a word of two pieces, or this test tests nothing"
    pick(page, kind="encoder")
    page.locator(".roles button", has_text="Previous").click()
    page.locator(".chips.src .chip").nth(3).click()
    expect(page.locator(".saying")).to_have_text("Reading walked, this head looked at neighbour")
    page.locator(".chips.src .chip").nth(2).click()
    expect(page.locator(".saying")).to_have_text("Reading our (part of neighbour), this head looked at neighb")


def test_a_head_without_a_role_is_told_the_nearest_one_with_its_share(open_page: Callable[..., Page]) -> None:
    page, text = open_page("?direction=en-zh"), "The bus was late again, so we walked home in the rain and sang."
    type_into(page, text)
    page.keyboard.press("Enter")
    wait_translated(page, text)
    found = trace(page)
    maps = np.array(found["decoder"])
    _, heads, rows, _ = maps.shape
    back = (maps.argmax(axis=-1)[:, :, 1:] == np.arange(rows - 1)).mean(axis=-1).ravel()
    at = int(np.where(np.array(found["roles"]["decoder"]) == "mixed", back, 0).argmax())
    pick(page, kind="decoder", layer=at // heads, head=at % heads)
    told = page.locator(".profile")
    expect(told).to_contain_text("No single role")
    expect(told).to_contain_text(re.compile(r"nearest: Looks one token back, \d+% of its rows"))


def test_every_measure_explains_itself_on_focus(open_page: Callable[..., Page]) -> None:
    page = open_page()
    for text, explained in (("Aligns", "error rate"), ("entropy", "natural logarithm"), ("distance", "diagonal")):
        part = page.locator(".profile > span", has_text=text).first
        part.focus()
        assert explained in (part.get_attribute("aria-description") or "")
        shown = part.evaluate("node => getComputedStyle(node, '::before').content")
        assert explained in shown or page.evaluate("!document.activeElement.matches(':focus-visible')")


def test_a_sentence_says_what_the_head_looked_at_at_this_step(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.click(".chips.tgt .chip >> nth=3")
    expect(page.locator(".saying")).to_have_text("When it wrote 医院, this head looked at hospital")
    page.click("[data-kind=decoder]")
    expect(page.locator(".saying")).to_contain_text("To write 医院")
    page.click("[data-kind=encoder]")
    expect(page.locator(".saying")).to_contain_text("Reading")


def test_heads_that_are_laid_over_each_other_are_shown_so_and_by_their_own_legend(
    open_page: Callable[..., Page],
) -> None:
    page = open_page()
    page.click("#attention-mosaic canvas", position={"x": 8, "y": 8}, modifiers=["Shift"])
    expect(page.locator("#attention-arcs")).to_be_visible()
    expect(page.locator("#attention-arcs .legend button")).to_have_count(2)
    expect(page.locator(".foot .scale")).to_be_hidden()


def test_tabs_name_what_heads_do_alike(open_page: Callable[..., Page]) -> None:
    """In this sentence: the Explorer and the lesson, each head with its share; usually: the Explorer and the lab."""
    page, text, layer = open_page("?direction=de-en"), "Meine Tante kauft am Samstag ein neues Fahrrad.", 0
    type_into(page, text)
    page.keyboard.press("Enter")
    wait_translated(page, text)
    here: dict[str, list[str]] = {}
    usually = []
    for head in range(page.locator("#head option").count()):
        pick(page, kind="encoder", layer=layer, head=head)
        role, _, share = page.inner_text(".profile b").partition(", ")
        told = " ".join([f"H{head + 1}", *share.split()[:1]])
        here.setdefault(role.replace("No single role", "Has no single role").lower(), []).append(told)
        usually.append(page.inner_text(".usual").removeprefix("usually: "))

    page.get_by_role("tab", name="Lab").click()
    page.locator(".lab-kinds button", has_text="Encoder").click()
    switches = page.locator(f".lab-head[data-head^='encoder:{layer}:']")
    switches.first.wait_for()
    expect(switches).to_have_count(len(usually))
    for switch, role in zip(switches.all(), usually, strict=True):
        expect(switch).to_have_attribute("title", role)

    page.get_by_role("tab", name="Lesson").click()
    page.locator(".lx .stations a", has_text="Several heads at once").click()
    page.wait_for_selector(".lx .numbers dt:has-text('project')")
    terms = page.locator(".lx .numbers dt")
    lesson = {
        name: page.locator(".lx .numbers dd").nth(at).inner_text().split(", ")
        for at, name in enumerate(terms.all_inner_texts())
        if name in here
    }
    assert lesson == here
