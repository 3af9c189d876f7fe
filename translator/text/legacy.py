"""Word tokenisation of the two source documents' own checkpoints.

"treebank": lower case, Penn Treebank words (nltk; characters in Chinese), the start token before a source.
"bare": lower case, ASCII punctuation left out, words between white space, unknown words left out, padding in the
place of a source's end token.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from translator.config import TextConfig
from translator.errors import CheckpointError, InputError
from translator.text import tokenizer as common
from translator.text.normalise import normalise, normalise_text
from translator.text.tokenizer import EOS, PAD, SPECIALS, START, UNK, Encoding
from translator.trace import Token

_QUOTES = ("``", "''")


class LegacyTokenizer(common.ManyTexts):
    """One id for every word, cut as `config.level` ("treebank" or "bare") says; ids 0-3 are special.

    `source` says that it reads sources: a bare source ends with padding, a bare target with its end token.
    """

    pad_id, start_id = PAD, START

    def __init__(self, config: TextConfig, pieces: Sequence[str], *, source: bool) -> None:
        if config.level not in ("treebank", "bare"):
            raise InputError(f"level is {config.level!r}; words of the source documents have 'treebank' or 'bare'")
        self.config, self.source = config, source
        self.bare = config.level == "bare"
        self.eos_id = PAD if self.bare and source else EOS
        self.unk_id: int | None = None if self.bare else UNK
        self._pieces = tuple(pieces)
        self._ids = {piece: id for id, piece in enumerate(self._pieces) if id >= len(SPECIALS)}

    def __len__(self) -> int:
        return len(self._pieces)

    def encode(self, text: str) -> Encoding:
        """`text` as tokens; their spans point into `text` as it was given."""
        normalised = normalise(text, self.config)
        tokens = [self.token(START)] if self.source and not self.bare else []
        for word, (start, end, unit) in enumerate(self._units(normalised.text)):
            id = self._ids.get(unit, UNK)
            if id == UNK and self.bare:
                continue
            span = common.typed_span(normalised, start, end)
            space = normalised.text[max(start - 1, 0) : start].isspace()
            tokens.append(Token(id, unit, span, word, space, unknown=id == UNK))
        return Encoding(normalised.text, tuple(tokens))

    def ids(self, text: str) -> list[int]:
        """The ids of `text`, without EOS."""
        return self.ids_of_pretokens([self.pretokens(text)])[0]

    def pretokens(self, text: str) -> list[str]:
        """The words of `text`."""
        return [unit for _, _, unit in self._units(normalise_text(text, self.config))]

    def ids_of_pretokens(
        self, texts: Sequence[Sequence[str]], *, dropout: float = 0.0, seed: int = 0
    ) -> list[list[int]]:
        """The ids of texts that are already cut into words.

        Raises:
            InputError: `dropout` is not 0; only subwords have merges to pass over.
        """
        if dropout:
            raise InputError(f"dropout is {dropout}; a vocabulary of words has none, use 0")
        head = [START] if self.source and not self.bare else []
        found = [[self._ids.get(unit, UNK) for unit in text] for text in texts]
        return [head + [id for id in ids if id != UNK or not self.bare] for ids in found]

    def decode(self, ids: Sequence[int]) -> str:
        """The words of `ids` with spaces between (none in Chinese), special tokens skipped."""
        return self._joined(ids)[0]

    def tokens(self, ids: Sequence[int]) -> tuple[Token, ...]:
        """Produced `ids` as tokens; their spans point into `decode(ids)`."""
        tokens, word = [], -1
        for id, span in zip(ids, self._joined(ids)[1], strict=True):
            if span is None:
                tokens.append(self.token(id))
                continue
            word += 1
            tokens.append(Token(id, self._pieces[id], span, word, span[0] > 0, unknown=id == UNK))
        return tuple(tokens)

    def token(self, id: int) -> Token:
        """One id on its own: what it looks like, without a place in a text."""
        common.check_ids([id], len(self))
        return Token(id, self._pieces[id], special=_skipped(id), unknown=id == UNK)

    def save(self, folder: str | Path, name: str) -> Path:
        """Write `folder`/`name`.json, the whole tokenizer, and return its path."""
        return common.write(Path(folder) / f"{name}.json", self.config, pieces=self._pieces, source=self.source)

    @classmethod
    def restore(cls, path: Path, config: TextConfig, data: dict[str, Any]) -> LegacyTokenizer:
        """The tokenizer that `data`, read from `path`, describes.

        Raises:
            CheckpointError: `source` is neither true nor false.
        """
        if not isinstance(data["source"], bool):
            raise CheckpointError(f"{path}: source is {data['source']!r}, want true or false")
        return cls(config, data["pieces"], source=data["source"])

    def _units(self, text: str) -> list[tuple[int, int, str]]:
        """(start, end, word) of every word of normalised `text`."""
        if self.bare:
            return _bare(text)
        return _characters(text) if self.config.language == "zh" else _treebank(text)

    def _joined(self, ids: Sequence[int]) -> tuple[str, list[tuple[int, int] | None]]:
        common.check_ids(ids, len(self))
        gap = "" if self.config.language == "zh" else " "
        text = ""
        spans: list[tuple[int, int] | None] = []
        for id in ids:
            if _skipped(id):
                spans.append(None)
                continue
            text += gap if text else ""
            spans.append((len(text), len(text) + len(self._pieces[id])))
            text += self._pieces[id]
        return text, spans


def _skipped(id: int) -> bool:
    return id < len(SPECIALS) and id != UNK


def _characters(text: str) -> list[tuple[int, int, str]]:
    """Chinese by the character, as Treebank words of a text that is spaced out."""
    return [(i, i + 1, "``" if char == '"' else char) for i, char in enumerate(text) if not char.isspace()]


def _bare(text: str) -> list[tuple[int, int, str]]:
    """Words between white space; punctuation within them is passed over, not a border."""
    units, start, word = [], 0, ""
    for position, char in enumerate(text + " "):
        if char.isspace():
            if word:
                units.append((start, position, word))
            word = ""
        elif char not in string.punctuation:
            start = start if word else position
            word += char
    return units


def _treebank(text: str) -> list[tuple[int, int, str]]:
    """Penn Treebank words where they stand; straight quotation marks become `` and ''."""
    units, position = [], 0
    from nltk.tokenize import NLTKWordTokenizer  # takes seconds to import: only who needs it waits

    for word in NLTKWordTokenizer().tokenize(text):
        at = text.find(word, position)
        if word in _QUOTES:
            plain = text.find('"', position)
            if plain >= 0 and (at < 0 or plain < at):
                units.append((plain, plain + 1, word))
                position = plain + 1
                continue
        at = at if at >= 0 else position
        units.append((at, min(at + len(word), len(text)), word))
        position = units[-1][1]
    return units
