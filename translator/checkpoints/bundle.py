"""A loaded checkpoint, and the files it is stored in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from translator.config import DecodeConfig
from translator.decode import SourceSpans, Spelling, source_names, source_spans
from translator.errors import InputError
from translator.model import Transformer
from translator.text import MultilingualTokenizer, Tokenizer, spelling
from translator.trace import CheckpointId

FORMAT_VERSION = 1
WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"
SRC, TGT = "src.json", "tgt.json"
REQUIRED = (WEIGHTS, CONFIG, SRC, TGT, CARD)
OPTIONAL = ("arena.json", "index.npz", "log.jsonl", "omissions.json", "profile.json", "train.json")


@dataclass(frozen=True, eq=False)
class Bundle:
    """A model that is ready to run and all that belongs to it; to be shared and not changed.

    `decode` holds the settings that this checkpoint is best decoded with. `folder` is where it was
    loaded from, None for one that was never stored.
    """

    model: Transformer = field(repr=False)
    src: Tokenizer = field(repr=False)
    tgt: Tokenizer = field(repr=False)
    info: CheckpointId
    decode: DecodeConfig = field(default_factory=DecodeConfig)
    card: str = field(default="", repr=False)
    folder: Path | None = None

    @property
    def languages(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The codes that may be translated from, and to; one each but for a multilingual checkpoint."""
        own = (self.info.src_language, self.info.tgt_language)
        src, tgt = (
            tuple(side.languages) if isinstance(side, MultilingualTokenizer) else (code,)
            for side, code in zip((self.src, self.tgt), own, strict=True)
        )
        return src, tgt

    @cached_property
    def spelling(self) -> Spelling:
        """What each token of the target adds to a text; made when it is first asked for."""
        return Spelling(spelling(self.tgt))

    def spans(self, text: str, decode: DecodeConfig) -> SourceSpans | None:
        """What the translation of `text` may write of numbers and Latin words, and which names it is to have.

        None where `decode` asks for neither, or `text` has nothing of it.
        """
        names = None
        if decode.method == "beam" and decode.name_penalty:
            names = source_names(self.spelling, text, lambda word: len(self.src.encode(word).ids), decode.name_penalty)
        if not decode.spans_from_source:
            return SourceSpans(self.spelling, None, None, names) if names else None
        return source_spans(self.spelling, text, self.info.src_language, self.info.tgt_language, names)

    def between(self, src: str | None = None, tgt: str | None = None) -> Bundle:
        """This checkpoint set to translate from `src` to `tgt` (None: as it is); the weights are shared.

        Raises:
            InputError: it does not know the language.
        """
        if src in (None, self.info.src_language) and tgt in (None, self.info.tgt_language):
            return self
        sides = {}
        for side, code, own in (("src", src, self.info.src_language), ("tgt", tgt, self.info.tgt_language)):
            tokenizer = getattr(self, side)
            if code in (None, own):
                sides[side] = tokenizer
            elif isinstance(tokenizer, MultilingualTokenizer):
                sides[side] = tokenizer.in_language(code)
            else:
                raise InputError(f"{side} is {code!r:.40}; {self.info.name} has {own!r} alone")
        decode = self.decode
        if decode.first_id is not None and isinstance(sides["tgt"], MultilingualTokenizer):
            decode = replace(decode, first_id=sides["tgt"].language_id)
        codes = {f"{side}_language": tokenizer.config.language for side, tokenizer in sides.items()}
        return replace(self, **sides, decode=decode, info=replace(self.info, **codes))


def check_licence(name: str) -> str:
    """`name` if the Hugging Face hub may call a licence so.

    Raises:
        InputError: it is no such name.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
        raise InputError(f"licence is {name!r}; it must be a name of the Hugging Face hub's, such as cc-by-4.0")
    return name
