"""WebKit, the engine of Safari, by its driver alone; `make engines` installs it, and runs all other tests in it too."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.shown import QUIET, SHOWN
from benchmarks.webkit import DRIVER, SCREEN, webkit
from translator import Translator
from translator.ui.live.site import write_site

wait = pytest.importorskip("selenium.webdriver.support.wait", reason="`make engines` installs it")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.soak,
    pytest.mark.skipif(not (DRIVER and SCREEN), reason="`make engines` installs WebKitGTK's driver and Xvfb"),
]
PATIENCE = 60
Driver = Any

WATCH = """
window.faults = [];
addEventListener('error', event => event.message.startsWith('ResizeObserver loop') || faults.push(event.message));
addEventListener('unhandledrejection', event => faults.push(String(event.reason)));
"""
TYPE = """
const [selector, text] = arguments, node = document.querySelector(selector);
Object.getOwnPropertyDescriptor(Object.getPrototypeOf(node), 'value').set.call(node, text);
node.dispatchEvent(new Event('input', { bubbles: true }));
"""
PAINTED = """
const done = arguments[0];
requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
"""
DRAWN = {
    "Compare": "#compare .cx:not([aria-busy]) [data-side=b] .xtick",
    "Positions": "#position-heatmap .main-svg",
    "Lab": ".lab:not([aria-busy=true]) .lab-head",
    "Lesson": ".lx:not([aria-busy]) .plot .main-svg",
    "About": "#about h2",
    "Explorer": "#attention-detail .xtick",
}
"""The tabs in the order in which they are opened, and what of each is there last."""
OPEN = "[...document.querySelectorAll('[role=tab]')].find(tab => tab.textContent.trim() === arguments[0]).click()"


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    """WebKitGTK, on a screen that is only in memory."""
    with webkit() as started:
        yield started


@pytest.fixture
def open_page(driver: Driver, address: str) -> Iterator[Callable[..., Driver]]:
    """The page, drawn and watched for errors."""

    def opened(suffix: str = "", width: int = 1440) -> Driver:
        driver.set_window_size(width, 900)
        driver.get("about:blank")
        driver.get(address + suffix)
        driver.execute_script(WATCH)
        until(driver, "document.querySelector('#attention-detail .xtick')")
        return driver

    yield opened
    assert driver.execute_script("return faults") == []


def until(driver: Driver, condition: str) -> None:
    patient = wait.WebDriverWait(driver, PATIENCE, poll_frequency=0.05)
    patient.until(lambda each: each.execute_script(f"return !!({condition})"), condition)


def settle(driver: Driver) -> None:
    """What `benchmarks.shown.settle` waits for; WebKit does not tell when it is idle."""
    driver.execute_async_script(PAINTED)
    until(driver, f"({QUIET})()")
    driver.execute_async_script(PAINTED)


def test_a_sentence_is_translated(open_page: Callable[..., Driver]) -> None:
    page = open_page()
    page.execute_script(TYPE, "#source-text textarea", "We are here.")
    page.find_element("css selector", "#source-text textarea").send_keys("\ue009\ue007")  # Control and Enter
    until(page, f"(({{ source, live }}) => source === 'We are here.' && !live)({SHOWN})")
    until(page, "document.querySelector('#translation textarea').value")
    until(page, "!document.body.classList.contains('busy')")


def test_another_head_is_drawn_as_sharply_as_the_first(open_page: Callable[..., Driver]) -> None:
    """WebKit smooths a small picture that is enlarged, and rounds the tiles of a background to whole pixels."""
    page = open_page()
    shown = """
        const image = document.querySelector('#attention-detail .heatmaplayer image'), picture = new Image();
        picture.src = image.href.baseVal;
        const [read] = arguments;
        return [picture.naturalWidth, picture.naturalHeight, image.width.baseVal.value, image.height.baseVal.value];
    """
    page.execute_script(
        "const head = document.querySelector('#head'); head.value = 2; head.dispatchEvent(new Event('change'))"
    )
    until(page, f"{SHOWN}.head === 2")
    width, height, wide, high = page.execute_script(shown)
    assert width >= wide and height >= high
    assert page.execute_script("return getComputedStyle(document.querySelector('.between path')).stroke") != "none"


def test_a_pair_that_is_compared_keeps_its_direction(open_page: Callable[..., Driver]) -> None:
    page = open_page("?direction=de-en")
    page.execute_script(OPEN, "Compare")
    until(page, "document.querySelector('#compare .cx:not([aria-busy]) [data-side=b] .xtick')")
    chosen = "return ['a', 'b'].map(side => document.querySelector(`#compare-direction-${side} input:checked`).value)"
    assert page.execute_script(chosen) == ["de-en", "de-en"]


@pytest.mark.parametrize("width", [640, 820, 1024, 1440])
def test_no_text_is_cut(open_page: Callable[..., Driver], width: int) -> None:
    page = open_page(width=width)
    cut = """return [...document.querySelectorAll('textarea')].filter(node => node.clientWidth)
        .filter(node => node.scrollHeight > node.clientHeight).map(node => node.closest('[id]').id)"""
    settle(page)
    assert page.execute_script(cut) == []
    for tab, last in DRAWN.items():
        page.execute_script(OPEN, tab)
        until(page, f"[...document.querySelectorAll({last!r})].some(node => node.getClientRects().length)")
        settle(page)
        assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth"), tab
        assert page.execute_script(cut) == [], tab


@pytest.mark.parametrize("kind", ["PNG", "SVG", "CSV", "JSON", "NPZ", "Offline page"])
def test_everything_can_be_saved(open_page: Callable[..., Driver], kind: str) -> None:
    page = open_page()
    page.execute_script("""
        window.saved = [];
        HTMLAnchorElement.prototype.click = function () {
            fetch(this.href).then(answer => answer.blob()).then(({ size }) => saved.push([this.download, size]));
        };
        [...document.querySelectorAll('.ax button')].find(each => each.textContent.trim() === arguments[0]).click();
    """, kind)  # fmt: skip
    until(page, "saved.length")
    (name, size), *_ = page.execute_script("return saved")
    assert name.endswith("." + {"Offline page": "html"}.get(kind, kind.lower())) and size > 500


AXE = """
const done = arguments[0];
axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => done(violations.flatMap(rule =>
    rule.nodes.map(node => `${rule.id} at ${node.target}: ${node.failureSummary}`))));
