"""A run's files: its state for exact resumes, recent weights for averaging, the log."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from translator.errors import CheckpointError
from translator.model import Transformer

STATES, WEIGHTS, BEST = "state-*.pt", "weights-*.pt", "best.pt"
"""What a run's folder holds: each process's state, the weights of the last evaluations and of the best one."""


def trained(folder: Path) -> bool:
    """Whether a run has left anything in `folder` that it learnt."""
    return any(any(folder.glob(pattern)) for pattern in (STATES, WEIGHTS, BEST))


@dataclass
class Progress:
    """Where a run stands: optimiser steps done, the next batch (its epoch and index), the best dev BLEU.

    `seconds` were worked and `tokens` learnt from so far, resumed stretches included.
    """

    step: int = 0
    epoch: int = 0
    index: int = 0
    best: float = float("-inf")
    seconds: float = 0.0
    tokens: int = 0


def write_whole(path: Path, value: Any) -> None:
    """`torch.save` so that a kill or a full disk leaves either the old file or the new one, never half of one.

    Raises:
        CheckpointError: it could not be written.
    """
    part = path.with_suffix(".part")
    try:
        with open(part, "wb") as file:
            torch.save(value, file)
            file.flush()
            os.fsync(file.fileno())
    except (OSError, RuntimeError) as error:
        part.unlink(missing_ok=True)
        raise CheckpointError(f"{path} could not be written ({error}); the previous one is untouched") from error
    os.replace(part, path)


def read_whole(path: Path) -> Any:
    """What `write_whole` wrote; tensors and plain values only.

    Raises:
        CheckpointError: the file is damaged.
    """
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = str(error) if isinstance(error, OSError) else "it is damaged"  # PyTorch advises to run what it holds
        raise CheckpointError(f"{path} is not a training state: {reason}; remove it to start over") from error


def read_weights(path: Path) -> dict[str, Tensor]:
    """The weights of a model, by parameter, that `write_whole` wrote.

    Raises:
        CheckpointError: the file is damaged or holds something else.
    """
    value = read_whole(path)
    if not isinstance(value, dict) or not all(isinstance(weight, Tensor) for weight in value.values()):
        raise CheckpointError(f"{path} holds no weights; remove it to start over")
    return value


def read_state(path: Path) -> dict[str, Any]:
    """The state of a run that `Trainer.save` wrote, its `progress` as a `Progress`.

    Raises:
        CheckpointError: the file is damaged or holds something else.
    """
    value = read_whole(path)
    try:
        return {**value, "progress": Progress(**value["progress"])}
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"{path} is not a training state: {error!r}; remove it to start over") from error


def load_weights(model: Transformer, weights: Mapping[str, Tensor], origin: Path) -> None:
    """Fill `model` with `weights`, which came from `origin`.

    Raises:
        CheckpointError: they are another model's.
    """
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        said = " ".join(str(error).split())[:300]
        raise CheckpointError(f"{origin} holds weights of another model than its settings say: {said}") from error


def random_state(device: torch.device) -> dict[str, Tensor | list[Tensor]]:
    """The generators that dropout draws from in a run on `device`."""
    cuda = [torch.cuda.get_rng_state(device)] if device.type == "cuda" else []
    return {"cpu": torch.get_rng_state(), "cuda": cuda}


def restore_random_state(state: dict[str, Any], device: torch.device) -> None:
    """Continue the generators where `random_state` found them."""
    torch.set_rng_state(state["cpu"])
    if state["cuda"] and device.type == "cuda":
        own = min(device.index or 0, len(state["cuda"]) - 1)  # older states hold every GPU's
        torch.cuda.set_rng_state(state["cuda"][own], device)


class LastWeights:
    """The weights at the last `keep` evaluations, one file each, oldest first."""

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder, self.keep = folder, keep

    def files(self) -> list[Path]:
        """What is kept now, oldest first."""
        return sorted(self.folder.glob(WEIGHTS))

    def forget(self, step: int) -> None:
        """Forget what lies beyond `step`: a run that goes on from there makes it again, or never comes to it."""
        for file in self.files():
            if file.name > _weights_name(step):
                file.unlink()

    def add(self, step: int, weights: dict[str, Tensor]) -> None:
        """Keep `weights` of `step`; forget the oldest beyond `keep`."""
        write_whole(self.folder / _weights_name(step), weights)
        for old in self.files()[: -self.keep]:
            old.unlink()

    def average(self) -> dict[str, Tensor]:
        """The mean of all that is kept, in float32 (Vaswani et al. 2017, section 6.1).

        Raises:
            CheckpointError: nothing is kept yet, or a file is damaged.
        """
        while True:
            files = self.files()
            if not files:
                raise CheckpointError(f"{self.folder} holds no weights to average; train for at least one evaluation")
            try:
                return _mean(files)
            except CheckpointError:
                if all(file.exists() for file in files):
                    raise
                # A run that goes on has put newer weights in the place of the oldest: look again.


def _weights_name(step: int) -> str:
    return f"weights-{step:09d}.pt"


def _mean(files: Sequence[Path]) -> dict[str, Tensor]:
    mean: dict[str, Tensor] = {}
    for file in files:
        weights = read_weights(file)
        if mean and {name: value.shape for name, value in weights.items()} != {n: v.shape for n, v in mean.items()}:
            raise CheckpointError(f"{file} holds weights of another model than {files[0].name}; remove one of them")
        for name, value in weights.items():
            mean[name] = mean.get(name, 0) + value.float() / len(files)
    return mean


class Log:
    """The run's numbers, one JSON object a line; a resumed run drops what lies beyond its state."""

    def __init__(self, path: Path, step: int) -> None:
        self.path = path
        kept = [record for record in read_log(path) if record["step"] <= step]
        path.write_text("".join(json.dumps(record) + "\n" for record in kept), encoding="utf-8")

    def add(self, **record: Any) -> None:
        """Append one record; it names its `step`."""
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def read_log(path: Path) -> list[dict[str, Any]]:
    """Everything that a run has logged so far, each with its `step`; a line cut short by a kill is left out.

    Raises:
        CheckpointError: another line is no record; it is named by its number.
    """
    if not path.exists():
        return []
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    records = []
    for number, line in enumerate(whole.split(b"\n") if whole else (), start=1):
        try:
            record = json.loads(line)
            if record["step"] < 0 or record.get("hours", 0.0) < 0:
                raise ValueError("a number below 0")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise CheckpointError(f"{path}, line {number} is not a record ({error!r}); remove the line") from error
        records.append(record)
    return records
