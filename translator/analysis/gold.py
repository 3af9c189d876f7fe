"""Hand-aligned sentence pairs from `assets/alignments`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from translator.analysis.alignment import Gold, read_pharaoh, read_pharaoh_file
from translator.errors import InputError
from translator.resources import resources
from translator.text.segment import whole_words

FOLDER = resources("assets") / "alignments"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class GoldPair:
    """A source and its translation, their words as `text.segment.words` finds them, and the links between these."""

    src: str
    tgt: str
    src_words: tuple[str, ...]
    tgt_words: tuple[str, ...]
    gold: Gold


@dataclass(frozen=True)
class GoldSet:
    """Aligned pairs of one language pair."""

    name: str
    languages: tuple[str, str]
    pairs: tuple[GoldPair, ...]

    def check(self, languages: tuple[str, str], name: str) -> None:
        """Refuse a model called `name` of other languages.

        Raises:
            InputError: it is.
        """
        if self.languages != languages:
            asked, own = ("-".join(each) for each in (self.languages, languages))
            raise InputError(f"{self.name} is {asked}; {name} is {own}")


def shipped_gold(languages: tuple[str, str]) -> GoldSet | None:
    """The hand-aligned set of this project for a language pair, if there is one."""
    path = FOLDER / f"{'-'.join(languages)}.json"
    return read_gold(path) if path.is_file() else None


def read_gold(path: str | Path) -> GoldSet:
    """Read a set from JSON: src_language, tgt_language, and pairs of src, tgt and links in Pharaoh format.

    Raises:
        InputError: the file cannot be read, or links do not fit their sentences; the pair is named by its number.
    """
    try:
        data = json.loads(Path(path).read_bytes())
        if data["format"] != FORMAT_VERSION:
            raise InputError(f"{path} has format {data['format']!r}; this version reads {FORMAT_VERSION}")
        languages = (str(data["src_language"]), str(data["tgt_language"]))
        rows = [(str(pair["src"]), str(pair["tgt"]), str(pair["links"])) for pair in data["pairs"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not a set of alignments: {type(error).__name__} {error}") from error
    pairs = []
    for number, (src, tgt, links) in enumerate(rows, start=1):
        try:
            pairs.append(gold_pair(src, tgt, links, languages))
        except InputError as error:
            raise InputError(f"{path}, pair {number}: {error}") from error
    return GoldSet(Path(path).stem, languages, tuple(pairs))


def gold_pair(src: str, tgt: str, links: str, languages: tuple[str, str]) -> GoldPair:
    """A pair from its texts and its links in Pharaoh format.

    Raises:
        InputError: a link does not fit the sentences.
    """
    src_words, tgt_words = words_of(src, languages[0]), words_of(tgt, languages[1])
    return GoldPair(src, tgt, src_words, tgt_words, read_pharaoh(links, len(src_words), len(tgt_words)))


def pharaoh_gold(name: str, languages: tuple[str, str], texts: list[tuple[str, str]], links: str) -> GoldSet:
    """A set from sentence pairs and a Pharaoh text of one line a pair.

    Raises:
        InputError: lines and pairs differ in number, or a link does not fit its sentences.
    """
    split = [(words_of(src, languages[0]), words_of(tgt, languages[1])) for src, tgt in texts]
    gold = read_pharaoh_file(links, [(len(src), len(tgt)) for src, tgt in split])
    return GoldSet(name, languages, tuple(GoldPair(*t, *w, g) for t, w, g in zip(texts, split, gold, strict=True)))


def words_of(text: str, language: str) -> tuple[str, ...]:
    """The words of `text`, in order."""
    return tuple(text[start:end] for start, end in whole_words(text, language))
