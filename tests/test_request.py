"""What a translation is asked for is judged before the model runs, each refusal by name."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import torch

from translator import (
    InputError,
    Translator,
)
from translator.model import Gates
from translator.pipeline import Limits

TEXT = "Guten Morgen, ich renne!"


@pytest.mark.parametrize(
    "text", ["", " ", "\t\n", "\u200b", "\u3000", "\ufeff", "\u200b\u200d\u2060", "\u00ad", "\x00"]
)
def test_blank_is_nothing_to_translate_and_the_model_is_not_run(
    tiny: Translator, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(tiny.bundle.model, "encode", None)
    for work in (tiny.translate, tiny.stream, tiny.source_ids):
        with pytest.raises(InputError, match="nothing to translate"):
            work(text)


def test_the_limits_are_exact_and_say_the_size(tiny: Translator) -> None:
    limits = Limits(characters=20, source_tokens=10, target_tokens=12)
    strict = Translator(tiny.bundle, limits=limits)
    with pytest.raises(InputError, match=r"has 21 characters; at most 20 are allowed, so shorten it"):
        strict.translate("x" * 21)
    assert len(strict.source_ids("x" * 8)) == 10  # the space before the word and EOS are tokens too
    with pytest.raises(InputError, match=r"has 11 tokens; at most 10 are allowed, so shorten it"):
        strict.source_ids("x" * 9)
    with pytest.raises(InputError, match="max_length is 13; at most 12"):
        strict.translate("x", max_length=13)
    assert len(strict.translate("x", max_length=12).tgt) <= 12
    with pytest.raises(InputError, match="target has 13 tokens; at most 12"):
        strict.force("x", [200] * 13)
    with pytest.raises(InputError, match="the prefix has 13 tokens"):
        strict.translate("x", prefix=[200] * 13)
    with pytest.raises(InputError, match="normalised, has 21 characters"):
        strict.source_ids("…" * 7)


def test_over_long_text_is_refused_at_once(tiny: Translator) -> None:
    for text in ("字" * 1_000_000, "a\u0301" * 500_000, "x " * 500_000):
        started = time.thread_time()
        with pytest.raises(InputError, match="1,000,000 characters; at most 1,000"):
            tiny.stream(text)
        assert time.thread_time() - started < 0.05


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "guess"}, "method is 'guess'"),
        ({"method": ["beam"]}, "method is"),
        ({"beam": 0}, "beam is 0"),
        ({"beam": 1.5}, "beam is 1.5"),
        ({"beam": True}, "beam is True"),
        ({"top_p": float("nan")}, "top_p is nan"),
        ({"temperature": "hot"}, "temperature is 'hot'"),
        ({"temperature": 10**400}, "temperature is 1000"),
        ({"length_penalty": -(10**400)}, "length_penalty is -1000"),
        ({"max_length": 161}, "max_length is 161"),
        ({"max_length": 0}, "max_length is 0"),
        ({"colour": "red"}, "unknown setting 'colour'"),
        ({"deadline": -1}, "deadline is -1"),
        ({"deadline": "soon"}, "deadline is 'soon'"),
        ({"prefix": [1.5]}, "forced ids"),
        ({"prefix": [10**9]}, "id 1000000000"),
        ({"prefix": None}, "forced ids are None"),
        ({"prefix": 5}, "forced ids are 5"),
        ({"prefix": b"ab"}, "forced ids are b'ab'"),
        ({"prefix": [True]}, "forced ids"),
        ({"prefix": {5, 6}}, "forced ids"),
        ({"prefix": np.array(5)}, "forced ids"),
        ({"prefix": [0]}, "the prefix holds id 0"),
        ({"prefix": [2, 5]}, "the prefix goes on after"),
        ({"stop": 5}, "stop is 5"),
        ({"deadline": True}, "deadline is True"),
        ({"gates": {"cross": [[1, 0]]}}, "gates is dict; it must be what interventions.make_gates gives"),
        ({"gates": Gates(cross=torch.ones(2, 3))}, r"gates of cross are \(2, 3\); they must be \(2, 2\)"),
        ({"gates": Gates(encoder=torch.ones(1, 2, 2))}, r"gates of encoder are \(1, 2, 2\)"),
        ({"gates": Gates(decoder="off")}, "gates of decoder are str"),
        ({"gates": Gates(decoder=torch.full((2, 2), torch.nan))}, "gate of decoder is not a number"),
        ({"gates": Gates(decoder=torch.ones(2, 2, dtype=torch.complex64))}, "gate of decoder is not a number"),
    ],
)
def test_bad_settings_are_named_before_the_first_step(
    tiny: Translator, settings: dict[str, object], words: str
) -> None:
    for work in (tiny.translate, tiny.stream):
        with pytest.raises(InputError, match=words):
            work(TEXT, **settings)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (None, "forced ids are None"),
        (5, "forced ids are 5"),
        ({5: 6}, "forced ids"),
        ([], "the target is blank"),
        (" ", "the target is blank"),
        ([0, 2], "the target holds id 0"),
        ([10**9], "the target holds id 1000000000"),
        ([2, 5], "the target goes on after"),
    ],
)
def test_a_target_that_cannot_be_is_named(
    tiny: Translator, monkeypatch: pytest.MonkeyPatch, target: object, words: str
) -> None:
    monkeypatch.setattr(tiny.bundle.model, "encode", None)  # nothing runs before
    with pytest.raises(InputError, match=words):
        tiny.force(TEXT, target)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [torch.float64, torch.float16, torch.int64, torch.bool])
@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_gates_may_be_any_kind_of_number(tiny: Translator, method: str, kind: torch.dtype) -> None:
    one, other = (
        tiny.translate(TEXT, method=method, max_length=5, gates=Gates(cross=torch.zeros(2, 2, dtype=each)))
        for each in (torch.float32, kind)
    )
    np.testing.assert_array_equal(one.cross, other.cross)
    assert other.altered


def test_a_far_deadline_is_none(tiny: Translator) -> None:
    assert tiny.translate(TEXT, deadline=10**400, max_length=2).tgt


@pytest.mark.slow
def test_numbers_of_numpy_are_numbers(tiny: Translator, tmp_path: Path) -> None:
    want = tiny.translate(TEXT, method="sample", temperature=0.5, seed=3, max_length=9, prefix=[5, 6])
    given = {"temperature": np.float32(0.5), "seed": np.int64(3), "max_length": np.int32(9), "prefix": np.array([5, 6])}
    found = tiny.translate(TEXT, method="sample", **given)
    assert found.settings == want.settings and found.tgt == want.tgt
    found.save(tmp_path / "x.npz")
    assert tiny.force(TEXT, np.array([token.id for token in want.tgt])).tgt == want.tgt


@pytest.mark.parametrize("value", [0, -1, 1.5, "many", True])
@pytest.mark.parametrize("name", ["characters", "source_tokens", "target_tokens"])
def test_a_limit_is_a_number_above_0(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{name} is "):
        Limits(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("texts", ["one text", b"bytes", None, 5])
def test_a_batch_is_no_text(tiny: Translator, texts: object) -> None:
    with pytest.raises(InputError, match="must be a list of texts"):
        tiny.translate_batch(texts)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["stop", "refused"])
def test_a_batch_asks_functions_only(tiny: Translator, name: str) -> None:
    with pytest.raises(InputError, match=f"{name} is 5"):
        tiny.translate_batch([TEXT], **{name: 5})  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [None, 3, b"bytes", ["list"]])
def test_what_is_no_text_is_refused(tiny: Translator, text: object) -> None:
    with pytest.raises(InputError, match="must be a string"):
        tiny.translate(text)  # type: ignore[arg-type]
