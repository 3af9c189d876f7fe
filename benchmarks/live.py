"""The page without a server, measured: `python -m benchmarks.live [--data DIR] [--sentences N]`.

What it computes is compared with Python's (ids, the eight best of every step, maps, tokens), and timed in Chromium
beside plain PyTorch on one thread, in one run; what a visitor waits for is timed from a host that compresses and from
one that does not. `--only-parity [PAIR ...]` compares and times nothing, `--only-browser` times and compares nothing.
`--onnxruntime DIST` times onnxruntime-web with the same weights in the same page. What is known so far goes to stderr.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch

import translator
from benchmarks import live_parity
from benchmarks.opening import DESK, PHONE, Visitor, opening
from translator import Translator
from translator.checkpoints import load_bundle
from translator.ui.live.site import write_site

HERE = Path(__file__).parent
ROOT = HERE.parent
PAIRS = ("de-en", "en-zh")
HUNDRED = 100
"""Sentences after which their counts are told."""
FIFTY = 50
"""Sentences after which the worst cell of their maps is told: each has as many maps as there are heads."""
SENTENCES = (
    "Gestern habe ich in der Stadt ein gutes Buch gekauft.",
    "Warum bist du heute nicht in die Schule gegangen?",
    "Meine Mutter arbeitet seit zwei Jahren in einem kleinen Krankenhaus.",
)


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


def parity(model: Translator, data: Path | None, count: int) -> dict[str, Any]:
    """What is compared with Python: `count` sentences, a fifth of them with every map, ten times as many lines."""
    torch.set_num_threads(1)  # a second thread only waits where anything else runs
    found: dict[str, Any] = {}

    def say(part: str, figures: dict[str, Any]) -> None:
        found[part] = figures
        print(f"{time.strftime('%H:%M:%S')} {model.name}, {part}: {json.dumps(figures)}", file=sys.stderr, flush=True)

    texts = _texts(data, model.name, count)
    counts: Counter[str] = Counter()
    for at in range(0, len(texts), HUNDRED):
        counts.update(live_parity.ids(model, texts[at : at + HUNDRED]))
        say("ids", dict(counts))
    few = texts[: max(1, count // 5)]
    for name, gated in (("maps", False), ("maps, heads gated", True)):
        worst = 0.0
        met: Counter[str] = Counter()
        for at in range(0, len(few), FIFTY):
            part = live_parity.maps(model, few[at : at + FIFTY], gated=gated)
            worst = max(worst, part.pop("worst cell"))
            met.update({what: int(number) for what, number in part.items()})
            say(name, {**met, "worst cell": worst})
    for column, side in enumerate(("src", "tgt")):
        lines = _texts(data, model.name, 10 * count, "extra", column)
        say(f"tokens, {side}", live_parity.tokens(model, side, lines, 10 * count))
    return found


def pytorch(model: Translator, texts: Sequence[str], runs: int) -> dict[str, float]:
    """Milliseconds a token of PyTorch on one thread, maps included."""
    torch.set_num_threads(1)
    found = {}
    for name, settings in (("greedy", {"method": "greedy"}), ("beam", {"method": "beam", "beam": 4})):
        each = []
        for text in texts:
            times = []
            for _ in range(runs):
                started = time.perf_counter()
                tokens = len(model.translate(text, **settings).tgt)
                times.append((time.perf_counter() - started) * 1000 / tokens)
            each.append(statistics.median(times))
        found[name] = statistics.median(each)
    return found


def in_browser(browser: Any, address: str, runs: int, *, onnx: bool) -> dict[str, Any]:
    """What `live.mjs` measures, in a page of the site; then our greedy search and onnxruntime-web's, if it is there."""
    page = browser.new_page()
    page.set_default_timeout(600_000)
    page.goto(address)
    found = page.evaluate(
        """async ([texts, runs, onnx]) => {
            const [live, measure] = await Promise.all([import("./worker.js"), import("./measure.mjs")]);
            const folder = "checkpoints/de-en/";
            const read = async (name) => new Uint8Array(await (await fetch(folder + name)).arrayBuffer());
            const bundle = await measure.bundleOf(live, read);
            const found = await measure.speeds(live, bundle, texts, runs);
            found.memory = measure.memory(live, bundle, texts, 500);
            if (!onnx) return found;
            const peer = await import("./onnx.mjs");
            const both = await peer.speed(live, bundle, texts, 4 * runs, new URL("peer/", location).href);
            return { ...found, "beside onnxruntime-web, greedy": both };
        }""",
        [list(SENTENCES), runs, onnx],
    )
    page.close()
    return found


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


