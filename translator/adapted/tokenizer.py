"""A tokenizer of `transformers` behind our own protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from translator.adapted.pretrained import PretrainedTokenizer
from translator.config import TextConfig
from translator.errors import InputError
from translator.text import tokenizer as common
from translator.text.multilingual import spoken
from translator.text.segment import whole_words
from translator.text.tokenizer import Encoding
from translator.trace import Token

PROBE = "a"


class AdaptedTokenizer(common.ManyTexts):
    """One side of an adapted model. What the tokenizer puts before a text counts among its tokens, what it puts
    behind it closes it; `source` False reads texts of the target side."""

    def __init__(
        self, tokenizer: PretrainedTokenizer, language: str, *, source: bool, size: int, start_id: int, eos_id: int
    ) -> None:
        self.config = TextConfig(language, level="transformers", normalise="none")
        self._tokenizer, self._source, self._size = tokenizer, source, size
        self.start_id, self.eos_id = start_id, eos_id
        self.pad_id = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else eos_id
        self.unk_id = tokenizer.unk_token_id
        self._specials = set(tokenizer.all_special_ids) | {start_id, eos_id, self.pad_id}
        ids = self._all_ids(PROBE)
        behind = next((n for n, id in enumerate(reversed(ids)) if id not in self._specials), len(ids))
        self._closing = tuple(ids[len(ids) - behind :])
        self._decoded = lru_cache(maxsize=4096)(self._decode)

    def __len__(self) -> int:
        return self._size

    @property
    def closing_ids(self) -> tuple[int, ...]:
        """What an encoder reads after the text."""
        return self._closing

    def encode(self, text: str) -> Encoding:
        """`text` as tokens; their spans point into `text`."""
        ids, spans = self._with_spans(text)
        word_of = common.word_of_characters(text, whole_words(text, spoken(self.config.language)))
        tokens = []
        for id, span in zip(ids, spans, strict=True):
            if id in self._specials and span is None:
                tokens.append(self.token(id))
                continue
            start, end = span or (0, 0)
            word = word_of[min(start, len(word_of) - 1)] if word_of else 0
            space = text[max(start - 1, 0) : start].isspace()
            unknown = id == self.unk_id
            surface = text[start:end] if unknown and start < end else self._surface(id)
            tokens.append(Token(id, surface, (start, end), word, space, unknown=unknown))
        return Encoding(text.strip(), tuple(tokens))

    def ids(self, text: str) -> list[int]:
        """The ids of `text`, without what closes it."""
        ids = self._all_ids(text)
        return ids[: len(ids) - len(self._closing)]

    def pretokens(self, text: str) -> list[str]:
        """The whole text: it is split in one go."""
        return [text]

    def ids_of_pretokens(
        self, texts: Sequence[Sequence[str]], *, dropout: float = 0.0, seed: int = 0
    ) -> list[list[int]]:
        """The ids of what `pretokens` gave.

        Raises:
            InputError: `dropout` is not 0; an adapted tokenizer has none.
        """
        if dropout:
            raise InputError(f"dropout is {dropout}; an adapted tokenizer has none, use 0")
        return [self.ids("".join(text)) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, special tokens skipped."""
        common.check_ids(ids, self._size)
        return self._decoded(tuple(ids))

    def tokens(self, ids: Sequence[int]) -> tuple[Token, ...]:
        """Produced `ids` as tokens; their spans point into `decode(ids)`."""
        text = self.decode(ids)
        word_of = common.word_of_characters(text, whole_words(text, spoken(self.config.language)))
        out, position = [], 0
        for count, id in enumerate(ids, start=1):
            if id in self._specials:
                out.append(self.token(id))
                continue
            so_far = self._decoded(tuple(ids[:count])).rstrip("\ufffd")  # a character whose bytes are not all there
            end = max(position, min(len(so_far), len(text)))
            start = min(position + len(text[position:end]) - len(text[position:end].lstrip()), end)
            word = word_of[min(start, len(word_of) - 1)] if word_of else 0
            out.append(Token(id, self._surface(id), (start, end), word, text[position : position + 1].isspace()))
            position = end
        return tuple(out)

    def token(self, id: int) -> Token:
        """One id on its own."""
        common.check_ids([id], self._size)
        special = id in self._specials and id != self.unk_id
        surface = self._piece(id) if special or id == self.unk_id else self._surface(id)
        return Token(id, surface, special=special, unknown=id == self.unk_id)

    def save(self, folder: str | Path, name: str) -> NoReturn:
        """Refused: an adapted tokenizer stays with `transformers`.

        Raises:
            InputError: always.
        """
        raise InputError("an adapted model cannot be saved in our format; save it by its own save_pretrained")

    def _all_ids(self, text: str) -> list[int]:
        return list(self._read(text, offsets=False)["input_ids"])

    def _read(self, text: str, *, offsets: bool) -> Mapping[str, Any]:
        if self._source:
            return self._tokenizer(text=text, truncation=False, return_offsets_mapping=offsets)
        return self._tokenizer(text_target=text, truncation=False, return_offsets_mapping=offsets)

    def _with_spans(self, text: str) -> tuple[list[int], list[tuple[int, int] | None]]:
        """The ids of `text` without what closes it, and where each stands; None for what was put before it."""
        ids = self.ids(text)
        if getattr(self._tokenizer, "is_fast", False):
            pairs = self._read(text, offsets=True)["offset_mapping"][: len(ids)]
            return ids, [
                _placed(text, start, end, id in self._specials) for id, (start, end) in zip(ids, pairs, strict=True)
            ]
        spans: list[tuple[int, int] | None] = []
        position = 0
        for id in ids:
            if id in self._specials and id != self.unk_id:
                spans.append(None)
                continue
            surface = self._surface(id)
            found = text.find(surface, position) if surface else -1
            start = found if 0 <= found <= position + 8 else position
            end = start + len(surface) if found == start and found >= 0 else start
            spans.append((start, end))
            position = max(position, end)
        return ids, spans

    def _decode(self, ids: tuple[int, ...]) -> str:
        kept = [id for id in ids if id not in self._specials]
        return str(self._tokenizer.decode(kept, clean_up_tokenization_spaces=False)).strip()

    def _piece(self, id: int) -> str:
        piece = self._tokenizer.convert_ids_to_tokens(id)
        return str(piece) if piece is not None else f"<{id}>"

    def _surface(self, id: int) -> str:
        """What a person reads: the text that the piece stands for, or the piece itself where that is nothing."""
        piece = self._piece(id)
        text = str(self._tokenizer.convert_tokens_to_string([piece])).strip() if piece != f"<{id}>" else ""
        return piece if not text or "\ufffd" in text else text


def _placed(text: str, start: int, end: int, special: bool) -> tuple[int, int] | None:
    """A span without the blanks at its ends; None for a special token that stands for nothing typed."""
    if special and start == end:
        return None
    part = text[start:end]
    first = start + len(part) - len(part.lstrip())
    return first, max(first, start + len(part.rstrip()))
