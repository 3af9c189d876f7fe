"""A toy task whose answer is known: spell a string of letters backwards."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from translator.training.config import TrainConfig

LETTERS = "abcdefghij"


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Sums in one order, so that two runs can be compared to the bit."""
    torch.set_num_threads(1)


@pytest.fixture
def toy_model() -> dict[str, object]:
    """The options of a model that learns from `toy_data` in moments: one layer a side."""
    layers = {"encoder_layers": 1, "decoder_layers": 1}
    return {"d_model": 16, "d_ff": 32, **layers, "encoder_heads": 2, "decoder_heads": 2}


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder: 1,200 strings of 3 or 4 letters to learn from, 60 others to score on, under two corpus names."""
    folder = tmp_path_factory.mktemp("data")
    draw = random.Random(0).sample
    chosen = [text for n in (3, 4) for text in draw(["".join(x) for x in itertools.product(LETTERS, repeat=n)], 630)]
    chosen = draw(chosen, len(chosen))
    for split, texts in (("train", chosen[60:]), ("dev", chosen[:60])):
        lines = (f"{text}\t{text[::-1]}\t{'even' if len(text) % 2 == 0 else 'odd'}\n" for text in texts)
        (folder / f"{split}.tsv").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def toy_config(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., tuple[TrainConfig, Path]]:
    """A config for the toy task, and the JSON file that holds it."""
    folder, number = tmp_path_factory.mktemp("configs"), itertools.count()

    def make(**changes: object) -> tuple[TrainConfig, Path]:
        model = {
            "d_model": 32,
            "d_ff": 64,
            "encoder_layers": 1,
            "decoder_layers": 1,
            "encoder_heads": 2,
            "decoder_heads": 2,
            "dropout": 0.1,
            "max_positions": 64,
            **changes.pop("model", {}),  # type: ignore[dict-item]
        }
        values = {
            "name": "toy",
            "src": "en",
            "tgt": "en",
            "level": "char",
            "steps": 12,
            "batch_tokens": 200,
            "max_tokens": 6,
            "schedule": "trapezoid",
            "lr": 5e-3,
            "warmup": 4,
            "decay": 4,
            "vocab": 300,
            "eval_every": 6,
            "eval_sentences": 20,
            "average": 2,
            "model": model,
            **changes,
        }
        path = folder / f"toy-{next(number)}.json"
        path.write_text(json.dumps(values), encoding="utf-8")
        return TrainConfig(**values), path  # type: ignore[arg-type]

    return make
