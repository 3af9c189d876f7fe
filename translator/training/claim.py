"""A run's folder: the settings and sentences it started with, and whether it may resume."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, TypeVar

from translator.checkpoints.shelf import MANIFEST
from translator.config import from_dict, to_json
from translator.errors import InputError
from translator.text.lines import read_lines
from translator.training.config import TrainConfig
from translator.training.data import (
    MONOLINGUAL,
    MONOLINGUAL_TARGET,
    find_monolingual,
    find_monolingual_target,
    find_split,
)
from translator.training.state import STATES, read_state, trained

C = TypeVar("C")

SETTINGS, TEXT = "train.json", "text.json"
MAY_CHANGE = ("steps", "decay", "eval_every", "average")
"""Settings that may change while a run goes on: when it ends, and how often it is looked at."""


def read_config(path: Path) -> TrainConfig:
    """A training config from its JSON file.

    Raises:
        InputError: as `read_settings`.
    """
    return read_settings(path, TrainConfig)


def read_settings(path: Path, kind: type[C]) -> C:
    """The frozen config `kind` from its JSON file.

    Raises:
        InputError: the file is missing or no JSON, or a setting is unknown or out of range.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a training config: {error}") from error
    if not isinstance(values, dict):
        raise InputError(f"{path} holds no JSON object of training settings")
    return from_dict(kind, values)


def claim(config: TrainConfig, data: Path, folder: Path) -> None:
    """Make `folder` that of a run with these settings on this text; comes before anything else there.

    What was trained there goes on only with the settings that it began with, but for those in `MAY_CHANGE`, and with
    the same sentences: with others it would be neither the run that its log tells of nor one that can be made again.
    Where nothing was, the vocabularies of a start with other settings or sentences are forgotten.

    Raises:
        InputError: other settings (each is named) or other sentences were trained there, or more steps than `config`
            has; or a checkpoint is there; or the text cannot be read.
        CheckpointError: the state there is damaged.
    """
    if (folder / MANIFEST).exists():
        raise InputError(f"{folder} is a checkpoint, whose files a run would overwrite; name another folder (--out)")
    path = folder / SETTINGS
    changed = _changed(read_config(path), config) if path.exists() else []
    if changed and trained(folder):
        raise InputError(
            f"{folder} holds a run with other settings: {'; '.join(changed)}. Restore them to resume it, or name"
            f" another folder (--out) to start over; {', '.join(MAY_CHANGE)} may change"
        )
    for state in sorted(folder.glob(STATES)):
        step = read_state(state)["progress"].step
        if step > config.steps:
            raise InputError(f"steps is {config.steps}, but {folder} has gone {step} already; ask for as many or more")
    read = {split: find_split(data, split) for split in ("train", *config.dev)}
    if config.self_training is not None:
        read[MONOLINGUAL] = find_monolingual(data)
    if config.reverse is not None:
        read[MONOLINGUAL_TARGET] = find_monolingual_target(data)
    text = {name: _digest(path) for name, path in read.items()}
    begun = _begun_with(folder)
    other = [path for name, path in read.items() if begun and begun.get(name) != text[name]]
    if other and trained(folder):
        raise InputError(
            f"{folder} holds a run on other sentences than those of {' and '.join(map(str, other))}. Pass the ones"
            " it started with (--data), or name another folder (--out) to start over"
        )
    if changed or other:
        for name in ("src.json", "tgt.json"):
            (folder / name).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / TEXT, json.dumps(text, indent=1))
    _write(path, to_json(config))


def _digest(path: Path) -> str:
    """SHA-256 of a file's lines, gzipped or not."""
    digest = hashlib.sha256()
    for line in read_lines(path):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _begun_with(folder: Path) -> dict[str, str]:
    """The digests of the text that a run began with, by file; none of a run from before they were kept."""
    try:
        found = json.loads((folder / TEXT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: str(digest) for name, digest in found.items()} if isinstance(found, dict) else {}


def _write(path: Path, text: str) -> None:
    """A kill leaves the former text or this one."""
    fresh = path.with_suffix(".part")
    fresh.write_text(text, encoding="utf-8")
    os.replace(fresh, path)


def _changed(before: TrainConfig, now: TrainConfig) -> list[str]:
    """The settings that differ and may not, by name, with both values; the runs that it grew from have theirs too."""
    old, new = _settings(before), _settings(now)
    fixed = {name for name in {*old, *new} - set(MAY_CHANGE) if not name.endswith((".eval_every", ".average"))}
    differ = sorted(name for name in fixed if old.get(name) != new.get(name))
    return [f"{name} is {new.get(name, 'not set')} and was {old.get(name, 'not set')}" for name in differ]


def _settings(config: TrainConfig) -> dict[str, Any]:
    """Every setting by its full name, such as model.d_model, or base.steps of the run that it grows from."""
    flat: dict[str, Any] = {}
    for name, value in json.loads(to_json(config)).items():
        if isinstance(value, dict) and name != "base":
            flat |= {f"{name}.{inner}": each for inner, each in value.items()}
        elif name != "base" or isinstance(value, str):
            flat[name] = value
    first = config.first()
    return flat if first is None else flat | {f"base.{name}": value for name, value in _settings(first).items()}
