"""The installed jieba's and OpenCC's dictionaries in one file, for segmentation in a browser."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

from translator.text.normalise import HAN
from translator.text.segment import _jieba

SIMPLE = Path(__file__).parent / "simplified.json"
"""Traditional to simplified, as OpenCC's dictionaries for t2s have it: written by web/simplified.py."""


def chinese_file() -> bytes:
    """All that cutting Chinese into words takes, as gzipped JSON of about 2 MB; `chinese.ts` says what is in it.

    The same versions of both packages give the same bytes.
    """
    text = json.dumps(chinese(), ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), 9, mtime=0)


def chinese() -> dict[str, Any]:
    """Jieba's words that are Chinese throughout, its hidden Markov model, and what OpenCC makes simple."""
    from jieba import finalseg

    tokenizer = _jieba()
    written = re.compile(f"[{HAN}]+")
    counted = [(word, count) for word, count in tokenizer.FREQ.items() if count and written.fullmatch(word)]
    counted.sort(key=lambda pair: pair[0].encode("utf-16-be"))  # as JavaScript compares texts
    return {
        "total": tokenizer.total,
        "words": "\n".join(f"{word} {count}" for word, count in counted),
        "start": finalseg.start_P,
        "trans": finalseg.trans_P,
        "emit": finalseg.emit_P,
        "simple": json.loads(SIMPLE.read_text(encoding="utf-8")),
    }
