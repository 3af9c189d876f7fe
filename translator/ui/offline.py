"""The explorer for one translation as a single offline file."""

from __future__ import annotations

import base64
import html
import json
import zlib
from functools import cache
from typing import Any

from translator.ui import frontend
from translator.ui.deflate import deflated

_INFLATE = """
const inflate = async id => {
  const text = atob(document.getElementById(id).textContent), bytes = Uint8Array.from(text, c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
};
const run = async id => {
  const script = document.createElement("script");
  script.textContent = await inflate(id);
  document.head.append(script);
};
"""
_EXPLORE = """
(async () => {
  window.__payload = JSON.parse(await inflate("payload"));
  await run("plotly");
  await run("own");
  window.AttentionExplorer.offline();
})();
"""
_BARE = 'run("own").then(() => window.AttentionExplorer.chrome(document.getElementById("page-chrome")));'


def offline_page(payload: dict[str, Any], *, home: str = "") -> str:
    """A page of about 1.1 MB: plotly.js and the trace are embedded compressed and inflated by the browser.

    Args:
        payload: `trace_payload` with "f32" weights, so that the page's numbers are exact.
        home: address of the page that the title leads to, if there is one.
    """
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    data = base64.b64encode(deflated(text)).decode("ascii")
    checkpoint = payload["checkpoint"]
    said = (payload["source"], payload["translation"], checkpoint["src"], checkpoint["tgt"])
    return _explorer(data, *(html.escape(text, quote=True) for text in said), home=home)


def offline_shell() -> str:
    """The page without a translation: marks such as @@source@@ where one goes, escaped as `offline_page` does."""
    return _explorer("@@payload@@", "@@source@@", "@@translation@@", "@@src@@", "@@tgt@@")


def _explorer(data: str, source: str, translation: str, src: str, tgt: str, *, home: str = "") -> str:
    """All texts are markup already; `data` is the payload as its script inflates it."""
    return _page(
        f'<div class="offline-pair" translate="no"><p lang="{src}">{source}</p><p lang="{tgt}">{translation}</p></div>'
        '<div id="explorer"></div>\n'
        f'<script type="text/plain" id="payload">{data}</script>\n'
        f'<script type="text/plain" id="plotly">{_plotly()}</script>\n',
        _EXPLORE,
        home=home,
    )


def bare_page(body: str, *, head: str = "") -> str:
    """A page with our styles and the switches of language and theme, and nothing to explore; `body` is markup."""
    return _page(body, _BARE, head=head)


def _page(body: str, script: str, *, head: str = "", home: str = "") -> str:
    title = f'<a href="{html.escape(home, quote=True)}">Attention Explorer</a>' if home else "Attention Explorer"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{head}'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Attention Explorer</title>'
        f'<style>{frontend.style()}</style></head>\n<body class="offline">'
        f'<header class="offline-top"><h1>{title}</h1>'
        '<div id="page-chrome"></div></header>'
        f'{body}<script type="text/plain" id="own">{_own()}</script>\n'
        f"<script>{_INFLATE}{script}</script></body></html>\n"
    )


@cache
def _plotly() -> str:
    return _packed(frontend.PLOTLY_JS.read_bytes())


@cache
def _own() -> str:
    return _packed(f"{frontend.words()}\n{frontend.script()}".encode())


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")
