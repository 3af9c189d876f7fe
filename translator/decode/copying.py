"""Numbers and Latin names of a translation are those of its source: what a search must not write."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

LONG = 3
"""Digits or letters from which a run is judged."""
LARGE = 6
"""Digits from which a number may be written as a multiple of one that has a word."""
WORDS_FOR = (3, 4, 6, 8, 9)
"""Zeros of the numbers that have a word in any of our languages."""
GROUPS = 8
"""Runs of digits, at most, that separators make one number of."""
OTHER_SCRIPTS = frozenset(("ar", "bg", "el", "fa", "he", "hi", "ja", "ko", "ru", "th", "uk", "zh"))
"""Languages that write in other letters than German and English do."""

_SEPARATORS = ".,'’\u00a0\u2009\u202f"
_WIDE = {code: code - 0xFEE0 for first, last in ("０９", "Ａｚ") for code in range(ord(first), ord(last) + 1)}
_RUN = re.compile(r"[0-9]+|[A-Za-z]+")
_JOINED = re.compile(rf"[0-9]+(?:[{_SEPARATORS}][0-9]+)*")
_THOUSANDS = re.compile(rf"(?<![0-9])[1-9][0-9]{{0,2}}(?:([{_SEPARATORS}])[0-9]{{3}}(?:\1[0-9]{{3}})*)(?![0-9])")
_SPACED = re.compile(r"(?<![0-9])[1-9][0-9]{0,2}(?: [0-9]{3})+(?![0-9])")
_TAIL = re.compile(rf"(?<![0-9])(?:[0-9]+[{_SEPARATORS}])*[0-9]*\Z|(?<![A-Za-z])[A-Za-z]+\Z")
_NAME = re.compile(r"[A-Za-z]+(?:[-'’][A-Za-z]+)*")
_STOP = "\n"
_NO_LETTER_BEFORE, _NO_LETTER_AFTER = "(?<![a-zäöüß])", "(?![a-zäöüß])"
_COMPOSING = {
    "de": re.compile(
        rf"(?<!jahr)(?:hundert|tausend)|million|milliarde|billion|dutzend|zw(?:ö|oe)lf"
        rf"|{_NO_LETTER_BEFORE}elf(?:te[nrs]?)?{_NO_LETTER_AFTER}"
        r"|(?:drei|vier|f(?:ü|ue)nf|sech|sieb|acht|neun)zehn|zwanzig|drei(?:ß|ss)ig"
        r"|(?:vier|f(?:ü|ue)nf|sech|sieb|acht|neun)zig"
    ),
    "en": re.compile(
        rf"{_NO_LETTER_BEFORE}(?:eleven|twelve|twelfth|(?:thir|four|fif|six|seven|eigh|nine)teen|dozen|hundred|thousand"
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
        rf"(?<![0-9{_SEPARATORS}])({_JOINED.pattern})[ \u00a0\u202f-]?"
        rf"(?:{'|'.join(f'({word})' for word in words)}){_NO_LETTER_AFTER}"
    )
    for language, words in _TIMES.items()
}


class Spelling:
    """What each token of a target vocabulary adds to a text, sorted by what the rules have to look at.

    Made once for a vocabulary and shared.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """`texts`: of every id, as `translator.text.spelling` gives them."""
        self.texts = tuple(text.translate(_WIDE) for text in texts)
        part = rf"[0-9A-Za-z{_SEPARATORS}]"
        self._parts, self._ends = self._found(rf"(?!{part})[\s\S]|\A\Z"), self._found(rf"(?!{part})[\s\S]\Z|\A\Z")
        self.long_numbers, self.long_words = self._found(f"[0-9]{{{LONG}}}"), self._found(f"[A-Za-z]{{{LONG}}}")
        self.digits, self.letters = self._found(rf"\A[0-9{_SEPARATORS}]"), self._found(r"\A[A-Za-z]")

    def _found(self, pattern: str) -> frozenset[int]:
        """The ids in whose texts the pattern is found."""
        return frozenset(id_ for id_, text in enumerate(self.texts) if re.search(pattern, text))

    def tail(self, ids: Sequence[int]) -> str:
        """The number or the Latin word that the text of `ids` ends in, which the next token may go on with; or ""."""
        if not ids or ids[-1] in self._ends:  # most tokens
            return ""
        text = ""
        for id_ in reversed(ids):
            text = self.texts[id_] + text
            if id_ in self._parts:
                break
        return _tail(text)


