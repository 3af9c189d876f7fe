"""The one function that escapes and formats a token for display."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

LIMIT = 12
SPACE = "␣"
INVISIBLE = "·"
REPLACEMENT = "\ufffd"

_KEPT_FORMATS = "\u200c\u200d"
"""Joiners that shape Persian, Indic and emoji text; removing them would change what is read."""
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Characters that draw nothing, though Unicode calls them letters, marks or symbols."""
_SHOWN = re.compile("(?! )[ -~\u00a1-\u00ac\u00ae-\u02ff\u3001-\u3011\u4e00-\u9fff\uff01-\uff5e]+(?<! )")
"""Text of Latin letters and Chinese characters that is shown as it is: most of all text, so it is looked at once."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {c: f"&#{ord(c)};" for c in "\"'`$%"}
"""`&`, `<`, `>` and quotes for HTML and Plotly's own markup; `$` or Plotly calls MathJax, `%` or a template runs."""


def label(text: str, limit: int | None = LIMIT) -> str:
    """`text` for a sink that reads HTML: tick labels, annotations, hover text, attributes, messages.

    What `plain` gives, escaped. Safe in HTML text and in quoted attributes, and in every text of a plotly
    figure (Plotly reads `<b>`, `<a href>` and `%{...}` as commands; entities it turns back into characters).

    Args:
        text: what a token or a person says.
        limit: characters shown before it is cut with an ellipsis; None shows all.
    """
    return "".join(_ENTITIES.get(character, character) for character in plain(text, limit))


def plain(text: str, limit: int | None = LIMIT) -> str:
    """`text` for a sink that takes it as it is (`textContent`): visible, short, and kept to its own direction.

    Spaces at the ends show as ␣, controls and other invisible characters as ·, and so does an empty text.
    Right-to-left text is isolated (U+2068 … U+2069), so that it cannot turn its neighbours round.
    """
    if _SHOWN.fullmatch(text):
        return _cut(text, limit)
    shown = _cut(_visible(text), limit)
    return f"\u2068{shown}\u2069" if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in shown) else shown


def labels(texts: Sequence[str], limit: int | None = LIMIT) -> list[str]:
    """`label` of each."""
    return [label(text, limit) for text in texts]


def _visible(text: str) -> str:
    """`text` with a mark for whatever would not be seen."""
    if not text:
        return INVISIBLE
    body = text.strip()
    lead = len(text) - len(text.lstrip())
    tail = len(text) - lead - len(body)
    shown = "".join(_mark(character) for character in body)
    if shown and unicodedata.category(shown[0])[0] == "M":
        shown = "\u25cc" + shown
    return SPACE * lead + shown + SPACE * tail


def _mark(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":
        return REPLACEMENT
    if category in ("Zs", "Zl", "Zp") or character in "\t\n\r\v\f":
        return " "
    if (category in ("Cc", "Cf") and character not in _KEPT_FORMATS) or character in _BLANK:
        return INVISIBLE
    return character


def _cut(text: str, limit: int | None) -> str:
    """At most `limit` characters and an ellipsis, never between a letter and its marks."""
    if limit is None or len(text) <= limit:
        return text
    end = limit - 1
    while end > 1 and (_joins(text[end]) or text[end - 1] == "\u200d"):
        end -= 1
    return text[:end] + "…"


def _joins(character: str) -> bool:
    """True if the character belongs to the one before it."""
    return unicodedata.category(character)[0] == "M" or character in _KEPT_FORMATS


def number_text(value: float, form: str) -> str:
    """A number by a format, with a real minus sign; what rounds to zero has no minus, so that −0.00 is never shown."""
    text = format(value, form)
    if any(digit in text for digit in "123456789"):
        return text.replace("-", "−")
    return text.replace("-", "+" if form.startswith("+") else "")
