"""Which weights of a run are its best: the candidates, scored on the whole development set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from translator.config import TrainConfig
from translator.model import Transformer
from translator.training.loop import Evaluate
from translator.training.state import LastWeights, read_whole

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
        model.load_state_dict(weights)
        scores[name] = evaluate(model)
    chosen = max(scores, key=lambda name: scores[name]["bleu"])
    return Selection(chosen, candidates[chosen], scores)


def _candidates(run: Path, config: TrainConfig) -> dict[str, dict[str, Tensor]]:
    """Weights that may be the best, by what they are.

    Two runs of one model, the second grown from the first, lie close enough for the mean of both to be a model too,
    often better than either (Wortsman et al. 2022, "Model soups").
    """
    last = LastWeights(run, config.average)
    count = len(last.files())
    mean = f"the mean of the last {count} evaluations" if count > 1 else "the last evaluation"
    candidates = {mean: last.average()}
    if (run / "best.pt").exists():
        candidates["the best evaluation"] = read_whole(run / "best.pt")
    first = config.first()
    if first is None or not (run / BASE).is_dir():
        return candidates
    before = _before(run / BASE, first)
    if {name: value.shape for name, value in before.items()} == {n: v.shape for n, v in candidates[mean].items()}:
        both = {name: (value + before[name]) / 2 for name, value in candidates[mean].items()}
        candidates[f"the mean of {mean} and of the run before"] = both
    return candidates


def _before(base: Path, config: TrainConfig) -> dict[str, Tensor]:
    if (base / SELECTED).exists():
        return dict(read_whole(base / SELECTED))
    return LastWeights(base, config.average).average()
