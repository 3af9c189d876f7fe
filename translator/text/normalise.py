"""Normalisation to the form of the training corpora, with character offsets."""

from __future__ import annotations

import difflib
import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from translator.config import TextConfig

Edit = tuple[int, int, str]  # text[start:end] becomes the string
Stage = Callable[[str], Iterator[Edit]]

HAN = "\u3007\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
CJK_PUNCTUATION = "\u3001-\u3003\u3008-\u3011\u3014-\u301b\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65“”‘’"

# Zero-width and bidi controls, soft hyphen, and controls that are not whitespace. U+200D stays: emoji need it.
_INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
)
SHOUTED = 5
"""So many capitals and no small letter are a text that somebody typed in capitals."""
_BLANK = re.compile(rf"[\s\u200d\ufe00-\ufe0f\u3164\uffa0{_INVISIBLE}]*")


@dataclass(frozen=True)
class Normalised:
    """Normalised text; `spans[i]` is where character i of `text` stood in what was typed, as (start, end)."""

    text: str
    spans: list[tuple[int, int]]


def normalise(text: str, config: TextConfig) -> Normalised:
    """Normalise `text` as `config` says and keep, for every character left, its span in `text`.

    "corpus" does what the training corpora had done to them: NFC, nothing invisible, single spaces; in English and
    German straight quotes and plain dashes, in Chinese simplified characters and full-width punctuation. In all but
    Chinese, a text all in capitals becomes small letters, since no vocabulary has such words. "none" only replaces lone
    surrogates, which no encoder can write.
    Doing it twice changes nothing more.
    """
    spans = [(i, i + 1) for i in range(len(text))]
    for stage in _stages(config):
        edits = list(stage(text))
        if edits:
            text, spans = _apply(text, edits), _move(spans, edits)
    return Normalised(text, spans)


def normalise_text(text: str, config: TextConfig) -> str:
    """`normalise(text, config).text`, without the bookkeeping."""
    for stage in _stages(config):
        edits = list(stage(text))
        if edits:
            text = _apply(text, edits)
    return text


def is_blank(text: str) -> bool:
    """Whether nothing in `text` can be seen: only whitespace, controls, zero-width characters."""
    return _BLANK.fullmatch(text) is not None


def is_shouted(text: str) -> bool:
    """Whether `text` was typed all in capitals."""
    return text.isupper() and sum(map(str.isupper, text)) >= SHOUTED


def _apply(text: str, edits: list[Edit]) -> str:
    parts: list[str] = []
    position = 0
    for start, end, new in edits:
        parts += (text[position:start], new)
        position = end
    return "".join(parts) + text[position:]


def _move(spans: list[tuple[int, int]], edits: list[Edit]) -> list[tuple[int, int]]:
    """The spans after `edits`: an equal length maps one to one, otherwise all new characters share the whole."""
    out: list[tuple[int, int]] = []
    position = 0
    for start, end, new in edits:
        out += spans[position:start]
        old = spans[start:end]
        out += old if len(old) == len(new) else [(old[0][0], old[-1][1])] * len(new)
        position = end
    return out + spans[position:]


def _substitute(pattern: str, new: str | dict[str, str]) -> Stage:
    """A stage that replaces every match by `new`, or by what `new` maps it to."""
    compiled = re.compile(pattern)
    if isinstance(new, str):
        return lambda text: ((m.start(), m.end(), new) for m in compiled.finditer(text))
    return lambda text: ((m.start(), m.end(), new[m.group()]) for m in compiled.finditer(text))


def _translate(table: dict[str, str]) -> Stage:
    return _substitute("[" + re.escape("".join(table)) + "]", table)


@functools.cache
def _joining() -> frozenset[str]:
    """Characters of combining class 0 that may compose with what stands before them."""
    found = {chr(c) for c in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}  # Hangul vowels and finals
    for code in (*range(0x80, 0xD800), *range(0xF900, 0x20000)):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            found.add(chr(int(parts[1], 16)))
    return frozenset(found)


def _compose(text: str) -> Iterator[Edit]:
    """NFC, in chunks that no composition can cross, so that each keeps its own place."""
    if unicodedata.is_normalized("NFC", text):
        return
    cuts = [i for i, char in enumerate(text) if i == 0 or _starts_chunk(char)] + [len(text)]
    for start, end in itertools.pairwise(cuts):
        new = unicodedata.normalize("NFC", text[start:end])
        if new != text[start:end]:
            yield start, end, new


