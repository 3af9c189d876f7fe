"""Models of the hub on the page: seen in a list, fetched by one press, stopped, used; and without a network."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from benchmarks.served import free_port
from benchmarks.shown import settle, wait_translated
from translator.ui.hub import Hub
from translator.ui.models import Models
from translator.ui.serve import Server
from translator.ui.shortlist import Listed

pytestmark = pytest.mark.browser
Opened = Callable[[Mapping[str, Path], str], Page]
CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"
LISTED = Listed("Helsinki-NLP/opus-mt-de-en", 2_000_000, "apache-2.0", ("de", "en"))
OTHER = Listed("facebook/m2m100_418M", 1_940_000_000, "mit")
ROW = ".hub li:has-text('opus-mt-de-en')"
SENTENCE = "Das Haus ist alt."


@pytest.fixture
def served(
    hub_stand_in: ModuleType, tiny_marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    folder = Path(shutil.copytree(tiny_marian, tmp_path / "served"))
    # the list asks for its first model whether the hub can be reached
    with hub_stand_in.served(folder, LISTED.id) as server:
        yield server


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Opens a page with the checkpoints of some folders and the hub at an address."""
    with ExitStack() as closing:

        def open_(folders: Mapping[str, Path], endpoint: str) -> Page:
            hub = Hub([LISTED, OTHER], folder=tmp_path / "fetched", endpoint=endpoint)
            models = Models(dict(folders), device="cpu", hub=hub)
            models.get(next(iter(folders)))
            server = Server(models, server_name="127.0.0.1", server_port=free_port())
            closing.callback(server.close)
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            closing.callback(context.close)
            page, faults = context.new_page(), []
            page.set_default_timeout(60_000)
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.goto(server.url)
            page.wait_for_selector(".hub-open")
            closing.callback(lambda: pytest.fail(str(faults)) if faults else None)
            return page

        yield open_


@pytest.fixture
def page(request: pytest.FixtureRequest, opened: Opened, tiny_checkpoint: Path) -> Page:
    """A page with one checkpoint of its own; the hub's is `served`, or there is none."""
    endpoint = getattr(request, "param", None) or request.getfixturevalue("served").endpoint
    return opened({"tiny": tiny_checkpoint}, endpoint)


def directions(page: Page) -> Locator:
    """Those that can be seen."""
    return page.locator("#direction label:visible")


def test_beside_both_pairs_the_models_of_the_hub_are_in_sight_too(opened: Opened, served: Any) -> None:
    page = opened({name: CHECKPOINTS / name for name in ("de-en", "en-zh")}, served.endpoint)
    expect(directions(page)).to_have_count(2)
    for width in (390, 724, 860, 1024, 1241, 1280, 1366, 1381, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        button = page.get_by_role("button", name="More models", exact=True)
        expect(button).to_have_attribute("title", "More models")
        hidden = button.evaluate("({ parentElement: all }) => all.scrollWidth - all.clientWidth")
        assert hidden <= 1, width


def test_a_model_is_fetched_by_one_press_and_can_be_stopped_on_the_way(page: Page, served: Any, tmp_path: Path) -> None:
    expect(directions(page)).to_have_text(["tiny"], use_inner_text=True)
    assert not served.asked, "nothing is fetched that nobody chose"
    served.flows.clear()
    page.get_by_role("button", name="More models").click()
    expect(page.get_by_role("dialog", name="Models from the hub")).to_be_visible()
    for said in ("German → English", "2 MB", "apache-2.0"):
        expect(page.locator(ROW)).to_contain_text(said, use_inner_text=True)
    page.get_by_role("button", name="Fetch: opus-mt-de-en").click()
    page.wait_for_selector(f"{ROW} progress")
    page.wait_for_function("() => document.querySelector('.hub progress')?.value > 0")
    expect(page.get_by_role("button", name="Fetch: m2m100_418M")).to_be_disabled()
    page.get_by_role("button", name="Stop: opus-mt-de-en").click()
    page.get_by_role("button", name="Fetch: opus-mt-de-en").wait_for()
    page.wait_for_function("() => !document.querySelector('.hub progress')")
    assert list((tmp_path / "fetched").iterdir()) == []
    served.flows.set()
    page.get_by_role("button", name="Fetch: opus-mt-de-en").click()
    page.wait_for_selector(".hub", state="hidden")
    expect(page.locator("#direction label.selected")).to_have_text("opus-mt-de-en", use_inner_text=True)
    page.fill("#source-text textarea", SENTENCE)
    page.click("#translate")
    wait_translated(page, SENTENCE, direction="opus-mt-de-en")
    page.reload()
    page.wait_for_selector("#direction label:has(input[value='opus-mt-de-en'])")
    # it stays for the next visitor
    expect(directions(page)).to_have_text(["tiny", "opus-mt-de-en"], use_inner_text=True)


def test_a_link_to_a_model_that_is_not_here_says_what_to_do(page: Page) -> None:
    page.goto(page.url.split("#")[0].split("?")[0] + "?direction=opus-mt-de-en")
    said = "opus-mt-de-en was not fetched yet; choose it under More models"
    page.wait_for_function("said => document.querySelector('.notice.error')?.textContent === said", arg=said)
    page.click(".chrome [data-language=de]")
    page.wait_for_function("() => document.querySelector('.notice.error')?.textContent.includes('Weitere Modelle')")


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1440)])
def test_the_list_is_against_no_rule_of_accessibility(page: Page, served: Any, scheme: Any, width: int) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844})
    page.reload()
    page.click(".hub-open")
    page.wait_for_selector(ROW)
    settle(page)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert not found, found


@pytest.mark.parametrize("page", ["http://127.0.0.1:9"], indirect=True)
def test_without_a_network_the_list_says_so_and_the_page_translates(page: Page) -> None:
    page.click(".hub-open")
    page.wait_for_function("() => document.querySelector('.hub-note').textContent.includes('cannot be reached')")
    expect(page.get_by_role("button", name="Fetch: opus-mt-de-en")).to_be_disabled()
    page.keyboard.press("Escape")
    page.wait_for_selector(".hub", state="hidden")
    page.fill("#source-text textarea", SENTENCE)
    page.click("#translate")
    wait_translated(page, SENTENCE, direction="tiny")
