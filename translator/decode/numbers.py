"""The numbers of a source text, in every way that its translation may write them in digits."""

from __future__ import annotations

import re
from collections.abc import Iterable

LARGE = 4
"""Digits from which a number may be written as a multiple of one that has a word."""
WORDS_FOR = (3, 4, 6, 8, 9)
"""Zeros of the numbers that have a word in any of our languages."""
GROUPS = 8
"""Runs of digits, at most, that separators make one number of."""

SEPARATORS = ".,'’\u00a0\u2009\u202f"
"""What may stand between the digits of one number."""
JOINED = re.compile(rf"[0-9]+(?:[{SEPARATORS}][0-9]+)*")

_THOUSANDS = re.compile(rf"(?<![0-9])[1-9][0-9]{{0,2}}(?:([{SEPARATORS}])[0-9]{{3}}(?:\1[0-9]{{3}})*)(?![0-9])")
_SPACED = re.compile(r"(?<![0-9])[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9])")
_NO_LETTER_BEFORE, _NO_LETTER_AFTER = "(?<![a-zäöüß])", "(?![a-zäöüß])"
_COMPOSING = {
    "de": re.compile(
        rf"(?<!jahr)(?:hundert|tausend)|million|milliarde|billion|dutzend|zw(?:ö|oe)lf"
        rf"|{_NO_LETTER_BEFORE}(?:(?:elf|zehn)(?:te[nrsl]?)?|halb(?:e[nrs]?)?){_NO_LETTER_AFTER}"
        r"|einhalb|anderthalb|viertel"
        r"|(?:drei|vier|f(?:ü|ue)nf|sech|sieb|acht|neun)zehn|zwanzig|drei(?:ß|ss)ig"
        r"|(?:vier|f(?:ü|ue)nf|sech|sieb|acht|neun)zig"
    ),
    "en": re.compile(
        rf"{_NO_LETTER_BEFORE}(?:ten|tenths?|half|quarters?){_NO_LETTER_AFTER}"
        rf"|{_NO_LETTER_BEFORE}(?:eleven|twelve|twelfth|(?:thir|four|fif|six|seven|eigh|nine)teen|dozen|hundred|thousand"
        r"|[mb]illion|trillion|(?:twen|thir|for|fif|six|seven|eigh|nine)t(?:y|ie))"
    ),
}
"""Words of which numbers are composed."""
_TIMES = {
    "de": {"hundert": 2, "tausend": 3, "tsd": 3, "million(?:en)?": 6, "mio": 6, "milliarden?": 9, "mrd": 9},
    "en": {"hundreds?": 2, "centur(?:y|ies)": 2, "thousands?": 3, "k": 3, "millions?": 6, "billions?": 9},
}
"""Words that multiply the number before them, and by how many zeros."""
_MULTIPLIED = {
    language: re.compile(
        rf"(?<![0-9{SEPARATORS}])({JOINED.pattern})[ \u00a0\u202f-]?"
        rf"(?:{'|'.join(f'({word})' for word in words)}){_NO_LETTER_AFTER}"
    )
    for language, words in _TIMES.items()
}
_NOT_WITHIN = "(?<![0-9])"
_CLOCK = re.compile(
    rf"{_NOT_WITHIN}([0-9]{{1,2}})(?:[:.][0-9]{{2}})? ?(?:uhr|[ap]\.? ?m|o['’]clock){_NO_LETTER_AFTER}"
    rf"|{_NOT_WITHIN}([0-9]{{1,2}}):[0-9]{{2}}(?![0-9])"
)
_DECADE = re.compile(rf"{_NOT_WITHIN}([0-9]{{2}})([0-9]0)(?:['’]?s|er){_NO_LETTER_AFTER}")
_NAMED = {
    re.compile(rf"{_NO_LETTER_BEFORE}(?:{names}){_NO_LETTER_AFTER}"): number
    for names, number in (
        ("o[ck]t(?:ober)?", "10"),
        ("nov(?:ember)?", "11"),
        ("de[cz](?:ember)?|noon|midday|midnight|mittags?|mitternacht", "12"),
    )
}
"""Words for which a number of two digits may be written."""


def in_digits(text: str, language: str) -> frozenset[str] | None:
    """The numbers of a source `text`, in lower case, as a translation may write them in digits.

    None where nothing can be said: its language is not known, it has no digit, or one of its words may compose further
    numbers ("twenty", but not "3 million").
    """
    if language not in _COMPOSING or JOINED.search(text) is None or _composes(text, language):
        return None
    found = {*_written(text), *_multiplied(text, language), *_named(text)}
    return frozenset(each for number in found for each in _forms(number))


def _composes(text: str, language: str) -> bool:
    """Whether a word of `text` makes a number that does not stand there in digits."""
    return _COMPOSING[language].search(_MULTIPLIED[language].sub("", text, count=1)) is not None


def _written(text: str) -> Iterable[str]:
    """Every run of digits, and those that separators join, in each way to take neighbours together.

    Of a number with separated thousands no part, unless spaces separate them, which may be two numbers.
    """
    for joined in JOINED.findall(text):
        runs = re.findall("[0-9]+", _THOUSANDS.sub(lambda found: "".join(filter(str.isdigit, found.group())), joined))
        for first in range(len(runs)):
            for last in range(first, min(first + GROUPS, len(runs))):
                yield "".join(runs[first : last + 1])
    yield from (found.replace(" ", "") for found in _SPACED.findall(text))


def _multiplied(text: str, language: str) -> Iterable[str]:
    """What words multiply, in digits: 1500000 for "1.5 million"."""
    for found in _MULTIPLIED[language].finditer(text):
        *whole, last = re.findall("[0-9]+", found.group(1))
        zeros = next(zeros for zeros, word in zip(_TIMES[language].values(), found.groups()[1:], strict=True) if word)
        yield "".join((*whole, last)) + "0" * zeros
        if whole and len(last) <= zeros:  # it may be a fraction
            yield "".join((*whole, last)) + "0" * (zeros - len(last))


def _named(text: str) -> Iterable[str]:
    """Hours of the other half of the day, the century and the decade of "1980s", and months and noon by number."""
    for found in _CLOCK.finditer(text):
        hour = int(found.group(1) or found.group(2))
        yield from (str(other) for other in (hour - 12, hour + 12) if 0 <= other <= 24)
    for century, decade in _DECADE.findall(text):
        yield from (str(int(century) + 1), decade)
    yield from (number for name, number in _NAMED.items() if name.search(text))


def _forms(number: str) -> Iterable[str]:
    """A number, with and without a zero before it, and a large one as a multiple of those that have a word."""
    yield number
    if len(number) <= 2:
        yield from (number.zfill(2), number.lstrip("0"))
    if len(number) >= LARGE:
        yield number.rstrip("0")
        yield from (number[:-zeros] for zeros in WORDS_FOR if number.endswith("0" * zeros))
