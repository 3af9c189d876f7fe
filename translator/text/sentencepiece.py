"""Sentencepiece models with a separate vocabulary, as in OPUS-MT checkpoints.

Source: Kudo and Richardson 2018. Ids are those of the vocabulary; the sentencepiece model only splits the text.
The text is left as it was typed: what the sentencepiece model itself normalises is all.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from translator.config import TextConfig
from translator.errors import CheckpointError, InputError
from translator.text import tokenizer as common
from translator.text.normalise import Normalised, normalise_text
from translator.text.segment import whole_words
from translator.text.tokenizer import Encoding
from translator.trace import Token

EOS, UNK, PAD = "</s>", "<unk>", "<pad>"
MARK = "▁"
_LANGUAGE = re.compile(r">>.*?<<", re.DOTALL)


class SentencePieceTokenizer(common.ManyTexts):
    """One side of an OPUS-MT checkpoint; `</s>`, `<unk>` and `<pad>` lie where its vocabulary has them.

    Decoding starts from padding. A language token such as `>>cmn_Hans<<` at the head of a text is one token.
    """

    def __init__(self, config: TextConfig, pieces: Sequence[str], model: bytes) -> None:
        """`pieces` in the order of their ids; `model` is the content of a `.spm` file.

        Raises:
            CheckpointError: the sentencepiece package is missing, or `model` is not one of its models.
            InputError: `pieces` lack a special token.
        """
        for special in (EOS, UNK, PAD):
            if special not in pieces:
                raise InputError(f"the vocabulary lacks {special}")
        self.config = config
        self._pieces = tuple(pieces)
        self._ids = {piece: id for id, piece in enumerate(self._pieces)}
        self.pad_id, self.eos_id = self._ids[PAD], self._ids[EOS]
        self.start_id = self.pad_id
        self.unk_id: int | None = self._ids[UNK]
        self._specials = {self.pad_id, self.eos_id, self.unk_id}
        self._proto = model
        self._model = processor(model)

    def __len__(self) -> int:
        return len(self._pieces)

    def encode(self, text: str) -> Encoding:
        """`text` as tokens; their spans point into `text` as it was given."""
        text = normalise_text(text, self.config)
        code, rest = _language_code(text)
        normalised = normalised_by(self._model, rest, len(code))
        shown = code + normalised.text
        word_of = common.word_of_characters(shown, whole_words(shown, self.config.language))
        tokens = [Token(self._id(code), code, (0, len(code)), 0, unknown=code not in self._ids)] if code else []
        start = 0
        for piece in self._split(rest):
            end = start + len(piece)
            first = start + 1 if piece.startswith(MARK) and len(piece) > 1 else start
            span = common.typed_span(normalised, first, end)
            word = word_of[len(code) + first] if word_of else 0
            space = piece.startswith(MARK) and (start > 0 or rest[:1].isspace())
            tokens.append(Token(self._id(piece), _surface(piece), span, word, space, unknown=piece not in self._ids))
            start = end
        return Encoding(shown.strip(), tuple(tokens))

    def ids(self, text: str) -> list[int]:
        """The ids of `text`, without EOS."""
        code, rest = _language_code(normalise_text(text, self.config))
        return [self._id(piece) for piece in ([code] if code else []) + self._split(rest)]

    def pretokens(self, text: str) -> list[str]:
        """The whole text: sentencepiece splits it in one go."""
        return [normalise_text(text, self.config)]

    def ids_of_pretokens(
        self, texts: Sequence[Sequence[str]], *, dropout: float = 0.0, seed: int = 0
    ) -> list[list[int]]:
        """The ids of what `pretokens` gave.

        Raises:
            InputError: `dropout` is not 0: the pieces are of a unigram model, which has no merges to drop.
        """
        if dropout:
            raise InputError(f"dropout is {dropout}; a sentencepiece vocabulary has none, use 0")
        return [self.ids("".join(text)) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, special tokens (the unknown one too) skipped."""
        return self._joined(ids)[0]

    def tokens(self, ids: Sequence[int]) -> tuple[Token, ...]:
        """Produced `ids` as tokens; their spans point into `decode(ids)`."""
        return self._produced(ids, self.config.language)

    def _produced(self, ids: Sequence[int], language: str) -> tuple[Token, ...]:
        """Produced `ids` as tokens, with the words that `language` has."""
        text, spans = self._joined(ids)
        word_of = common.word_of_characters(text, whole_words(text, language))
        out = []
        for id, (start, end) in zip(ids, spans, strict=True):
            piece = self._pieces[id]
            if id in self._specials:
                out.append(Token(id, piece, special=id != self.unk_id, unknown=id == self.unk_id))
                continue
            space = start < end and text[start] == " "
            first = start + 1 if space and end - start > 1 else start
            word = word_of[first] if first < len(word_of) else max(word_of, default=0)
            out.append(Token(id, _surface(piece), (first, end), word, space))
        return tuple(out)

    def token(self, id: int) -> Token:
        """One id on its own: what it looks like, without a place in a text."""
        common.check_ids([id], len(self))
        special, unknown = id in self._specials - {self.unk_id}, id == self.unk_id
        piece = self._pieces[id]
        return Token(id, piece if special or unknown else _surface(piece), special=special, unknown=unknown)

    def save(self, folder: str | Path, name: str) -> Path:
        """Write `folder`/`name`.json, the whole tokenizer with its sentencepiece model, and return its path."""
        model = base64.b64encode(self._proto).decode("ascii")
        return common.write(Path(folder) / f"{name}.json", self.config, pieces=self._pieces, model=model)

    @classmethod
    def restore(cls, path: Path, config: TextConfig, data: dict[str, Any]) -> SentencePieceTokenizer:
        """The tokenizer that `data`, read from `path`, describes.

        Raises:
            CheckpointError: as for making one, and the message names `path`.
        """
        try:
            return cls(config, data["pieces"], base64.b64decode(data["model"], validate=True))
        except (InputError, CheckpointError, TypeError, binascii.Error) as error:
            raise CheckpointError(f"{path}: {error}") from error

    def _id(self, piece: str) -> int:
        return self._ids.get(piece, self._ids[UNK])

    def _split(self, text: str) -> list[str]:
        return list(self._model.encode(text, out_type=str))

    def _joined(self, ids: Sequence[int]) -> tuple[str, list[tuple[int, int]]]:
        """The text of `ids`, outer spaces off, and the span of each id in it (empty for special tokens)."""
        common.check_ids(ids, len(self))
        parts = ["" if id in self._specials else self._pieces[id].replace(MARK, " ") for id in ids]
        whole = "".join(parts)
        text = whole.strip()
        offset = len(whole) - len(whole.lstrip())
        spans, position = [], 0
        for part in parts:
            start, end = (min(max(place - offset, 0), len(text)) for place in (position, position + len(part)))
            spans.append((start, end))
            position += len(part)
        return text, spans