class SourceSpans:
    """What the translation of one source may write of digits and of Latin letters.

    A run of three or more digits has to be a number of the source, one of three or more letters that are not all
    capitals a word of the source, in any case. A run that grows has to be the beginning of such, and is not left before
    it is one. Numbers may be joined over a separator ("1,147") on either side, and those of six or more digits may be
    multiples of a number that has a word: "150" of ten thousand for 1,500,000. `numbers` and `words` are None where
    nothing is asked of them.
    """

    def __init__(self, spelling: Spelling, numbers: Iterable[str] | None, words: Iterable[str] | None) -> None:
        self._spelling = spelling
        self._numbers = (
            None if numbers is None else frozenset(each for number in numbers for each in _multiples(number))
        )
        self._words = None if words is None else frozenset(word.lower() for word in words)
        self._begun = _beginnings((self._numbers or frozenset()) | (self._words or frozenset()))
        judged = spelling.long_numbers if self._words is None else spelling.long_numbers | spelling.long_words
        alone = sorted(id_ for id_ in judged if not self.allows("", spelling.texts[id_]))
        self._known: dict[str, np.ndarray] = {"": np.array(alone, np.int64)}

    def forbidden(self, ids: Sequence[int]) -> np.ndarray:
        """The ids [N] that must not follow `ids`, ascending; none where every other way to go on is closed."""
        tail = self._spelling.tail(ids)
        if self._words is None and tail.isalpha():
            tail = ""
        found = self._known.get(tail)
        if found is None:
            found = self._known[tail] = self._forbidden_after(tail)
        return found

    def allows(self, tail: str, added: str) -> bool:
        """Whether a text that ends in `tail` may go on with `added`."""
        whole = tail + added
        if whole.isascii() and whole.isalpha():  # one word, as most are
            return self._is_word(whole, self._begun)
        return all(self._may_stand(whole, run) for run in _RUN.finditer(whole))

    def _forbidden_after(self, tail: str) -> np.ndarray:
        """What goes on with the tail is judged; all else leaves it, and is judged by itself."""
        texts = self._spelling.texts
        going_on = self._spelling.letters if tail.isalpha() else self._spelling.digits
        wrong = np.full(len(texts), not self.allows(tail, _STOP))
        wrong[self._known[""]] = True
        for id_ in going_on:
            wrong[id_] = not self.allows(tail, texts[id_])
        return wrong.nonzero()[0] if not wrong.all() else np.empty(0, np.int64)

    def _may_stand(self, whole: str, run: re.Match[str]) -> bool:
        text, end = run.group(), run.end()
        if text[0].isdigit():
            return len(text) < LONG or self._numbers is None or self._is_number(whole, text, end)
        return self._is_word(text, self._begun if end == len(whole) else self._words)

    def _is_word(self, text: str, known: frozenset[str] | None) -> bool:
        return len(text) < LONG or self._words is None or text.isupper() or text.lower() in (known or ())

    def _is_number(self, whole: str, digits: str, end: int) -> bool:
        joined = "".join(filter(str.isdigit, _tail(whole[:end])))
        numbers = (digits, joined)
        if any(number in (self._numbers or ()) for number in numbers):
            return True
        if end == len(whole):
            return any(number in self._begun for number in numbers)
        # A separator goes on with what is joined, if a digit follows.
        goes_on = whole[end] in _SEPARATORS and (end + 1 == len(whole) or whole[end + 1].isdigit())
        return goes_on and joined in self._begun


