"""A language's words with capitals in one file, for a browser; see `translator.text.casing`."""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import TYPE_CHECKING

from translator.text.casing import CasedTokenizer, shipped_casing

if TYPE_CHECKING:
    from translator.pipeline import Translator
    from translator.text import Tokenizer


def casing_file(model: Translator) -> bytes | None:
    """What the source of `model` takes; see `casing_of`."""
    return casing_of(model.bundle.src)


def casing_of(tokenizer: Tokenizer) -> bytes | None:
    """The words of a tokenizer's language as gzipped JSON, about 100 KB in German; None where it takes none."""
    language = tokenizer.config.language
    known = isinstance(tokenizer, CasedTokenizer) and shipped_casing(language)
    return _file(language) if known else None


@cache
def _file(language: str) -> bytes:
    content = {"language": language, "words": "\n".join(shipped_casing(language).values())}
    return gzip.compress(json.dumps(content, ensure_ascii=False).encode(), 9, mtime=0)
