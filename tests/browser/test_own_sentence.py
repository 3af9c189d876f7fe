"""The first hour on one's own sentence: what a visitor sees who types, switches, saves, and reads."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from benchmarks.served import free_port
from benchmarks.shown import settle, shown, trace, wait_shown, wait_translated
from tests.browser.typed import SEEN, type_into
from tests.browser.webkit.opened import WEBKIT
from translator.ui.hub import Hub
from translator.ui.models import Models
from translator.ui.serve import Server
from translator.ui.shortlist import shortlist

pytestmark = pytest.mark.browser


ON_ONE_LINE = """() => {
    const row = document.querySelector('.beam-list li:last-child'), score = row.querySelector('.p');
    if (!row.querySelector('small')) score.before(Object.assign(document.createElement('small'), {
        className: 'cap', textContent: 'other subwords' }));  // as a twin's has, whatever these weights find
    const [outer, ...parts] = [row, ...row.children].map(node => node.getBoundingClientRect());
    return parts.every(({ top, bottom, right }) =>
        top >= outer.top - 1 && bottom <= outer.bottom + 1 && right <= outer.right + 1);
}"""


@pytest.mark.parametrize("width", [390, 1440])
def test_a_hypothesis_of_other_subwords_keeps_its_score_on_the_line(open_page: Callable[..., Page], width: int) -> None:
    page = open_page("?direction=en-zh", width=width)
    page.click(".chips.tgt .chip >> nth=3")
    page.wait_for_selector(".beam-list li")
    assert page.evaluate(ON_ONE_LINE)


@pytest.mark.parametrize("width", [390, 1440])
def test_a_long_candidate_is_whole_and_takes_from_its_bar(open_page: Callable[..., Page], width: int) -> None:
    page = open_page("?direction=de-en", width=width)
    fits = """() => {
        const [word] = document.querySelectorAll('#candidates .t');
        word.textContent = 'construction';  // whatever these weights weigh up
        const rows = [...document.querySelectorAll('#candidates li:has(.ask)')];
        const lefts = rows.map(row => row.querySelector('.bar1').getBoundingClientRect().left);
        const list = document.querySelector('.cand');
        return word.scrollWidth <= word.clientWidth && new Set(lefts).size === 1 && rows.length > 1
            && list.scrollWidth <= list.clientWidth;
    }"""
    assert page.evaluate(fits)


@pytest.mark.parametrize("figure", ["mosaic", "candidates"])
def test_a_csv_is_of_what_was_chosen_to_be_saved(
    open_page: Callable[..., Page], example: Callable, figure: str
) -> None:
    page, stored = open_page(), example("en-zh-father")
    page.select_option(".export .what", figure)
    with page.expect_download() as waiting:
        page.click("[data-export=csv]")
    rows = list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8-sig"))))
    if figure == "mosaic":
        layers, heads, steps, _ = stored["shapes"]["cross"]
        assert len(rows) == layers * heads * steps
        assert {(row["layer"], row["head"]) for row in rows} == {
            (str(layer + 1), str(head + 1)) for layer in range(layers) for head in range(heads)
        }
        weight = stored["maps"]["cross"][2, 4, 3, 5]
        line = next(row for row in rows if (row["layer"], row["head"], row["predicts"]) == ("3", "5", "医院"))
        assert float(line["hospital"]) == pytest.approx(weight, abs=1e-4)
    else:
        assert len(rows) == sum(len(step["c"]) for step in stored["steps"])
        assert rows[0]["candidate"] == stored["steps"][0]["c"][0]["s"]


def test_another_direction_dims_what_is_still_of_the_old_one_and_says_so(open_page: Callable[..., Page]) -> None:
    page = open_page()
    type_into(page, "We are here.")
    page.keyboard.press("Enter")
    wait_translated(page, "We are here.")
    page.locator("#direction label", has_text="Deutsch").click()
    expect(page.locator(".notice")).to_contain_text("made by en-zh")
    page.wait_for_function("getComputedStyle(document.querySelector('.work')).opacity < 0.6")
    page.locator("#direction label", has_text="English →").click()
    page.wait_for_function("getComputedStyle(document.querySelector('.work')).opacity === '1'")


def test_another_direction_brings_its_example_where_an_example_is_shown(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=en-zh")
    for way, name in (("de-en", "Deutsch"), ("en-zh", "English →")):
        page.locator("#direction label", has_text=name).click()
        wait_shown(page, direction=way, live=False)
        first = page.evaluate(f"window.__explorerData.examples.find(each => each.direction === '{way}').text")
        expect(page.locator("#source-text textarea")).to_have_value(first)
        expect(page.locator("#translation textarea")).to_have_value(shown(page)["translation"])
        assert shown(page)["source"] == first
        expect(page.locator(".export .model")).to_contain_text(way)
        page.wait_for_function("!document.body.matches('.other-pair, .other-text')")


def test_a_refusal_goes_with_the_next_letter_and_dims_the_old_translation(open_page: Callable[..., Page]) -> None:
    page = open_page()
    type_into(page, "   ")
    page.keyboard.press("Enter")
    expect(page.locator(".notice.error")).to_be_visible()
    page.wait_for_function("getComputedStyle(document.querySelector('.work')).opacity < 0.6")
    page.keyboard.type("We")
    expect(page.locator(".notice.error")).to_have_count(0)


def test_a_refusal_is_seen_above_the_steps_of_a_phone(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=xx-yy", width=390, height=480)
    expect(page.locator(".notice.error")).to_contain_text("There is no direction")
    page.wait_for_function("""() => { const [notice, steps] = ['.notice', '.steps.steprow']
        .map(name => document.querySelector(name).getBoundingClientRect());
        return notice.top >= 0 && notice.bottom <= steps.top; }""")


def test_an_emptied_field_has_no_count_of_words(open_page: Callable[..., Page]) -> None:
    page = open_page()
    type_into(page, "")
    expect(page.locator("#input-health")).to_have_text("nothing typed yet")
    page.wait_for_function("getComputedStyle(document.querySelector('#translation textarea')).opacity < 0.6")
    settle(page)  # both are as pale as they become
    assert page.evaluate(SEEN, "#copy") == page.evaluate(SEEN, "#translation textarea"), (
        "one field, its button included"
    )


def test_an_example_that_shows_a_weakness_says_so(open_page: Callable[..., Page]) -> None:
    page = open_page()
    told = page.evaluate("window.__explorerData.examples.filter(each => each.weakness).map(each => each.id)")
    for id_ in told:
        page.select_option(".more-examples", id_)
        expect(page.locator(".notice")).to_contain_text("weakness")


def test_no_tip_of_plotly_lies_over_the_page(open_page: Callable[..., Page]) -> None:
    page = open_page()
    box = page.locator("#attention-detail .nsewdrag").first.bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 120, steps=5)
    page.mouse.up()
    expect(page.locator("#attention-detail .reset-zoom")).to_be_visible()
    assert page.locator(".plotly-notifier, .notifier-note").count() == 0


BESIDE = """() => {
    const plot = document.querySelector('#attention-detail'), at = name => [...plot.querySelectorAll(name)]
        .map(node => node.getBoundingClientRect());
    const [near, reads] = [at('.ytick text'), at('.y2tick text')];
    return near.map((box, i) => [reads[i].left - plot.getBoundingClientRect().left, box.left - reads[i].right]);
}"""


@pytest.mark.parametrize("width", [1440, 1920])
def test_long_names_of_rows_stay_apart(open_page: Callable[..., Page], width: int) -> None:
    page, text = open_page("?direction=de-en"), "Die Großmutter backt im Wohnzimmer Mommys Himmelstorte."
    page.set_viewport_size({"width": width, "height": 1000})
    type_into(page, text)
    page.keyboard.press("Enter")
    wait_translated(page, text)
    page.locator(".chips.tgt .chip", has_text="grandmother").click()  # the chosen row's name is bold
    page.wait_for_function("document.querySelector('.stepout').innerText.includes('grandmother')")
    settle(page)
    for left, between in page.evaluate(BESIDE):
        assert left >= 0 and between >= 4, (left, between)


ENDS = """() => [...document.querySelectorAll('.beam-list .t')].map(box => {
    const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT), texts = [];
    while (walk.nextNode()) texts.push(walk.currentNode);
    box.scrollIntoView({ block: 'center', behavior: 'instant' });
    const { left, right, top, height } = box.getBoundingClientRect();
    const last = texts.at(-1), range = document.createRange();
    range.setStart(last, last.length - 1);
    range.setEnd(last, last.length);
    const end = range.getBoundingClientRect();
    const met = document.caretRangeFromPoint(right - 20, top + height / 2);
    return {
        wide: box.scrollWidth > box.clientWidth,
        inside: end.left >= left && end.right <= right + 1,
        near: met.startContainer === last && met.startOffset > last.length - 6,
    };
})"""
"""Whether a line is cut, whether its last letter is inside, and whether its last letters stand near the right edge."""


def test_long_hypotheses_are_seen_by_their_ends_where_they_differ(open_page: Callable[..., Page]) -> None:
    page, text = (
        open_page("?direction=de-en"),
        "Die alte Frau füttert jeden Morgen die Tauben im Park, wenn es nicht regnet.",
    )
    type_into(page, text)
    page.keyboard.press("Enter")
    wait_translated(page, text)
    page.locator(".chips.tgt .chip").last.click()
    wait_shown(page, step=len(trace(page)["tgt"]) - 1)
    found = page.evaluate(ENDS)
    assert len(found) > 1 and all(each["wide"] for each in found)
    assert all(each["near"] for each in found), found
    # of a line that is cut, WebKit tells where its letters were before
    assert WEBKIT or all(each["inside"] for each in found), found


def test_text_in_another_language_is_noticed_and_one_press_switches_the_pair(open_page: Callable[..., Page]) -> None:
    page = open_page()
    type_into(page, "Der Hund meiner Nachbarin bellt jede Nacht.")
    expect(page.locator("#input-health")).to_contain_text("This looks like German")
    page.click("#input-health .switch")
    page.wait_for_function("document.querySelector('#direction input:checked').value === 'de-en'")
    assert page.input_value("#source-text textarea") == "Der Hund meiner Nachbarin bellt jede Nacht."
    expect(page.locator("#input-health")).not_to_contain_text("looks like")


@pytest.fixture(scope="module")
def offering(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that offers more models, from a hub that cannot be reached."""
    hub = Hub(shortlist(), folder=tmp_path_factory.mktemp("hub"), endpoint="http://127.0.0.1:9")
    server = Server(Models(hub=hub), server_name="127.0.0.1", server_port=free_port())
    yield server.url
    server.close()