"""


def against_rules(driver: Driver, where: str) -> list[str]:
    """What axe-core finds on all that is seen, once nothing changes any more."""
    settle(driver)
    driver.execute_script(f"if (!window.axe) {{ {files('axe_playwright_python').joinpath('axe.min.js').read_text()} }}")
    return [f"{where}: {fault}" for fault in driver.execute_async_script(AXE)]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("theme", "width"), [("light", 640), ("dark", 1440)])
def test_nothing_is_against_a_rule(open_page: Callable[..., Driver], theme: str, width: int) -> None:
    page = open_page(width=width)
    page.execute_script("document.body.classList.toggle('dark', arguments[0])", theme == "dark")
    page.execute_script("dispatchEvent(new Event('explorer-theme'))")
    found = []
    for tab, last in DRAWN.items():
        page.execute_script(OPEN, tab)
        until(page, f"[...document.querySelectorAll({last!r})].some(node => node.getClientRects().length)")
        found += against_rules(page, tab)
    assert not found, "\n".join(found)


@pytest.fixture
def live(tiny: Translator, tmp_path: Path) -> Iterator[Any]:
    """A live page from the plainest host."""
    spec = importlib.util.spec_from_file_location("file_host", Path(__file__).parent / "file_host.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    write_site(tmp_path, [tiny], texts=["Ich renne in den Park."])
    with module.host(tmp_path) as host:
        yield host


def opened_live(driver: Driver, host: Any, width: int = 1440) -> Driver:
    driver.set_window_size(width, 900)
    driver.get(host.address)
    driver.execute_script(WATCH)
    until(driver, "document.querySelector('#attention-detail .xtick')")
    return driver


@pytest.mark.timeout(600)
def test_nothing_of_a_live_page_is_against_a_rule(driver: Driver, live: Any) -> None:
    page = opened_live(driver, live)
    translated_live(page, "Das Haus ist alt.")
    found = []
    for name in (each for each in DRAWN if each != "Lesson"):
        page.execute_script(OPEN, name)
        found += against_rules(page, name)
    assert not found, "\n".join(found)


def translated_live(page: Driver, text: str) -> dict[str, Any]:
    page.execute_script(TYPE, "#source-text textarea", text)
    page.execute_script("document.querySelector('#translate').click()")
    until(page, f"(AttentionExplorer.trace() || {{}}).source === {text!r}")
    return page.execute_script("return AttentionExplorer.trace()")


@pytest.mark.parametrize("width", [640, 1440])
def test_a_live_page_has_pythons_maps(driver: Driver, live: Any, tiny: Translator, width: int) -> None:
    page = opened_live(driver, live, width)
    trace, expected = translated_live(page, "Das Haus ist alt."), tiny.translate("Das Haus ist alt.")
    assert [token["id"] for token in trace["tgt"]] == [token.id for token in expected.tgt]
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(np.array(trace[kind]), expected.weights(kind), atol=2e-5, rtol=0)
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    assert page.execute_script("return faults") == []


def test_a_live_page_refuses_damaged_weights_and_fetches_them_again(driver: Driver, live: Any) -> None:
    page = opened_live(driver, live)
    live.damaged = True
    page.execute_script(TYPE, "#source-text textarea", "Das Haus ist alt.")
    page.execute_script("document.querySelector('#translate').click()")
    until(page, "document.querySelector('#weights[data-state=failed]')")
    assert "model.safetensors is damaged" in page.execute_script("return document.querySelector('#weights').innerText")
    live.damaged = False
    page.execute_script("document.querySelector('#weights .go').click()")
    until(page, "document.querySelector('#weights[data-state=here]')")
    assert translated_live(page, "Das Haus ist alt.")["source"] == "Das Haus ist alt."
