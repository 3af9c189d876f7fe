"""Tokenizers with language tokens: M2M100, NLLB-200, mBART and mBART-50.

Sources: Fan et al. 2021 (M2M100), NLLB Team 2022, Liu et al. 2020 (mBART), Tang et al. 2020 (mBART-50).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import tokenizers

from translator.config import TextConfig
from translator.errors import CheckpointError, InputError
from translator.text import tokenizer as common
from translator.text.segment import whole_words
from translator.text.sentencepiece import EOS, MARK, PAD, UNK, SentencePieceTokenizer, normalised_by, processor
from translator.text.tokenizer import Encoding
from translator.trace import Token

Place = Literal["before", "after"]
START = "<s>"


class Piece(NamedTuple):
    """A piece of a text and the characters [start, end) that it stands for."""

    text: str
    start: int
    end: int


class MultilingualTokenizer(SentencePieceTokenizer):
    """One side of a multilingual checkpoint, set to one of its languages; see `in_language`.

    `languages` maps a code, such as "deu_Latn", to the id of its token. On the source side that token stands
    "before" the text or "after" its end token (`place`). Decoding starts from `start_id`.
    """

    def __init__(
        self,
        config: TextConfig,
        pieces: Sequence[str],
        model: bytes,
        *,
        languages: Mapping[str, int],
        place: Place = "before",
        start_id: int | None = None,
        source: bool = True,
    ) -> None:
        """`pieces` in the order of their ids; `model` is a sentencepiece model or the content of a `tokenizer.json`.

        Raises:
            CheckpointError: `model` is neither, or sentencepiece is missing.
            InputError: `pieces` lack a special token, or `config.language` is none of `languages`.
        """
        for special in (EOS, UNK, PAD):
            if special not in pieces:
                raise InputError(f"the vocabulary lacks {special}")
        if place not in get_args(Place):
            raise InputError(f"place is {place!r}; it must be one of {', '.join(get_args(Place))}")
        self.config = config
        self.languages = {str(code): common.check_id(id, len(pieces)) for code, id in languages.items()}
        self.place, self.source = place, source
        self._pieces = tuple(pieces)
        self._ids = {piece: id for id, piece in enumerate(self._pieces)}
        self.pad_id, self.eos_id = self._ids[PAD], self._ids[EOS]
        self.unk_id = self._ids[UNK]
        self.start_id = self.eos_id if start_id is None else common.check_id(start_id, len(pieces))
        self._specials = {self.pad_id, self.eos_id, self.unk_id, self.start_id, *self.languages.values()}
        self._specials |= {self._ids[piece] for piece in (START, "<mask>") if piece in self._ids}
        self._proto = model
        self._cut = _JsonCut(model) if model.lstrip()[:1] == b"{" else _SpmCut(model)
        self._check_language(config.language)

    @property
    def language_id(self) -> int:
        """The id of the token that names the language."""
        return self.languages[self.config.language]

    @property
    def closing_ids(self) -> tuple[int, ...]:
        """What follows the text: the end token, and the language where it stands after it."""
        return (self.eos_id, self.language_id) if self.source and self.place == "after" else (self.eos_id,)

    def in_language(self, code: str) -> MultilingualTokenizer:
        """The same tokenizer set to another language; nothing is loaded again.

        Raises:
            InputError: there is no such language here.
        """
        self._check_language(code)
        other = object.__new__(MultilingualTokenizer)
        other.__dict__.update(self.__dict__, config=TextConfig(code, level="multilingual", normalise="none"))
        return other

    def encode(self, text: str) -> Encoding:
        """`text` as tokens; their spans point into `text` as it was given."""
        word_of = common.word_of_characters(text, whole_words(text, spoken(self.config.language)))
        tokens = [self.token(id) for id in self._opening_ids]
        for piece in self._cut(text):
            id = self._id(piece.text)
            unknown = id == self.unk_id
            start, end = _trimmed(text, piece.start, piece.end)
            surface = text[start:end] if unknown else _surface(piece.text)
            word = word_of[min(start, len(word_of) - 1)] if word_of else 0
            space = text[max(start - 1, 0) : start].isspace()
            tokens.append(Token(id, surface or MARK, (start, end), word, space, unknown=unknown))
        return Encoding(text.strip(), tuple(tokens))

    def ids(self, text: str) -> list[int]:
        """The ids of `text`, with its language's where that stands before it, without what closes it."""
        return [*self._opening_ids, *(self._id(piece.text) for piece in self._cut(text))]

    def pretokens(self, text: str) -> list[str]:
        """The whole text: it is split in one go."""
        return [text]

    def tokens(self, ids: Sequence[int]) -> tuple[Token, ...]:
        """Produced `ids` as tokens; their spans point into `decode(ids)`."""
        return self._produced(ids, spoken(self.config.language))

    def save(self, folder: str | Path, name: str) -> Path:
        """Write `folder`/`name`.json, the whole tokenizer, and return its path."""
        return common.write(
            Path(folder) / f"{name}.json",
            self.config,
            pieces=self._pieces,
            model=base64.b64encode(self._proto).decode("ascii"),
            languages=self.languages,
            place=self.place,
            start_id=self.start_id,
            source=self.source,
        )

    @classmethod
    def restore(cls, path: Path, config: TextConfig, data: dict[str, Any]) -> MultilingualTokenizer:
        """The tokenizer that `data`, read from `path`, describes.

        Raises:
            CheckpointError: as for making one, and the message names `path`.
        """
        try:
            more = {key: data[key] for key in ("languages", "place", "start_id", "source")}
            return cls(config, data["pieces"], base64.b64decode(data["model"], validate=True), **more)
        except (InputError, CheckpointError, TypeError, AttributeError, binascii.Error) as error:
            raise CheckpointError(f"{path}: {error}") from error

    @property
    def _opening_ids(self) -> tuple[int, ...]:
        return (self.language_id,) if self.source and self.place == "before" else ()

    def _id(self, piece: str) -> int:
        """The id of a piece of a text; a special token that was typed is no special token."""
        id = self._ids.get(piece, self._ids[UNK])
        return self._ids[UNK] if id in self._specials else id

    def _check_language(self, code: object) -> None:
        if code not in self.languages:
            known = ", ".join(sorted(self.languages))
            said = known if len(self.languages) <= 12 else f"{known[:160]} ... ({len(self.languages)} in all)"
            raise InputError(f"the language is {code!r:.40}; this checkpoint knows {said}")


