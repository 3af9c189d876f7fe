"""The live page in browsers, for `benchmarks.live`: its code in Chromium and WebKit, and what a visitor waits for."""

from __future__ import annotations

import gzip
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.opening import DESK, FIRST_MAP, Visitor, opening
from translator import Translator

HERE = Path(__file__).parent
_MEASURE = """async ([texts, runs, translations, onnx]) => {
    const [live, measure] = await Promise.all([import("./worker.js"), import("./measure.mjs")]);
    const folder = "checkpoints/de-en/";
    const read = async (name) => new Uint8Array(await (await fetch(folder + name)).arrayBuffer());
    const bundle = await measure.bundleOf(live, read);
    const found = await measure.speeds(live, bundle, texts, runs);
    found.memory = measure.memory(live, bundle, texts, translations);
    if (!onnx) return found;
    const peer = await import("./onnx.mjs");
    const both = await peer.speed(live, bundle, texts, 4 * runs, new URL("peer/", location).href);
    return { ...found, "beside onnxruntime-web, greedy": both };
}"""
_TRACE = "window.AttentionExplorer.trace()?.source"
_TYPE = """
const node = document.querySelector("#source-text textarea");
Object.getOwnPropertyDescriptor(Object.getPrototypeOf(node), "value").set.call(node, arguments[0]);
node.dispatchEvent(new Event("input", { bubbles: true }));
document.querySelector("#translate").click();
"""
"""What Playwright does of itself."""


class _Host(SimpleHTTPRequestHandler):
    """Files, compressed if so wanted."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments: Any, compress: bool, **options: Any) -> None:
        self.compress = compress
        super().__init__(*arguments, **options)

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        texts = (".js", ".css", ".html", ".json", ".svg", ".wasm")
        if not self.compress or path.suffix not in texts or not path.is_file():
            return super().do_GET()
        data = gzip.compress(path.read_bytes(), 6)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that left."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def hosted(folder: Path, *, compress: bool = False) -> Iterator[str]:
    """The folder's address on loopback."""
    server = _Server(("127.0.0.1", 0), partial(_Host, directory=str(folder), compress=compress))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def in_chromium(browser: Any, address: str, texts: Sequence[str], runs: int, *, onnx: bool) -> dict[str, Any]:
    """What `live.mjs` measures, in a page of the site; then our greedy search and onnxruntime-web's, if it is there."""
    page = browser.new_page()
    page.set_default_timeout(600_000)
    page.goto(address)
    found: dict[str, Any] = page.evaluate(_MEASURE, [list(texts), runs, 500, onnx])
    page.close()
    return found


def in_webkit(browser: Any, address: str, texts: Sequence[str], runs: int) -> dict[str, Any]:
    """The same in WebKit, and its version.

    Raises:
        RuntimeError: the page failed.
    """
    browser.get(address)
    _until(browser, "document.readyState === 'complete'")
    found, fault = browser.execute_async_script(
        f"const done = arguments[1]; ({_MEASURE})(arguments[0]).then((found) => done([found, null]), "
        "(fault) => done([null, String(fault)]));",
        [list(texts), runs, 500, False],
    )
    if fault:
        raise RuntimeError(fault)
    return {"version": browser.capabilities["browserVersion"], **found}


def add_peer(site: Path, model: Translator, dist: Path) -> int:
    """Put the model as ONNX and onnxruntime-web into the site; the compressed bytes of its smallest engine."""
    from benchmarks.live_onnx import export

    parts = ("ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm")
    (site / "peer" / "ort").mkdir(parents=True)
    for name in parts:
        shutil.copyfile(dist / name, site / "peer" / "ort" / name)
    export(model.bundle.model, site / "peer")
    shutil.copyfile(HERE / "live_onnx.mjs", site / "onnx.mjs")
    return sum(len(gzip.compress((dist / name).read_bytes(), 9)) for name in parts)


def waits(browser: Any, address: str, visitor: Visitor, texts: Sequence[str], runs: int) -> dict[str, float]:
    """Milliseconds in Chromium: to the first map, a median; to the first translation with the weights here, and after a
    reload."""
    found = {"first map": opening(browser, address, visitor, runs)[0]}
    if visitor is DESK:
        context = browser.new_context(viewport={"width": visitor.width, "height": visitor.height})
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(address)
        page.click("#source-text textarea")
        page.wait_for_selector("#weights[data-state=here]")
        found["first translation"] = _translated(page, texts[0])
        page.reload()
        page.wait_for_selector("#attention-detail .xtick")
        found["after a reload"] = _translated(page, texts[1])
        context.close()
    return found


def _translated(page: Any, text: str) -> float:
    """Milliseconds from the press to the whole translation."""
    page.fill("#source-text textarea", text)
    started = time.perf_counter()
    page.click("#translate")
    while page.evaluate(_TRACE) != text:
        page.wait_for_timeout(5)
    return (time.perf_counter() - started) * 1000


def webkit_waits(browser: Any, address: str, texts: Sequence[str], runs: int) -> dict[str, float]:
    """The same in WebKit, whose driver asks every few milliseconds; nothing but its HTTP cache is kept between maps."""
    maps = []
    for _ in range(runs):
        browser.get("about:blank")
        browser.get(address)
        maps.append(_until(browser, f"document.querySelector({FIRST_MAP!r}) && performance.now()"))
    found = {"first map": statistics.median(maps)}
    browser.execute_script("document.querySelector('#source-text textarea').focus()")
    _until(browser, "document.querySelector('#weights[data-state=here]')")
    found["first translation"] = _webkit_translated(browser, texts[0])
    browser.get("about:blank")
    browser.get(address)
    _until(browser, "document.querySelector('#attention-detail .xtick')")
    found["after a reload"] = _webkit_translated(browser, texts[1])
    return found


def _webkit_translated(browser: Any, text: str) -> float:
    started = time.perf_counter()
    browser.execute_script(_TYPE, text)
    _until(browser, f"{_TRACE} === {text!r}")
    return (time.perf_counter() - started) * 1000


def _until(browser: Any, condition: str, patience: float = 120) -> Any:
    """What the condition says once it holds.

    Raises:
        TimeoutError: it did not in so many seconds.
    """
    end = time.monotonic() + patience
    while not (found := browser.execute_script(f"return ({condition}) || null")):
        if time.monotonic() > end:
            raise TimeoutError(condition)
        time.sleep(0.005)
    return found
