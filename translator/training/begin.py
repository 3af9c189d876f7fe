"""Starting a run from a checkpoint's weights, shape and vocabularies."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

from translator.checkpoints import load_bundle, save_bundle
from translator.checkpoints.bundle import SRC, TGT, Bundle
from translator.checkpoints.shelf import MANIFEST, pinned
from translator.errors import InputError
from translator.text import SubwordTokenizer, Tokenizer, VocabularyTokenizer
from translator.training.config import TrainConfig
from translator.training.selection import BASE
from translator.training.state import trained


def checkpoint_of(config: TrainConfig, folder: Path) -> Bundle | None:
    """The checkpoint that the run in `folder` begins with, on the CPU; None where `config.base` names none.

    A run that has been trained has a copy of its own: what it began with may have changed or gone since.

    Raises:
        CheckpointError: there is no such checkpoint, or it is damaged.
        InputError: its vocabularies are of other languages and not of a kind of ours.
    """
    if not isinstance(config.base, str):
        return None
    kept = folder / BASE
    if trained(folder) and (kept / MANIFEST).exists():
        return load_bundle(kept, device="cpu")
    name, revision = pinned(config.base)
    found = load_bundle(name, device="cpu", revision=revision)
    return replace(found, src=_reading(found.src, config.src), tgt=_reading(found.tgt, config.tgt))


def settled(config: TrainConfig, begun: Bundle) -> TrainConfig:
    """`config` with the units and the shape of the checkpoint it begins with; its own `model` has the last word."""
    shape = asdict(begun.model.config)
    for name in ("src_vocab", "tgt_vocab"):  # they follow from the vocabularies
        del shape[name]
    levels = begun.src.config.level, begun.tgt.config.level
    return replace(config, level=levels[0], tgt_level=levels[1], model={**shape, **(config.model or {})})


def keep(begun: Bundle, folder: Path) -> None:
    """Copy into a run's folder what it begins with, unrounded, and its vocabularies.

    Raises:
        InputError: another run stands where the copy goes.
    """
    kept = save_bundle(
        folder / BASE, model=begun.model, src=begun.src, tgt=begun.tgt, name=begun.info.name, card=begun.card,
        decode=begun.decode, dtype="float32",
    )  # fmt: skip
    for name in (SRC, TGT):
        (folder / name).write_bytes((kept / name).read_bytes())


def _reading(tokenizer: Tokenizer, language: str) -> Tokenizer:
    """The same vocabulary for text of `language`."""
    if tokenizer.config.language == language:
        return tokenizer
    if not isinstance(tokenizer, (SubwordTokenizer, VocabularyTokenizer)):
        raise InputError(f"the checkpoint in base reads {tokenizer.config.language!r}, the config says {language!r}")
    return tokenizer.with_config(replace(tokenizer.config, language=language))
