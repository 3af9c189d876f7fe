"""Constructed omissions and inventions: references with a word dropped or added.

Which source word loses its translation is known from a lexicon that never saw the model (see `lexicon`): only words
are dropped whose link is sure in both directions. Source of the idea: Vamvas and Sennrich 2022, "As little as possible,
as much as necessary", who make such cases by rules.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from translator.analysis.lexicon import Lexicon, Sentence
from translator.errors import InputError
from translator.text.segment import words

Span = tuple[int, int]


@dataclass(frozen=True)
class Case:
    """A source with a translation that was tampered with.

    `left_out` is the span in `source` of the word whose translation was dropped, `invented` the span in `target` of the
    word that was added; the other is None.
    """

    source: str
    target: str
    left_out: Span | None = None
    invented: Span | None = None


def lowered(text: str, language: str) -> Sentence:
    """The words of `text` as a lexicon knows them."""
    return [text[start:end].lower() for start, end in words(text, language)]


def made_cases(
    pairs: Sequence[tuple[str, str]], lexicon: Lexicon, languages: tuple[str, str], count: int, *, seed: int = 0
) -> list[Case]:
    """`count` cases from sentence pairs, half of them omissions, half inventions, in a random order.

    A pair may give several omissions, one for each of its words, and two inventions.

    Raises:
        InputError: the pairs do not give so many.
    """
    draw = random.Random(seed)  # nosec B311
    dropped = [case for pair in pairs for case in _omissions(pair, lexicon, languages)]
    wanted = count // 2
    pool = sorted({word for _, tgt in pairs for word in _contents(tgt, languages[1])})
    added = [case for _ in range(2) for pair in pairs for case in _inventions(pair, pool, languages[1], draw)]
    for kind, found in (("omissions", dropped), ("inventions", added)):
        if len(found) < wanted:
            raise InputError(f"the pairs give {len(found)} {kind}; {wanted} were asked for, take more pairs")
        draw.shuffle(found)
    cases = dropped[:wanted] + added[:wanted]
    draw.shuffle(cases)
    return cases


def _omissions(pair: tuple[str, str], lexicon: Lexicon, languages: tuple[str, str]) -> list[Case]:
    src, tgt = pair
    src_spans, tgt_spans = words(src, languages[0]), words(tgt, languages[1])
    lettered = [text[start].isalnum() for text, spans in ((tgt, tgt_spans),) for start, _ in spans]
    if sum(lettered) < 3:  # a word less must leave a sentence
        return []
    links = lexicon.links(lowered(src, languages[0]), lowered(tgt, languages[1]))
    return [
        Case(src, _without(tgt, tgt_spans[t]), left_out=src_spans[s])
        for s, t in links
        if lettered[t] and src[src_spans[s][0]].isalnum()
    ]


def _without(text: str, span: Span) -> str:
    """`text` without a word and the space that is then too many; what now begins it begins as it did."""
    start, end = span
    before, after = text[:start], text[end:]
    if not before.strip():
        after = after.lstrip()
        return after[:1].upper() + after[1:] if text[start].isupper() else after
    return before.rstrip() + after if before.endswith(" ") else before + after


def _inventions(pair: tuple[str, str], pool: Sequence[str], language: str, draw: random.Random) -> list[Case]:
    src, tgt = pair
    spans = words(tgt, language)
    own = {tgt[start:end].lower() for start, end in spans}
    places = [start for start, _ in spans[1:]]  # before any word but the first, the last mark among them
    others = [word for word in pool if word not in own]
    if not places or not others:
        return []
    word, start = draw.choice(others), draw.choice(places)
    if language == "zh":
        return [Case(src, tgt[:start] + word + tgt[start:], invented=(start, start + len(word)))]
    if tgt[start - 1] == " ":
        return [Case(src, f"{tgt[:start]}{word} {tgt[start:]}", invented=(start, start + len(word)))]
    return [Case(src, f"{tgt[:start]} {word}{tgt[start:]}", invented=(start + 1, start + 1 + len(word)))]


def _contents(text: str, language: str) -> list[str]:
    """The words of a text that may be added elsewhere: written small or of Chinese characters, of some length."""
    found = [text[start:end] for start, end in words(text, language)]
    least = 2 if language == "zh" else 4
    return [word for word in found if word.isalpha() and word == word.lower() and len(word) >= least]