def test_what_is_shown_is_the_other_pairs_once_the_language_was_switched(
    open_page: Callable[..., Page], offering: str
) -> None:
    page = open_page("?direction=de-en", server=offering)
    first = page.locator(".examples button").first
    expect(first).to_have_text("Word order")
    type_into(page, "Das Haus ist leer.")
    page.keyboard.press("Enter")
    wait_translated(page, "Das Haus ist leer.")
    type_into(page, "Where is my umbrella?")
    page.click("#input-health .switch")
    expect(first).to_have_text("Place moves")
    expect(page.locator(".notice")).to_contain_text("Press Translate to use en-zh")
    expect(page.locator("body")).to_have_class(re.compile("other-pair"))


@pytest.mark.parametrize("waits", [True, False])
def test_what_was_noticed_stays_said_beside_the_translation(open_page: Callable[..., Page], waits: bool) -> None:
    page = open_page("?direction=en-zh")
    text = "Der Hund meiner Nachbarin bellt jede Nacht."
    type_into(page, text)
    if waits:
        expect(page.locator("#input-health")).to_contain_text("This looks like German")
    page.keyboard.press("Enter")
    wait_translated(page, text)
    expect(page.locator("#input-health")).to_contain_text("of cross-attention")
    expect(page.locator("#input-health")).to_contain_text("This looks like German")
    page.click("#input-health .switch")
    expect(page.locator("#input-health")).not_to_contain_text("looks like")


