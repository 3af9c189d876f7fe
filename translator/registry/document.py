"""The registry as the tables of `docs/settings.md`, and as the JSON that the front end is built with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from translator.registry import decoding, lab, lesson, positions
from translator.registry.field import Field, told

HEAD = f"""# Settings

Every decoding setting and every question of the lab, with what each may be. `translator/registry` says it once: the
page's forms, the options of the command line, the refusals and this page are made of it (`python web/registry.py`).

## Decoding

Keyword arguments of `Translator.translate`, fields of `settings` over the network, and options of the commands
`translate`, `trace`, `figure` and `export` (`--length-penalty` for `length_penalty`; pairs cannot be typed). What is
left out is the checkpoint's own, and the default below where it has none. A public page grants less of some. One
sentence has at most {decoding.LIMITS["characters"]:,} characters, {decoding.SOURCE_TOKENS} source tokens and
{decoding.TARGET_TOKENS} target tokens, where `Limits` says nothing else.

"""
LAB = """
## The lab

`options` of a view, by name, as the page sends them; the same names are options of `python -m translator lab`. Layers,
heads, steps, rows and columns count from 1, and their greatest is the model's or the sentence's. Where the default is
empty, whoever answers chooses.
"""
LESSON = """
## The lesson

`options` of a station, by name. A number out of range moves to the nearer end, since it may have been turned for
another sentence; the greatest layer, head and step are the model's or the sentence's.

"""
POSITIONS = """
## Positions

"""
COMMANDS = {
    "why": "why-here",
    "layers": "decoder-lens",
    "elsewhere": "search",
    "plane": "search --joint",
    "profile": None,
}
"""Views that the command line calls otherwise, or answers by another command than `lab`."""


def document() -> str:
    """The whole page."""
    head = ("setting", "must be", "a page grants", "default", "used by", "what it is")
    rows = [
        (f"`{each.name}`", _want(each), _granted(each), _usual(each), each.method or "", each.says)
        for each in decoding.SETTINGS
    ]
    return "".join(
        (HEAD, _table(head, rows), LAB, *map(_view, lab.VIEWS), LESSON, _stations(), POSITIONS, _positions())
    )


def front_end() -> dict[str, Any]:
    """What `web/src/protocol/registry.json` holds."""
    return {**decoding.for_front_end(), "lab": lab.for_front_end(), "positions": positions.for_front_end()}


def _view(view: lab.View) -> str:
    command = COMMANDS.get(view.name, view.name)
    typed = f"`lab {command}`" if command else "`profile`, over a corpus"
    title = f"\n### {view.title}: `{view.name}`\n\n{view.says} ({view.source}.) Command: {typed}.\n"
    rows = [(f"`{each.name}`", _want(each), _usual(each), _meaning(each)) for each in view.fields]
    return title + ("\n" + _table(("field", "must be", "default", "what it is"), rows) if rows else "")


def _stations() -> str:
    rows = [
        (f"`{station}`", f"`{each.name}`", _want(each), _usual(each), each.says)
        for station, fields in lesson.STATIONS.items()
        for each in fields
    ]
    return _table(("station", "field", "must be", "default", "what it is"), rows)


def _positions() -> str:
    rows = [(f"`{each.name}`", _want(each), _usual(each), _meaning(each)) for each in positions.FIELDS]
    return _table(("field", "must be", "default", "what it is"), rows)


def _meaning(each: Field) -> str:
    return f"{each.label}: {each.says}" if each.says else each.label


def _want(each: Field) -> str:
    return each.want() + (" or null" if isinstance(each, decoding.Setting) and each.value is None else "")


def _granted(each: decoding.Setting) -> str:
    return "" if each.granted is None else f"at most {each.granted:,}"


def _usual(each: Field) -> str:
    return "" if each.value in (None, "") else f"`{told(each.value)}`"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