def source_spans(spelling: Spelling, text: str, src: str, tgt: str) -> SourceSpans | None:
    """The spans of a source `text` that count for its translation from `src` into `tgt` (language codes).

    Numbers count where the source has one in digits and no word of which others may be composed ("twenty", but not "3
    million"), as far as those of its language are known; Latin words where the target has another script. None where
    nothing counts.
    """
    text = text.translate(_WIDE)
    known = src in _COMPOSING
    counted = known and _JOINED.search(text) is not None and not _composes(text.lower(), src)
    named = known and tgt in OTHER_SCRIPTS
    if not counted and not named:
        return None
    return SourceSpans(spelling, _numbers(text.lower(), src) if counted else None, _names(text) if named else None)


def _composes(text: str, language: str) -> bool:
    """Whether a word of `text`, in lower case, makes a number that does not stand there in digits."""
    return _COMPOSING[language].search(_MULTIPLIED[language].sub("", text, count=1)) is not None


def ban_spans(
    scores: Tensor | np.ndarray, spans: Sequence[SourceSpans | None], produced: Sequence[Sequence[int]]
) -> None:
    """Set the scores [B, V] of what the source does not have to -inf in place, unless nothing would be left.

    Args:
        spans: of each row's source.
        produced: the ids so far of the first rows; a row beyond them is left as it is.
    """
    if isinstance(scores, Tensor) and scores.device.type == "cpu" and scores.dtype == torch.float32:
        scores = scores.numpy()  # the same memory, of which a few numbers are reached in a third of the time
    for row, (of_source, ids) in enumerate(zip(spans, produced, strict=False)):
        if of_source is None or not len(wrong := of_source.forbidden(ids)):
            continue
        places = wrong if isinstance(scores, np.ndarray) else torch.from_numpy(wrong)
        before = scores[row, places]
        scores[row, places] = -math.inf
        if scores[row].max() == -math.inf:
            scores[row, places] = before


def _numbers(text: str, language: str) -> Iterable[str]:
    """Every run of digits, and those that separators join, in each way to take neighbours together.

    Of a number with separated thousands no part, unless spaces separate them, which may be two numbers; what words
    multiply ("1.5 million") also as digits (1500000).
    """
    for joined in _JOINED.findall(text):
        runs = re.findall("[0-9]+", _THOUSANDS.sub(lambda found: "".join(filter(str.isdigit, found.group())), joined))
        for first in range(len(runs)):
            for last in range(first, min(first + GROUPS, len(runs))):
                yield "".join(runs[first : last + 1])
    yield from (found.replace(" ", "") for found in _SPACED.findall(text))
    for found in _MULTIPLIED[language].finditer(text):
        *whole, last = re.findall("[0-9]+", found.group(1))
        zeros = next(zeros for zeros, word in zip(_TIMES[language].values(), found.groups()[1:], strict=True) if word)
        yield "".join((*whole, last)) + "0" * zeros
        if whole and len(last) <= zeros:  # it may be a fraction
            yield "".join((*whole, last)) + "0" * (zeros - len(last))


def _multiples(number: str) -> Iterable[str]:
    """A number, and a large one as a multiple of those that have a word."""
    yield number
    if len(number) >= LARGE:
        yield number.rstrip("0")
        yield from (number[:-zeros] for zeros in WORDS_FOR if number.endswith("0" * zeros))


def _names(text: str) -> Iterable[str]:
    """Every Latin word, its parts beside hyphens and apostrophes, and the same without accents."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", text) if unicodedata.category(char)[0] != "M")
    for name in _NAME.findall(text) + _NAME.findall(bare):
        parts = re.findall("[A-Za-z]+", name)
        yield from (*parts, "".join(parts))


def _tail(text: str) -> str:
    """The number, as far as it may go on, or the Latin word that `text` ends in; or ""."""
    return text[_TAIL.search(text).start() :]  # type: ignore[union-attr]  # it finds at least the end


def _beginnings(spans: Iterable[str]) -> frozenset[str]:
    return frozenset(span[:end] for span in spans for end in range(1, len(span) + 1))
