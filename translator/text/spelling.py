"""What each token of a vocabulary adds to a text."""

from __future__ import annotations

from translator.text.tokenizer import Tokenizer


def spelling(tokenizer: Tokenizer) -> tuple[str, ...]:
    """The text that each id adds after a letter: " house" where a space goes before it, "" where it is not seen.

    A byte of a longer character is U+FFFD. A token that joins the next one to itself (Moses' "@@") is not told apart.
    """
    ids = range(len(tokenizer))
    before = next((id for id in ids if tokenizer.decode([id]).isalnum()), None)
    if before is None:
        return tuple(tokenizer.decode([id]) for id in ids)
    start = len(tokenizer.decode([before]))
    return tuple(tokenizer.decode([before, id])[start:] for id in ids)
