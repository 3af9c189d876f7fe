"""What stands below a Chinese translation for who does not read it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from translator.analysis.glossary import make_glossary, shipped_glossary
from translator.errors import InputError
from translator.trace import CheckpointId, Trace
from translator.ui.gloss import gloss


@pytest.fixture
def chinese(make_trace: Callable[..., Trace]) -> Trace:
    target = [("我", 0), ("们", 0), ("去", 1), ("了", 2), ("银行", 3), ("，", 4), ("Tom", 5), ("不", 6), ("行", 6)]
    trace = make_trace(3, target=target)
    return dataclasses.replace(trace, checkpoint=CheckpointId("toy", "0" * 64, "en", "zh"))


@pytest.mark.slow
def test_every_word_has_its_tokens_its_pinyin_and_its_meaning(chinese: Trace) -> None:
    words = gloss(chinese)
    assert words is not None
    told = [(each["t"], each["u"], each["p"]) for each in words]
    assert told == [
        (0, 1, "wǒmen"), (2, 2, "qù"), (3, 3, "le"), (4, 4, "yínháng"), (6, 6, ""), (7, 8, "bùxíng"),
    ]  # fmt: skip
    assert [each["d"] for each in words][0::3] == ["we", "bank"]
    assert words[4]["s"].strip() == "Tom" and words[4]["d"] in ("", "tom")


def test_only_chinese_has_one(make_trace: Callable[..., Trace]) -> None:
    assert gloss(make_trace(3)) is None


@pytest.mark.slow
def test_a_glossary_has_each_words_surest_meaning_and_leaves_out_what_is_rare() -> None:
    pairs = [("a dog", "狗"), ("the dog runs", "狗 跑"), ("a cat", "猫"), ("the cat sleeps", "猫 睡"), ("tea", "茶")]
    found = make_glossary(pairs * 5 + [("owl", "鸮")], ("en", "zh"))
    assert {word: found[word] for word in ("狗", "猫", "茶")} == {"狗": "dog", "猫": "cat", "茶": "tea"}
    assert "鸮" not in found
    with pytest.raises(InputError, match="no sentence pair"):
        make_glossary([], ("en", "zh"))


def test_the_shipped_one_knows_everyday_words() -> None:
    shipped = shipped_glossary(("en", "zh"))
    assert {each: shipped[each] for each in ("医院", "父亲", "银行", "昨天", "因为")} == {
        "医院": "hospital", "父亲": "father", "银行": "bank", "昨天": "yesterday", "因为": "because",
    }  # fmt: skip
    assert shipped_glossary(("eo", "en")) == {}
