"""Upper bounds on what a checkpoint's settings may cost, checked before allocation.

The weights themselves lie in a file, whose size has to fit into the memory that is free.
"""

from __future__ import annotations

import math
from pathlib import Path

from translator.config import DecodeConfig, ModelConfig
from translator.errors import CheckpointError

SOURCE, TARGET = 128, 160
"""Tokens of a sentence that every checkpoint has to be able to read and produce at this cost, where it can at all."""
MAX_TABLE = 2**24
"""Numbers in a table of positions: 16,384 positions at a width of 1,024."""
MAX_MAPS = 2**26
"""Numbers in the maps of one translation: 24 + 24 layers of 16 heads, as the largest published models have, take 24
million of them, 64 million are 256 MiB."""
MAX_BEAM, MAX_CHOICES = 16, 2**23
"""Beams of a checkpoint's own decoding, and the scores that one step of it may rank: 16 beams over 524,288 tokens. Who
asks for a translation may ask for wider beams; a folder may not ask for them in his stead."""
MAX_BANNED = 4096
"""Token ids in all sequences that a checkpoint never produces; each is compared at every step of every beam."""
ROOM = 2.5
"""Bytes of memory for each byte of weights in float32: the file as it is read, the model, one layout of it."""


def check_model_cost(config: ModelConfig) -> None:
    """Refuse a model whose tables or maps would take the machine, however few weights it has.

    Raises:
        CheckpointError: they would; the message names the settings.
    """
    table = config.max_positions * config.d_model
    if table > MAX_TABLE:
        raise CheckpointError(
            f"max_positions {config.max_positions:,} times d_model {config.d_model:,} makes a table of {table:,}"
            f" numbers; at most {MAX_TABLE:,} are allowed"
        )
    source = config.padded_length or min(SOURCE, config.max_positions)
    target = min(TARGET, config.max_positions)
    encoder, decoder = config.encoder_layers * config.encoder_heads, config.decoder_layers * config.decoder_heads
    maps = encoder * source**2 + decoder * target * (target + source)
    if maps > MAX_MAPS:
        raise CheckpointError(
            f"{encoder:,} heads of the encoder and {decoder:,} of the decoder, over {source:,} source and {target:,}"
            f" target tokens, make maps of {maps:,} numbers; at most {MAX_MAPS:,} are allowed"
        )
    banned = sum(map(len, config.banned_sequences))
    if banned > MAX_BANNED:
        raise CheckpointError(f"banned_sequences holds {banned:,} token ids; at most {MAX_BANNED:,} are allowed")


def check_decode_cost(config: ModelConfig, decode: DecodeConfig) -> None:
    """Refuse a checkpoint's own decoding where a step of it would rank too much.

    Raises:
        CheckpointError: it would.
    """
    if decode.method == "beam" and decode.beam > MAX_BEAM:
        raise CheckpointError(
            f"beam is {decode.beam}; what a checkpoint is decoded with by itself may have {MAX_BEAM} beams"
        )
    choices = config.tgt_vocab * (decode.beam if decode.method == "beam" else 1)
    if choices > MAX_CHOICES:
        raise CheckpointError(
            f"a beam of {decode.beam} over {config.tgt_vocab:,} tokens ranks {choices:,} scores a step; at most"
            f" {MAX_CHOICES:,} are allowed for what a checkpoint is decoded with by itself"
        )


def check_room(path: Path, *, widened: int = 1) -> None:
    """Refuse weights that do not fit into the memory that is free, before a byte of them is read.

    Args:
        path: the file of the weights.
        widened: how many times larger they are as float32: 2 where the file holds float16.
    Raises:
        CheckpointError: they do not.
    """
    free, needed = free_memory(), math.ceil(path.stat().st_size * widened * ROOM)
    if free is not None and needed > free:
        gib = 2**30
        raise CheckpointError(
            f"{path} needs about {needed / gib:.1f} GiB of memory and {free / gib:.1f} are free; end something else or"
            " use a smaller model"
        )


def free_memory() -> int | None:
    """Bytes that this process can still have, of the machine and of its container; None where that is not told."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        told = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        free = told["MemAvailable"]
    except (OSError, ValueError, IndexError, KeyError):
        return None
    try:
        group = Path("/sys/fs/cgroup")
        used = int((group / "memory.current").read_text(encoding="ascii"))
        stat = dict(line.split() for line in (group / "memory.stat").read_text(encoding="ascii").splitlines())
        most = int((group / "memory.max").read_text(encoding="ascii"))
        return min(free, most - used + int(stat.get("inactive_file", 0)))
    except (OSError, ValueError):  # no container, or one without a limit
        return free
