"""Byte-pair encoding within words, with byte fallback.

Source: Sennrich et al. 2016 (BPE), Kudo and Richardson 2018 (byte fallback), Provilkov et al. 2020 (BPE-dropout).
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as RustTokenizer
from tokenizers import models, trainers

from translator.config import TextConfig
from translator.errors import CheckpointError, InputError
from translator.text import tokenizer as common
from translator.text.normalise import Normalised, normalise, normalise_text
from translator.text.segment import whole_words, words
from translator.text.tokenizer import EOS, PAD, SPECIALS, START, Encoding
from translator.trace import Token

BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
_FIXED = (*SPECIALS, *BYTES)
_BYTES = frozenset(range(len(SPECIALS), len(_FIXED)))
_FIRST_BYTE = len(SPECIALS)
_DIGITS = re.compile(r"\d|\D+")
_CACHED_PRETOKENS = 200_000
_LONG = 48  # a longer pre-token is neither cached nor given dropout: its time and space would be an attacker's choice


class SubwordTokenizer(common.ManyTexts):
    """BPE pieces of one side's text; ids 0-3 are special, 4-259 are the bytes, then come the pieces.

    A piece is plain text; a leading space in it is the space before the word. Special tokens and bytes
    are told by id alone: the typed text "<s>" is text. So decode(ids(x)) == normalise_text(x) for every x.
    """

    pad_id, start_id, eos_id = PAD, START, EOS
    unk_id: int | None = None

    def __init__(self, config: TextConfig, pieces: Sequence[str], merges: Sequence[tuple[int, int]]) -> None:
        """`pieces` in the order of their ids; `merges` as pairs of ids, first is best."""
        self.config = config
        self._pieces = tuple(pieces)
        self._merges = tuple(merges)
        self._ids = {piece: id for id, piece in enumerate(self._pieces)}
        self._ranks = {
            pair: (rank, self._ids[self._pieces[pair[0]] + self._pieces[pair[1]]])
            for rank, pair in enumerate(self._merges)
        }
        pairs = [(self._pieces[left], self._pieces[right]) for left, right in self._merges]
        self._bpe = RustTokenizer(models.BPE(dict(self._ids), pairs, byte_fallback=True))
        self._cache: dict[str, list[int]] = {}
        self._tokens: dict[int, Token] = {}

    @classmethod
    def train(
        cls, texts: Iterable[str], config: TextConfig, size: int, *, min_frequency: int = 2, min_character: int = 5
    ) -> SubwordTokenizer:
        """Learn a vocabulary of at most `size` pieces from `texts`.

        A pair is merged if it stands together `min_frequency` times, a character has a piece of its own if
        it comes `min_character` times; rarer ones are spelt in bytes. The same texts give the same pieces.
        """
        counts = Counter(pretoken for text in texts for pretoken in pretokens(text, config))
        return cls.train_pretokens(counts, config, size, min_frequency=min_frequency, min_character=min_character)

    @classmethod
    def train_pretokens(
        cls, counts: Counter[str], config: TextConfig, size: int, *, min_frequency: int = 2, min_character: int = 5
    ) -> SubwordTokenizer:
        """Like `train`, from counted `pretokens`: of two languages for a joint vocabulary.

        Raises:
            InputError: `size` leaves no room beside the special tokens and bytes.
        """
        room = size - len(_FIXED)
        if room < 1:
            raise InputError(f"vocabulary size is {size}; it must be more than {len(_FIXED)}")
        characters: Counter[str] = Counter()
        for pretoken, count in counts.items():
            for char in pretoken:
                characters[char] += count
        characters[" "] = max(characters.total(), min_character)  # a space has its own piece, however rare
        kept = [char for char, count in characters.most_common(room) if count >= min_character]
        trainer = trainers.BpeTrainer(
            vocab_size=room,
            min_frequency=min_frequency,
            limit_alphabet=len(kept),
            initial_alphabet=[" "],
            show_progress=False,
            special_tokens=[],
        )
        bpe = RustTokenizer(models.BPE())
        bpe.train_from_iterator(_repeated(counts), trainer=trainer)
        learnt = json.loads(bpe.to_str())["model"]
        return cls(config, *_rebuild(learnt["vocab"], [(left, right) for left, right in learnt["merges"]]))

    def with_config(self, config: TextConfig) -> SubwordTokenizer:
        """The same vocabulary for text of another language (the other side of a joint vocabulary)."""
        other = SubwordTokenizer.__new__(SubwordTokenizer)
        other.__dict__.update(self.__dict__, config=config)
        return other

    def __len__(self) -> int:
        return len(self._pieces)

    def encode(self, text: str) -> Encoding:
        """`text` as tokens; their spans point into `text` as it was given."""
        normalised = normalise(text, self.config)
        ids = self.ids_of_pretokens([_split(normalised.text, self.config)])[0]
        return Encoding(normalised.text, self._located(ids, normalised))

    def pretokens(self, text: str) -> list[str]:
        """The strings that merges never cross; see the function `pretokens`."""
        return pretokens(text, self.config)

    def ids(self, text: str) -> list[int]:
        """The ids of `text`, without EOS."""
        return self.ids_of_pretokens([self.pretokens(text)])[0]

    def ids_of_pretokens(
        self, texts: Sequence[Sequence[str]], *, dropout: float = 0.0, seed: int = 0
    ) -> list[list[int]]:
        """The ids of texts that are already split into pre-tokens.

        `dropout` is the probability that a merge is passed over, drawn from `seed`: the same words
        are then spelt in other pieces in every epoch.
        """
        if dropout > 0.0:
            draw = random.Random(seed).random
            return [[id for pretoken in text for id in self._dropped(pretoken, dropout, draw)] for text in texts]
        known = self._known({pretoken for text in texts for pretoken in text})
        return [[id for pretoken in text for id in known[pretoken]] for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; special tokens are skipped, bytes that are no UTF-8 become U+FFFD."""
        if not _BYTES.isdisjoint(ids):  # of which several may be a character
            text, _ = self._walk(ids)
        else:
            common.check_ids(ids, len(self))
            text = "".join([self._pieces[id] for id in ids if id >= len(SPECIALS)])
        return text[self._offset(text) :]

    def tokens(self, ids: Sequence[int]) -> tuple[Token, ...]:
        """Produced `ids` as tokens; their spans point into `decode(ids)`."""
        text = self.decode(ids)
        return self._located(ids, Normalised(text, [(i, i + 1) for i in range(len(text))]))

    def token(self, id: int) -> Token:
        """One id on its own: what it looks like, without a place in a text."""
        found = self._tokens.get(id)
        if found is None:
            common.check_ids([id], len(self))
            piece = self._pieces[id]
            if id < len(SPECIALS):
                found = Token(int(id), piece, special=True)
            else:
                found = Token(int(id), _surface(piece), space=piece.startswith(" "))
            self._tokens[id] = found
        return found

    def save(self, folder: str | Path, name: str) -> Path:
        """Write `folder`/`name`.json, the whole tokenizer, and return its path."""
        return common.write(Path(folder) / f"{name}.json", self.config, pieces=self._pieces, merges=self._merges)

    @classmethod
    def load(cls, path: str | Path) -> SubwordTokenizer:
        """Read what `save` wrote.

        Raises:
            CheckpointError: the file is missing or damaged; the message names the first mismatch.
        """
        return cls.restore(Path(path), *common.read(Path(path)))

    @classmethod
    def restore(cls, path: Path, config: TextConfig, data: dict[str, Any]) -> SubwordTokenizer:
        """The tokenizer that `data`, read from `path`, describes.

        Raises:
            CheckpointError: it is no subword vocabulary, or its pieces and merges do not fit.
        """
        if config.level != "subword":
            raise CheckpointError(f"{path}: level is {config.level!r}, want 'subword'")
        pieces, merges = data["pieces"], data["merges"]
        common.check_fixed(path, pieces, _FIXED)
        _check_merges(path, pieces, merges)
        return cls(config, pieces, [(left, right) for left, right in merges])

    def _known(self, pretokens: set[str]) -> dict[str, list[int]]:
        """The ids of every pre-token, from the cache where it has them."""
        cache = self._cache
        known = {pretoken: ids for pretoken in pretokens if (ids := cache.get(pretoken)) is not None}
        unseen = list(pretokens - known.keys())
        if unseen:
            encoded = self._bpe.encode(unseen, is_pretokenized=True, add_special_tokens=False)
            known.update((pretoken, []) for pretoken in unseen)
            for id, index in zip(encoded.ids, encoded.word_ids, strict=True):
                if index is not None:
                    known[unseen[index]].append(id)
            if len(cache) + len(unseen) > _CACHED_PRETOKENS:
                cache.clear()
            if len(unseen) <= _CACHED_PRETOKENS:
                cache.update((pretoken, known[pretoken]) for pretoken in unseen if len(pretoken) <= _LONG)
        return known

    def _dropped(self, pretoken: str, dropout: float, draw: Callable[[], float]) -> list[int]:
        """One pre-token by BPE where every possible merge is passed over with probability `dropout`."""
        if len(pretoken) > _LONG:
            return self._known({pretoken})[pretoken]
        ids = [id for char in pretoken for id in self._spelt(char)]
        ranks = self._ranks
        while len(ids) > 1:
            best, place = None, 0
            for i in range(len(ids) - 1):
                found = ranks.get((ids[i], ids[i + 1]))
                if found is not None and (best is None or found[0] < best[0]) and draw() >= dropout:
                    best, place = found, i
            if best is None:
                break
            ids[place : place + 2] = [best[1]]
        return ids

    def _spelt(self, char: str) -> list[int]:
        id = self._ids.get(char)
        return [id] if id is not None else [_FIRST_BYTE + byte for byte in char.encode()]

    def _offset(self, text: str) -> int:
        """How many characters the space glued before the first word takes in a walked text."""
        return int(self.config.prefix_space and text.startswith(" "))

    def _walk(self, ids: Sequence[int]) -> tuple[str, list[tuple[int, int]]]:
        """The text of `ids`, glued space included, and the span of each id in it (empty for special tokens)."""
        common.check_ids(ids, len(self))
        parts: list[str] = []
        spans = [(0, 0)] * len(ids)
        length = 0
        real = [i for i, id in enumerate(ids) if id >= len(SPECIALS)]
        position = 0
        while position < len(real):
            id = ids[real[position]]
            if id >= len(_FIXED):
                part, used = self._pieces[id], 1
            else:
                part, used = _character([ids[i] - _FIRST_BYTE for i in real[position : position + 4]])
            for i in real[position : position + used]:
                spans[i] = (length, length + len(part))
            parts.append(part)
            length += len(part)
            position += used
        return "".join(parts), spans

    def _located(self, ids: Sequence[int], normalised: Normalised) -> tuple[Token, ...]:
        """`ids`, which spell `normalised.text`, as tokens with spans into what was typed."""
        walked, spans = self._walk(ids)
        offset = self._offset(walked)
        text = normalised.text
        word_of = common.word_of_characters(text, whole_words(text, self.config.language))
        tokens = []
        for id, (start, end) in zip(ids, spans, strict=True):
            piece = self._pieces[id]
            if id < len(SPECIALS):
                tokens.append(Token(id, piece, special=True))
                continue
            start, end = max(start - offset, 0), end - offset
            space = start < end and text[start] == " " and piece.startswith(" ")
            if space and end - start > 1:
                start += 1
            word = word_of[start] if start < len(word_of) else max(word_of, default=0)
            tokens.append(Token(id, _surface(piece), common.typed_span(normalised, start, end), word, space))
        return tuple(tokens)


