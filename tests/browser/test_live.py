"""The page without a server, from the plainest host, as a person uses it; also when things go wrong."""

from __future__ import annotations

import importlib.util
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page

import translator
from benchmarks.shown import trace
from translator import Translator
from translator.checkpoints.save import save_bundle
from translator.figures import positions
from translator.ui.live import shell
from translator.ui.live.site import write_site

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PREPARED, TYPED = "Ich renne in den Park.", "Das Haus ist alt."
DEAR = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } });"
PATIENCE = 60_000


def _file_host() -> ModuleType:
    path = Path(__file__).parent / "file_host.py"
    spec = importlib.util.spec_from_file_location("file_host", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tiny: Translator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_site(folder, [tiny], texts=[PREPARED])
    return folder


@pytest.fixture
def host(site: Path) -> Iterator[Any]:
    with _file_host().host(site) as serving:
        yield serving


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    yield made
    made.close()


def opened(context: BrowserContext, address: str, init: str = "", shows: str = "#attention-detail .xtick") -> Page:
    """The page, once it shows a map, or what else it opens with."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    if init:
        page.add_init_script(init)
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.goto(address)
    page.wait_for_selector(shows)
    return page


def until(page: Page, what: Callable[[], Any]) -> Any:
    """Wait for something; the page's policy lets no test do that by a script of its own."""
    end = time.monotonic() + PATIENCE / 1000
    while not (found := what()):
        assert time.monotonic() < end, page.inner_text("body")[:1000]
        page.evaluate("() => new Promise(requestAnimationFrame)")
    return found


def type_and_translate(page: Page, text: str) -> dict[str, Any]:
    """Type a sentence by the keyboard, press Enter, and wait for its trace."""
    page.click("#source-text textarea")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    return until(page, lambda: (trace := shown(page)) and trace["source"] == text and trace)


def shown(page: Page) -> dict[str, Any] | None:
    return page.evaluate("window.AttentionExplorer.trace()")


def check(trace: dict[str, Any], model: Translator) -> None:
    """The translation that is shown is Python's, with every map."""
    expected = model.translate(trace["source"])
    assert [token["id"] for token in trace["tgt"]] == [token.id for token in expected.tgt]
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(np.array(trace[kind]), expected.weights(kind), atol=2e-5, rtol=0)


def test_a_typed_sentence_is_translated_here_and_sent_nowhere(
    context: BrowserContext, host: Any, tiny: Translator
) -> None:
    page = opened(context, host.address)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(f"{request.method} {request.url} {request.post_data}"))
    check(type_and_translate(page, TYPED), tiny)
    assert page.input_value("#translation textarea") == tiny.translate(TYPED).translation
    assert sent and all(each.startswith(f"GET {host.address}") and "Haus" not in each for each in sent)
    for part in ("#decode-steps", "#attention-kind", "#layer", "#head", "#attention-detail"):
        assert page.is_visible(part)
    page.click("#attention-kind [data-kind=encoder]")
    page.wait_for_selector("#attention-detail .xtick")


def test_the_shipped_checkpoint_translates_as_python_does(context: BrowserContext, tmp_path: Path) -> None:
    model = translator.load("de-en", device="cpu")
    write_site(tmp_path, [model])
    with _file_host().host(tmp_path) as serving:
        page = opened(context, serving.address)
        check(type_and_translate(page, "Gestern habe ich ein gutes Buch gelesen."), model)


NAMES = """(ticks) => [...document.querySelectorAll(`#attention-detail :is(${ticks})`)]
    .filter((node) => node.textContent.trim() && getComputedStyle(node).visibility !== "hidden")
    .map((node) => [node.textContent, node.getBoundingClientRect()])
    .map(([name, { x, y, width, height }]) => [name, [x + width / 2, y + height / 2]])"""
"""Every name round the map, and its middle."""
COLOURS = """async (image) => {
    const picture = new Image();
    picture.src = document.querySelector(`#attention-detail ${image}`).href.baseVal;
    await picture.decode();
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    canvas.drawImage(picture, 0, 0);
    return [...canvas.getImageData(0, 0, picture.width, picture.height).data];
}"""


