"""Rows 6, 7 and 23 in a real browser: hostile tokens, special tokens, and a server that goes away."""

from __future__ import annotations

import base64
import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from benchmarks.served import free_port
from benchmarks.shown import SHOWN, settle, wait_translated

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAYLOADS = [
    "<script>window.ran=1</script>",
    "<img src=x onerror=window.ran=1>",
    "<svg/onload=window.ran=1>",
    '"><iframe srcdoc="<script>parent.ran=1</script>">',
    "<a href='javascript:window.ran=1'>x</a>",
    "${window.ran=1}",
    "{{window.ran=1}}",
    "%{customdata[0]}",
    "$\\href{javascript:ran=1}{x}$",
    "</textarea><script>window.ran=1</script>",
    "<style>@import'//evil.example/x'</style>",
    "';window.ran=1;//",
    "<x-y>",  # so short that it is whole wherever a long name is cut, and seen however soon it is gone
]
PLANTED = "customElements.define('x-y', class extends HTMLElement { connectedCallback() { window.ran = 1; } })"
SPECIAL = ["<s>", "</s>", "<b>", "<unk>", "&lt;"]


class Watch:
    """A tab, and what it should never do."""

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        self.page.set_default_timeout(60_000)
        self.page.add_init_script(PLANTED)
        self.dialogs: list[str] = []
        self.foreign: list[str] = []
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(f"{error.message}\n{error.stack}"))
        self.page.on(
            "console",
            lambda said: (
                self.errors.append(said.text) if said.type == "error" and "ERR_CONN" not in said.text else None
            ),
        )
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda asked: self._note(asked.url, url))

    def _note(self, asked: str, url: str) -> None:
        if not asked.startswith((url, "data:", "blob:", "file:", "about:")):
            self.foreign.append(asked)

    def check(self) -> None:
        assert self.page.evaluate("window.ran") is None, "a payload ran"
        assert not self.dialogs and not self.foreign
        planted = "img[src=x], [onerror], [onload]:not(body), iframe[srcdoc], a[href^=javascript]"
        assert self.page.evaluate(f"document.querySelectorAll({planted!r}).length") == 0


@pytest.fixture
def watch(regular: Any, live: Any) -> Iterator[Watch]:
    yield Watch(regular.page(live.url, width=1280, height=900), live.url.rstrip("/"))
    regular.forget()


