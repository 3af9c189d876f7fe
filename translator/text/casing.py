"""Capitals for what was typed without: each word as the training corpora write it within sentences.

Source: the unigram baseline of Lita et al. 2003, "tRuEcasIng". `python -m translator.text.casing de train.tsv.gz`
learns the words from the first column of tables and writes the shipped list.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from translator.errors import InputError
from translator.files import write_whole
from translator.resources import resources
from translator.text.lines import read_lines
from translator.text.normalise import is_shouted
from translator.text.subword import SubwordTokenizer
from translator.text.tokenizer import Encoding, Tokenizer

FOLDER = resources("assets") / "casing"
OFTEN = 2
"""Times that a word must be written with its capitals."""
SURE = 0.9
"""The least share of those times: "Morgen" and "morgen" are both left alone."""
# Latin letters alone, so that a browser, whose Unicode may be newer, finds the same words.
_WORD = re.compile("[A-Za-z\u00c0-\u024f]+")
_APOSTROPHES = ("'", "’")
_END = re.compile("[.!?…].*[ \t\n\u00a0]", re.DOTALL)
_ABBREVIATED = 2  # letters at most before the point of "z. B." or "ca."
_ALONE = "I"  # the one letter that is a word with a capital; others are names of things, or half a word


def learn_casing(sentences: Iterable[str]) -> list[str]:
    """Words with capitals that are mostly written so where no sentence begins, sorted.

    What begins with a small letter, or is all in capitals, shows nothing of how words are written.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        if sentence[:1].isupper() and not sentence.isupper():
            for word in _within(sentence):
                counts[word.lower()][word] += 1
    found = []
    for small, written in counts.items():
        word, count = written.most_common(1)[0]
        told = word != small and len(word) == len(small) and (len(word) > 1 or word == _ALONE)
        if told and count >= max(OFTEN, SURE * written.total()):
            found.append(word)
    return sorted(found)


def _within(sentence: str) -> Iterator[str]:
    """The words of a sentence but for those that may begin one."""
    end = 0
    for match in _WORD.finditer(sentence):
        if end and _only_parts(sentence[end : match.start()]):
            yield match[0]
        end = match.end()


def _only_parts(gap: str) -> bool:
    """Whether what stands between two words cannot end a sentence or open a quotation."""
    return not gap.strip(" ,")


@cache
def shipped_casing(language: str) -> Mapping[str, str]:
    """Words in small letters, and as they are written; empty for a language without a list."""
    path = FOLDER / f"{language}.txt"
    if not re.fullmatch("[a-z]{2,3}", language) or not path.is_file():
        return {}
    return {word.lower(): word for word in path.read_text(encoding="utf-8").split()}


def restore_casing(text: str, written: Mapping[str, str]) -> str:
    """`text` with the capitals of `written`, unless it has capitals within its sentences and small letters too.

    Every character stays in its place: the result is as long as `text`.
    """
    if not written:
        return text
    small = _small(text) if is_shouted(text) else text
    matches = list(_WORD.finditer(small))
    if any(_is_meant(small, matches[i - 1].end() if i else None, match) for i, match in enumerate(matches)):
        return text
    none = all(match[0] == match[0].lower() for match in matches)
    parts, end = [], 0
    for i, match in enumerate(matches):
        gap = small[end : match.start()]
        word = match[0] if i and gap in _APOSTROPHES else written.get(match[0].lower(), match[0])
        if none and _begins(gap, matches[i - 1][0] if i else None) and word == match[0]:
            word = _raised(word[0]) + word[1:]
        parts += [gap, word]
        end = match.end()
    return "".join(parts) + small[end:]


def _small(text: str) -> str:
    return "".join(low if len(low := char.lower()) == len(char) else char for char in text)


def _raised(char: str) -> str:
    return high if len(high := char.upper()) == 1 else char


def _is_meant(text: str, end: int | None, match: re.Match[str]) -> bool:
    """Whether a word has a capital that nobody's keyboard sets by itself."""
    opens = end is None or not _only_parts(text[end : match.start()])
    word = match[0][1:] if opens else match[0]
    return word != word.lower()


def _begins(gap: str, before: str | None) -> bool:
    """Whether a sentence begins behind `gap`; a point after few letters is an abbreviation's."""
    if before is None:
        return re.search("[0-9]", gap) is None
    return len(before) > _ABBREVIATED and _END.match(gap) is not None


class CasedTokenizer(SubwordTokenizer):
    """The source side of a checkpoint: what was typed without capitals is read with those it should have."""

    def cased(self, text: str) -> str:
        """`text` as it is read; every character stays in its place."""
        return restore_casing(text, shipped_casing(self.config.language))

    def encode(self, text: str) -> Encoding:
        """`text` as tokens; their spans point into `text` as it was given."""
        return super().encode(self.cased(text))

    def ids(self, text: str) -> list[int]:
        """The ids of `text`, without EOS."""
        return super().ids(self.cased(text))


def with_casing(tokenizer: Tokenizer) -> Tokenizer:
    """`tokenizer` as a source's: one made of normalised text with capitals gives them back to what is typed."""
    config = tokenizer.config
    if type(tokenizer) is not SubwordTokenizer or config.normalise != "corpus" or config.lowercase:
        return tokenizer
    other = CasedTokenizer.__new__(CasedTokenizer)
    other.__dict__.update(tokenizer.__dict__)
    return other


def as_read(tokenizer: Tokenizer, text: str) -> str:
    """`text` with the capitals that `tokenizer` gives it."""
    return tokenizer.cased(text) if isinstance(tokenizer, CasedTokenizer) else text


def main(arguments: list[str]) -> None:
    """Learn and write a language's list.

    Raises:
        InputError: a file cannot be read, or has no such word.
    """
    language, *paths = arguments
    words = learn_casing(line.split("\t")[0] for path in paths for line in read_lines(Path(path)))
    if not words:
        raise InputError(f"{', '.join(paths)}: no word is written with capitals within sentences")
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_whole(FOLDER / f"{language}.txt", "".join(f"{word}\n" for word in words).encode())
    print(f"{FOLDER / language}.txt: {len(words):,} words")


if __name__ == "__main__":
    main(sys.argv[1:])