@pytest.mark.parametrize("width", [1440, 390])
def test_until_plotly_has_come_the_map_stands_as_plotly_will_draw_it(browser: Browser, host: Any, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    held: list[Any] = []
    context.route("**/plotly.js*", lambda route: held.append(route))
    page = context.new_page()
    page.goto(host.address, wait_until="commit")
    page.wait_for_selector("#attention-detail .sketch text")
    sketched, cells = page.evaluate(NAMES, ".sketch text"), page.evaluate(COLOURS, ".sketch image")
    until(page, lambda: held)[0].continue_()
    page.wait_for_selector("#attention-detail .xtick")
    drawn = page.evaluate(NAMES, ".xtick text, .ytick text, .y2tick text")
    assert page.locator(".sketch").count() == 0
    assert len(drawn) > 8
    for name, place in drawn:
        away = min(np.abs(np.subtract(place, other)).max() for named, other in sketched if named == name)
        assert away <= 4, (name, place, sketched)  # pixels
    np.testing.assert_allclose(page.evaluate(COLOURS, ".heatmaplayer image"), cells, atol=8)  # 33 colours between
    context.close()


def test_an_address_says_direction_and_text(context: BrowserContext, host: Any, tiny: Translator) -> None:
    page = opened(context, f"{host.address}?direction=tiny&text=Das%20Haus%20ist%20alt.")
    until(page, lambda: (shown(page) or {}).get("source") == TYPED)
    assert page.input_value("#source-text textarea") == TYPED


def test_it_opens_and_translates_without_a_network(context: BrowserContext, host: Any, tiny: Translator) -> None:
    page = opened(context, host.address)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    type_and_translate(page, TYPED)
    asked = len(host.asked)
    context.set_offline(True)
    page.reload()
    page.wait_for_selector("#attention-detail .xtick")
    check(type_and_translate(page, PREPARED), tiny)
    assert host.asked[asked:] == []


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
    assert page.is_disabled("#translate")
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


def test_a_phone(browser: Browser, host: Any, tiny: Translator) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, locale="de-DE")
    page = opened(context, host.address)
    check(type_and_translate(page, TYPED), tiny)
    assert page.inner_text("#translate") == "Übersetzen"
    tabs = page.locator("#tabs > .tab-wrapper [role=tab]")
    for at in range(tabs.count()):
        tabs.nth(at).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, tabs.nth(at).inner_text()
    context.close()


def test_the_words_of_a_language_come_when_it_is_chosen(browser: Browser, host: Any) -> None:
    context = browser.new_context(service_workers="block", locale="en-GB")  # which fetches them all, for later
    page = opened(context, host.address)
    words = lambda: [path for path, _ in host.asked if "words-" in path]  # noqa: E731
    assert not words()
    for language, said in {"de": "Übersetzen", "zh": "翻译", "en": "Translate"}.items():
        page.click(f"[data-language={language}]")
        until(page, lambda said=said: page.inner_text("#translate") == said)
    assert len(words()) == 2
    context.close()


def test_the_words_of_a_language_are_there_without_a_network(context: BrowserContext, host: Any) -> None:
    page = opened(context, host.address)
    page.click("[data-language=zh]")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    context.set_offline(True)
    page.reload()
    page.wait_for_selector("#attention-detail .xtick")
    until(page, lambda: page.inner_text("#translate") == "翻译")


def test_the_theme_is_the_system_s_until_one_is_chosen(browser: Browser, host: Any) -> None:
    """As on the served page, where Gradio follows it."""
    context = browser.new_context(color_scheme="dark")
    page = opened(context, host.address)
    is_dark = "document.body.classList.contains('dark')"
    assert page.evaluate(is_dark)
    assert page.get_attribute(".theme", "aria-pressed") == "true"
    page.emulate_media(color_scheme="light")
    until(page, lambda: not page.evaluate(is_dark))
    page.click(".theme")  # chosen: dark
    page.emulate_media(color_scheme="dark")
    page.emulate_media(color_scheme="light")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.evaluate(is_dark)
    page.reload()
    page.wait_for_selector("#attention-detail .xtick")
    assert page.evaluate(is_dark)
    context.close()


