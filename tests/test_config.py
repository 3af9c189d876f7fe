"""What defines a model, a decoding and a text: every field refuses what it cannot be, and says which it is."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from translator.config import DecodeConfig, ModelConfig, TextConfig, from_dict, to_json
from translator.errors import InputError
from translator.training.config import TrainConfig

NEEDED: dict[type, dict[str, Any]] = {
    ModelConfig: {"src_vocab": 50, "tgt_vocab": 60},
    DecodeConfig: {},
    TextConfig: {"language": "de"},
    TrainConfig: {"name": "n", "src": "de", "tgt": "en"},
}
EVERY = [(kind, field.name) for kind in NEEDED for field in fields(kind)]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_every_field_refuses_what_it_cannot_be(kind: type, name: str) -> None:
    for wrong in (object(), float("nan"), -1, b"x", "no such thing", [None]):
        if wrong == "no such thing" and name in ("name", "src", "tgt", "language", "base"):
            continue  # a name may be any, a checkpoint's too
        if wrong == -1 and name == "length_penalty":
            continue  # which prefers short ones
        with pytest.raises(InputError, match=name):
            kind(**{**NEEDED[kind], name: wrong})


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_numbers_of_numpy_become_pythons(kind: type, name: str) -> None:
    usual = kind(**NEEDED[kind])
    value = getattr(usual, name)
    if not isinstance(value, (int, float)):
        return
    found = kind(**{**NEEDED[kind], name: value if name == "early_stopping" else np.asarray(value)[()]})
    assert found == usual
    assert type(getattr(found, name)) is type(value)
    assert json.loads(to_json(found)) == json.loads(to_json(usual))


def test_lists_of_a_file_become_tuples() -> None:
    given = {"banned_ids": [3], "banned_sequences": [[4, np.int64(5)]], "masked_ids": [np.int32(7)]}
    found = from_dict(ModelConfig, {**NEEDED[ModelConfig], **given})
    assert (found.banned_ids, found.banned_sequences, found.masked_ids) == ((3,), ((4, 5),), (7,))
    assert from_dict(ModelConfig, json.loads(to_json(found))) == found
    assert from_dict(TrainConfig, {**NEEDED[TrainConfig], "betas": [0.9, 0.98]}) == TrainConfig(**NEEDED[TrainConfig])


def test_a_rate_of_0_never_learns() -> None:
    with pytest.raises(InputError, match="lr is 0"):
        TrainConfig(**NEEDED[TrainConfig], lr=0)
