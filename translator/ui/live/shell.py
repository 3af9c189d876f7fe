"""The markup around a live page: index, README and web manifest."""

from __future__ import annotations

from typing import Any

from translator.figures.style import DARK, LIGHT

INDEX = "index.html"
MARK = '<meta name="generator" content="Attention Explorer: live page">'
TITLE = "Attention Explorer"
SAYS = "Type a sentence and watch every attention head of a Transformer translate it, in your own browser."

README = f"""---
title: {TITLE}
emoji: 🔎
colorFrom: indigo
colorTo: green
sdk: static
app_file: index.html
short_description: See every attention head translate, in your browser
pinned: false
---

{SAYS} Nothing that is typed leaves the machine. Put this folder on any host of files.
"""

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)
"""No script but the site's own files. (plotly.js styles its parts by elements of its own.)"""


def index_page(version: str) -> str:
    """The page: everything that it shows is made by its script.

    Args:
        version: of the site, by which browsers tell its files from those of another.
    """
    style, script = f"page.css?v={version}", f"page.js?v={version}"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{MARK}\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{TITLE}</title><meta name="description" content="{SAYS}">\n'
        '<link rel="icon" href="icon.svg" type="image/svg+xml"><link rel="manifest" href="app.webmanifest">\n'
        f'<link rel="preload" as="style" href="{style}"><link rel="modulepreload" href="{script}">\n'
        # It asks for what the page opens with: before the style sheet, for which every later script waits.
        f'<script src="data.js?v={version}"></script>\n'
        f'<link rel="stylesheet" href="{style}"><script src="{script}" type="module"></script>'
        f"</head>\n<body><noscript>{SAYS} It needs JavaScript.</noscript></body></html>\n"
    )


def web_manifest() -> dict[str, Any]:
    """What an installed page is called and how it opens."""
    icon = {"src": "icon.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any"}
    return {
        "name": TITLE,
        "short_name": "Attention",
        "description": SAYS,
        "start_url": "./",
        "scope": "./",
        "display": "standalone",
        "background_color": LIGHT.page,
        "theme_color": DARK.page,
        "icons": [icon],
    }
