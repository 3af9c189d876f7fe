"""The page without a server, measured: `python -m benchmarks.live [--data DIR] [--sentences N]`.

What it computes is compared with Python's (ids, the eight best of every step, maps, tokens), and timed in Chromium
beside plain PyTorch on one thread, in one run; what a visitor waits for is timed from a host that compresses and from
one that does not. `--only-parity [PAIR ...]` compares and times nothing, `--only-browser` times and compares nothing.
`--webkit` times WebKitGTK too, `--onnxruntime DIST` onnxruntime-web with the same weights in the same page. What is
known so far goes to stderr.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

import translator
from benchmarks import live_parity
from benchmarks.live_browsers import add_peer, hosted, in_chromium, in_webkit, waits, webkit_waits
from benchmarks.opening import DESK, PHONE
from benchmarks.webkit import webkit
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


def browsers(models: Sequence[Translator], args: argparse.Namespace) -> dict[str, Any]:
    """Times in Chromium, and in WebKit if that is asked for, beside PyTorch's."""
    from playwright.sync_api import sync_playwright

    found: dict[str, Any] = {}
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
            found["chromium"] = in_chromium(browser, address, SENTENCES, args.runs, onnx=args.onnxruntime is not None)
            found["desk, nothing compressed"] = waits(browser, address, DESK, SENTENCES, args.runs)
            found["slow 4G, compressed"] = waits(browser, compressed, PHONE, SENTENCES, args.runs)
            browser.close()
            if args.webkit:
                with webkit() as other:
                    found["webkit"] = in_webkit(other, address, SENTENCES, args.runs)
                    found["webkit, desk, nothing compressed"] = webkit_waits(other, address, SENTENCES, args.runs)
    return found


def _arguments() -> argparse.Namespace:
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
    parser.add_argument(
        "--webkit", action="store_true", help="time WebKitGTK too; `make engines` installs what that takes"
    )
    args = parser.parse_args()
    if args.webkit and find_spec("selenium") is None:
        parser.error("--webkit needs the package selenium, which `make engines` installs")
    return args


def main() -> int:
    """Measure everything and print it as JSON."""
    args = _arguments()
    models = [translator.load(name, device="cpu") for name in args.only_parity or PAIRS]
    found: dict[str, Any] = {}
    if not args.only_browser:
        found["parity"] = {m.name: parity(m, args.data, args.sentences) for m in models}
    if args.only_parity is None:
        found |= browsers(models, args)
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
