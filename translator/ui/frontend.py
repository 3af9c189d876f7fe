"""The page's static files: built script and styles, locale tables, examples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from translator.registry import lab
from translator.resources import resources

ASSETS = resources("assets")
STATIC = Path(__file__).resolve().parent / "static"
"""What `npm run build` writes in `web/`: the page's script with its markup, and its styles."""
PLOTLY_JS = ASSETS / "vendor" / "plotly-custom.min.js"
"""plotly.js with the kinds of traces that are drawn here alone: a quarter of what plotly's wheel ships."""
PLOTLY_PACKED = PLOTLY_JS.with_name(PLOTLY_JS.name + ".br")
"""The same, packed by Brotli as far as it goes, which takes seconds."""
PLOTLY_ADDRESS = "gradio_api/file=" + quote(PLOTLY_JS.as_posix(), safe="/:@!$&'()*+,;=~")
"""Relative, so that the page also works under a sub-path."""
PAGE_HEADERS = ((b"link", f"<{PLOTLY_ADDRESS}>; rel=preload; as=script; fetchpriority=low".encode()),)
"""plotly.js is on its way while Gradio builds the page: it is half of all that is fetched."""
LANGUAGES = ("zh", "de")
EXAMPLES = ASSETS / "examples"
TRANSLATIONS = EXAMPLES / "translations.json"
"""The translation of every stored example by its id, made with them."""


@cache
def script() -> str:
    """The page's script, which holds its markup too; safe inside a <script> element."""
    return (STATIC / "explorer.js").read_text(encoding="utf-8")


@cache
def style() -> str:
    """The explorer's styles, and those that put Gradio's parts in their place."""
    return (STATIC / "explorer.css").read_text(encoding="utf-8")


@cache
def locales() -> dict[str, dict[str, str]]:
    """For each language, English to its own words."""
    return {name: json.loads((ASSETS / "locales" / f"{name}.json").read_text(encoding="utf-8")) for name in LANGUAGES}


@cache
def all_examples() -> tuple[dict[str, Any], ...]:
    """Every example sentence: id, direction, name, text, and what its translation has to have (see `right`)."""
    return tuple(json.loads((ASSETS / "examples.json").read_text(encoding="utf-8")))


@cache
def examples() -> tuple[dict[str, str], ...]:
    """The example sentences that are shown: id, direction, name, text.

    One that the present weights translate wrong is left out, unless it is there to show a weakness, which it then
    says under "weakness".
    """
    stored = TRANSLATIONS.read_text(encoding="utf-8") if TRANSLATIONS.is_file() else "{}"
    return shown_examples(all_examples(), json.loads(stored))


def shown_examples(every: Iterable[dict[str, Any]], translations: Mapping[str, str]) -> tuple[dict[str, str], ...]:
    """`examples`, of these sentences and their translations by id; what was not translated yet is shown."""
    shown = []
    for example in every:
        translation = translations.get(example["id"])
        told = {name: value for name, value in example.items() if name not in ("wants", "weakness")}
        if translation is None or right(example, translation):
            shown.append(told)
        elif "weakness" in example:
            shown.append({**told, "weakness": example["weakness"]})
    return tuple(shown)


def right(example: dict[str, Any], translation: str) -> bool:
    """Whether a translation has what its example wants: of each list in "wants" at least one, in any case."""
    return all(any(word in translation.lower() for word in words) for words in example["wants"])


def stored_example(id_: str, folder: Path = EXAMPLES) -> dict[str, Any] | None:
    """The stored trace of an example as the page reads it, or None if it was not made."""
    path = folder / f"{id_}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def in_script(value: Any) -> str:
    """`value` as JSON that can stand inside a <script> element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def head(
    settings: tuple[str, ...], directions: tuple[str, ...], folder: Path = EXAMPLES, *, hub: tuple[str, ...] = ()
) -> str:
    """What the page's <head> holds: our own styles, words and script, inline.

    (`launch(css=...)` would rewrite every selector.) The script runs plotly.js as soon as it has
    come. Addresses are relative, so that the page also works under a sub-path.

    Args:
        settings: the names of the decoding controls, in the order of the page's inputs.
        directions: the language pairs that the page offers.
        folder: where stored examples lie.
        hub: those of the directions that have to be fetched first.
    """
    known = [each for each in examples() if each["direction"] in directions]
    data = {
        "examples": known,
        "address": f"gradio_api/file={folder}/",
        "plotly": PLOTLY_ADDRESS,
        "settings": settings,
        "directions": directions,
        "hub": hub,
        "lab": lab.for_page(),
    }
    return f"<style>{style()}</style>\n<script>window.__explorerData={in_script(data)};{words()}\n{script()}</script>"


def words() -> str:
    """The statement that the script needs before it: the tables of words."""
    return f"window.__explorerLocales={in_script(locales())};"


def version() -> str:
    """A short hash of scripts and styles, to tell one build of the page from another."""
    return hashlib.sha256((script() + style()).encode()).hexdigest()[:12]
