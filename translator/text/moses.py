"""Moses words cut by byte-pair encoding, as in FSMT checkpoints (`facebook/wmt19-*`).

Sources: Koehn et al. 2007 (Moses), Sennrich et al. 2016 (BPE), Ng et al. 2019 (the checkpoints). Punctuation is
normalised, words are split and escaped, and a translation is put together again by sacremoses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import tokenizers

from translator.config import TextConfig
from translator.errors import CheckpointError, InputError
from translator.text import tokenizer as common
from translator.text.segment import whole_words
from translator.text.tokenizer import Encoding
from translator.trace import Token

START, PAD, EOS, UNK = "<s>", "<pad>", "</s>", "<unk>"
END = "</w>"
"""Ends the last piece of a word."""
_ESCAPED = {"&amp;": "&", "&#124;": "|", "&lt;": "<", "&gt;": ">", "&apos;": "'", "&quot;": '"'}
_ESCAPED |= {"&#91;": "[", "&#93;": "]"}
_ENTITY = re.compile("|".join(_ESCAPED))


class MosesTokenizer(common.ManyTexts):
    """One side of an FSMT checkpoint; special tokens lie where its vocabulary has them.

    Decoding starts from `start_id`.
    """

    def __init__(
        self, config: TextConfig, pieces: Sequence[str], merges: Sequence[str], *, start_id: int | None = None
    ) -> None:
        """`pieces` in the order of their ids; `merges` are pairs such as "t h", best first.

        Raises:
            CheckpointError: the sacremoses package is missing.
            InputError: `pieces` lack a special token, or a merge is no pair.
        """
        for special in (EOS, UNK, PAD):
            if special not in pieces:
                raise InputError(f"the vocabulary lacks {special}")
        self.config = config
        self._pieces = tuple(pieces)
        self._ids = {piece: id for id, piece in enumerate(self._pieces)}
        self.pad_id, self.eos_id = self._ids[PAD], self._ids[EOS]
        self.unk_id: int | None = self._ids[UNK]
        self.start_id = self.eos_id if start_id is None else common.check_id(start_id, len(pieces))
        self._specials = {self._ids[piece] for piece in (START, PAD, EOS, UNK) if piece in self._ids} | {self.start_id}
        self._merges = tuple(merges)
        self._cut = _bpe(self._pieces, self._merges)
        self._moses = _Moses(config.language)

    def __len__(self) -> int:
        return len(self._pieces)

    def encode(self, text: str) -> Encoding:
        """`text` as tokens; their spans point into `text` as it was given."""
        cut = self._split(text)
        word_of = common.word_of_characters(text, whole_words(text, self.config.language))
        tokens = []
        for (piece, part), (start, end) in zip(cut, _spans([part for _, part in cut], text), strict=True):
            id = self._id(piece)
            unknown = id == self.unk_id
            word = word_of[min(start, len(word_of) - 1)] if word_of else 0
            surface = (text[start:end] if unknown else "") or _surface(part)
            space = text[max(start - 1, 0) : start].isspace()
            tokens.append(Token(id, surface, (start, end), word, space, unknown=unknown))
        return Encoding(text.strip(), tuple(tokens))

    def ids(self, text: str) -> list[int]:
        """The ids of `text`, without EOS."""
        return [self._id(piece) for piece, _ in self._split(text)]

    def pretokens(self, text: str) -> list[str]:
        """The whole text: Moses' rules look across words."""
        return [text]

    def ids_of_pretokens(
        self, texts: Sequence[Sequence[str]], *, dropout: float = 0.0, seed: int = 0
    ) -> list[list[int]]:
        """The ids of what `pretokens` gave.

        Raises:
            InputError: `dropout` is not 0: this vocabulary is read and never trained with.
        """
        if dropout:
            raise InputError(f"dropout is {dropout}; a Moses vocabulary has none here, use 0")
        return [self.ids("".join(text)) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, special tokens (the unknown one too) skipped."""
        common.check_ids(ids, len(self))
        joined = "".join(self._pieces[id].replace(END, " ") for id in ids if id not in self._specials)
        return self._moses.join(joined.split())

    def tokens(self, ids: Sequence[int]) -> tuple[Token, ...]:
        """Produced `ids` as tokens; their spans point into `decode(ids)`."""
        text = self.decode(ids)
        word_of = common.word_of_characters(text, whole_words(text, self.config.language))
        spans = iter(_spans([self._pieces[id].removesuffix(END) for id in ids if id not in self._specials], text))
        out = []
        for id in ids:
            if id in self._specials:
                out.append(self.token(id))
                continue
            start, end = next(spans)
            word = word_of[min(start, len(word_of) - 1)] if word_of else 0
            out.append(
                Token(id, _surface(self._pieces[id]), (start, end), word, text[max(start - 1, 0) : start].isspace())
            )
        return tuple(out)

    def token(self, id: int) -> Token:
        """One id on its own: what it looks like, without a place in a text."""
        common.check_ids([id], len(self))
        piece, unknown = self._pieces[id], id == self.unk_id
        special = id in self._specials and not unknown
        return Token(id, piece if special or unknown else _surface(piece), special=special, unknown=unknown)

    def save(self, folder: str | Path, name: str) -> Path:
        """Write `folder`/`name`.json, the whole tokenizer, and return its path."""
        return common.write(
            Path(folder) / f"{name}.json",
            self.config,
            pieces=self._pieces,
            merges=self._merges,
            start_id=self.start_id,
        )

    @classmethod
    def restore(cls, path: Path, config: TextConfig, data: dict[str, Any]) -> MosesTokenizer:
        """The tokenizer that `data`, read from `path`, describes.

        Raises:
            CheckpointError: as for making one, and the message names `path`.
        """
        try:
            return cls(config, data["pieces"], data["merges"], start_id=data["start_id"])
        except (InputError, CheckpointError, TypeError, AttributeError) as error:
            raise CheckpointError(f"{path}: {error}") from error

    def _id(self, piece: str) -> int:
        return self._ids.get(piece, self._ids[UNK])

    def _split(self, text: str) -> list[tuple[str, str]]:
        """`text` as pieces, each with the part of an escaped word that it stands for."""
        found = []
        for word in self._moses.words(text.lower() if self.config.lowercase else text):
            position = 0
            for token in self._cut.tokenize(word):
                end = position + (1 if token.value == UNK else len(token.value.removesuffix(END)))
                found.append((token.value, word[position:end]))
                position = end
        return found


class _Moses:
    """The rules of one language."""

    def __init__(self, language: str) -> None:
        try:
            import sacremoses
        except ImportError as error:
            raise CheckpointError(
                "this checkpoint needs the sacremoses package, which is not installed: pip install sacremoses"
            ) from error
        self._punctuation = sacremoses.MosesPunctNormalizer(
            lang=language, pre_replace_unicode_punct=True, post_remove_control_chars=True
        )
        self._tokenizer = sacremoses.MosesTokenizer(lang=language)
        self._detokenizer = sacremoses.MosesDetokenizer(lang=language)

    def words(self, text: str) -> list[str]:
        """The words and marks of `text`, escaped: `&apos;` for an apostrophe, `@-@` for a hyphen within a word."""
        normalised = self._punctuation.normalize(text)
        return [word for word in self._tokenizer.tokenize(normalised, aggressive_dash_splits=True) if word]

    def join(self, words: Sequence[str]) -> str:
        return str(self._detokenizer.detokenize(list(words)))


def _bpe(pieces: Sequence[str], merges: Sequence[str]) -> tokenizers.models.BPE:
    """What cuts a word; a piece that merges make on the way need not be in the vocabulary."""
    pairs = []
    for merge in merges:
        pair = merge.split()[:2] if isinstance(merge, str) else []
        if len(pair) != 2:
            raise InputError(f"a merge is {merge!r:.40}; it must be two pieces, such as 't h'")
        pairs.append((pair[0], pair[1]))
    known = dict.fromkeys(pieces)
    for first, second in pairs:
        known |= dict.fromkeys((first, second, first + second))
    vocab = {piece: id for id, piece in enumerate(known)}
    return tokenizers.models.BPE(vocab, pairs, unk_token=UNK, end_of_word_suffix=END)


def _surface(piece: str) -> str:
    """A piece as a reader knows it."""
    return _unescaped(piece.removesuffix(END)) or piece


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda found: _ESCAPED[found.group()], text)


def _spans(parts: Sequence[str], text: str) -> list[tuple[int, int]]:
    """The characters [start, end) of `text` that each of consecutive `parts` of its words stands for.

    Moses' rules cannot be reversed, so both sides are aligned, blanks left out. What has no counterpart has an empty
    span where the one before it ended.
    """
    whole, owners = _characters(parts)
    places = [place for place, char in enumerate(text) if not char.isspace()]
    typed = "".join(text[place] for place in places)
    found: list[list[int]] = [[] for _ in parts]
    for tag, first, last, start, end in SequenceMatcher(None, whole, typed, autojunk=False).get_opcodes():
        for index in range(first, last):
            one_by_one = tag == "equal" or last - first == end - start
            stands_for = places[start + index - first :][:1] if one_by_one else places[start:end]
            for owner in owners[index]:
                found[owner] += stands_for
    spans, position = [], 0
    for here in found:
        spans.append((min(here), max(here) + 1) if here else (position, position))
        position = spans[-1][1]
    return spans


def _characters(parts: Sequence[str]) -> tuple[str, list[list[int]]]:
    """The characters of all `parts` without escapes, and for each the parts that hold it: an escape may be cut."""
    escaped, owner = "".join(parts), [index for index, part in enumerate(parts) for _ in part]
    chars, owners, position = [], [], 0
    while position < len(escaped):
        entity = _ENTITY.match(escaped, position)
        end = entity.end() if entity else position + 1
        chars.append(_unescaped(escaped[position:end]))
        owners.append(sorted(set(owner[position:end])))
        position = end
    return "".join(chars), owners
