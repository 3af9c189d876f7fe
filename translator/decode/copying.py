"""Numbers and Latin names of a translation are those of its source: what a search must not write."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from translator.decode.names import Names
from translator.decode.numbers import SEPARATORS, in_digits

LONG = 2
"""Digits or letters from which a run is judged."""
UNITS = frozenset(("cm", "dl", "gb", "hz", "kb", "kg", "km", "kw", "mb", "mg", "ml", "mm", "mw"))
"""Words of two letters that a language of another script writes in Latin ones."""
OTHER_SCRIPTS = frozenset(("ar", "bg", "el", "fa", "he", "hi", "ja", "ko", "ru", "th", "uk", "zh"))
"""Languages that write in other letters than German and English do."""

_INSIDE = SEPARATORS + ":"
_WIDE = {code: code - 0xFEE0 for first, last in ("０９", "Ａｚ") for code in range(ord(first), ord(last) + 1)}
_RUN = re.compile(r"[0-9]+|[A-Za-z]+")
_TAIL = re.compile(rf"(?<![0-9])(?:[0-9]+[{_INSIDE}])*[0-9]*\Z|(?<![A-Za-z])[A-Za-z]+\Z")
_NAME = re.compile(r"[A-Za-z]+(?:[-'’][A-Za-z]+)*")
_STOP = "\n"
_WITHIN = re.compile(rf"(?<=[0-9])[{_INSIDE}]\Z")


class Spelling:
    """What each token of a target vocabulary adds to a text, sorted by what the rules have to look at.

    Made once for a vocabulary and shared.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """`texts`: of every id, as `translator.text.spelling` gives them."""
        self.texts = tuple(text.translate(_WIDE) for text in texts)
        self._by_text: dict[str, list[int]] = defaultdict(list)
        for id_, text in enumerate(self.texts):
            self._by_text[text].append(id_)
        part = rf"[0-9A-Za-z{_INSIDE}]"
        self._parts, self._ends = self._found(rf"(?!{part})[\s\S]|\A\Z"), self._found(rf"(?!{part})[\s\S]\Z|\A\Z")
        self.long_numbers, self.long_words = self._found(f"[0-9]{{{LONG}}}"), self._found(f"[A-Za-z]{{{LONG}}}")
        self.digits, self.letters = self._found(rf"\A[0-9{_INSIDE}]"), self._found(r"\A[A-Za-z]")

    def _found(self, pattern: str) -> frozenset[int]:
        """The ids in whose texts the pattern is found."""
        return frozenset(id_ for id_, text in enumerate(self.texts) if re.search(pattern, text))

    def ids(self, text: str) -> Sequence[int]:
        """The ids that add `text`."""
        return self._by_text.get(text, ())

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

    A run of two or more digits, and a single one behind a separator ("1.5") or beside a colon, has to be a number of
    the source; one of two or more letters that are not all capitals a word of the source, in any case, or a unit. A run
    that grows has to be the beginning of such, and is not left before it is one. Digits behind a separator are one
    number with those before it ("1,147"); ":00" may follow any. `numbers` and `words` are None where nothing is asked
    of them. `names` are those that a beam search prefers to copy, where it does.
    """

    def __init__(
        self,
        spelling: Spelling,
        numbers: frozenset[str] | None,
        words: Iterable[str] | None,
        names: Names | None = None,
    ) -> None:
        self._spelling, self.names = spelling, names
        self._numbers = numbers
        self._words = None if words is None else UNITS.union(word.lower() for word in words)
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
        if not text[0].isdigit():
            return self._is_word(text, self._begun if end == len(whole) else self._words)
        if self._numbers is None:
            return True
        after = _WITHIN.search(whole, 0, run.start())
        if after is None and len(text) < LONG and not whole.startswith(":", end):
            return True
        full_hour = after is not None and after.group() == ":" and (text == "00" or (text == "0" and end == len(whole)))
        return full_hour or self._is_number(whole, self._numbers, end)

    def _is_word(self, text: str, known: frozenset[str] | None) -> bool:
        return len(text) < LONG or self._words is None or text.isupper() or text.lower() in (known or ())

    def _is_number(self, whole: str, numbers: frozenset[str], end: int) -> bool:
        """Whether the digits that end at `end` are a number: with those before a separator, if there are such."""
        joined = "".join(filter(str.isdigit, _tail(whole[:end]).rpartition(":")[-1]))
        if joined in numbers:
            return True
        if end == len(whole):
            return joined in self._begun
        # A separator goes on with what is joined, if a digit follows.
        goes_on = whole[end] in SEPARATORS and (end + 1 == len(whole) or whole[end + 1].isdigit())
        return goes_on and joined in self._begun


def source_spans(spelling: Spelling, text: str, src: str, tgt: str, names: Names | None = None) -> SourceSpans | None:
    """The spans of a source `text` that count for its translation from `src` into `tgt` (language codes).

    Numbers count as `in_digits` finds them, Latin words where only the target has another script. None where nothing
    counts.
    """
    text = text.translate(_WIDE)
    numbers = in_digits(text.lower(), src)
    words = _names(text) if tgt in OTHER_SCRIPTS and src not in OTHER_SCRIPTS else None
    if numbers is None and words is None and names is None:
        return None
    return SourceSpans(spelling, numbers, words, names)


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
