"""What single words mean in another language, with what cheaply tells their kind: ending, case, part of speech."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from translator.text.normalise import HAN
from translator.text.segment import chinese_tags
from translator.training.data import Pair

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
"""Letters, with apostrophes within: don't."""
LONGEST = 6
"""Characters of a Chinese translation at most; longer ones explain."""
_ENDINGS = (("ies", "y"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""))
"""English endings, each with what the dictionary form has instead."""
_CHINESE = re.compile(f"[{HAN}]+")


@dataclass(frozen=True)
class Meaning:
    """A translation of a word, how the word is then written where no sentence begins, and its part of speech."""

    text: str
    written: str
    tag: str


Kind = tuple[str, bool, str]
"""What a word must share with another to stand in its place: ending, capital, part of speech."""


class Dictionary:
    """Translations of words, from the pairs of a corpus that are single words and from a glossary.

    Args:
        pairs: those of one word a side are entries, also verbs as "to refuse".
        languages: of source and target.
        glossary: target word to source word, both in small letters (see `translator.analysis.glossary`).
    """

    def __init__(self, pairs: Iterable[Pair], languages: tuple[str, str], glossary: Mapping[str, str]) -> None:
        self.languages = languages
        self.tags = chinese_tags() if languages[1] == "zh" else {}
        found: dict[str, dict[str, Meaning]] = defaultdict(dict)
        capitals: dict[str, bool] = {}
        verbs: set[str] = set()
        for pair in pairs:
            verb = languages[0] == "en" and pair.src.startswith("to ")
            word = pair.src.removeprefix("to ") if verb else pair.src
            if WORD.fullmatch(word) and (text := self._plain(pair.tgt)):
                capitals[word.lower()] = capitals.get(word.lower(), True) and word[0].isupper()
                if verb:
                    verbs.add(word.lower())
                meaning = Meaning(text, word, self._tag(word, pair.tgt, verb=verb))
                before = found[word.lower()].get(text)
                if before is None or verb or (before.written[0].isupper() and word.islower()):
                    found[word.lower()][text] = meaning
        for text, word in glossary.items():
            if WORD.fullmatch(word) and self._plain(text) == text and text not in found[word]:
                written = word.capitalize() if capitals.get(word) else word
                found[word][text] = Meaning(text, written, self._tag(written, text, verb=word in verbs))
        self.entries = {word: tuple(each.values()) for word, each in found.items() if each}

    def _plain(self, text: str) -> str:
        """`text` as it stands in sentences; "" where it is no word. The 的 of an adjective is not part of it."""
        if self.languages[1] != "zh":
            return text if WORD.fullmatch(text) else ""
        short = text[:-1] if text.endswith("的") and text not in self.tags else text
        return short if _CHINESE.fullmatch(short) and len(short) <= LONGEST else ""

    def _tag(self, word: str, text: str, *, verb: bool) -> str:
        """The part of speech: a Chinese verb may stand for an English noun, which has no "to"."""
        if self.languages[1] != "zh":
            return "v" if verb else ""
        if text.endswith("的") and text not in self.tags:
            return "a"
        tag = self.tags.get(text, "n")
        if word[0].isupper():
            return tag[:2]
        return ("v" if verb else "vn") if tag[0] == "v" else tag[0]

    def meanings(self, word: str) -> tuple[Meaning, ...]:
        """The translations of `word` (in small letters), else those of the form that the dictionary has."""
        if word in self.entries:
            return self.entries[word]
        for _, stem in self._stems(word):
            capital = self.entries[stem][0].written[0].isupper()
            written = word.capitalize() if capital else word
            return tuple(replace(each, written=written) for each in self.entries[stem])
        return ()

    def kind(self, word: str, meaning: Meaning) -> Kind | None:
        """What kind of word `word` is where it means `meaning`; None where that cannot be told."""
        ending = next((ending for ending, _ in self._stems(word)), "")
        if not ending and self.languages[0] == "en" and word.endswith("ly"):
            ending = "ly"
        return {"ies": "s", "es": "s", "ied": "ed"}.get(ending, ending), meaning.written[0].isupper(), meaning.tag

    def _stems(self, word: str) -> Iterator[tuple[str, str]]:
        """Each ending of an English word with the form that then stands in the dictionary."""
        for ending, instead in _ENDINGS if self.languages[0] == "en" else ():
            stem = word.removesuffix(ending) + instead
            if word.endswith(ending) and len(stem) > 2:
                if stem in self.entries:
                    yield ending, stem
                elif not instead and stem[-1] == stem[-2] and stem[:-1] in self.entries:
                    yield ending, stem[:-1]
