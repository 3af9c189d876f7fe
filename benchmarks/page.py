"""`python -m benchmarks.page`: what a person waits for on the page, in a headless Chromium on this machine.

The maps of the drawing rows are random: they measure drawing alone. Row 12 of `python -m benchmarks` is from here too.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import bertviz
from benchmarks.opening import DESK, PHONE, opening
from benchmarks.report import Row, compare
from benchmarks.served import free_port
from benchmarks.timing import Times, Watch
from translator.config import DecodeConfig
from translator.trace import Candidate, CheckpointId, Step, Token, Trace
from translator.ui.message import send
from translator.ui.models import Models
from translator.ui.offline import offline_page
from translator.ui.payload import KINDS, trace_payload
from translator.ui.serve import Server

OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SENTENCE = "My little brother and I walked to the old bridge this morning."
HEALTH = {"words": 0, "tokens": 0, "limit": 128, "unknown": 0, "changed": 0, "normalised": "", "problem": ""}
TARGETS = {
    "opened: the first map, ms": 1500,
    "opened by a phone over slow 4G: the first map, s": 10,
    "fetched until then, KB": 900,
    "first token, ms": 150,
    "6 × 8 heads × 3 kinds drawn, ms": 700,
    "another head, ms": 80,
    "replay, steps a second": 20,
    "trace of 20 × 24 tokens, as it is sent, KB": 140,
    "nodes of the mosaic": 500,
    "offline page, MB": 2.5,
    "128 × 128 tokens drawn, ms": 3000,
    "128 × 128 tokens, another head, ms": 200,
}
WHAT = "the explorer, 6 × 8 heads × 3 kinds, 20 × 24 tokens"
SETTLE = 500
"""Milliseconds without anything to do before each turn, so that none pays for the one before."""
PEER = "BertViz `model_view`, same maps and browser"
_DRAWN = (
    "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start))))"
)

_WATCH_FIRST = """() => {
    window.first = 0;
    const come = () => requestAnimationFrame(() => { window.first ||= performance.now() - window.pressed; });
    const watch = new MutationObserver(() => { watch.disconnect(); come(); });
    watch.observe(document.querySelector('.chips.tgt'), { childList: true });
    const pressed = () => { window.pressed = performance.now(); };
    document.querySelector('#translate').addEventListener('click', pressed, { once: true, capture: true });
}"""


def random_trace(source: int, target: int, *, layers: int = 6, heads: int = 8, seed: int = 0) -> Trace:
    """Peaked random maps of a size; its words mean nothing."""
    rng = np.random.default_rng(seed)

    def maps(rows: int, columns: int, causal: bool = False) -> np.ndarray:
        scores = 3 * rng.normal(size=(layers, heads, rows, columns))
        if causal:
            scores = np.where(np.tril(np.ones((rows, columns))) > 0, scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)

    def tokens(count: int) -> tuple[Token, ...]:
        return (*(Token(i, f"word{i}", word=i, space=True) for i in range(count - 1)), Token(2, "</s>", special=True))

    src, tgt = tokens(source), tokens(target)
    cross = maps(target, source)
    steps = tuple(
        Step(t, tgt[t], -0.5, 1.0, tuple(Candidate(Token(k, f"word{k}"), -1.0 - k) for k in range(8)), cross[:, :, t])
        for t in range(target)
    )
    checkpoint = CheckpointId("random", "0" * 64, "en", "de")
    start = Token(1, "<s>", special=True)
    decoder = maps(target, target, causal=True)
    return Trace(
        "", "", "", src, start, tgt, steps, maps(source, source), decoder, cross, checkpoint, DecodeConfig()
    )  # fmt: skip


_MOUNT = """payload => {
    window.payload = payload;
    if (window.mounted) return;
    const room = document.querySelector('#explorer');
    const language = document.documentElement.lang.slice(0, 2);
    room.replaceChildren();
    window.mounted = AttentionExplorer.mount(room, { trace: payload, language, theme: 'light' });
}"""
"""An explorer in the place of the page's own, which can be told what to show."""

_TIMED = {
    what: f"value => {{ const start = performance.now(), x = window.mounted; {code}; return {_DRAWN}; }}"
    for what, code in {
        "shown": "x.show(window.payload)", "head": "x.pick({ head: value })", "kind": "x.pick({ kind: value })",
    }.items()
}  # fmt: skip


def draw(page: Page, payload: dict[str, Any], runs: int) -> dict[str, float]:
    """Medians in ms: a whole trace shown, another head picked; and steps replayed a second."""
    page.evaluate(_MOUNT, payload)
    shown = [page.evaluate(_TIMED["shown"]) for _ in range(runs)]
    picked = [page.evaluate(_TIMED["head"], head % 8) for head in range(1, runs + 1)]
    page.evaluate(_TIMED["kind"], "cross")
    replayed = page.evaluate("""async () => {
        const x = window.mounted, total = window.payload.tgt.length, start = performance.now();
        for (let step = 0; step < total; step++) { x.pick({ step }); await new Promise(requestAnimationFrame); }
        return 1000 * total / (performance.now() - start); }""")
    return {"shown": statistics.median(shown), "picked": statistics.median(picked), "replayed": replayed}