@pytest.fixture
def hostile(live: Any, make_trace: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> str:
    """A model whose every token is a payload or looks like a special token; returns the text to type."""
    model = live.models.get("de-en")
    tokens = [(surface, word) for word, surface in enumerate(PAYLOADS + SPECIAL)]
    text = " ".join(PAYLOADS + SPECIAL)
    made = make_trace(3, layers=2, heads=2, source=tokens, target=tokens)
    trace = dataclasses.replace(
        made, source=text, normalised=text, checkpoint=model.bundle.info, settings=model.bundle.decode
    )

    def stream(self: Any, *_: Any, **__: Any) -> Iterator[Any]:
        yield from ()  # a live step is drawn over the tokens of the text, which are others
        return trace

    monkeypatch.setattr(type(model), "stream", stream)
    monkeypatch.setattr(type(model), "translate", lambda *_, **__: trace)
    said = live.visitor().ask(text)
    assert said["kind"] == "trace" and said["source"] == text, said.get("text")
    return text


def translate(watch: Watch, url: str, text: str) -> None:
    watch.page.goto(url)
    ask(watch, text)


def ask(watch: Watch, text: str) -> None:
    watch.page.wait_for_function(
        "document.querySelector('.ax') && document.querySelector('#source-text textarea')?.value"
    )
    settle(watch.page)  # the page fills in its example first
    watch.page.fill("#source-text textarea", text)
    watch.page.click("#translate")
    wait_for_trace(watch, text)


def wait_for_trace(watch: Watch, text: str) -> None:
    try:
        wait_translated(watch.page, text)
    except Exception as error:
        seen = watch.page.evaluate(f"[document.body.className, document.body.innerText, {SHOWN}.source]")
        raise AssertionError(f"no translation; errors {watch.errors}, shown {seen}") from error


def test_nothing_that_was_typed_runs_in_any_view(watch: Watch, live: Any, hostile: str) -> None:
    translate(watch, live.url, hostile)
    watch.page.evaluate("""async () => {
        const exports = "[data-export], .settings-toggle";
        for (const button of document.querySelectorAll("#explorer button")) {
            if (button.matches(exports) || !button.offsetParent) continue;
            button.click();
            await new Promise(requestAnimationFrame);
        }
        for (const node of document.querySelectorAll("#explorer *")) {
            node.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
            node.dispatchEvent(new PointerEvent("pointerenter"));
        }
    }""")
    watch.page.mouse.move(640, 500)
    settle(watch.page)
    watch.check()


def test_special_tokens_can_be_read(watch: Watch, live: Any, hostile: str) -> None:
    translate(watch, live.url, hostile)
    settle(watch.page)
    seen = set(
        watch.page.evaluate("""() => [...document.querySelectorAll("#explorer *")]
        .filter(node => !node.children.length).map(node => node.textContent.trim())""")
    )
    for surface in ("<s>", "</s>", "<b>", "<unk>", "&lt;"):
        assert surface in seen, f"{surface} cannot be read on the page"
    ticks = set(
        watch.page.evaluate("""() => [...document.querySelectorAll(".xtick text, .ytick text")]
        .map(node => node.textContent.trim())""")
    )
    assert {"<s>", "</s>", "<b>"} <= ticks


TABS = {
    "Lab": ("#lab-text", ".lab-run", ".lab-head", ".lab-views button"),
    "Lesson": ("#lesson-text", ".lx .ask button", ".lx:not([aria-busy]) .station", ".lx .stations a"),
    "Compare": ("#compare-a textarea", "#compare-run", ".cx .both:not([hidden]) svg", ".cx .controls button"),
}
"""Of each other tab: where one types, what runs it, what shows that it ran, and what leads to further pictures."""


@pytest.mark.timeout(400)  # the lesson has twelve stations
@pytest.mark.parametrize("tab", TABS)
def test_nothing_that_was_typed_runs_in_another_tab(watch: Watch, live: Any, hostile: str, tab: str) -> None:
    field, run, ran, more = TABS[tab]
    page = watch.page
    page.goto(live.url)
    page.wait_for_function("document.querySelector('.ax') && document.querySelector('#source-text textarea')?.value")
    page.get_by_role("tab", name=tab).click()
    page.fill(field, " ".join(PAYLOADS[:2]) if tab == "Lesson" else hostile)  # it splits its text, 128 tokens at most
    if tab == "Compare":
        page.fill("#compare-b textarea", hostile)
    page.locator(run).click()
    page.locator(ran).first.wait_for()
    for button in range(page.locator(more).count()):
        page.locator(more).nth(button).evaluate("button => button.click()")
        settle(page)
        page.locator(ran).first.wait_for()
    if tab != "Lesson":
        page.locator(more).first.evaluate("button => button.click()")
        page.wait_for_function("text => document.body.textContent.includes(text)", arg=PAYLOADS[0])
    settle(page)
    watch.check()


def test_the_offline_page_runs_nothing_of_it(watch: Watch, live: Any, hostile: str, tmp_path: Path) -> None:
    asked = {"text": hostile, "direction": "de-en", "settings": {}}
    answer = live.visitor().function("offline", asked).json()
    path = tmp_path / "offline.html"
    path.write_bytes(base64.b64decode(answer["base64"]))
    watch.page.goto(path.as_uri())
    watch.page.wait_for_function("window.__payload")
    settle(watch.page)
    watch.check()


def wait_for_notice(watch: Watch, words: str) -> None:
    said = "words => document.querySelector('#explorer .notice')?.textContent.includes(words)"
    watch.page.wait_for_function(said, arg=words)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_an_address_that_carries_a_payload_runs_nothing(watch: Watch, live: Any, payload: str) -> None:
    """The page names the direction that it does not have."""
    watch.page.goto(f"{live.url}?{urlencode({'direction': payload})}")
    wait_for_notice(watch, payload[:20])
    watch.check()


def test_an_address_that_shares_a_view_of_payloads_runs_nothing(watch: Watch, live: Any) -> None:
    """The page names the direction that it does not have; where it has one, only the sentence is taken of the rest."""
    text = " ".join(PAYLOADS)
    parts = dict.fromkeys("tdmkvuacx", text)
    watch.page.goto(f"{live.url}#{urlencode(parts)}")
    wait_for_notice(watch, text[:20])
    watch.page.goto("about:blank")
    watch.page.goto(f"{live.url}#{urlencode({**parts, 'd': 'de-en'})}")
    watch.page.wait_for_function("text => document.querySelector('#source-text textarea')?.value === text", arg=text)
    wait_for_notice(watch, "at most")  # so many tokens
    watch.check()


APP = """
import os, sys
from translator.ui.serve import serve
from translator.ui.models import Models
serve(Models({"de-en": sys.argv[1]}, device="cpu"), server_name="127.0.0.1", server_port=int(sys.argv[2]))
"""


def start(checkpoint: Path, port: int) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "GRADIO_ANALYTICS_ENABLED": "False", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    root = Path(__file__).parents[2]
    return subprocess.Popen([sys.executable, "-c", APP, str(checkpoint), str(port)], cwd=root, env=environment)


def wait_ready(url: str, seconds: float = 120) -> float:
    import httpx

    started = time.monotonic()
    while time.monotonic() - started < seconds:
        try:
            httpx.get(url, timeout=5)
            return time.monotonic() - started
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the app was not ready")


@pytest.mark.soak  # each starts the app twice
@pytest.mark.timeout(400)
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_page_outlives_its_server(browser: Any, tiny_checkpoint: Path, how: signal.Signals) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/"
    server = start(tiny_checkpoint, port)
    try:
        wait_ready(url)
        watch = Watch(browser.new_page(viewport={"width": 1280, "height": 900}), url)
        translate(watch, url, "Ich renne in den Park.")
        server.send_signal(how)
        stopping = time.monotonic()
        server.wait(30)
        assert time.monotonic() - stopping < 5
        watch.page.fill("#source-text textarea", "Das Haus ist alt.")
        watch.page.click("#translate")
        watch.page.wait_for_function("!document.body.classList.contains('busy')", timeout=20_000)
        assert "again" in watch.page.inner_text("#explorer .notice")
        with watch.page.expect_navigation(timeout=120_000):  # once Gradio has found the server again
            server = start(tiny_checkpoint, port)
            wait_ready(url)
        ask(watch, "Das Haus ist alt.")
        watch.page.close()
    finally:
        server.kill()
        server.wait()