@pytest.fixture(scope="module")
def unordered() -> Iterator[str]:
    """A server that was told no order of pairs."""
    server = Server(Models(), server_name="127.0.0.1", server_port=free_port())
    yield server.url
    server.close()


@pytest.mark.parametrize(
    ("locale", "pair"), [("de-DE", "de-en"), ("zh-CN", "en-zh"), ("en-US", "de-en"), ("fr-FR", "de-en")]
)
def test_the_page_opens_with_the_pair_of_the_browsers_language(
    open_page: Callable[..., Page], unordered: str, locale: str, pair: str
) -> None:
    page = open_page(server=unordered, locale=locale)
    wait_shown(page, direction=pair)
    page.wait_for_function(f"document.querySelector('#direction input:checked').value === '{pair}'")
    expect(page.locator("#source-text textarea")).to_have_value(trace(page)["source"])


def test_a_candidate_that_is_clicked_begins_the_rest_anew(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en")
    type_into(page, "Das Haus ist alt.")
    page.keyboard.press("Enter")
    wait_translated(page, "Das Haus ist alt.")
    page.click(".chips.tgt .chip >> nth=1")
    wait_shown(page, step=1)  # or the candidates may still be those of the step before
    before = page.locator(".chips.tgt .chip").first.inner_text()
    other = page.locator("#candidates button.t").first
    word = other.inner_text()
    other.click()
    expect(page.locator(".chips.tgt .chip").nth(1)).to_contain_text(word)
    assert page.locator(".chips.tgt .chip").first.inner_text() == before
    expect(page.locator(".notice")).to_contain_text(f"translated with {word}")
    expect(page.locator(".settings-toggle")).to_contain_text("first 2 tokens given")
    expect(page.locator("#translation textarea")).to_have_value(re.compile(rf"^\s*\S+\s+{re.escape(word)}"))
    page.click("[data-export=python]")
    ids = [token["id"] for token in trace(page)["tgt"][:2]]
    expect(page.locator(".snippet pre")).to_contain_text(f"prefix={ids}", use_inner_text=True)


WORDS = "() => Number(document.querySelector('#input-health .counts b').textContent)"


@pytest.mark.parametrize(
    ("way", "counts"),
    [
        ("de-en", {"Ja – „das“ ist, glaube ich, 3-mal so viel ...": 8, "Um 18:30 kostet das 24,50 Euro.": 6}),
        ("en-zh", {"I didn't know it, did you?": 6, "Well!": 1}),
    ],
)
def test_every_tab_counts_the_same_words(open_page: Callable[..., Page], way: str, counts: dict[str, int]) -> None:
    """While it is typed, once it is translated, and in the lesson's first station: a mark is no word."""
    page = open_page(f"?direction={way}")
    for text, words in counts.items():
        page.get_by_role("tab", name="Explorer").click()
        type_into(page, text)
        page.wait_for_selector("#input-health :text('not translated yet')")
        # what was typed first is told first
        expect(page.locator("#input-health .counts b").first).to_have_text(str(words))
        found = [page.evaluate(WORDS)]
        page.keyboard.press("Enter")
        wait_translated(page, text)
        found.append(page.evaluate(WORDS))
        page.get_by_role("tab", name="Lesson").click()
        expect(page.locator("#lesson-text")).to_have_value(text)
        expect(page.locator(".lx .numbers dt:has-text('words') + dd")).to_have_text(str(words))
        assert found == [words] * 2, text


def test_what_is_too_short_for_the_lab_is_told_with_what_it_counts(open_page: Callable[..., Page]) -> None:
    """Where marks count too, it says so: the strip counts one word here."""
    page = open_page("#" + urlencode({"lab": "faithfulness", "d": "de-en", "t": "Ja!", "o": "{}"}), shown=".lab-view")
    expect(page.locator("#lab")).to_contain_text("The source has 2 words and punctuation marks")