def pretokens(text: str, config: TextConfig) -> list[str]:
    """`text`, normalised, as the strings that merges never cross: they join to the text.

    Each word with the single space before it, every digit alone, all other whitespace alone. With
    `config.prefix_space` a space is put before the whole, so that the first word is like any other.
    """
    return _split(normalise_text(text, config), config)


def _split(text: str, config: TextConfig) -> list[str]:
    glued = " " if config.prefix_space and text else ""
    out: list[str] = []
    position = 0
    for start, end in words(text, config.language):
        gap = glued + text[position:start]
        glued = ""
        space = " " if gap.endswith(" ") else ""
        out += gap[: len(gap) - len(space)]
        first, *rest = _DIGITS.findall(text[start:end])
        out.append(space + first)
        out += rest
        position = end
    out += glued + text[position:]
    return out


def _surface(piece: str) -> str:
    return piece.removeprefix(" ") or "▁"


def _character(values: Sequence[int]) -> tuple[str, int]:
    """The character that the bytes at the head of `values` spell, and how many they are; U+FFFD for a stray one."""
    for count in range(1, len(values) + 1):
        if not 0 <= values[count - 1] < 256:
            break
        try:
            return bytes(values[:count]).decode(), count
        except UnicodeDecodeError:
            continue
    return "\ufffd", 1


