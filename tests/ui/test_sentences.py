"""What the server refuses is said in every language: each refusal is in the tables, or no page provokes it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from translator import InputError
from translator.config import DecodeConfig
from translator.registry import decoding, lab, lesson, positions
from translator.registry.field import CHARACTERS, Field
from translator.ui import frontend

PACKAGE = Path(__file__).parents[2] / "translator"
SOURCES = ("request.py", "decode", "analysis", "ui")
COMMANDS = (
    "analysis/cases.py", "analysis/cli", "analysis/deletion.py", "analysis/gold.py", "analysis/indexing.py",
    "analysis/lexicon.py", "analysis/links.py", "analysis/omission_bench.py", "ui/gallery.py", "ui/live",
    "ui/fleet", "ui/shortlist.py", "ui/source.py", "ui/start.py", "ui/tools.py", "ui/workers.py", "ui/limits.py",
)  # fmt: skip
"""What runs at a terminal only; and the guard before the page, which refuses calls that no page makes."""
LEAST = 12
"""Letters of a sentence beside its holes, as in web/src/i18n/words.ts."""
HOLE = re.compile(r"\{\w*\}")

CALLERS = {
    "this address asks for the page by too many names",
    "stop is {}; it must be a function that says whether to stop",
    "deadline is {}; it must be seconds above 0",
    "decoding took longer than {} seconds; try again, or send a shorter text",
    "the text is {}; it must be a string",
    "the forced ids are {}; they must be a list of whole numbers, or a text",
    "gates is {}; it must be what interventions.make_gates gives",
    "the gates of {} are {}; they must be {}, layers by heads",
    "a gate of {} is not a number; a head's factor must be finite",
    "the gates are {}; they must be tables by the kind of attention",
    "a gate of {} is {}; gates are from 0 (silent) to 1 (as it is)",
    "the gates of {} are no table of numbers: {}",
    "{}, and layers × heads are {}",
    "the request must be names with values",
    "{} must be a list of at most 1,000 whole numbers",
    "patches must be a list of at most {} cells",
    "a patch is {}; it must be kind, what, layer, head and position",
    "there is no station {}; there are {}",
    "unknown setting {}",
    "{} is on {}, which workers cannot share; serve it with one worker",
    "how is {}; it must be mean or max",
    "no head was chosen; choose at least one (layer, head)",
    "maps of {} do not fit {} tokens",
    "{}; layers run to {}, heads to {}",
    "the alignment has {} lines for {} sentence pairs; they must agree",
    "there are {} alignments for {} gold ones; they must agree",
    "line {}: {}",
    "{} sentences have {} words or more; a table needs at least 2",
    "sentence {}: {}",
    "a tree needs a beam search; leave the method out",
    "{} has no pair; an error rate needs at least one",
    "the model finds more than {} words, at {}; words must be the same",
    "the translation was sampled; decode greedily or with a beam to compare layers",
    "a mask is {} {}; it must be bool ({},)",
    "no step was chosen; choose at least one",
    "{} heads and {} rates; each head needs one, or none has any",
    "the index is of other weights than those of {}; make it again",
    "{}; at most {} are allowed, take fewer sentences",
    "the arena is of other weights than those of {}; measure it again",
    "the meter is of other weights than those of {}; measure it again",
    "no source token was named; noise needs at least one",
    "the trace is {}; it must be what Translator.translate gives",
    "the trace was made with gates or with moved positions; take one of the model as it is",
    "the trace was made by {}, not by these weights of {}",
    "kind is 'cross'; {} belongs to the encoder or the decoder",
    "there are {} draws of noise; make the runs with draws=1 to translate",
    "head is {}; {} has no heads",
    "side is {}; it must be source, target or both",
    "{} holds no sentence; a profile needs at least one",
    "the profile is of other weights than those of {}; make it again",
    "{} holds {} sentences for {} processes; start fewer",
    "{}, line {}: there is no source text; remove the line",
    "coverage_heads holds {}; this decoder has {} layers of {} heads, from 0",
    "the target has 0 tokens; there is nothing to replay",
    "the source has {} tokens; this model reads 1 to {}",
    "the target may have {} tokens; this model produces 1 to {}",
    "the {} goes on after its end-of-sentence token; end it there",
    "the {} holds id {}, which is padding or the start token; leave it out",
    "the {} holds id {}; the vocabulary has ids 0 to {}",
}
"""What only a program can be refused: the page sends nothing of the kind."""
COMPOSED = {
    "{} is {}, which is no single token of {}: {}; choose one",
    "what is 'pattern', which needs sentences that match token by token; {}",
    "the number of {}",
}
"""Sentences whose parts are sentences too: their tests ask for them."""


def refusals() -> Iterator[tuple[str, str]]:
    """Every sentence that an error is raised with, its holes empty, and where."""
    for source in SOURCES:
        root = PACKAGE / source
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            place = path.relative_to(PACKAGE).as_posix()
            if place.startswith(COMMANDS):
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                    said = sentence(node.exc.args[0])
                    if said and isinstance(node.exc.func, ast.Name) and node.exc.func.id in ERRORS:
                        yield said, place


ERRORS = ("InputError", "BusyError", "CheckpointError")


def sentence(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if not isinstance(node, ast.JoinedStr):
        return ""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


def pattern(english: str) -> re.Pattern[str]:
    """What the page matches a sentence of the server with (`tMessage` in web/src/i18n/words.ts)."""
    return re.compile("(.+?)".join(map(re.escape, HOLE.split(english))))


def translated(text: str) -> bool:
    """Whether every language says it."""

    def known(table: dict[str, str]) -> bool:
        return text in table or any(
            pattern(english).fullmatch(text)
            for english in table
            if HOLE.search(english) and len(HOLE.sub("", english).strip()) > LEAST
        )

    return all(known(table) for table in frontend.locales().values())


@pytest.mark.slow
def test_every_refusal_is_translated_or_no_page_provokes_it() -> None:
    found = dict(refusals())
    assert len(found) > 80
    untold = {said: place for said, place in found.items() if not translated(said)}
    assert {said: place for said, place in untold.items() if said not in CALLERS | COMPOSED} == {}
    assert set(untold) >= CALLERS | COMPOSED, "one is no longer said, or has come into the tables"


def wrong(each: Field) -> Iterator[Any]:
    """Values that a form or a link can hold and that a field refuses."""
    if each.kind == "text":
        yield "x" * (CHARACTERS + 1)
    elif each.kind == "choice":
        yield "none of them"
    elif each.kind in ("number", "range"):
        low, high = each.span(7)
        yield from (low - 1, high + 1, "x", *([] if each.value is None else [None]))


FIELDS = [
    *(each for view in lab.VIEWS for each in view.fields),
    *(each for fields in lesson.STATIONS.values() for each in fields),
    *positions.FIELDS,
]


@pytest.mark.parametrize("each", FIELDS, ids=lambda each: each.name)
def test_what_a_field_refuses_is_said_in_every_language(each: Field) -> None:
    for value in wrong(each):
        with pytest.raises(InputError) as refused:
            each.read({each.name: value}, high=7)
        assert translated(str(refused.value)), refused.value


@pytest.mark.parametrize("each", [each for each in decoding.SETTINGS if each.control], ids=lambda each: each.name)
def test_what_a_setting_refuses_is_said_in_every_language(each: decoding.Setting) -> None:
    for value in (each.range[0] - 1, each.range[1] + 1):
        with pytest.raises(InputError) as refused:
            DecodeConfig(**{each.name: value})
        assert translated(str(refused.value)), refused.value


def test_the_tab_of_positions_speaks_every_language() -> None:
    said = {positions.SAYS, *(str(word) for each in positions.FIELDS for word in (each.label, *each.choices))}
    for table in frontend.locales().values():
        assert said - set(table) == set()
