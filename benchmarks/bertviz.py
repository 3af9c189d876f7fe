"""BertViz's `model_view` of a trace in a browser: the peer that the explorer's drawing is timed beside.

Needs, and the repository holds neither: `pip install --no-deps bertviz` with `pip install ipython`, and a folder with
`require.js`, `jquery.min.js` and `d3.min.js` (`npm pack requirejs jquery@3 d3@5`). The browser gets them from there in
place of the addresses that BertViz names; nothing else of it is changed.
"""

from __future__ import annotations

import re
import statistics
from pathlib import Path

from playwright.sync_api import Page, Route

from translator.trace import Trace

_SITE = "http://bertviz.test/"
_FRAMES = "await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));"
_DRAW = f"""async text => {{
    document.querySelector('#vis-root').innerHTML = window.parts.html;
    const start = performance.now(), script = document.createElement('script');
    script.textContent = text;
    document.body.append(script);
    const done = () => document.querySelector("#vis-root svg path, #vis-root svg line");
    while (!done()) await new Promise(next => setTimeout(next));
    {_FRAMES}
    return performance.now() - start; }}"""
_SWITCH = f"""async which => {{
    const select = document.querySelector('#vis-root #filter'), start = performance.now();
    select.value = which;
    select.dispatchEvent(new Event('change', {{ bubbles: true }}));
    {_FRAMES}
    return performance.now() - start; }}"""


def view(trace: Trace) -> tuple[str, str]:
    """What `model_view` writes for a trace: its HTML without the library's script tag, and its own script."""
    import torch
    from bertviz import model_view

    def layers(kind: str) -> list[torch.Tensor]:
        return [torch.from_numpy(layer.copy())[None] for layer in trace.weights(kind)]

    page = model_view(
        encoder_attention=layers("encoder"),
        decoder_attention=layers("decoder"),
        cross_attention=layers("cross"),
        encoder_tokens=[token.surface for token in trace.src],
        decoder_tokens=[token.surface for token in trace.reads],
        html_action="return",
    ).data
    found = re.fullmatch(
        r"\s*<script src=[^>]*></script>(.*)<script type=\"text/javascript\">(.*)</script>\s*", page, re.S
    )
    if found is None:
        raise ValueError("this version of BertViz writes another page; look at `view`")
    return found[1], found[2]


def measure(page: Page, trace: Trace, scripts: Path, runs: int) -> dict[str, float]:
    """Medians in ms of drawing all and of switching the kind; bytes of the component; nodes that it draws."""

    def answer(route: Route) -> None:
        name = route.request.url.rsplit("/", 1)[-1]
        files = [path for path in scripts.rglob("*.js") if path.name == name]
        if route.request.url == _SITE:
            route.fulfill(content_type="text/html", body='<script src="require.js"></script><div id="vis-root"></div>')
        elif files:
            route.fulfill(content_type="text/javascript", path=files[0])
        else:
            route.abort()

    html, script = view(trace)
    page.route("**/*", answer)
    page.goto(_SITE)
    page.evaluate("html => { window.parts = { html }; }", html)
    page.evaluate(_DRAW, script)  # the libraries are loaded with the first
    drawn = [page.evaluate(_DRAW, script) for _ in range(runs)]
    kinds = page.eval_on_selector_all("#vis-root #filter option", "all => all.map(each => each.value)")
    switched = [page.evaluate(_SWITCH, kinds[run % len(kinds)]) for run in range(1, runs + 1)]
    page.evaluate(_SWITCH, kinds[0])
    return {
        "drawn": statistics.median(drawn),
        "switched": statistics.median(switched),
        "bytes": len((html + script).encode()),
        "nodes": page.evaluate("document.querySelectorAll('#vis-root *').length"),
    }
