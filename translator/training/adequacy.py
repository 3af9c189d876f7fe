"""Adequacy: which ideas of everyday sentences their translations keep.

BLEU hardly sees a lost "not"; a reader does. A file holds a sentence a line and, after tabs, its ideas: alternatives
with `|` between, `...` for whatever stands between two parts. A sign before an idea tells its kind; see `KINDS`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from translator.analysis.sections import with_section
from translator.checkpoints.bundle import CARD, Bundle
from translator.checkpoints.destination import own_folder
from translator.checkpoints.save import amend, read_card
from translator.errors import InputError
from translator.text.lines import read_lines
from translator.training.card import table

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "adequacy"
SECTION = "adequacy"
"""What a card calls its section of this."""
KINDS = {"-": "negation", "@": "name", "#": "number"}
"""What the sign before an idea says of it; one without a sign is of the kind "content"."""
CONTENT = "content"
_NEGATED = re.compile(r"\wn't(?!\w)|(?<!\w)cannot(?!\w)", re.IGNORECASE)
"""A word that holds its "not": doesn't, cannot."""


@dataclass(frozen=True)
class Idea:
    """One thing that a translation has to say, in any of the `ways`; `kind` is content, negation, name or number."""

    kind: str
    ways: tuple[str, ...]

    def arrives(self, translation: str, language: str) -> bool:
        """Whether `translation`, of `language`, says it; "not" is in every English "n't"."""
        if self.kind == "negation" and language == "en" and _NEGATED.search(translation):
            return True
        return any(re.search(_pattern(way, language), translation, re.IGNORECASE) for way in self.ways)


@dataclass(frozen=True)
class Sentence:
    """A sentence and what has to arrive of it."""

    source: str
    ideas: tuple[Idea, ...]


@dataclass(frozen=True)
class Adequacy:
    """How much of the sentences arrived.

    `whole` of `sentences` have every idea; `arrived` and `asked` count ideas by kind; `lost` holds each sentence that
    is not whole: its number (from 0) and what it lost, by the first way of each idea.
    """

    sentences: int
    whole: int
    arrived: dict[str, int]
    asked: dict[str, int]
    lost: dict[int, tuple[str, ...]]

    @property
    def ideas(self) -> tuple[int, int]:
        """Ideas that arrived, of all."""
        return sum(self.arrived.values()), sum(self.asked.values())


def adequacy_path(src: str, tgt: str) -> Path:
    """Where the sentences from `src` to `tgt` are, if there are any."""
    return FOLDER / f"{src}-{tgt}.txt"


def read_adequacy(path: Path) -> list[Sentence]:
    """The sentences of a file; none where there is no file.

    Raises:
        InputError: a sentence has no ideas, or an idea no alternatives (the line is named).
    """
    if not path.exists():
        return []
    found = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line or line.startswith("#"):
            continue
        source, *ideas = line.split("\t")
        if not source.strip() or not ideas:
            raise InputError(f"{path} line {number} has no ideas; it needs a sentence and, after tabs, its ideas")
        found.append(Sentence(source, tuple(_idea(text, f"{path} line {number}") for text in ideas)))
    return found


def _idea(text: str, place: str) -> Idea:
    kind = KINDS.get(text[:1], CONTENT)
    ways = tuple(way.strip() for way in (text[1:] if kind != CONTENT else text).split("|"))
    if not all(ways):
        raise InputError(f"{place}: an alternative of {text!r} is empty; take the | or the tab out")
    return Idea(kind, ways)


def judge(sentences: Sequence[Sentence], translations: Sequence[str], language: str) -> Adequacy:
    """Count what arrived in the `translations`, of `language`, one for each of `sentences`."""
    asked = dict.fromkeys((CONTENT, *KINDS.values()), 0)
    arrived = dict(asked)
    lost: dict[int, tuple[str, ...]] = {}
    for number, (sentence, translation) in enumerate(zip(sentences, translations, strict=True)):
        missing = []
        for idea in sentence.ideas:
            asked[idea.kind] += 1
            if idea.arrives(translation, language):
                arrived[idea.kind] += 1
            else:
                missing.append(idea.ways[0])
        if missing:
            lost[number] = tuple(missing)
    return Adequacy(len(sentences), len(sentences) - len(lost), arrived, asked, lost)


def counts(found: Adequacy) -> list[tuple[str, str]]:
    """What arrived, line by line: sentences, ideas, and ideas of each kind."""
    arrived, asked = found.ideas
    kinds = [(f"of these: {kind}", f"{found.arrived[kind]} of {asked}") for kind, asked in found.asked.items()]
    return [
        ("sentences with every idea", f"{found.whole} of {found.sentences}"),
        ("ideas", f"{arrived} of {asked}"),
        *kinds,
    ]


def report(found: Adequacy) -> str:
    """`counts` as lines of text."""
    return "\n".join(f"{name}: {count}" for name, count in counts(found))


def card_section(found: Adequacy) -> str:
    """What a model card says of it, Markdown."""
    head = (
        f"{found.sentences} everyday sentences (`assets/adequacy`), never used for training or tuning, each with the"
        " ideas that its translation must contain; beam search. Ideas are matched as text, so some good translations"
        " count as losses and some bad ones pass:"
    )
    return f"## Adequacy\n\n{head}\n\n{table(('kept', 'count'), counts(found))}"


def store(bundle: Bundle, found: Adequacy) -> Path:
    """Write `found` into the card of a checkpoint of ours; returns its folder.

    Raises:
        CheckpointError: the checkpoint may not be written to.
    """
    folder = own_folder(bundle)
    amend(folder, {CARD: with_section(read_card(folder), SECTION, card_section(found)).encode()})
    return folder


def _pattern(way: str, language: str) -> str:
    """An expression for `way`: in Chinese any place, elsewhere whole words, `*` standing for the rest of one."""
    parts = []
    for part in way.split("..."):
        text = re.escape(part.strip()).replace(r"\*", r"\w*").replace(r"\ ", r"\s+")
        parts.append(text if language == "zh" else rf"(?<!\w){text}(?!\w)")
    return ".*?".join(parts)
