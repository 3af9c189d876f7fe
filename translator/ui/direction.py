"""A direction as the page writes it: a checkpoint's name and, where it has many languages, the two that are meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from translator.pipeline import Translator

_WRITTEN = re.compile(r"([^:]*):(\w{1,40})-(\w{1,40})")


@dataclass(frozen=True)
class Direction:
    """The checkpoint `name`, set to translate from `src` to `tgt`; None: as it is by itself."""

    name: str
    src: str | None = None
    tgt: str | None = None

    @classmethod
    def read(cls, written: str) -> Direction:
        """What is written as "NAME" or as "NAME:SRC-TGT", such as "nllb:deu_Latn-eng_Latn"; no name has a colon."""
        match = _WRITTEN.fullmatch(written)
        return cls(*match.groups()) if match else cls(written)

    def of(self, model: Translator) -> Translator:
        """`model` set to the languages of this direction; its weights are shared.

        Raises:
            InputError: it does not know one of them.
        """
        return model if self.src is None else model.between(self.src, self.tgt)
