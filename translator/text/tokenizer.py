"""The protocol of every tokenizer, and the file each is stored in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from translator.config import TextConfig, from_dict
from translator.errors import CheckpointError, InputError
from translator.rules import whole
from translator.text.normalise import Normalised
from translator.trace import Token

SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")
PAD, START, EOS, UNK = range(4)
FORMAT_VERSION = 1
MAX_BYTES = 64 * 2**20
# What the file of a level has beside its pieces.
_MORE = {
    "subword": ("merges",),
    "sentencepiece": ("model",),
    "multilingual": ("model", "languages", "place", "start_id", "source"),
    "moses": ("merges", "start_id"),
    "treebank": ("source",),
    "bare": ("source",),
}
# Whose special tokens lie where their makers put them.
_FOREIGN = ("sentencepiece", "multilingual", "moses")


@dataclass(frozen=True)
class Encoding:
    """A typed text as tokens, EOS not among them; their spans point into the text as typed."""

    normalised: str
    tokens: tuple[Token, ...]

    @property
    def ids(self) -> list[int]:
        """The id of every token."""
        return [token.id for token in self.tokens]


class Tokenizer(Protocol):
    """One side of a language pair: text to ids and back; EOS is never among the ids."""

    @property
    def config(self) -> TextConfig:
        """How it was made."""
        ...

    @property
    def pad_id(self) -> int:
        """What fills up a batch."""
        ...

    @property
    def start_id(self) -> int:
        """What a decoder reads first."""
        ...

    @property
    def eos_id(self) -> int:
        """What ends a sentence."""
        ...

    @property
    def unk_id(self) -> int | None:
        """What stands for an unknown piece; None where nothing is unknown."""
        ...

    @property
    def closing_ids(self) -> tuple[int, ...]:
        """What an encoder reads after the text: EOS, and with some checkpoints the language."""
        ...

    def __len__(self) -> int:
        """How many ids there are, special ones too."""
        ...

    def encode(self, text: str) -> Encoding:
        """A typed text as tokens whose spans point into it."""
        ...

    def ids(self, text: str) -> list[int]:
        """The ids of `encode` alone, faster."""
        ...

    def pretokens(self, text: str) -> list[str]:
        """The normalised text cut where no piece may cross; joined again by `ids_of_pretokens`."""
        ...

    def ids_of_pretokens(
        self, texts: Sequence[Sequence[str]], *, dropout: float = 0.0, seed: int = 0
    ) -> list[list[int]]:
        """The ids of texts cut by `pretokens`, with subword dropout (0 to 1) drawn from `seed`."""
        ...

    def ids_batch(self, texts: Sequence[str], *, dropout: float = 0.0, seed: int = 0) -> list[list[int]]:
        """`ids_of_pretokens` of typed texts."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, special tokens skipped.

        Raises:
            InputError: an id is outside the vocabulary.
        """
        ...

    def tokens(self, ids: Sequence[int]) -> tuple[Token, ...]:
        """One token for each id; spans point into `decode(ids)`.

        Raises:
            InputError: an id is outside the vocabulary.
        """
        ...

    def token(self, id: int) -> Token:
        """One piece by itself, without a place in a text.

        Raises:
            InputError: the id is outside the vocabulary.
        """
        ...

    def save(self, folder: str | Path, name: str) -> Path:
        """Write it into `folder` as `name`.json; the file's path."""
        ...


class ManyTexts:
    """What every tokenizer does alike once it cuts a text into pre-tokens."""

    @property
    def closing_ids(self: Tokenizer) -> tuple[int, ...]:
        """What an encoder reads after the text: EOS."""
        return (self.eos_id,)

    def ids_batch(self: Tokenizer, texts: Sequence[str], *, dropout: float = 0.0, seed: int = 0) -> list[list[int]]:
        """The ids of every text, without EOS; see `ids_of_pretokens`."""
        return self.ids_of_pretokens([self.pretokens(text) for text in texts], dropout=dropout, seed=seed)


def check_id(id: object, size: int) -> int:
    """`id` if a vocabulary of `size` pieces has it.

    Raises:
        InputError: it has not.
    """
    return whole("a token id", id, 0, size - 1)


