"""What a sentence's translation looks like while it comes, and what is said where none can."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route, expect

from benchmarks.shown import TRACE, InFlight, pick, shown, trace, wait_shown, wait_translated

pytestmark = pytest.mark.browser


def test_a_sentence_is_translated_token_by_token(open_page: Callable[..., Page], held: threading.Event) -> None:
    page = open_page()
    page.evaluate("""window.seen = [];
        new MutationObserver(() => window.seen.push(document.querySelectorAll('.chips.tgt .chip').length))
        .observe(document.querySelector('.chips.tgt'), {childList: true})""")
    page.fill("#source-text textarea", "Good morning. We are here.")
    page.click("#translate")
    page.wait_for_function("document.querySelectorAll('.chips.tgt .chip').length === 2")
    assert shown(page)["live"] and page.evaluate("document.body.classList.contains('busy')")
    held.set()
    page.wait_for_function("!document.body.classList.contains('busy')")
    wait_translated(page, "Good morning. We are here.")
    assert page.locator(".notice:visible").count() == 0
    seen = page.evaluate("window.seen")
    assert 2 in seen and seen[-1] > 2
    assert len(trace(page)["tgt"]) == seen[-1]


def test_what_is_chosen_while_a_translation_is_written_is_shown_when_it_is_whole(
    open_page: Callable[..., Page], held: threading.Event
) -> None:
    """Only cross rows arrive before that: the maps of the encoder are not there yet."""
    page = open_page()
    page.fill("#source-text textarea", "Good morning. We are here.")
    page.click("#translate")
    wait_shown(page, live=True)
    page.click("#explorer [data-kind=encoder]")
    page.click("#explorer [data-view=aggregate]")
    pick(page, layer=1, head=3)
    wait_shown(page, live=True, kind="cross", layer=1, head=3, view="heatmap")
    held.set()
    page.wait_for_function("!document.body.classList.contains('busy')")
    wait_shown(page, live=False, kind="encoder", layer=1, head=3, view="aggregate")
    page.fill("#source-text textarea", "We are here.")
    page.keyboard.press("Enter")
    wait_translated(page, "We are here.")
    stays = {name: shown(page)[name] for name in ("kind", "layer", "head", "view")}
    assert stays == {"kind": "encoder", "layer": 1, "head": 3, "view": "aggregate"}, "for the next sentence"


def test_an_answer_that_cannot_be_read_ends_the_wait(open_page: Callable[..., Page]) -> None:
    page = open_page(init="window.DecompressionStream = class { constructor() { throw new Error('not here'); } }")
    page.fill("#source-text textarea", "Good morning. We are here, and we would like to know what the weather is.")
    page.click("#translate")
    page.wait_for_selector(".notice.error:visible", timeout=20_000)  # the page itself gives up after 45 s
    assert "could not be read" in page.inner_text(".notice")
    assert not page.evaluate("document.body.classList.contains('busy')")


def test_refusals_stand_under_the_field_and_the_last_trace_stays(open_page: Callable[..., Page]) -> None:
    page = open_page()
    chips = page.locator(".chips.src .chip").count()
    for text, said in (("   ", "blank"), ("x" * 1200, "1,000")):
        page.fill("#source-text textarea", text)
        expect(page.locator(".notice.error")).to_have_count(0)  # the former refusal went with it
        page.click("#translate")
        page.wait_for_selector(".notice.error:visible")
        told = page.inner_text(".notice")
        assert said in told and told[0].isupper()
        assert page.locator(".chips.src .chip").count() == chips
        assert not page.evaluate("document.body.classList.contains('busy')")


def test_the_same_refusal_comes_twice(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.fill("#source-text textarea", "   ")
    for _ in range(2):
        page.evaluate("document.querySelector('.notice').textContent = ''")
        page.click("#translate")
        done = "document.querySelector('.notice').textContent.includes('blank')"
        page.wait_for_function(f"{done} && !document.body.classList.contains('busy')", timeout=20_000)


LONG = "Yesterday my old neighbour told me that the small cat which lives in his garden had eaten all of the fish. " * 3


@pytest.mark.parametrize("by", ["#stop", ".examples button:nth-child(2)"], ids=["stop", "example"])
def test_what_was_stopped_leaves_nothing(open_page: Callable[..., Page], held: threading.Event, by: str) -> None:
    page = open_page()
    flight = InFlight(page)
    page.click(".settings-toggle")
    page.locator("#method label", has_text="beam").click()
    page.fill("#source-text textarea", LONG)
    page.click("#translate")
    wait_shown(page, live=True)
    page.evaluate("by => document.querySelector(by).click()", by)
    held.set()
    page.wait_for_function("!document.body.classList.contains('busy')")
    flight.wait()  # what was under way has come
    now = shown(page)
    assert not now["live"] and now["translation"] == page.input_value("#translation textarea")
    assert now["source"] != LONG.strip()
    assert by == "#stop" or now["source"] == page.input_value("#source-text textarea")


KEYS = ["Enter", "Control+Enter", "Meta+Enter"]


def test_enter_translates_whatever_is_held_with_it(open_page: Callable[..., Page]) -> None:
    page = open_page()
    for key, text in zip(KEYS, ("We are here.", "They are here.", "We are there."), strict=True):
        page.fill("#source-text textarea", text)
        page.keyboard.press(key)
        wait_translated(page, text)
        assert not page.evaluate("document.body.classList.contains('busy')"), key


def test_enter_compares_too(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en")
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector("#compare-direction-b [value=de-en]:checked")  # with the sentences that stand there first
    we, they = ("Wir laufen in den Park.", "We"), ("Sie laufen in den Park.", "They")
    for key, first, second in zip(KEYS, (we, they, we), (they, we, they), strict=True):
        page.fill("#compare-a textarea", first[0])
        page.fill("#compare-b textarea", second[0])
        page.keyboard.press(key)
        said = "word => document.querySelector('#compare [data-side=b] .said').innerText.includes(word)"
        page.wait_for_function(said, arg=second[1])
        assert first[1] in page.inner_text("#compare [data-side=a] .said"), key


def test_sentences_that_change_while_two_are_compared_are_compared_then(open_page: Callable[..., Page]) -> None:
    page = open_page("?direction=de-en")
    page.get_by_role("tab", name="Compare").click()
    page.wait_for_selector("#compare-direction-b [value=de-en]:checked")
    for first, second in (("Wir laufen in den Park.", "Ihr lauft in den Park."), ("Sie laufen.", "Du läufst.")):
        page.fill("#compare-a textarea", first)
        page.fill("#compare-b textarea", second)
        page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#compare [data-side=a] .said').innerText.includes('They')")


def test_a_double_click_on_translate_does_not_stop_it(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.fill("#source-text textarea", LONG)
    page.dblclick("#translate")
    page.wait_for_function("!document.body.classList.contains('busy')")
    assert trace(page)["source"] == LONG
    assert page.locator(".notice:visible").count() == 0


def test_enter_on_an_edited_sentence_leaves_the_former_one(open_page: Callable[..., Page]) -> None:
    """Whether that is under way or its answer too."""
    page = open_page()
    flight = InFlight(page)
    for wait, who in ((0, "We"), (100, "They"), (200, "You"), (300, "We"), (400, "They")):
        text = f"{who} are here."
        page.fill("#source-text textarea", LONG)
        page.keyboard.press("Enter")
        page.evaluate("wait => new Promise(done => setTimeout(done, wait))", wait)  # a person's pause
        page.fill("#source-text textarea", text)
        page.keyboard.press("Enter")
        page.wait_for_function("!document.body.classList.contains('busy')")
        flight.wait()
        now = shown(page)
        assert (now["source"], now["live"]) == (text, False), wait
        assert page.input_value("#translation textarea") == now["translation"], wait
        assert page.locator(".notice:visible").count() == 0, wait


def test_an_answer_may_come_before_its_own_event(open_page: Callable[..., Page], held: threading.Event) -> None:
    """On the stream of the sentence before, which closes: the page asks for another in vain, and goes on."""
    joins: list[Route] = []
    streams: list[Request] = []

    def late(route: Route) -> None:
        joins.append(route)
        answer = route.fetch()
        if len(joins) == 2:
            held.set()  # until now the first was under way, on a machine however fast
        while len(joins) == 2 and not streams:
            page.evaluate("() => new Promise(requestAnimationFrame)")  # events are heard meanwhile
        route.fulfill(response=answer)

    page = open_page(routes={"**/queue/join*": late, "**/gradio_api/cancel": lambda route: route.abort()})
    for ended in ("requestfinished", "requestfailed"):
        page.on(ended, lambda request: streams.append(request) if "/queue/data" in request.url else None)
    for text in (LONG, "We are here.", "They are here."):
        page.fill("#source-text textarea", text)
        page.keyboard.press("Enter")
        if text == LONG:
            wait_shown(page, live=True)
        else:
            wait_translated(page, text)
    assert len(joins) == 3


def test_a_beam_search_shows_its_hypotheses_at_every_step(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.click(".settings-toggle")
    page.locator("#method label", has_text="beam").click()
    page.fill("#source-text textarea", "We are here.")
    page.click("#translate")
    wait_translated(page, "We are here.")
    page.wait_for_function("document.querySelectorAll('.beam-list li').length > 1")
    steps = trace(page)["hypotheses"]
    for step in (0, len(steps) - 1):
        page.locator("#step-slider").fill(str(step + 1))
        wait_shown(page, step=step)
        texts, scores = (page.locator(f".beam-list .{part}").all_text_contents() for part in "tp")
        assert [text.strip() for text in texts] == [beam["text"] or "∅" for beam in steps[step]]
        said = [score.strip().removeprefix("■ ").replace("−", "-") for score in scores]
        assert [float(score) for score in said] == pytest.approx([beam["score"] for beam in steps[step]], abs=0.006)
        assert page.locator(".beam-list .pickd").count() == 1, "the winner's own beginning is marked"


def test_beam_means_what_the_checkpoint_says_unless_it_is_changed_by_hand(open_page: Callable[..., Page]) -> None:
    """A setting of one's own is named in the label, beside the method."""
    page = open_page()
    page.click(".settings-toggle")
    page.locator("#method label", has_text="beam").click()
    page.fill("#source-text textarea", "We are here.")
    page.click("#translate")
    wait_translated(page, "We are here.")
    used, own = (trace(page)[name] for name in ("settings", "own"))
    assert used == {**own, "method": "beam"}
    expect(page.locator(".settings-toggle")).to_contain_text(f"beam {own['beam']}")
    expect(page.locator(".settings-toggle")).not_to_contain_text("by hand")
    page.get_by_label("Length penalty").click()
    page.keyboard.type("0.2")
    page.keyboard.press("Tab")
    page.click("#translate")
    page.wait_for_function(f"{TRACE}?.settings.length_penalty === 0.2")
    for label in (".settings-toggle", ".export .model"):
        expect(page.locator(label)).to_contain_text(f"beam {own['beam']}, length penalty 0.2 set by hand")
