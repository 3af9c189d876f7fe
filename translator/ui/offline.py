"""The whole explorer for one translation as a single file that needs no server and no network."""

from __future__ import annotations

import base64
import html
import json
import zlib
from functools import cache
from typing import Any

from translator.ui import frontend

_INFLATE = """
const inflate = async id => {
  const text = atob(document.getElementById(id).textContent), bytes = Uint8Array.from(text, c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
};
(async () => {
  window.__payload = JSON.parse(await inflate("payload"));
  for (const id of ["plotly", "own"]) {
    const script = document.createElement("script");
    script.textContent = await inflate(id);
    document.head.append(script);
  }
  window.AttentionExplorer.offline();
})();
"""


def offline_page(payload: dict[str, Any]) -> str:
    """A page of about 2.4 MB: plotly.js and the trace are embedded compressed and inflated by the browser.

    Args:
        payload: `trace_payload` with "f32" weights, so that the page's numbers are exact.
    """
    data = _packed(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode())
    said = {"translation": payload["translation"], "source": payload["source"]}
    src, tgt = (html.escape(payload["checkpoint"][side], quote=True) for side in ("src", "tgt"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Attention Explorer</title>'
        f'<style>{frontend.style()}</style></head>\n<body class="offline">'
        '<header class="offline-top"><h1>Attention Explorer</h1>'
        f'<div id="page-chrome">{frontend.template("chrome")}</div></header>'
        f'<div class="offline-pair" translate="no"><p lang="{src}">{html.escape(said["source"])}</p>'
        f'<p lang="{tgt}">{html.escape(said["translation"])}</p></div>'
        f'<div id="explorer">{frontend.template()}</div>\n'
        f'<script type="text/plain" id="payload">{data}</script>\n'
        f'<script type="text/plain" id="plotly">{_plotly()}</script>\n'
        f'<script type="text/plain" id="own">{_own()}</script>\n'
        f"<script>{_INFLATE}</script></body></html>\n"
    )


@cache
def _plotly() -> str:
    return _packed(frontend.PLOTLY_JS.read_bytes())


@cache
def _own() -> str:
    return _packed(f"{frontend.words()}\n{frontend.script()}".encode())


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")
