"""BertViz's `model_view` of a trace in a browser: the peer that the explorer's drawing is timed beside.

The browser gets `require.js`, `jquery.min.js` and `d3.min.js` from `peers.BROWSER` in place of the addresses that
BertViz names; nothing else of it is changed.
"""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, Route

from benchmarks import peers
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


class ModelView:
    """BertViz's page of one trace, its libraries loaded."""

    def __init__(self, page: Page, trace: Trace) -> None:
        html, self._script = view(trace)
        self.page, self.bytes = page, len((html + self._script).encode())
        page.route("**/*", _answer)
        page.goto(_SITE)
        page.evaluate("html => { window.parts = { html }; }", html)
        self.draw()

    @staticmethod
    def can_be_had() -> bool:
        """Whether BertViz and the three libraries are there."""
        return peers.installed("bertviz") and all(map(_library, ("require.js", "jquery.min.js", "d3.min.js")))

    def draw(self) -> float:
        """Milliseconds to draw everything anew, of the first kind."""
        return float(self.page.evaluate(_DRAW, self._script))

    def switch(self, kind: int) -> float:
        """Milliseconds to another kind of attention: 0 encoder, 1 decoder, 2 cross."""
        return float(self.page.evaluate(_SWITCH, str(kind)))

    @property
    def nodes(self) -> int:
        """Elements of the page now."""
        return int(self.page.evaluate("document.querySelectorAll('#vis-root *').length"))


def _library(name: str) -> Path | None:
    return next((path for path in sorted(peers.BROWSER.rglob("*.js")) if path.name == name), None)


def _answer(route: Route) -> None:
    library = _library(route.request.url.rsplit("/", 1)[-1])
    if route.request.url == _SITE:
        route.fulfill(content_type="text/html", body='<script src="require.js"></script><div id="vis-root"></div>')
    elif library:
        route.fulfill(content_type="text/javascript", path=library)
    else:
        route.abort()
