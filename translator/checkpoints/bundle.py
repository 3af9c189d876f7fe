"""What a checkpoint is once it is loaded, and which files it is stored in."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from translator.config import DecodeConfig
from translator.errors import InputError
from translator.model import Transformer
from translator.text import Tokenizer
from translator.trace import CheckpointId

FORMAT_VERSION = 1
WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"
SRC, TGT = "src.json", "tgt.json"
REQUIRED = (WEIGHTS, CONFIG, SRC, TGT, CARD)
OPTIONAL = ("log.jsonl", "profile.json", "train.json")


@dataclass(frozen=True, eq=False)
class Bundle:
    """A model that is ready to run and all that belongs to it; to be shared and not changed.

    `decode` holds the settings that this checkpoint is best decoded with. `folder` is where it was
    loaded from, None for one that was never stored.
    """

    model: Transformer
    src: Tokenizer
    tgt: Tokenizer
    info: CheckpointId
    decode: DecodeConfig = field(default_factory=DecodeConfig)
    card: str = ""
    folder: Path | None = None


def check_licence(name: str) -> str:
    """`name` if the Hugging Face hub may call a licence so.

    Raises:
        InputError: it is no such name.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
        raise InputError(f"licence is {name!r}; it must be a name of the Hugging Face hub's, such as cc-by-4.0")
    return name
