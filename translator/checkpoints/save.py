"""Atomic writing of checkpoints: a failure leaves a complete one in place."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from translator.checkpoints.bundle import CARD, CONFIG, FORMAT_VERSION, OPTIONAL, SRC, TGT, WEIGHTS
from translator.checkpoints.destination import former, free_folder
from translator.checkpoints.manifest import seal, write_through
from translator.checkpoints.shelf import MANIFEST, conversion
from translator.checkpoints.weights import DTYPES, to_safetensors
from translator.config import DecodeConfig
from translator.errors import CheckpointError, InputError, TranslatorError
from translator.model import Transformer
from translator.text import Tokenizer


def save_bundle(
    folder: str | Path,
    *,
    model: Transformer,
    src: Tokenizer,
    tgt: Tokenizer,
    name: str,
    card: str,
    decode: DecodeConfig | None = None,
    dtype: str = "float16",
    extra: Mapping[str, bytes] | None = None,
) -> Path:
    """Write `folder`: weights, config, both tokenizers, card, manifest. A checkpoint of ours that was there stays whole
    until then, and is replaced with all of its files; nothing else ever is (see `place.free_folder`).

    Args:
        name: how the checkpoint is called, such as "de-en".
        card: the model card, Markdown.
        dtype: "float16" or "float32", how weights are stored; they are loaded as float32.
        extra: further files: "log.jsonl" (training log), "train.json" (settings), "profile.json" (head profile).
    Raises:
        InputError: another dtype or extra file was asked for, a vocabulary does not fit the model, or `folder` is or
            holds something else than a checkpoint of ours.
        TranslatorError: the disk is full or the like (the old checkpoint is untouched), or a weight is not finite.
    """
    extra = extra or {}
    _check(model, src, tgt, dtype, extra)
    folder = free_folder(folder)
    config = {
        "format": FORMAT_VERSION,
        "name": name,
        "languages": [src.config.language, tgt.config.language],
        "dtype": dtype,
        "model": asdict(model.config),
        "text": {"src": asdict(src.config), "tgt": asdict(tgt.config)},
        "decode": asdict(decode or DecodeConfig()),
    }
    files = {WEIGHTS: to_safetensors(model, dtype), CONFIG: _json(config), CARD: card.encode(), **extra}
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".new", dir=folder.parent))
        try:
            for file, content in files.items():
                write_through(fresh / file, content)
            for tokenizer, file in ((src, SRC), (tgt, TGT)):
                path = tokenizer.save(fresh, file.removesuffix(".json"))
                write_through(path, path.read_bytes())
            seal(fresh)
            fresh.chmod(0o755)  # a temporary folder is closed to others
            _swap(fresh, folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise TranslatorError(f"{folder} could not be saved ({error}); what was there before is untouched") from error
    return folder


def read_card(folder: Path) -> str:
    """The model card in `folder`; "" if there is none.

    Raises:
        CheckpointError: it is not UTF-8.
    """
    path = folder / CARD
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else ""
    except UnicodeDecodeError as error:
        raise CheckpointError(f"{path} is not UTF-8 ({error}); mend it, then seal the folder") from error


def amend(folder: str | Path, files: Mapping[str, bytes]) -> Path:
    """Replace or add `files` (a card, a profile, a log) of a stored checkpoint; whatever else is in its folder stays.

    Raises:
        InputError: a file is none of these; weights and vocabularies are made by `save_bundle` alone.
        CheckpointError: the folder is no checkpoint of ours.
        TranslatorError: the disk is full or the like (the checkpoint is untouched).
    """
    folder = Path(folder).resolve()
    for name in files:
        if name not in (CARD, *OPTIONAL):
            raise InputError(f"{name!r} cannot be amended; these can: {', '.join((CARD, *OPTIONAL))}")
    if not (folder / MANIFEST).is_file():
        raise CheckpointError(
            f"{folder} is not one of our checkpoints, so nothing can be added to it; convert it once: "
            f"{conversion(folder)}"
        )
    try:
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".new", dir=folder.parent))
        try:
            shutil.copytree(folder, fresh, dirs_exist_ok=True)
            for name, content in files.items():
                write_through(fresh / name, content)
            seal(fresh)
            fresh.chmod(0o755)
            _swap(fresh, folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise TranslatorError(f"{folder} could not be amended ({error}); it is as it was") from error
    return folder


def _check(model: Transformer, src: Tokenizer, tgt: Tokenizer, dtype: str, extra: Mapping[str, bytes]) -> None:
    if dtype not in DTYPES:
        raise InputError(f"dtype is {dtype!r}; it must be one of {', '.join(DTYPES)}")
    for name in extra:
        if name not in OPTIONAL:
            raise InputError(f"{name!r} is not a file of a checkpoint; extra files are {', '.join(OPTIONAL)}")
    mismatch = vocabulary_mismatch(model, src, tgt)
    if mismatch:
        raise InputError(mismatch)


def vocabulary_mismatch(model: Transformer, src: Tokenizer, tgt: Tokenizer) -> str:
    """How the tokenizers do not fit the model, or an empty string."""
    config = model.config
    for side, tokenizer, size in (("source", src, config.src_vocab), ("target", tgt, config.tgt_vocab)):
        if len(tokenizer) != size:
            return f"the {side} vocabulary has {len(tokenizer)} pieces, the model was made for {size}"
    for name in ("pad_id", "start_id", "eos_id"):
        if getattr(tgt, name) != getattr(config, name):
            return f"{name} is {getattr(tgt, name)} in the target vocabulary and {getattr(config, name)} in the model"
    return ""


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _swap(fresh: Path, folder: Path) -> None:
    """Put `fresh` in the place of `folder`. A folder cannot be replaced in one move: see `store.whole_folder`."""
    old = former(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        os.rename(folder, old)
    try:
        os.rename(fresh, folder)
    except OSError:
        if old.exists():
            os.rename(old, folder)
        raise
    _sync(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Wait until the disk knows the new name; Windows cannot open a folder, and needs no such wait."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
