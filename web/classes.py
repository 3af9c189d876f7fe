"""Write `src/live/text/classes.ts`: which characters are what to Python, so that a browser cuts text as Python does.

Browsers and Pythons know different versions of Unicode, and some properties JavaScript does not know at all. Run it
with the oldest Unicode that is tested (see `unicode` in the file that it writes): `python web/classes.py`.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import regex

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from translator.text.normalise import _starts_chunk

TARGET = Path(__file__).parent / "src" / "live" / "text" / "classes.ts"
_WORD = regex.compile(r"\w")
_RIGHT_TO_LEFT = ("R", "AL", "AN")


def _category(*names: str) -> Callable[[str], bool]:
    return lambda char: unicodedata.category(char).startswith(names)


CLASSES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "word": (r"`\w` of the package regex", lambda char: _WORD.match(char) is not None),
    "digit": (r"`\d`: category Nd", _category("Nd")),
    "mark": ("category M", _category("M")),
    "sign": ("punctuation and symbols: categories P and S", _category("P", "S")),
    "hidden": ("controls and format characters: categories Cc and Cf", _category("Cc", "Cf")),
    "rightToLeft": ("bidirectional classes R, AL, AN", lambda char: unicodedata.bidirectional(char) in _RIGHT_TO_LEFT),
    "unassigned": ("category Cn: what a newer Unicode may know is nothing to Python", _category("Cn")),
    "continues": ("what may compose with what stands before it", lambda char: not _starts_chunk(char)),
}


def ranges(belongs: Callable[[str], bool]) -> list[tuple[int, int]]:
    """First and last code point of every run of characters that belong; surrogates are left out."""
    found: list[tuple[int, int]] = []
    for code in range(0x110000):
        if 0xD800 <= code < 0xE000 or not belongs(chr(code)):
            continue
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def packed(runs: list[tuple[int, int]]) -> str:
    """Gap and length of each run, in base 36, the length left out where it is 1."""
    words, end = [], 0
    for first, last in runs:
        length = last - first + 1
        words.append(_base36(first - end) + (f".{_base36(length)}" if length > 1 else ""))
        end = last + 1
    return " ".join(words)


def _base36(number: int) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    out = ""
    while True:
        number, rest = divmod(number, 36)
        out = digits[rest] + out
        if not number:
            return out


def source() -> str:
    """The TypeScript."""
    lines = [
        "/* Written by web/classes.py: runs of code points, as the gap to the last run and, unless 1, the",
        "   length. */",
        "",
        "/** The versions of Unicode and of the package regex that this was taken from. */",
        f'export const UNICODE = "{unicodedata.unidata_version}, regex {regex.__version__}";',
        "",
        "export const CLASSES = {",
    ]
    for name, (what, belongs) in CLASSES.items():
        lines += [f"  /** {what} */", f"  {name}:", f'    "{packed(ranges(belongs))}",']
    return "\n".join([*lines, "} as const;", ""])


if __name__ == "__main__":
    TARGET.write_text(source(), encoding="utf-8")
