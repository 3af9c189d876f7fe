"""Learning rates at steps worked out by hand."""

from __future__ import annotations

import itertools
import math

import pytest

from translator.training.config import TrainConfig
from translator.training.schedule import learning_rate, noam


def config(schedule: str) -> TrainConfig:
    return TrainConfig("n", "de", "en", steps=1000, warmup=100, decay=200, lr=0.01, schedule=schedule)  # type: ignore[arg-type]


def test_noam_is_equation_3() -> None:
    for step in (1, 50, 4000, 100_000):
        want = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert noam(step, d_model=512, warmup=4000) == pytest.approx(want)
    assert learning_rate(config("noam"), 7, d_model=64) == pytest.approx(0.01 / 8 * 7 / 1000)


@pytest.mark.parametrize(
    ("schedule", "step", "part"),
    [
        ("inverse_sqrt", 25, 0.25),
        ("inverse_sqrt", 100, 1.0),
        ("inverse_sqrt", 400, 0.5),
        ("cosine", 50, 0.5),
        ("cosine", 100, 1.0),
        ("cosine", 550, 0.5),
        ("cosine", 325, 0.5 * (1 + math.cos(math.pi / 4))),
        ("cosine", 1000, 0.0),
        ("trapezoid", 50, 0.5),
        ("trapezoid", 100, 1.0),
        ("trapezoid", 800, 1.0),
        ("trapezoid", 901, 0.5),
        ("trapezoid", 1000, 1 / 200),
    ],
)
def test_the_others_rise_for_warmup_steps_and_fall_as_named(schedule: str, step: int, part: float) -> None:
    assert learning_rate(config(schedule), step, d_model=64) == pytest.approx(0.01 * part, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["noam", "inverse_sqrt", "cosine", "trapezoid"])
def test_no_schedule_jumps(schedule: str) -> None:
    rates = [learning_rate(config(schedule), step, d_model=64) for step in range(1, 1001)]
    top = max(rates)
    assert min(rates) >= 0 and rates.index(top) == 99  # step 100 ends the warm-up
    assert max(abs(b - a) for a, b in itertools.pairwise(rates)) < 0.011 * top
