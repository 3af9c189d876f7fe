"""Vocabularies of words or characters; unknown tokens keep their surface form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from translator.config import TextConfig
from translator.errors import CheckpointError, InputError
from translator.text import tokenizer as common
from translator.text.normalise import normalise, normalise_text
from translator.text.segment import whole_words, words
from translator.text.tokenizer import EOS, PAD, SPECIALS, START, UNK, Encoding
from translator.trace import Token

_NO_SPACE_BEFORE = frozenset(".,;:!?)]}%…")
_NO_SPACE_AFTER = frozenset("([{¿¡")


class VocabularyTokenizer(common.ManyTexts):
    """Words (`config.level` "word") or characters ("char") as tokens; ids 0-3 are special.

    An unknown word has the id of <unk>: a typed one keeps its surface, a produced one reads "<unk>"
    (a produced unknown character U+FFFD).
    """

    pad_id, start_id, eos_id = PAD, START, EOS
    unk_id: int | None = UNK

    def __init__(self, config: TextConfig, pieces: Sequence[str]) -> None:
        if config.level == "subword":
            raise InputError("level is 'subword'; a vocabulary of words or characters has 'word' or 'char'")
        self.config = config
        self._pieces = tuple(pieces)
        # The special tokens are left out: somebody may type them.
        self._ids = {piece: id for id, piece in enumerate(self._pieces) if id >= len(SPECIALS)}

    @classmethod
    def train(
        cls, texts: Iterable[str], config: TextConfig, size: int, *, min_frequency: int = 2
    ) -> VocabularyTokenizer:
        """Take the words (or characters) that come at least `min_frequency` times, the most frequent `size` - 4."""
        counts = Counter(unit for text in texts for unit in _units(normalise_text(text, config), config))
        return cls.train_pretokens(counts, config, size, min_frequency=min_frequency)

    @classmethod
    def train_pretokens(
        cls, counts: Counter[str], config: TextConfig, size: int, *, min_frequency: int = 2
    ) -> VocabularyTokenizer:
        """Like `train`, from counted `pretokens`.

        Raises:
            InputError: `size` leaves no room beside the special tokens.
        """
        room = size - len(SPECIALS)
        if room < 1:
            raise InputError(f"vocabulary size is {size}; it must be more than {len(SPECIALS)}")
        ranked = sorted(counts, key=lambda unit: (-counts[unit], unit))
        kept = [unit for unit in ranked if counts[unit] >= min_frequency and unit not in SPECIALS]
        return cls(config, [*SPECIALS, *kept[:room]])

    def with_config(self, config: TextConfig) -> VocabularyTokenizer:
        """The same vocabulary for text of another language."""
        return VocabularyTokenizer(config, self._pieces)

    def __len__(self) -> int:
        return len(self._pieces)

    def encode(self, text: str) -> Encoding:
        """`text` as tokens; their spans point into `text` as it was given."""
        normalised = normalise(text, self.config)
        spans = _unit_spans(normalised.text, self.config)
        ids = [self._ids.get(normalised.text[start:end], UNK) for start, end in spans]
        typed = [common.typed_span(normalised, start, end) for start, end in spans]
        return Encoding(normalised.text, self._located(ids, normalised.text, spans, typed))

    def pretokens(self, text: str) -> list[str]:
        """The words or characters of `text`, normalised."""
        return _units(normalise_text(text, self.config), self.config)

    def ids(self, text: str) -> list[int]:
        """The ids of `text`, without EOS."""
        return self.ids_of_pretokens([self.pretokens(text)])[0]

    def ids_of_pretokens(
        self, texts: Sequence[Sequence[str]], *, dropout: float = 0.0, seed: int = 0
    ) -> list[list[int]]:
        """The ids of texts that are already split into words or characters.

        Raises:
            InputError: `dropout` is not 0; only subwords have merges to pass over.
        """
        if dropout:
            raise InputError(f"dropout is {dropout}; a vocabulary of level {self.config.level!r} has none, use 0")
        return [[self._ids.get(unit, UNK) for unit in text] for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, special tokens skipped: characters joined, words with spaces where they are usual."""
        return self._joined(ids)[0]

    def tokens(self, ids: Sequence[int]) -> tuple[Token, ...]:
        """Produced `ids` as tokens; their spans point into `decode(ids)`."""
        text, spans = self._joined(ids)
        return self._located(ids, text, spans, spans)

    def token(self, id: int) -> Token:
        """One id on its own: what it looks like, without a place in a text."""
        common.check_ids([id], len(self))
        return Token(id, self._surface(id), special=_skipped(id), unknown=id == UNK)

    def save(self, folder: str | Path, name: str) -> Path:
        """Write `folder`/`name`.json, the whole tokenizer, and return its path."""
        return common.write(Path(folder) / f"{name}.json", self.config, pieces=self._pieces)

    @classmethod
    def load(cls, path: str | Path) -> VocabularyTokenizer:
        """Read what `save` wrote.

        Raises:
            CheckpointError: the file is missing or damaged; the message names the first mismatch.
        """
        return cls.restore(Path(path), *common.read(Path(path)))

    @classmethod
    def restore(cls, path: Path, config: TextConfig, data: dict[str, Any]) -> VocabularyTokenizer:
        """The tokenizer that `data`, read from `path`, describes.

        Raises:
            CheckpointError: it is one of subwords, or holds a character that is none.
        """
        if config.level == "subword":
            raise CheckpointError(f"{path}: level is 'subword', want 'word' or 'char'")
        for id, piece in enumerate(data["pieces"][len(SPECIALS) :], start=len(SPECIALS)):
            if config.level == "char" and len(piece) != 1:
                raise CheckpointError(f"{path}: piece {id} is {piece!r}, want one character")
        return cls(config, data["pieces"])

    def _surface(self, id: int) -> str:
        return "▁" if self._pieces[id] == " " else self._pieces[id]

    def _joined(self, ids: Sequence[int]) -> tuple[str, list[tuple[int, int]]]:
        """The text of `ids` and the span of each id in it (empty for special tokens)."""
        common.check_ids(ids, len(self))
        characters = self.config.level == "char"
        text, spans, quoted = "", [], False
        for id in ids:
            if _skipped(id):
                spans.append((len(text), len(text)))
                continue
            part = "\ufffd" if characters and id == UNK else self._pieces[id]
            if not characters and _spaced(text, part, self.config.language, quoted):
                text += " "
            if part == '"':
                quoted = not quoted
            spans.append((len(text), len(text) + len(part)))
            text += part
        return text, spans

    def _located(
        self, ids: Sequence[int], text: str, spans: Sequence[tuple[int, int]], places: Sequence[tuple[int, int]]
    ) -> tuple[Token, ...]:
        """`ids` as tokens: `spans` into `text` tell surfaces and words, `places` is what the tokens carry."""
        characters = self.config.level == "char"
        word_of = common.word_of_characters(text, whole_words(text, self.config.language))
        tokens = []
        for id, (start, end), place in zip(ids, spans, places, strict=True):
            if _skipped(id):
                tokens.append(Token(id, self._pieces[id], special=True))
                continue
            surface = "▁" if text[start:end] == " " else text[start:end]
            space = surface == "▁" if characters else text[start - 1 : start] == " "
            tokens.append(Token(id, surface, place, word_of[start], space, unknown=id == UNK))
        return tuple(tokens)


def _skipped(id: int) -> bool:
    return id < len(SPECIALS) and id != UNK


def _unit_spans(text: str, config: TextConfig) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(len(text))] if config.level == "char" else words(text, config.language)


def _units(text: str, config: TextConfig) -> list[str]:
    return list(text) if config.level == "char" else [text[a:b] for a, b in words(text, config.language)]


def _spaced(text: str, part: str, language: str, quoted: bool) -> bool:
    """Whether a space goes between `text` and the word `part`; `quoted`: a straight quotation mark is open."""
    if not text:
        return False
    if language == "zh":
        return text[-1].isascii() and text[-1].isalnum() and part[0].isascii() and part[0].isalnum()
    if part in _NO_SPACE_BEFORE or text[-1] in _NO_SPACE_AFTER:
        return False
    return not (quoted and (part == '"' or text[-1] == '"'))
