"""Tokens selected by their displayed text or by id."""

from __future__ import annotations

from torch import Tensor

from translator.errors import InputError
from translator.pipeline import Translator
from translator.rules import whole


def token_named(translator: Translator, word: int | str, logits: Tensor, name: str = "word") -> int:
    """The id of the target token that `word` names.

    Several tokens may read alike (with and without a space before them), and a number may be an id as well as a
    token: the likeliest at this step is meant.

    Args:
        word: a token as shown, or an id.
        logits: of the step, [V].
        name: what a refusal calls it.
    Raises:
        InputError: there is no such token.
    """
    tokenizer, size = translator.bundle.tgt, len(logits)
    if not isinstance(word, str):
        return whole(name, word, 0, size - 1)
    shown = word.strip() or word
    found = [id_ for id_ in range(size) if tokenizer.token(id_).surface == shown]
    if shown.isascii() and shown.isdigit() and int(shown[:9]) < size:
        found.append(int(shown[:9]))
    if not found:
        pieces = " ".join(token.surface for token in tokenizer.tokens(tuple(tokenizer.ids(shown))))
        said = f"its pieces are {pieces}" if pieces else "the vocabulary cannot write it"
        raise InputError(f"{name} is {word[:40]!r}, which is no single token of {translator.name}: {said}; choose one")
    return max(found, key=lambda id_: float(logits[id_]))
