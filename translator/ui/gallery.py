"""Translations as a folder of offline pages with an index, for static hosting."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from translator.errors import InputError
from translator.figures.label import plain
from translator.files import write_whole
from translator.trace import Trace
from translator.ui.offline import bare_page, offline_page

INDEX, CARD = "index.html", "README.md"
_MARK = '<meta name="generator" content="Attention Explorer: gallery">'
_LEAD = "Each card opens a translation with every layer and head of its attention. Nothing is asked of a server."
_SPACE = """---
title: Attention Explorer
emoji: 🔎
colorFrom: indigo
colorTo: green
sdk: static
app_file: index.html
pinned: false
---

Translations with every layer and head of a Transformer's attention, as pages that need no server.
"""


def write_gallery(folder: Path, items: Sequence[tuple[Trace, dict[str, Any]]]) -> list[Path]:
    """Write `folder`: a page for each translation, the index, and the README that a static Space reads.

    A former gallery in it is replaced; what else lies there stays.

    Args:
        items: each trace with its payload for the page (`session.payload_of`, weights "f32").
    Returns:
        the index, then the pages.
    Raises:
        InputError: there is nothing to show, or the folder has an index that is no gallery's.
    """
    if not items:
        raise InputError("there is no translation to show; give at least one sentence")
    index = folder / INDEX
    if index.is_file() and _MARK not in index.read_text(encoding="utf-8", errors="replace")[:1000]:
        raise InputError(f"{index} is not part of a gallery and would be overwritten; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    former = set(folder.glob("translation-[0-9]*.html")) if index.is_file() else set()
    pages = [folder / f"translation-{number:02}.html" for number in range(1, len(items) + 1)]
    for page, (_, payload) in zip(pages, items, strict=True):
        write_whole(page, offline_page(payload, home=INDEX))
    cards = "\n".join(_card(page.name, trace) for page, (trace, _) in zip(pages, items, strict=True))
    body = f'<main class="gallery"><p>{_LEAD}</p>\n<ul translate="no">\n{cards}\n</ul></main>\n'
    write_whole(index, bare_page(body, head=_MARK))
    if not (folder / CARD).exists():
        write_whole(folder / CARD, _SPACE)
    for page in former - set(pages):
        page.unlink()
    return [index, *pages]


def _card(address: str, trace: Trace) -> str:
    """One card: the sentence, its translation, where the last layer looks, and which model it was."""
    info, (layers, heads) = trace.checkpoint, trace.cross.shape[:2]
    src, tgt, source, translation, name = (
        html.escape(text, quote=True)
        for text in (
            info.src_language,
            info.tgt_language,
            plain(trace.source, 200),
            plain(trace.translation, 200),
            plain(info.name, 60),
        )
    )
    return (
        f'<li><a href="{address}">{_picture(trace.cross[-1].mean(0))}'
        f'<span lang="{src}">{source}</span><b lang="{tgt}">{translation}</b>'
        f"<small>{name} · {layers} × {heads}</small></a></li>"
    )


def _picture(weights: np.ndarray) -> str:
    """Probabilities [T, S] as squares, the darker the more; below a fiftieth they would not be seen."""
    rows, columns = weights.shape
    squares = "".join(
        f'<rect x="{x}" y="{y}" width="1" height="1" opacity="{weights[y, x]:.2f}"/>'
        for y, x in np.argwhere(weights >= 0.02).tolist()
    )
    return (
        f'<svg viewBox="0 0 {columns} {rows}" preserveAspectRatio="none" aria-hidden="true" '
        f'shape-rendering="crispEdges">{squares}</svg>'
    )