def check_ids(ids: Sequence[int], size: int) -> None:
    """Refuse ids outside a vocabulary of `size` pieces.

    Raises:
        InputError: it names the first of them.
    """
    if ids and (min(ids) < 0 or max(ids) >= size):
        wrong = next(id for id in ids if not 0 <= id < size)
        raise InputError(f"token id {wrong} is outside the vocabulary of {size} pieces")


def typed_span(normalised: Normalised, start: int, end: int) -> tuple[int, int]:
    """Where the characters start … end - 1 of the normalised text stood in what was typed."""
    if start < end:
        return normalised.spans[start][0], normalised.spans[end - 1][1]
    here = normalised.spans[start][0] if start < len(normalised.spans) else 0
    return here, here


def word_of_characters(text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
    """The word that each character belongs to; whitespace counts to the word that follows, or to the last."""
    out = [max(len(spans) - 1, 0)] * len(text)
    position = 0
    for word, (_, end) in enumerate(spans):
        out[position:end] = [word] * (end - position)
        position = end
    return out


def write(path: Path, config: TextConfig, **content: Any) -> Path:
    """Write a tokenizer's one JSON file."""
    data = {"version": FORMAT_VERSION, "config": asdict(config), **content}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    return path


def read(path: Path) -> tuple[TextConfig, dict[str, Any]]:
    """Read what `write` wrote: the config, and the whole object with its "pieces" checked.

    Raises:
        CheckpointError: the file is missing, too large or no tokenizer of this format; the first mismatch is named.
    """
    data = _json_object(path)
    if data.get("version") != FORMAT_VERSION:
        raise CheckpointError(f"{path}: version is {data.get('version')!r}, this package reads {FORMAT_VERSION}")
    config = _config(path, data.get("config"))
    wanted: set[str] = {"version", "config", "pieces", *_MORE.get(config.level, ())}
    if set(data) != wanted:
        raise CheckpointError(f"{path}: it has {', '.join(sorted(data))}; want {', '.join(sorted(wanted))}")
    _check_pieces(path, data["pieces"])
    if config.level not in _FOREIGN:
        check_fixed(path, data["pieces"], SPECIALS)
    return config, data


def check_fixed(path: Path, pieces: Sequence[str], fixed: Sequence[str]) -> None:
    """Refuse `pieces` that do not begin with `fixed`.

    Raises:
        CheckpointError: it names the first that differs.
    """
    for id, want in enumerate(fixed):
        found = pieces[id] if id < len(pieces) else None
        if found != want:
            raise CheckpointError(f"{path}: piece {id} is {found!r}, want {want!r}")


def _json_object(path: Path) -> dict[str, Any]:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise CheckpointError(f"{path} has {size} bytes; a tokenizer has at most {MAX_BYTES}")
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(data, dict):
        raise CheckpointError(f"{path} is not a tokenizer: it holds a {type(data).__name__}, want an object")
    return data


def _config(path: Path, values: Any) -> TextConfig:
    if not isinstance(values, dict):
        raise CheckpointError(f"{path}: config is {values!r}, want an object")
    try:
        config = from_dict(TextConfig, values)
    except InputError as error:
        raise CheckpointError(f"{path}: {error}") from error
    for name in ("prefix_space", "lowercase"):
        if not isinstance(getattr(config, name), bool):
            raise CheckpointError(f"{path}: {name} is {getattr(config, name)!r}, want true or false")
    return config


def _check_pieces(path: Path, pieces: Any) -> None:
    if not isinstance(pieces, list):
        raise CheckpointError(f"{path}: pieces is a {type(pieces).__name__}, want a list")
    seen: set[str] = set()
    for id, piece in enumerate(pieces):
        if not isinstance(piece, str) or not piece or any("\ud800" <= char <= "\udfff" for char in piece):
            raise CheckpointError(f"{path}: piece {id} is {piece!r}, want some text")
        if piece in seen:
            raise CheckpointError(f"{path}: piece {id}, {piece!r}, stands twice")
        seen.add(piece)
