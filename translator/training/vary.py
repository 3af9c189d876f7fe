"""Per-epoch augmentation: typing noise (Belinkov and Bisk 2018), substituted names and numbers."""

from __future__ import annotations

import re

import numpy as np

from translator.training.data import Pair

_ONSETS = [*"BCDFGHJKLMNPRSTVW", "Br", "Dr", "Fr", "Gr", "Kl", "Kr", "Pr", "Sch", "St", "Tr"]
_RHYMES = [*"aeiou", "an", "el", "en", "er", "il", "in", "ol", "on", "or", "us", "ai", "ei"]
_TYPED = {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
_SPAN = re.compile(r"(?<![\w.,:])\d[\d.,:]*\d(?!\w)|(?<!\w)\d(?![\w.,:]*\d)|(?<=[^\W\d_] )[A-Z][a-z]+(?!\w)")
"""A number, or a word that begins with a capital though no sentence begins there."""
_KNOWN = {("en", "zh"): {"Tom": "汤姆", "Mary": "玛丽", "John": "约翰", "Boston": "波士顿", "Bob": "鲍勃"}}
"""Names that the corpora write so often that no other is learnt."""


def careless(text: str, language: str, rng: np.random.Generator) -> str:
    """`text` as somebody in a hurry types it: in one or two of the ways that a keyboard invites."""
    ways = [_lower, _unended, _bare, _first_lower, _capitals]
    if language == "de":
        ways += [_ascii, _ascii]
    first = ways[rng.integers(len(ways))](text)
    return _unended(first) if rng.random() < 1 / 3 else first


def _lower(text: str) -> str:
    return text.lower()


def _capitals(text: str) -> str:
    return text.upper()


def _unended(text: str) -> str:
    """Without the mark at its end."""
    return text.rstrip(".!?") or text


def _bare(text: str) -> str:
    """Lower case without apostrophes and commas: "im", "dont"."""
    return re.sub(r"(?<=\w)'(?=\w)|,(?=\s)", "", text).lower()


def _first_lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _ascii(text: str) -> str:
    """German without the letters that other keyboards lack."""
    return "".join(_TYPED.get(char, char) for char in text)


def recopied(pair: Pair, sides: tuple[str, str], rng: np.random.Generator) -> Pair:
    """`pair` with another number or name in each place where both sides have the same one; else as it is.

    A frequent name that the target writes in its own script is one too: what is rare should be copied.
    """
    src, tgt = pair.src, pair.tgt
    for span in dict.fromkeys(_SPAN.findall(pair.src)):
        other = _KNOWN.get(sides, {}).get(span, span)
        if src.count(span) != 1 or tgt.count(other) != 1 or (sides[1] != "zh" and not _stands(other, tgt)):
            continue
        new = _number(span, rng) if span[0].isdigit() else made_up_name(rng)
        src, tgt = src.replace(span, new), tgt.replace(other, new)
    return Pair(src, tgt, pair.corpus)


def _stands(word: str, text: str) -> bool:
    """Whether `word` stands in `text` by itself."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _number(like: str, rng: np.random.Generator) -> str:
    """A number of the same form; its first digit is no zero."""
    digits = [str(rng.integers(1 if i == 0 else 0, 10)) if char.isdigit() else char for i, char in enumerate(like)]
    return "".join(digits)


def made_up_name(rng: np.random.Generator) -> str:
    """A made-up word that reads like a name."""
    syllables = [_ONSETS[rng.integers(len(_ONSETS))] + _RHYMES[rng.integers(len(_RHYMES))] for _ in range(2)]
    return "".join(syllables[: rng.integers(1, 3)]).capitalize() + ("n" if rng.random() < 1 / 2 else "")
