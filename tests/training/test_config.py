"""Settings of a run that could never work are refused when they are made, by name."""

from __future__ import annotations

import pytest

from translator.config import from_dict
from translator.errors import InputError
from translator.training.config import TrainConfig

OWN = {"name": "n", "src": "de", "tgt": "en"}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"warmup": -1}, "warmup is -1"),
        ({"lr": float("nan")}, "lr is nan"),
        ({"schedule": "linear"}, "schedule is 'linear'"),
        ({"adam_eps": 0}, "adam_eps is 0"),
        ({"adam_eps": "small"}, "adam_eps is 'small'"),
        ({"betas": 0.9}, "betas is 0.9"),
        ({"betas": (0.9,)}, "betas is"),
        ({"betas": (0.9, 1.0)}, "betas is 1.0"),
        ({"seed": -1}, "seed is -1"),
        ({"joint_vocab": "yes"}, "joint_vocab is 'yes'"),
        ({"name": ""}, "name is ''"),
        ({"src": None}, "src is None"),
        ({"corpora": ["news"]}, "corpora is"),
        ({"corpora": {"news": -1}}, "corpora.news is -1"),
        ({"model": {"d_model": 30, "encoder_heads": 4}}, "d_model|heads"),
        ({"model": {"dropout": 1.5}}, "dropout is 1.5"),
        ({"model": {"depth": 3}}, "unknown setting 'depth'"),
        ({"model": 6}, "model is 6"),
        ({"base": {"steps": 0}}, "steps is 0"),
        ({"base": {"model": {"dropout": 1.5}}}, "dropout is 1.5"),
    ],
)
def test_what_cannot_work_is_named(values: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        from_dict(TrainConfig, {**OWN, **values})


def test_what_a_file_holds_is_taken() -> None:
    assert from_dict(TrainConfig, {**OWN, "betas": [0.9, 0.98], "corpora": {"news": 0.5}, "base": {"steps": 9}}).first()
