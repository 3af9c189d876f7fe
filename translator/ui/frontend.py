"""The page's own files: scripts joined to one, styles, words in three languages, examples, and where they lie."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from translator.config import DecodeConfig

ASSETS = Path(__file__).resolve().parents[2] / "assets"
PLOTLY_JS = ASSETS / "vendor" / "plotly-cartesian.min.js"
"""plotly.js without maps, 3D and whatever else is not drawn here: a third of what plotly's wheel ships."""
PLOTLY_ADDRESS = "gradio_api/file=" + quote(PLOTLY_JS.as_posix(), safe="/:@!$&'()*+,;=~")
"""Relative, so that the page also works under a sub-path."""
PAGE_HEADERS = ((b"link", f"<{PLOTLY_ADDRESS}>; rel=preload; as=script; fetchpriority=low".encode()),)
"""plotly.js is on its way while Gradio builds the page: it is half of all that is fetched."""
SCRIPTS = (
    "base", "trace", "chips", "mosaic", "heat", "detail", "arcs", "side", "health", "export", "explorer", "plotview",
    "compare", "page", "frames", "boot", "lesson", "ribbons", "lab",
)  # fmt: skip
LANGUAGES = ("zh", "de")
EXAMPLES = ASSETS / "examples"


@cache
def script() -> str:
    """Every script of the page in one scope, in the order that they need each other."""
    parts = [(ASSETS / "js" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();"


@cache
def style() -> str:
    """The explorer's styles, and those that put Gradio's parts in their place."""
    return "\n".join(
        (ASSETS / name).read_text(encoding="utf-8") for name in ("explorer.css", "page.css", "lesson.css", "lab.css")
    )


@cache
def template(name: str = "explorer") -> str:
    """A component's markup. It holds no text of a user, and nothing that a template engine would run."""
    return (ASSETS / f"{name}.html").read_text(encoding="utf-8")


@cache
def locales() -> dict[str, dict[str, str]]:
    """For each language, English to its own words."""
    return {name: json.loads((ASSETS / "locales" / f"{name}.json").read_text(encoding="utf-8")) for name in LANGUAGES}


@cache
def examples() -> tuple[dict[str, str], ...]:
    """The example sentences: id, direction, name, text."""
    return tuple(json.loads((ASSETS / "examples.json").read_text(encoding="utf-8")))


def stored_example(id_: str, folder: Path = EXAMPLES) -> dict[str, Any] | None:
    """The stored trace of an example as the page reads it, or None if it was not made."""
    path = folder / f"{id_}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def in_script(value: Any) -> str:
    """`value` as JSON that can stand inside a <script> element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def head(settings: tuple[str, ...], directions: tuple[str, ...], folder: Path = EXAMPLES) -> str:
    """What the page's <head> holds: our own styles, words and script, inline.

    (`launch(css=...)` would rewrite every selector.) The script runs plotly.js as soon as it has
    come. Addresses are relative, so that the page also works under a sub-path.

    Args:
        settings: the names of the decoding controls, in the order of the page's inputs.
        directions: the language pairs that the page offers.
        folder: where stored examples lie.
    """
    known = [each for each in examples() if each["direction"] in directions]
    data = {
        "examples": known,
        "address": f"gradio_api/file={folder}/",
        "plotly": PLOTLY_ADDRESS,
        "settings": settings,
        "directions": directions,
    }
    return f"<style>{style()}</style>\n<script>window.__explorerData={in_script(data)};{words()}\n{script()}</script>"


def words() -> str:
    """The statements that the script needs before it: the tables of words, and what decoding is unless one says so."""
    defaults = asdict(DecodeConfig())
    return f"window.__explorerLocales={in_script(locales())};window.__decodeDefaults={in_script(defaults)};"


def version() -> str:
    """A short hash of scripts and styles, to tell one build of the page from another."""
    return hashlib.sha256((script() + style()).encode()).hexdigest()[:12]
