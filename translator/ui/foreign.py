"""Detection of text in a language other than the source language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

SURE = 0.95
"""The probability from which on the page says so: of two languages alike nothing is said."""
LEAST_WORDS = 2
"""One word may be a name, or stand in both languages. Chinese is told by its script."""


def languages_of(names: Iterable[str]) -> list[str]:
    """The languages that the directions among `names` ("de-en") translate from or into."""
    return sorted({language for name in _pairs(names) for language in name.split("-")})


def foreign(names: Sequence[str], language: str, text: str) -> dict[str, str]:
    """The "language" that a text seems to be in, if not `language`, and a name of `names` to "switch" to, or ""."""
    if language == "und":  # a model that names none, and may summarise as well
        return {}
    found = looks_like(text, language, languages_of(names))
    switch = next((name for name in _pairs(names) if name.split("-")[0] == found), "")
    return {"language": found, "switch": switch} if found else {}


def _pairs(names: Iterable[str]) -> list[str]:
    return [name for name in names if re.fullmatch("[a-z]{2,3}-[a-z]{2,3}", name)]


def looks_like(text: str, language: str, others: Sequence[str]) -> str:
    """The language of `others` that a text seems to be in if it is not `language`, or "".

    Chosen by py3langid (letter sequences, naive Bayes; Lui and Baldwin 2012) among these languages alone.
    """
    letters = sum(map(str.isalpha, text))
    han = sum("\u4e00" <= char <= "\u9fff" for char in text)
    if han and han >= letters / 2:
        return "" if language == "zh" or "zh" not in others else "zh"
    if letters < 4 or len(text.split()) < LEAST_WORDS:
        return ""
    identifier = _identifier(tuple(sorted({language, *others})))
    if language not in identifier.labels:  # or every text in it would seem to be in another
        return ""
    found, share = identifier.classify(text)
    return str(found) if found != language and share >= SURE else ""


@lru_cache(maxsize=8)
def _identifier(languages: tuple[str, ...]) -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # takes half a second: only where somebody types

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages([each for each in languages if each in identifier.labels])
    return identifier