def _starts_chunk(char: str) -> bool:
    first = unicodedata.normalize("NFD", char)[0]
    return unicodedata.combining(first) == 0 and first not in _joining()


def _single_spaces(text: str) -> Iterator[Edit]:
    for match in re.finditer(r"\s+", text):
        start, end = match.span()
        new = "" if start == 0 or end == len(text) else " "
        if match.group() != new:
            yield start, end, new


@functools.cache
def _simplifier() -> Any:
    import opencc

    return opencc.OpenCC("t2s")


def _simplify(text: str) -> Iterator[Edit]:
    """Traditional to simplified characters, again until nothing changes (one character needs two steps)."""
    new = text
    for _ in range(4):
        before, new = new, _simplifier().convert(new)
        if new == before:
            break
    if new == text:
        return
    if len(new) == len(text):
        for i, (old, char) in enumerate(zip(text, new, strict=True)):
            if old != char:
                yield i, i + 1, char
        return
    for tag, start, end, low, high in difflib.SequenceMatcher(None, text, new, autojunk=False).get_opcodes():
        if tag == "insert":  # an edit replaces something: take the neighbour along
            yield (start - 1, start, text[start - 1] + new[low:high]) if start else (0, 1, new[low:high] + text[0])
        elif tag != "equal":
            yield start, end, new[low:high]


def _lower(text: str) -> Iterator[Edit]:
    if not text.islower():
        for i, char in enumerate(text):
            if char.lower() != char:
                yield i, i + 1, char.lower()


def _calm(text: str) -> Iterator[Edit]:
    """A text all in capitals to small letters: no vocabulary has its words. A name such as "NATO" is left alone."""
    if is_shouted(text):
        yield from _lower(text)


_SURROGATES = _substitute("[\ud800-\udfff]", "\ufffd")
_HIDE = _substitute(f"[{_INVISIBLE}]", "")
_PLAIN = _translate(
    {
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‘’‚‛‹›", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
    }
)
_WIDE_CODES = (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
_FULL_WIDTH = {chr(code): chr(code - 0xFEE0) for code in _WIDE_CODES}
_BRACKETS = _translate(dict(zip("「」『』｢｣", "“”‘’“”", strict=True)))
_CHINESE = HAN + CJK_PUNCTUATION
_TIGHT = _substitute(f" (?=[{_CHINESE}])|(?<=[{_CHINESE}]) ", "")
_WIDE = dict(zip(",?!;:.", "，？！；：。", strict=True))
_ELLIPSIS = _substitute(rf"(?<=[{HAN}])\.{{3,}}|\.{{3,}}(?=[{HAN}])", "……")
_BESIDE_HAN = re.compile(rf"(?<=[{HAN}])(?P<after>[,?!;:.]+)|(?<![,?!;:.])[,?!;:.]+(?=[{HAN}])")


def _widen(text: str) -> Iterator[Edit]:
    """ASCII punctuation beside Chinese to full width; a point only if it ends Chinese: not in "1.", "J.", ".local"."""
    for match in _BESIDE_HAN.finditer(text):
        run, following = match.group(), text[match.end() : match.end() + 1]
        if match["after"] is None:
            new = "".join(char if char == "." else _WIDE[char] for char in run)
        else:
            begins = following.isascii() and following.isalnum()  # the last points of the run begin ".local"
            ends = run.rstrip(".") if begins else run
            new = "".join(map(_WIDE.__getitem__, ends)) + run[len(ends) :]
        if new != run:
            yield match.start(), match.end(), new


@functools.cache
def _stages(config: TextConfig) -> tuple[Stage, ...]:
    lower = (_lower,) if config.lowercase else ()
    if config.normalise == "none":
        return (_SURROGATES, *lower)
    chinese = config.language == "zh"
    lower = lower or (() if chinese else (_calm,))
    # What may bring a letter and a combining mark together comes before they are composed.
    first = (_SURROGATES, _HIDE, *((_translate(_FULL_WIDTH),) if chinese else ()), *lower, _compose, _single_spaces)
    if chinese:
        return (*first, _BRACKETS, _TIGHT, _ELLIPSIS, _widen, _TIGHT, _simplify)
    return (*first, _PLAIN) if config.language in ("en", "de") else first