def first_token(page: Page, runs: int) -> float:
    """Milliseconds from the press of Translate to the first chip of the translation, model warm."""
    times = []
    for run in range(runs + 1):
        page.fill("#source-text textarea", SENTENCE if run % 2 else SENTENCE.replace("My", "His"))
        page.wait_for_timeout(600)
        page.evaluate(_WATCH_FIRST)
        page.click("#translate")
        page.wait_for_function("window.first && !document.body.classList.contains('busy')")
        times.append(page.evaluate("window.first"))
    return statistics.median(times[1:])


def measure(browser: Browser, page: Page, runs: int) -> dict[str, float]:
    """Every row of TARGETS."""
    desk, _ = opening(browser, page.url, DESK, runs)
    phone, fetched = opening(browser, page.url, PHONE, 3)
    payload = trace_payload(random_trace(24, 20), HEALTH)
    first = first_token(page, runs)
    usual = draw(page, payload, runs)
    nodes = page.evaluate("document.querySelectorAll('#attention-mosaic, #attention-mosaic *').length")
    large = draw(page, trace_payload(random_trace(128, 128), HEALTH), 3)
    offline = offline_page(trace_payload(random_trace(24, 20), HEALTH, "f32"))
    values = (
        desk,
        phone / 1000,
        fetched,
        first,
        usual["shown"],
        usual["picked"],
        usual["replayed"],
        len(send(payload) or "") / 1000,
        nodes,
        len(offline.encode()) / 1e6,
        large["shown"],
        large["picked"],
    )
    return dict(zip(TARGETS, values, strict=True))


def beside(page: Page, peer: bertviz.ModelView, payload: dict[str, Any], runs: int) -> dict[str, Times]:
    """Seconds to draw all and to switch to the same kind of attention, BertViz and ours by turns in one browser."""
    page.evaluate(_MOUNT, payload)
    taken: dict[str, list[float]] = {name: [] for name in ("drawn", "switched", "their drawn", "their switched")}
    for run in range(runs + 1):
        turn = []
        for tab, draws, switches in (
            (page, lambda: page.evaluate(_TIMED["shown"]), lambda kind: page.evaluate(_TIMED["kind"], KINDS[kind])),
            (peer.page, peer.draw, peer.switch),
        ):
            tab.bring_to_front()
            tab.wait_for_timeout(SETTLE)
            turn.append(draws())
            tab.wait_for_timeout(SETTLE)
            turn.append(switches(run % 3))
        if run:
            for name, value in zip(taken, turn, strict=True):
                taken[name].append(value / 1000)
    return {name: Times(tuple(times)) for name, times in taken.items()}


def fewer_nodes(page: Page, peer: bertviz.ModelView) -> list[float]:
    """Elements of BertViz's page over those of the explorer, of each kind of attention."""
    found = []
    for number, kind in enumerate(KINDS):
        page.bring_to_front()
        page.evaluate(_TIMED["kind"], kind)
        peer.page.bring_to_front()
        peer.switch(number)
        found.append(peer.nodes / page.evaluate("document.querySelectorAll('#explorer *').length"))
    return found


def rows(runs: int) -> list[Row]:
    """Row 12: the explorer beside BertViz's `model_view`, same maps, same browser."""
    trace = random_trace(24, 20)
    payload = trace_payload(trace, HEALTH)
    with opened() as (browser, page), Watch() as watch:
        peer = bertviz.ModelView(browser.new_page(), trace)
        times = beside(page, peer, payload, runs)
        nodes = fewer_nodes(page, peer)
    drawn, switched = (compare(times[name], times[f"their {name}"]) for name in ("drawn", "switched"))
    bytes_ = peer.bytes / len(send(payload) or "")
    found = [
        ("drawn", *drawn, 2, "× faster"),
        ("another kind of attention", *switched, 8, "× faster"),
        ("bytes", bytes_, bytes_, bytes_, 20, "× fewer"),
        ("nodes, by kind", statistics.median(nodes), min(nodes), max(nodes), 30, "× fewer"),
    ]
    detail = {f"{name}, ms": 1000 * times[name].median for name in times}
    return [
        Row(
            "12",
            f"{WHAT}: {name}",
            PEER,
            ratio,
            f"≥ {least} ×",
            ratio >= least,
            1,
            low,
            high,
            watch.others,
            unit,
            detail,
        )
        for name, ratio, low, high, least, unit in found
    ]


@contextmanager
def opened() -> Iterator[tuple[Browser, Page]]:
    """A headless Chromium, and the served page in it."""
    with shipped_page() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=OPTIONS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(server.url)
        page.wait_for_selector("#attention-detail .xtick")
        yield browser, page
        browser.close()


def chromium() -> str | None:
    """The browser of this machine; None takes the one that playwright brought."""
    return shutil.which("chromium") or shutil.which("google-chrome")


@contextmanager
def shipped_page() -> Iterator[Server]:
    """The page over the shipped checkpoints, loaded, on a port of its own."""
    models = Models({name: name for name in ("en-zh", "de-en")})  # what is typed is English
    models.warm().join()
    server = Server(models, server_name="127.0.0.1", server_port=free_port())
    try:
        yield server
    finally:
        server.close()


def main() -> None:
    """Serve the page, measure, print the table, write the JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--out", type=Path, default=Path("runs/page.json"))
    args = parser.parse_args()
    with opened() as (browser, page), Watch() as watch:
        found = measure(browser, page, args.runs)
    for name, value in found.items():
        print(f"{name:48} {value:10.1f}   target {TARGETS[name]}")
    print(f"others used {watch.others:.0%} of the machine")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({"rows": found, "others": watch.others}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