def processor(model: bytes) -> Any:
    """The sentencepiece model whose file has the content `model`.

    Raises:
        CheckpointError: the package is missing, or it is no such model.
    """
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise CheckpointError(
            "this checkpoint needs the sentencepiece package, which is not installed: pip install sentencepiece"
        ) from error
    if not model:  # which would give a processor without a model
        raise CheckpointError("it is empty; fetch the checkpoint again")
    try:
        return SentencePieceProcessor(model_proto=model)
    except (RuntimeError, ValueError, TypeError) as error:
        raise CheckpointError("it is not a sentencepiece model; fetch the checkpoint again") from error


def normalised_by(model: Any, text: str, shift: int = 0) -> Normalised:
    """What the sentencepiece `model` makes of `text`, spaces as spaces; spans are moved by `shift` characters."""
    shown, starts = model.normalize(text, with_offsets=True)
    ends = [len(text)] * len(shown)
    for index in reversed(range(len(shown) - 1)):  # characters that came of one end together
        ends[index] = starts[index + 1] if starts[index + 1] > starts[index] else ends[index + 1]
    spans = [(shift + start, shift + end) for start, end in zip(starts, ends, strict=False)]
    return Normalised(shown.replace(MARK, " "), spans)


def _language_code(text: str) -> tuple[str, str]:
    """A language token at the head of a text, and the rest; the token is empty where there is none."""
    match = _LANGUAGE.match(text)
    return (match.group(), text[match.end() :]) if match else ("", text)


def _surface(piece: str) -> str:
    return piece.removeprefix(MARK) or MARK
