"""Candidate weights of a run, scored on the whole development set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor

from translator.checkpoints import load_bundle
from translator.checkpoints.shelf import MANIFEST
from translator.model import Transformer
from translator.training.config import TrainConfig
from translator.training.loop import Evaluate
from translator.training.state import BEST, LastWeights, load_weights, read_weights

BASE = "base"
"""The folder, within a run's, of the run that it grows from."""
SELECTED = "selected.pt"
"""In a run's folder: the weights that the run after it began from, where its config says so."""


@dataclass(frozen=True)
class Selection:
    """The chosen weights (float32), what they are, and what each candidate scored."""

    chosen: str
    weights: Mapping[str, Tensor]
    scores: Mapping[str, Mapping[str, float]]


def select(model: Transformer, run: Path, config: TrainConfig, evaluate: Evaluate) -> Selection:
    """The candidate of `run` with the best BLEU; `model` is only worked with, and holds the last one afterwards.

    Raises:
        CheckpointError: the run has no weights yet, or its files do not fit each other.
    """
    candidates = _candidates(run, config)
    scores = {}
    for name, weights in candidates.items():
        load_weights(model, weights, run)
        scores[name] = evaluate(model)
    chosen = max(scores, key=lambda name: scores[name]["bleu"])
    return Selection(chosen, candidates[chosen], scores)


def _candidates(run: Path, config: TrainConfig) -> dict[str, dict[str, Tensor]]:
    """Weights that may be the best, by what they are.

    Runs of one model, each grown from the one before, lie close enough for the mean of them to be a model too, often
    better than any (Wortsman et al. 2022, "Model soups").
    """
    last = LastWeights(run, config.average)
    count = len(last.files())
    mean = f"the mean of the last {count} evaluations" if count > 1 else "the last evaluation"
    candidates = {mean: last.average()}
    if (run / BEST).exists():
        candidates["the best evaluation"] = read_weights(run / BEST)
    ends = [candidates[mean], *islice(_ends_before(run, config, candidates[mean]), 2)]
    if len(ends) > 1:
        candidates[f"a quarter of {mean} and three of the run before"] = {
            name: torch.lerp(before, ends[0][name], 0.25) for name, before in ends[1].items()
        }
    for number, before in ((2, "the run before"), (3, "the two runs before")):
        if len(ends) >= number:
            candidates[f"the mean of {mean} and of {before}"] = {
                name: torch.stack([end[name] for end in ends[:number]]).mean(0) for name in ends[0]
            }
    return candidates


def _ends_before(run: Path, config: TrainConfig, own: Mapping[str, Tensor]) -> Iterator[dict[str, Tensor]]:
    """What the runs before ended with, the latest first, while they are there and of the shapes of `own`."""
    if config.base is None:
        return
    folder, before = run / BASE, config.first()
    weights = _end(folder, before)
    if weights is None or {name: w.shape for name, w in weights.items()} != {name: w.shape for name, w in own.items()}:
        return
    yield weights
    if before is not None:
        yield from _ends_before(folder, before, own)


def _end(folder: Path, config: TrainConfig | None) -> dict[str, Tensor] | None:
    """What the run after it took, or would take, of a run, or of a checkpoint (`config` None); None if not kept."""
    if config is None:
        kept = (folder / MANIFEST).exists()
        return dict(load_bundle(folder, device="cpu").model.state_dict()) if kept else None
    if (folder / SELECTED).exists():
        return read_weights(folder / SELECTED)
    last = LastWeights(folder, config.average)
    return last.average() if last.files() else None
