"""Normalisation: its offsets, its fixed points, and NFC against the standard library."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translator.config import TextConfig
from translator.text import Normalised, is_blank, normalise, normalise_text
from translator.text.normalise import _apply, _compose, _move

CONFIGS = [TextConfig(language) for language in ("en", "de", "zh", "ja")]
CONFIGS += [TextConfig("en", normalise="none"), TextConfig("en", lowercase=True), TextConfig("zh", lowercase=True)]
CONFIGS += [TextConfig("en", normalise="none", lowercase=True)]
EN, ZH = CONFIGS[0], CONFIGS[2]


@pytest.mark.slow
@given(st.data(), st.sampled_from(CONFIGS))
def test_doing_it_twice_changes_nothing(odd_texts, data, config):
    text = data.draw(odd_texts)
    once = normalise(text, config).text
    assert normalise(once, config).text == once


@pytest.mark.slow
@given(st.text("你國。，“”,.!;: a1Ａ", max_size=8))
def test_doing_it_twice_changes_no_marks_beside_chinese(text):
    once = normalise_text(text, ZH)
    assert normalise_text(once, ZH) == once


@pytest.mark.slow
@given(st.data(), st.sampled_from(CONFIGS))
def test_every_character_keeps_a_span_in_order(odd_texts, data, config):
    text = data.draw(odd_texts)
    found = normalise(text, config)
    assert found.text == normalise_text(text, config)
    assert len(found.spans) == len(found.text)
    assert all(0 <= start < end <= len(text) for start, end in found.spans)
    assert found.spans == sorted(found.spans)


@pytest.mark.slow
@given(st.data(), st.sampled_from(CONFIGS))
def test_the_result_is_clean(odd_texts, data, config):
    text = data.draw(odd_texts)
    clean = normalise_text(text, config)
    clean.encode()
    if config.normalise == "corpus":
        assert clean == clean.strip() and not re.search(r"\s\s|[^\S ]", clean)
        assert unicodedata.is_normalized("NFC", clean)
        assert not any(unicodedata.category(char) == "Cc" for char in clean)


@pytest.mark.slow
@given(st.data())
def test_chunked_nfc_equals_unicodedata(odd_texts, data):
    text = data.draw(odd_texts)
    edits = list(_compose(text))
    assert _apply(text, edits) == unicodedata.normalize("NFC", text)
    assert len(_move([(i, i + 1) for i in range(len(text))], edits)) == len(unicodedata.normalize("NFC", text))


@pytest.mark.slow
def test_nfc_of_every_pair_that_composes():
    for code in range(0x110000):
        parts = unicodedata.normalize("NFD", chr(code)) if not 0xD800 <= code < 0xE000 else ""
        if len(parts) > 1:
            text = "x" + parts + "y" + parts
            assert _apply(text, list(_compose(text))) == unicodedata.normalize("NFC", text)


@pytest.mark.slow
@given(st.data())
def test_none_only_replaces_surrogates(odd_texts, data):
    text = data.draw(odd_texts)
    assert normalise_text(text, CONFIGS[4]) == re.sub("[\ud800-\udfff]", "\ufffd", text)


@pytest.mark.parametrize(
    ("typed", "want"),
    [
        ("“It’s”\u00a0 «fine» –  ok…\u200b", '"It\'s" "fine" - ok...'),
        ("\ufeffe\u0301 soft\u00adhyphen\u202e", "é softhyphen"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
    ],
)
def test_english_as_in_the_corpora(typed, want):
    assert normalise_text(typed, EN) == want


@pytest.mark.parametrize(
    ("typed", "want"),
    [
        ("NIEMAND HAT MICH GEFRAGT!", "niemand hat mich gefragt!"),
        ("MÜLLERSTRASSE 7, ÄGYPTEN", "müllerstrasse 7, ägypten"),
        ("I'M LATE", "i'm late"),
        ("NATO", "NATO"),
        ("UN & EU", "UN & EU"),
        ("NIEMAND hat mich gefragt", "NIEMAND hat mich gefragt"),
        ("ǅABCDE", "ǅABCDE"),
        ("İSTANBUL", "i̇stanbul"),
        ("12345", "12345"),
    ],
)
def test_a_text_all_in_capitals_is_read_in_small_letters(typed, want):
    found = normalise(typed, EN)
    assert found.text == want
    for char, (start, end) in zip(found.text, found.spans, strict=True):
        assert char in typed[start:end].lower() + typed[start:end]
    assert normalise_text(typed, CONFIGS[4]) == typed


@pytest.mark.parametrize(
    ("typed", "want"),
    [
        ("臺灣的「軟體」", "台湾的“软体”"),
        ("你好, 世界!", "你好，世界！"),
        ("他 用 iPhone１２ 看書.", "他用iPhone12看书。"),
        ("乾隆", "乾隆"),
        ("他说 3.5 和1,000", "他说3.5和1,000"),
        ("1.安装", "1.安装"),
        ("和.local文件", "和.local文件"),
        ("等等...", "等等……"),
        ("Hello, world. OK", "Hello, world. OK"),
        ("中, a", "中，a"),
        ("乾 隆", "乾隆"),
        ("薴", "苎"),
        ("Ａ\u0301", "Á"),
        ("你好.!a", "你好。！a"),
        ("你好!.a", "你好！.a"),
        ("你好..a", "你好..a"),
    ],
)
def test_chinese_as_in_the_corpora(typed, want):
    assert normalise_text(typed, ZH) == want
    assert normalise_text(want, ZH) == want


def test_spans_point_at_what_was_typed():
    typed = " Cafe\u0301 …\u200b臺"
    found = normalise(typed, EN)
    assert found.text == "Café ...臺"
    assert [typed[start:end] for start, end in found.spans] == ["C", "a", "f", "e\u0301", " ", "…", "…", "…", "臺"]
    assert normalise("好?!", ZH) == Normalised("好？！", [(0, 1), (1, 2), (2, 3)])
    assert normalise("İx", TextConfig("en", lowercase=True)).spans == [(0, 1), (0, 1), (1, 2)]


def test_lowering_comes_before_composing():
    """H with a line below has no character of its own, h has."""
    assert normalise_text("H\u0331", TextConfig("en", lowercase=True)) == "\u1e96"


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\u200b", "\ufeff", "\u3000", "\x00\x1b", "\u00ad \u2060", "\u200d"])
def test_blank(text):
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", ".", " 中 ", "\u200b😀", "\ud800", "▁"])
def test_not_blank(text):
    assert not is_blank(text)


@pytest.mark.parametrize("new", ["计算机", "甲计算机", "计算机乙", "x", "电x脑y", "电", "脑"])
def test_a_conversion_that_changes_the_length_keeps_its_place(monkeypatch, new):
    class Converter:
        def convert(self, text: str) -> str:
            return text.replace("电脑", new) if "电脑" in text else text

    monkeypatch.setattr(sys.modules["translator.text.normalise"], "_simplifier", Converter)
    found = normalise("我的电脑。", ZH)
    assert found.text == normalise_text("我的电脑。", ZH) == f"我的{new}。"
    assert len(found.spans) == len(found.text)
    assert found.spans[0] == (0, 1) and found.spans[-1] == (4, 5)