def test_nothing_asks_the_lab_for_a_view_that_it_lacks(context: BrowserContext, host: Any, tiny: Translator) -> None:
    """Else a visitor fetches the model only to read that the view needs a server."""
    page = opened(context, host.address)
    for text in (PREPARED, TYPED):
        if text == TYPED:
            type_and_translate(page, text)
        page.click("#attention-kind [data-kind=encoder]")
        page.click(".chips.src .chip >> nth=1")
        assert page.locator(".cand li button.t").count() > 0  # to go on with another candidate needs no lab
        asking = page.locator(":is(#explorer, #compare) :is(.ask, .why-cell, .doubts)").locator("visible=true")
        assert asking.evaluate_all("nodes => nodes.map((node) => node.title)") == []
    page.click("[role=tab]:has-text('Compare')")
    for side, text in (("a", TYPED), ("b", PREPARED)):
        page.fill(f"#compare-{side} textarea", text)
    page.click("#compare-run")
    page.wait_for_selector(f"#compare :text('{tiny.translate(TYPED).translation[:12]}')")
    assert page.locator("#compare .carries").is_hidden()


def test_about_says_how_to_cite_it(context: BrowserContext, host: Any) -> None:
    page = opened(context, host.address)
    page.click("[role=tab]:has-text('About')")
    entry = page.inner_text("#about pre")
    assert entry.startswith("@software{attention_explorer,") and entry.endswith("}")
    assert f"version = {{{translator.__version__}}}" in entry


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


@pytest.fixture(scope="module")
def two_ways(tiny: Translator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of two directions, the first of which alone has a prepared translation."""
    bundle, pairs, place = tiny.bundle, [], tmp_path_factory.mktemp("two")
    for name in ("de-en", "en-de"):
        config = {"name": name, "card": f"# {name}\n", "decode": bundle.decode, "src": bundle.src, "tgt": bundle.tgt}
        pairs.append(translator.load(save_bundle(place / name, model=bundle.model, **config), device="cpu"))
    write_site(place / "site", pairs, texts=[PREPARED])
    return place / "site"


@pytest.mark.parametrize("asked", ["de-en", "en-de"])
def test_only_the_direction_that_is_asked_for_sends_its_example(browser: Browser, two_ways: Path, asked: str) -> None:
    context = browser.new_context(service_workers="block")  # which fetches them all, for later
    with _file_host().host(two_ways) as serving:
        page = context.new_page()
        page.goto(f"{serving.address}?direction={asked}")
        page.wait_for_selector("#attention-detail .xtick" if asked == "de-en" else "text=Nothing translated yet.")
        assert page.is_checked(f"#direction input[value={asked}]")
        examples = [path for path, _ in serving.asked if "examples/" in path]
    context.close()
    assert len(examples) == (asked == "de-en")  # once: the page takes what was sent for early


def test_a_link_to_a_sentence_fetches_no_example(browser: Browser, two_ways: Path) -> None:
    context = browser.new_context(service_workers="block")  # which fetches them all, for later
    with _file_host().host(two_ways) as serving:
        page = opened(context, f"{serving.address}#d=en-de&t=The+house.&m=greedy")
        assert shown(page)["source"] == "The house."
        assert page.is_checked("#direction input[value=en-de]")
        page.reload()
        page.wait_for_selector("#attention-detail .xtick")
        assert not [path for path, _ in serving.asked if "examples/" in path]
    context.close()


def test_another_language_is_noticed_and_its_direction_is_one_press_away(
    context: BrowserContext, two_ways: Path
) -> None:
    with _file_host().host(two_ways) as serving:
        page = opened(context, serving.address)
        page.click("#source-text textarea")
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("Where did you buy this bread?")
        page.wait_for_selector("#input-health >> text=This looks like English")
        page.click("#input-health .switch")
        page.wait_for_selector("#direction input[value=en-de]:checked", state="attached")


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
    assert page.inner_text(".notice:has-text(' on translated with ')") == said
    assert shown(page)["tgt"] == begun["tgt"]


def test_a_link_to_a_comparison_opens_it(context: BrowserContext, host: Any, tiny: Translator) -> None:
    link = f"#compare=1&a={TYPED}&ad=tiny&b={PREPARED}&bd=tiny"
    page = opened(context, host.address + link, shows="#compare [data-side=b] .xtick")
    page.wait_for_selector(f"#compare :text('{tiny.translate(TYPED).translation[:12]}')")
    assert page.is_visible("#compare-tab")


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
