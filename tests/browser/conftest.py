"""One launched page for all tests that look at what a person sees."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from benchmarks.served import free_port
from tests.browser.regular import Regular
from tests.browser.told import Told
from tests.browser.webkit.opened import WEBKIT
from translator.decode.steps import Decoding
from translator.model import Stepped
from translator.ui import frontend
from translator.ui.models import Models
from translator.ui.payload import unpack
from translator.ui.serve import Server
from translator.ui.session import FRAME

CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"
PATIENCE = 60_000
OPENS_IN_CHINESE = ("en-zh", "de-en")  # a host may choose the order; most tests type English
HELD_AT_MOST = 30.0  # seconds: what a test that failed leaves does not wait for ever

_TOLD = pytest.StashKey[list[Told]]()

expect.set_options(timeout=PATIENCE)  # else five seconds, which a slow host takes for one translation


@pytest.fixture(scope="session")
def address(tiny_checkpoint: Path) -> Iterator[str]:
    """Where the page is; its models are the stored checkpoints, or a tiny one where there are none."""
    stored = {name: CHECKPOINTS / name for name in OPENS_IN_CHINESE}
    there = all((folder / "manifest.json").is_file() for folder in stored.values())
    models = Models(stored if there else dict.fromkeys(OPENS_IN_CHINESE, tiny_checkpoint))
    models.warm().join()
    server = Server(models, server_name="127.0.0.1", server_port=free_port())
    yield server.url
    server.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if WEBKIT:
        for item in items:
            if "launch" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.skip("it starts a Chromium of its own"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and report.failed:
        report.sections += [("the page", str(told)) for told in item.stash.get(_TOLD, [])]
    return report


if WEBKIT:

    @pytest.fixture(scope="session")
    def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
        """WebKit in place of Chromium."""
        from tests.browser.webkit.context import Browser

        started = Browser(tmp_path_factory.mktemp("webkit"), PATIENCE)
        yield started
        started.close()

    @pytest.fixture(scope="session")
    def regular(browser: Any) -> Any:
        """The visitor who comes again, in WebKit."""
        from tests.browser.webkit.context import Regular

        return Regular(browser)

    @pytest.fixture(autouse=True)
    def _expected(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        """What a test expects of Playwright's locators, it expects of ours."""
        from tests.browser.webkit.locator import Expected

        if hasattr(request.module, "expect"):
            monkeypatch.setattr(request.module, "expect", Expected)


@pytest.fixture
def open_page(
    address: str, browser: Browser, regular: Regular, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Page]]:
    """The page, drawn and watched for errors; the script `init` runs before it, `routes` answer for the server.

    `stored` is what an earlier visit left in the page's storage. It is handed over once `shown` can be seen. Only a
    visitor with routes or a browser of his own (`options`) comes for the first time, with an empty cache.
    """
    contexts, faults = [], []
    told = request.node.stash[_TOLD] = []

    def opened(
        suffix: str = "",
        *,
        server: str = address,
        width: int = 1440,
        height: int = 900,
        init: str = "",
        routes: dict[str, Callable[[Route], None]] | None = None,
        stored: dict[str, str] | None = None,
        color_scheme: Literal["light", "dark"] | None = None,
        shown: str = "#attention-detail .xtick",
        **options: Any,
    ) -> Page:
        if routes or options:
            assert not stored, "a visitor who comes for the first time has nothing stored"
            contexts.append(browser.new_context(viewport={"width": width, "height": height}, **options))
            page = contexts[-1].new_page()
        else:
            page = regular.page(server, width=width, height=height, stored=stored)
        page.set_default_timeout(PATIENCE)
        told.append(Told(page))
        if color_scheme:
            page.emulate_media(color_scheme=color_scheme)
        if init:
            page.add_init_script(init)
        for pattern, answer in (routes or {}).items():
            page.route(pattern, answer)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(server + suffix)
        page.wait_for_selector(shown)
        return page

    yield opened
    for context in contexts:
        context.close()
    regular.forget()
    assert not faults


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Two tokens of a translation come; its others wait until this is set, however slow or fast the machine."""
    go = threading.Event()

    step = Decoding.step

    def later(decoding: Decoding, ids: Sequence[int]) -> Stepped:
        if decoding.session.length == 1:
            time.sleep(2 * FRAME)  # a step that comes sooner after another is not told
        elif decoding.session.length >= 2:
            go.wait(HELD_AT_MOST)
        return step(decoding, ids)

    monkeypatch.setattr(Decoding, "step", later)
    yield go
    go.set()


@pytest.fixture(scope="session")
def example() -> Callable[[str], dict[str, Any]]:
    """`example(id)`: a stored translation as the page reads it; its "maps" by kind, [L, H, rows, columns]."""

    def read(id_: str) -> dict[str, Any]:
        stored = frontend.stored_example(id_)
        assert stored is not None, f"{id_} has not been stored; run `make assets`"
        return {**stored, "maps": {kind: _map(stored, kind) for kind in stored["weights"]}}

    return read


def _map(payload: dict[str, Any], kind: str) -> np.ndarray:
    sent, shape = unpack(payload["weights"][kind], "u16"), payload["shapes"][kind]
    if kind != "decoder":
        return sent.reshape(shape)
    found, (rows, columns) = np.zeros(shape, np.float32), np.tril_indices(shape[2])  # the future is not sent
    found[:, :, rows, columns] = sent.reshape(*shape[:2], -1)
    return found
