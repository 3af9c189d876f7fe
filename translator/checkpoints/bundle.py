"""What a checkpoint is once it is loaded, and which files it is stored in."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from translator.config import DecodeConfig
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
