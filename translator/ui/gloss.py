"""For who does not read Chinese: how each word of a translation is pronounced, and what a dictionary says of it."""

from __future__ import annotations

from typing import Any

from translator.analysis.glossary import shipped_glossary
from translator.analysis.words import target_words
from translator.trace import Trace


def gloss(trace: Trace) -> list[dict[str, Any]] | None:
    """What the page writes below a Chinese translation, or None below any other.

    It is the words of the translation that have letters, each with its first token "t" (counted from 0) and its last
    "u", its text "s", its pinyin with tone marks "p" ("" where nothing of it is Chinese) and its meaning in the
    source language "d" ("" where the glossary lacks it). Pinyin is that of the word: 银行 is yínháng, 行 alone xíng.
    """
    if trace.checkpoint.tgt_language != "zh":
        return None
    meanings = shipped_glossary((trace.checkpoint.src_language, trace.checkpoint.tgt_language))
    found = target_words(trace)
    spoken = _pinyin(found.texts)
    words = []
    for text, pinyin, members, lettered in zip(found.texts, spoken, found.members, found.lettered, strict=True):
        if lettered:
            places = members.nonzero()[0].tolist()
            meaning = meanings.get(text.lower(), "")
            words.append({"t": places[0], "u": places[-1], "s": text, "p": pinyin, "d": meaning})
    return words


def _pinyin(texts: tuple[str, ...]) -> list[str]:
    """The pinyin of each word; what is not Chinese has none."""
    from pypinyin import Style, pinyin  # its dictionaries take a tenth of a second, which only Chinese costs

    return ["".join(each[0] for each in pinyin([text], style=Style.TONE, errors="ignore")) for text in texts]
