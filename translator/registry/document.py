"""The registry as the tables of `docs/settings.md`, and as the JSON that the front end is built with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from translator.registry import decoding, lab, lesson, positions
from translator.registry.field import Field, told

HEAD = f"""# Settings

Every decoding setting and every field of the lab, the lesson and Positions. `python web/registry.py` makes this page
from `translator/registry`, which also defines forms, command-line options and refusals.

Texts have at most {decoding.LIMITS["characters"]:,} characters. Layers, heads, steps, rows and columns count from 1. A
missing maximum or default comes from the model or the sentence.

## Decoding

Keyword arguments of `Translator.translate`, keys of `settings` in requests, and options of `translate`, `trace`,
`figure` and `export` (`--length-penalty` for `length_penalty`; not `coverage_heads`). What is left out comes from the
checkpoint, then from the default below; null is allowed where that is empty. A sentence has at most
{decoding.SOURCE_TOKENS} source and {decoding.TARGET_TOKENS} target tokens unless `Limits` says otherwise.

"""
LAB = """
## The lab

`options` of a view in requests, and options of the `lab` commands.

"""
LESSON = """
## The lesson

`options` of a station. A number out of range is clipped.

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
    head = ("setting", "values", "public page", "default", "method", "meaning")
    rows = [
        (f"`{each.name}`", _want(each), _granted(each), _usual(each), each.method or "", each.says)
        for each in decoding.SETTINGS
    ]
    views, fields = _table(("view", "title", "command", "shows", "source"), map(_view, lab.VIEWS)), _lab_fields()
    return "".join((HEAD, _table(head, rows), LAB, views, "\n", fields, LESSON, _stations(), POSITIONS, _positions()))


def front_end() -> dict[str, Any]:
    """What `web/src/protocol/registry.json` holds."""
    return {**decoding.for_front_end(), "lab": lab.for_front_end(), "positions": positions.for_front_end()}


def _view(view: lab.View) -> tuple[str, ...]:
    """Its row: of what the page says of it, the first sentence."""
    command = COMMANDS.get(view.name, view.name)
    typed = f"`{command}`" if command else "`profile`, no part of `lab`"
    return f"`{view.name}`", view.title, typed, view.says.partition(". ")[0].rstrip("."), view.source


def _lab_fields() -> str:
    return _shared("views", {view.name: view.fields for view in lab.VIEWS})


def _stations() -> str:
    return _shared("stations", lesson.STATIONS)


def _positions() -> str:
    rows = [(f"`{each.name}`", _want(each), _usual(each), _meaning(each)) for each in positions.FIELDS]
    return _table(("field", "values", "default", "meaning"), rows)


def _shared(owners: str, fields: Mapping[str, Sequence[Field]]) -> str:
    """Fields by owner as a table, those that several owners share in one row."""
    found: dict[tuple[str, ...], list[str]] = {}
    for owner, own in fields.items():
        for each in own:
            found.setdefault((f"`{each.name}`", _want(each), _usual(each), _meaning(each)), []).append(f"`{owner}`")
    rows = [(name, ", ".join(where), *rest) for (name, *rest), where in found.items()]
    return _table(("field", owners, "values", "default", "meaning"), rows)


def _meaning(each: Field) -> str:
    if each.label.lower() == each.name:
        return each.says
    return f"{each.label}: {each.says}" if each.says else each.label


def _want(each: Field) -> str:
    """What it must be, shorter than a refusal says it."""
    if each.kind == "choice":
        return ", ".join(f"`{told(choice)}`" for choice in each.choices)
    if each.kind in ("text", "pairs"):
        return "text" if each.kind == "text" else "pairs of integers"
    ends = f"≥ {each.low:,}" if each.high is None else f"{each.low:,} to {each.high:,}"
    return f"integer, {ends}" if each.whole else ends


def _granted(each: decoding.Setting) -> str:
    return "" if each.granted is None else f"≤ {each.granted:,}"


def _usual(each: Field) -> str:
    return "" if each.value in (None, "") else f"`{told(each.value)}`"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