def waits(browser: Any, address: str, visitor: Visitor, runs: int) -> dict[str, float]:
    """Milliseconds: to the first map, a median; to the first translation with the weights here, and after a reload."""
    found = {"first map": opening(browser, address, visitor, runs)[0]}
    if visitor is DESK:
        context = browser.new_context(viewport={"width": visitor.width, "height": visitor.height})
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.goto(address)
        page.click("#source-text textarea")
        page.wait_for_selector("#weights[data-state=here]")
        found["first translation"] = _translated(page, SENTENCES[0])
        page.reload()
        page.wait_for_selector("#attention-detail .xtick")
        found["after a reload"] = _translated(page, SENTENCES[1])
        context.close()
    return found


def _translated(page: Any, text: str) -> float:
    """Milliseconds from the press to the whole translation."""
    page.fill("#source-text textarea", text)
    started = time.perf_counter()
    page.click("#translate")
    while (page.evaluate("window.AttentionExplorer.trace()?.source")) != text:
        page.wait_for_timeout(5)
    return (time.perf_counter() - started) * 1000


def sizes(site: Path) -> dict[str, int]:
    """Compressed bytes of the engine, and of all that the page opens with."""
    opened = ("index.html", "page.js", "page.css", "data.js", "plotly.js", "worker.js", "engine.wasm", "manifest.json")
    packed = {name: len(gzip.compress((site / name).read_bytes(), 9)) for name in opened}
    return {"engine": packed["engine.wasm"], "page": sum(packed.values())}


def _texts(data: Path | None, direction: str, count: int, part: str = "test", column: int = 0) -> list[str]:
    """Lines of one side of a part of the corpus, each once; without data those that a newcomer might type."""
    if data is None:
        lines = (ROOT / "assets" / "newcomers" / f"{direction}.txt").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.strip()][:count]
    with gzip.open(data / direction / f"{part}.tsv.gz", "rt", encoding="utf-8") as file:
        return list(dict.fromkeys(line.rstrip("\n").split("\t")[column] for line in file))[:count]


def main() -> int:
    """Measure everything and print it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, help="a folder with DIRECTION/test.tsv.gz and extra.tsv.gz (default: newcomers' sentences)"
    )
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument(
        "--only-parity",
        nargs="*",
        metavar="PAIR",
        help="compare these pairs with Python, and time nothing (default: both)",
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--onnxruntime",
        type=Path,
        metavar="DIST",
        help="the folder dist of npm's onnxruntime-web, to be timed beside; needs the packages onnx and onnxscript",
    )
    parser.add_argument("--only-browser", action="store_true", help="compare nothing with Python, and time everything")
    parser.add_argument("--chromium", help="its path (default: Playwright's own)")
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright

    models = [translator.load(name, device="cpu") for name in args.only_parity or PAIRS]
    found: dict[str, Any] = {}
    if not args.only_browser:
        found["parity"] = {m.name: parity(m, args.data, args.sentences) for m in models}
    if args.only_parity is not None:
        print(json.dumps(found, indent=1))
        return 0
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        site = Path(place)
        write_site(site, models)
        shutil.copyfile(HERE / "live.mjs", site / "measure.mjs")
        found["bytes"] = sizes(site)
        browser = playwright.chromium.launch(executable_path=args.chromium, args=["--headless", "--no-sandbox"])
        with hosted(site) as address, hosted(site, compress=True) as compressed:
            plain = Translator(load_bundle("de-en", device="cpu"))  # weights as PyTorch has them
            if args.onnxruntime:
                found["bytes, compressed, of onnxruntime-web"] = add_peer(site, plain, args.onnxruntime)
            found["plain pytorch, ms a token"] = pytorch(plain, SENTENCES, args.runs)
            found["with weights laid out, ms a token"] = pytorch(models[0], SENTENCES, args.runs)
            found["chromium"] = in_browser(browser, address, args.runs, onnx=args.onnxruntime is not None)
            found["desk, nothing compressed"] = waits(browser, address, DESK, args.runs)
            found["slow 4G, compressed"] = waits(browser, compressed, PHONE, args.runs)
        browser.close()
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