def spoken(code: str) -> str:
    """The language that words are found for, by a checkpoint's own code: "zh" for "zho_Hans", "zh_CN" or "yue_Hant"."""
    stem = code.replace("-", "_").split("_")[0].lower()
    return "zh" if stem in ("zh", "zho", "cmn", "yue") else stem


def _surface(piece: str) -> str:
    return piece.removeprefix(MARK) or MARK


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the blanks at its ends; of blanks alone, the empty one at their end."""
    part = text[start:end]
    first = start + len(part) - len(part.lstrip())
    return first, max(first, start + len(part.rstrip()))


class _SpmCut:
    def __init__(self, model: bytes) -> None:
        self._model = processor(model)

    def __call__(self, text: str) -> Iterator[Piece]:
        normalised, start = normalised_by(self._model, text), 0
        for piece in self._model.encode(text, out_type=str):
            yield Piece(piece, *common.typed_span(normalised, start, start + len(piece)))
            start += len(piece)


class _JsonCut:
    def __init__(self, model: bytes) -> None:
        try:
            self._model = tokenizers.Tokenizer.from_str(model.decode("utf-8"))
        except Exception as error:  # the library raises bare Exceptions
            raise CheckpointError(
                f"it is not a tokenizer.json ({str(error)[:120]}); fetch the checkpoint again"
            ) from error
        self._model.no_truncation()
        self._model.no_padding()
        self._model.encode_special_tokens = True  # what was typed is never a special token

    def __call__(self, text: str) -> Iterator[Piece]:
        found = self._model.encode(text, add_special_tokens=False)
        for piece, (start, end) in zip(found.tokens, found.offsets, strict=True):
            yield Piece(piece, start, end)


def json_pieces(model: bytes) -> list[str]:
    """The pieces of a `tokenizer.json` in the order of their ids, added tokens among them.

    Raises:
        CheckpointError: it is none, or its ids have gaps.
    """
    try:
        ids = tokenizers.Tokenizer.from_str(model.decode("utf-8")).get_vocab(with_added_tokens=True)
    except Exception as error:  # the library raises bare Exceptions
        raise CheckpointError(f"it is not a tokenizer.json ({str(error)[:120]}); fetch the checkpoint again") from error
    pieces = sorted(ids, key=lambda piece: ids[piece])
    if [ids[piece] for piece in pieces] != list(range(len(pieces))):
        raise CheckpointError(f"its {len(pieces)} ids are not 0 to {len(pieces) - 1}, each once")
    return pieces
