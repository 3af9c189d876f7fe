"""Word segmentation: ordered spans that cover every character but whitespace."""

from __future__ import annotations

import atexit
import functools
import logging
import os
import re
import shutil
import stat
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import regex

from translator.text.normalise import HAN

# Whitespace of `regex` leaves out U+001C-1F, which str.isspace has.
# A word keeps its inner apostrophes and hyphens; a sign keeps what modifies it, and emoji joined by U+200D stay whole.
_MARK = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u0900-\u0903\u093a-\u094f\u20d0-\u20ff"
_LETTERS = rf"\w[\w{_MARK}]*"
_SIGN = rf"[^\w\s\x1c-\x1f][{_MARK}\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
_WORD = rf"{_LETTERS}(?:['’\-\u2011]{_LETTERS})*|[\U0001f1e6-\U0001f1ff]{{2}}|{_SIGN}(?:\u200d{_SIGN})*"
_WORDS = regex.compile(_WORD)
_PARTS_OF_A_NUMBER = regex.compile(r"\p{Nd}[.,:/]\p{Nd}")
_HAN_RUN = re.compile(f"[{HAN}]+")
_CHUNK = 200  # jieba's hidden Markov model takes time quadratic in the length of a run


def words(text: str, language: str) -> list[tuple[int, int]]:
    """The (start, end) spans of the words of `text`, which cover every character that is not whitespace.

    Alphabetic text keeps "don't" and "well-known" whole and gives every punctuation mark its own word
    (as nltk's RegexpTokenizer would, which takes a second to import); runs of Chinese characters are
    segmented by jieba, with its hidden Markov model, when `language` is "zh".
    """
    if language != "zh":
        return _alphabetic(text, 0, len(text))
    spans: list[tuple[int, int]] = []
    position = 0
    for match in _HAN_RUN.finditer(text):
        spans += _alphabetic(text, position, match.start())
        spans += _chinese(text, match.start(), match.end())
        position = match.end()
    return spans + _alphabetic(text, position, len(text))


def whole_words(text: str, language: str) -> list[tuple[int, int]]:
    """`words`, but a number, a time or a date is one: "24,50", "18:30", "3/4/2025"."""
    spans: list[tuple[int, int]] = []
    for start, end in words(text, language):
        begun = spans and (_one_number(text, start - 1) or _one_number(text, start))
        spans.append((spans.pop()[0] if begun else start, end))
    return spans


def _one_number(text: str, mark: int) -> bool:
    """Whether the character at `mark` stands within a number, between two digits."""
    return mark > 0 and _PARTS_OF_A_NUMBER.fullmatch(text, mark - 1, mark + 2) is not None


def _alphabetic(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [match.span() for match in _WORDS.finditer(text, start, end)]


def _chinese(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans = []
    for chunk in range(start, end, _CHUNK):
        position = chunk
        for word in _jieba().cut(text[chunk : min(chunk + _CHUNK, end)], HMM=True):
            spans.append((position, position + len(word)))
            position += len(word)
    return spans


@functools.cache
def chinese_tags() -> dict[str, str]:
    """The part of speech that jieba's dictionary gives each of its words: "n", "v", "nr" for a person's name …"""
    with _jieba().get_dict_file() as file:
        rows = (line.decode("utf-8").split() for line in file)
        return {row[0]: row[2] for row in rows if len(row) == 3}


_loading = threading.Lock()


def _jieba() -> Any:
    with _loading:
        return _load_jieba()


@functools.cache
def _load_jieba() -> Any:
    """Our own jieba, so that no other user of the library shares its dictionary or its cache file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its sources have escapes that Python 3.12 warns of
        import jieba
    jieba.default_logger.setLevel(logging.CRITICAL)
    tokenizer = jieba.Tokenizer()
    tokenizer.tmp_dir = str(_private_folder())
    tokenizer.initialize()
    return tokenizer


def _private_folder() -> Path:
    """A folder only this user can write to: jieba unmarshals what it finds there."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(home) / "translator-jieba"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
        mine = not hasattr(os, "getuid") or status.st_uid == os.getuid()
        if stat.S_ISDIR(status.st_mode) and mine and not status.st_mode & 0o077 and os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass  # a read-only home: the dictionary is read anew in every process
    temporary = tempfile.mkdtemp(prefix="translator-jieba-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return Path(temporary)