def _repeated(counts: Counter[str]) -> Iterator[list[str]]:
    """Every pre-token as often as it was counted, in chunks: the trainer does its own counting."""
    for pretoken, count in sorted(counts.items()):
        for low in range(0, count, 10_000):
            yield [pretoken] * min(10_000, count - low)


def _rebuild(vocab: dict[str, int], merges: list[tuple[str, str]]) -> tuple[list[str], list[tuple[int, int]]]:
    """Pieces and merges behind the special tokens and bytes, without any that would spell one of those."""
    reserved = set(_FIXED)
    dropped: set[str] = set(reserved)
    kept = []
    for left, right in merges:
        if left + right in reserved or left in dropped or right in dropped:
            dropped.add(left + right)
        else:
            kept.append((left, right))
    made = {left + right for left, right in kept}
    order = sorted(vocab, key=vocab.__getitem__)
    pieces = [*_FIXED, *(piece for piece in order if len(piece) == 1 or piece in made)]
    ids = {piece: id for id, piece in enumerate(pieces)}
    return pieces, [(ids[left], ids[right]) for left, right in kept if left in ids and right in ids]


def _check_merges(path: Path, pieces: list[str], merges: object) -> None:
    if not isinstance(merges, list):
        raise CheckpointError(f"{path}: merges must be a list of pairs of ids")
    known = set(pieces[len(_FIXED) :])
    seen: set[tuple[int, int]] = set()
    for rank, pair in enumerate(merges):
        whole = isinstance(pair, list) and len(pair) == 2 and all(type(id) is int for id in pair)
        if not whole or not all(len(_FIXED) <= id < len(pieces) for id in pair):
            raise CheckpointError(f"{path}: merge {rank} is {pair!r}, want two ids of pieces")
        made = pieces[pair[0]] + pieces[pair[1]]
        if made not in known:
            raise CheckpointError(f"{path}: merge {rank} makes {made!r}, which is not a piece")
        if tuple(pair) in seen:
            raise CheckpointError(f"{path}: merge {rank} {pair!r} stands twice")
        seen.add((pair[0], pair[1]))
