"""Learning-rate schedules: pure functions of the step."""

from __future__ import annotations

import math

from translator.training.config import TrainConfig


def noam(step: int, *, d_model: int, warmup: int, factor: float = 1.0) -> float:
    """Vaswani et al. 2017, equation 3: up in a line for `warmup` steps, then down with 1/√step. Steps count from 1."""
    rate: float = factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    return rate


def learning_rate(config: TrainConfig, step: int, *, d_model: int) -> float:
    """The learning rate of optimiser step `step` (from 1) under `config.schedule`."""
    if config.schedule == "noam":
        return noam(step, d_model=d_model, warmup=config.warmup, factor=config.lr)
    rise = min(1.0, step / config.warmup)
    if config.schedule == "inverse_sqrt":
        rate: float = config.lr * min(rise, (config.warmup / step) ** 0.5)
        return rate
    if config.schedule == "cosine":
        done = max(0.0, step - config.warmup) / max(1, config.steps - config.warmup)
        return config.lr * min(rise, 0.5 * (1 + math.cos(math.pi * min(1.0, done))))
    left = (config.steps - step + 1) / config.decay
    return config.lr * max(0.0, min(rise, left))
