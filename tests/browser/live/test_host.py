"""What the live page fetches, and what becomes of it where a host, a network or a browser fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.browser.file_host import host as hosted
from tests.browser.live.page import PREPARED, TYPED, check, opened, shown, type_and_translate, unplug, until
from translator import Translator
from translator.ui.live import shell

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
DEAR = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } });"


def test_it_opens_and_translates_without_a_network(context: BrowserContext, host: Any, tiny: Translator) -> None:
    page = opened(context, host.address)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    type_and_translate(page, TYPED)
    asked = len(host.asked)
    unplug(context, host)
    page.reload()
    page.wait_for_selector("#attention-detail .xtick")
    check(type_and_translate(page, PREPARED), tiny)
    # the page asks for itself anew, and the browser for a newer service worker, when it likes
    assert [path for path, _ in host.asked[asked:] if path != "/" and not path.startswith("/sw.js")] == []


def test_damaged_weights_are_refused_and_fetched_again(context: BrowserContext, host: Any, tiny: Translator) -> None:
    host.damaged = True
    page = opened(context, host.address)
    page.fill("#source-text textarea", TYPED)
    page.click("#translate")
    page.wait_for_selector("#weights[data-state=failed] :text('model.safetensors is damaged')")
    assert shown(page)["source"] == PREPARED  # type: ignore[index]  # what was there stays
    host.damaged = False
    page.click("#weights .go")
    page.wait_for_selector("#weights[data-state=here]")
    check(type_and_translate(page, TYPED), tiny)


@pytest.mark.parametrize("ranges", [True, False])
def test_a_lost_connection_goes_on(ranges: bool, context: BrowserContext, host: Any, tiny: Translator) -> None:
    host.cut, host.ranges = 1, ranges
    page = opened(context, host.address)
    check(type_and_translate(page, TYPED), tiny)
    weights = [asked for path, asked in host.asked if path.endswith("model.safetensors")]
    assert len(weights) == 2
    assert weights[0] is None


def test_fetching_can_be_stopped(context: BrowserContext, host: Any, tiny: Translator) -> None:
    host.hold.clear()
    page = opened(context, host.address)
    page.fill("#source-text textarea", TYPED)
    page.click("#translate")
    page.wait_for_selector("#weights[data-state=coming] .said:has-text('MB')")
    page.click("#weights .halt")
    page.wait_for_selector("#weights:not([data-state=coming])", state="attached")
    assert shown(page)["source"] == PREPARED  # type: ignore[index]
    host.hold.set()
    check(type_and_translate(page, TYPED), tiny)


def test_where_data_is_dear_the_visitor_is_asked(context: BrowserContext, host: Any, tiny: Translator) -> None:
    page = opened(context, host.address, DEAR)
    page.fill("#source-text textarea", TYPED)
    page.click("#translate")
    page.wait_for_selector("#weights .go:visible")
    assert not [path for path, _ in host.asked if path.endswith("model.safetensors")]
    page.click("#weights .go")
    check(until(page, lambda: (trace := shown(page)) and trace["source"] == TYPED and trace), tiny)


@pytest.mark.parametrize("lacks", ["delete globalThis.WebAssembly;", "WebAssembly.validate = () => false;"])
def test_a_browser_that_cannot_compute_keeps_the_examples(lacks: str, context: BrowserContext, host: Any) -> None:
    page = opened(context, host.address, lacks)
    page.wait_for_selector(".notice:has-text('no WebAssembly SIMD')")
    expect(page.locator("#translate")).to_be_disabled()
    assert shown(page)["source"] == PREPARED  # type: ignore[index]
    page.click("[role=tab]:has-text('Lab')")
    page.click(".lab-run")
    page.wait_for_selector("#lab :text('no WebAssembly SIMD')")
    assert not [path for path, _ in host.asked if path.endswith((".safetensors", ".wasm"))]


def test_a_strict_policy_of_the_host_is_kept(context: BrowserContext, host: Any, tiny: Translator) -> None:
    """The page's own policy, sent as a header too: so it holds for the worker."""
    host.policy = shell.POLICY
    watch = (
        "window.refused = []; addEventListener('securitypolicyviolation', (e) => refused.push(e.violatedDirective));"
    )
    page = opened(context, host.address, watch)
    check(type_and_translate(page, TYPED), tiny)
    page.click("[role=tab]:has-text('Positions')")
    page.wait_for_selector("#position-heatmap .main-svg")
    assert page.evaluate("refused") == []
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.bad = 1'}))")
    assert page.evaluate("window.bad") is None


def test_two_tabs_and_a_removal(context: BrowserContext, host: Any, tiny: Translator) -> None:
    pages = [opened(context, host.address) for _ in range(2)]
    for page, text in zip(pages, (TYPED, PREPARED), strict=True):
        check(type_and_translate(page, text), tiny)
    pages[0].click("#weights .forget")
    pages[0].wait_for_selector("#weights :text('were removed')")
    kept = pages[1].evaluate("caches.has('attention-explorer-weights')")
    assert not kept
    check(type_and_translate(pages[1], TYPED), tiny)  # it has them in memory


def test_the_words_of_a_language_are_there_without_a_network(context: BrowserContext, host: Any) -> None:
    page = opened(context, host.address)
    page.click("[data-language=zh]")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    unplug(context, host)
    page.reload()
    page.wait_for_selector("#attention-detail .xtick")
    until(page, lambda: page.inner_text("#translate") == "翻译")


@pytest.mark.parametrize("asked", ["de-en", "en-de"])
def test_only_the_direction_that_is_asked_for_sends_its_example(browser: Browser, two_ways: Path, asked: str) -> None:
    context = browser.new_context(service_workers="block")  # which fetches them all, for later
    with hosted(two_ways) as serving:
        page = context.new_page()
        page.goto(f"{serving.address}?direction={asked}")
        page.wait_for_selector("#attention-detail .xtick" if asked == "de-en" else "text=Nothing translated yet.")
        expect(page.locator(f"#direction input[value={asked}]")).to_be_checked()
        examples = [path for path, _ in serving.asked if "examples/" in path]
    context.close()
    assert len(examples) == (asked == "de-en")  # once: the page takes what was sent for early


def test_a_link_to_a_sentence_fetches_no_example(browser: Browser, two_ways: Path) -> None:
    context = browser.new_context(service_workers="block")  # which fetches them all, for later
    with hosted(two_ways) as serving:
        page = opened(context, f"{serving.address}#d=en-de&t=The+house.&m=greedy")
        assert shown(page)["source"] == "The house."
        expect(page.locator("#direction input[value=en-de]")).to_be_checked()
        page.reload()
        page.wait_for_selector("#attention-detail .xtick")
        assert not [path for path, _ in serving.asked if "examples/" in path]
    context.close()


def test_a_tab_without_weights_asks_for_them_where_they_are_waited_for(
    context: BrowserContext, host: Any, tiny: Translator
) -> None:
    page = opened(context, host.address, DEAR)
    missing: list[str] = []
    page.on("response", lambda answer: answer.status >= 400 and missing.append(answer.url))
    page.click("[role=tab]:has-text('Compare')")
    page.wait_for_selector("#compare :text('Nothing translated yet.')")
    for side, text in (("a", TYPED), ("b", PREPARED)):
        page.fill(f"#compare-{side} textarea", text)
    page.click("#compare-run")
    page.click("#compare-tab #weights .go")
    page.wait_for_selector(f"#compare :text('{tiny.translate(TYPED).translation[:12]}')")
    assert missing == []
