"""Rows 1, 3, 4 and 5: any text is translated or refused with a sentence, and what is answered can be written."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from translator.text import normalise_text
from translator.ui.models import DIRECTIONS, Models
from translator.ui.session import translate_stream

ANY = st.text(st.characters(exclude_categories=()), max_size=60)
MIXED = st.lists(
    st.sampled_from(["Ich", "renne", "\ud800", "\udfff", "\u202e", "\u2067", "\u200d", "\u200b", "👩\u200d🚀", "\x00",
                     "\u0301" * 9, "שלום", "नमस्ते", "ﷺ", "\ufeff", "a\u0308", "\U000e0061",
                     "‮", "</s>", "<unk>", "\r\n"]),
    max_size=12,
).map("".join)  # fmt: skip
SCRIPTS = (
    "Hello", "Привет", "Γειά", "שלום", "مرحبا", "नमस्ते", "வணக்கம்", "నమస్తే", "ಹಲೋ", "നമസ്കാരം", "ආයුබෝවන්", "สวัสดี",
    "ສະບາຍດີ", "བཀྲ་ཤིས", "မင်္ဂလာပါ", "გამარჯობა", "Բարեւ", "ሰላም", "ខ្មែរ", "ᠮᠣᠩᠭᠣᠯ", "ᏣᎳᎩ", "ᐃᓄᒃᑎᑐᑦ", "你好", "こんにちは",
    "안녕하세요", "ꦲꦤꦕꦫꦏ", "𐌲𐌿𐍄𐌹𐍃𐌺", "𓀀𓁐", "𝔉𝔯𝔞𝔨𝔱𝔲𝔯", "👩🏽‍🚀🏳️‍🌈",
)  # fmt: skip


@pytest.fixture(scope="module", params=DIRECTIONS)
def shipped(request: pytest.FixtureRequest) -> Iterator[Models]:
    """One of the checkpoints that the page comes with, under the name that `last` asks for."""
    made = Models({"de-en": Path(__file__).parents[2] / "checkpoints" / request.param}, device="cpu")
    made.get("de-en")
    yield made
    made.gate.close()


@pytest.fixture(scope="module")
def models(tiny_checkpoint: Path) -> Iterator[Models]:
    made = Models({"de-en": tiny_checkpoint}, device="cpu")
    made.get("de-en")  # loading counts towards nobody's deadline
    yield made
    made.gate.close()


def last(models: Models, text: object) -> dict:
    """The page's last message, after everything on the way to it was written as Gradio writes it."""
    for message in translate_stream(models, text, "de-en", {"max_length": 3}):
        orjson.dumps(message)
        json.dumps(message, ensure_ascii=False).encode("utf-8")
    return message


def answered(models: Models, text: str) -> None:
    said = last(models, text)
    assert said["kind"] == "trace" or (said["kind"] == "error" and len(said["text"]) > 10)


def read(models: Models, text: str) -> str:
    """What the tokens spell that the encoder read for an answer."""
    said = last(models, text)
    assert said["kind"] == "trace", said
    return models.get("de-en").bundle.src.decode([token["i"] for token in said["src"]])


def normalised(models: Models, text: str) -> str:
    return normalise_text(text, models.get("de-en").bundle.src.config)


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_has_an_answer(models: Models, script: str) -> None:
    assert read(models, script) == normalised(models, script)


@pytest.mark.slow
def test_every_script_has_an_answer_from_either_pair(shipped: Models) -> None:
    for script in SCRIPTS:
        assert read(shipped, script) == normalised(shipped, script)


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\t", "\u3000", "\u200b", "\ufeff", "\u200b\u3000\u200d\u2060", "\u00a0", "\u00ad", "\x00\x1f"],
)
def test_blank_is_nothing_to_translate(models: Models, text: str) -> None:
    assert "nothing to translate" in last(models, text)["text"]


@pytest.mark.parametrize("text", ["a" * 1001, "\u0301" * 50_000, "学" * 40_000, "ab " * 20_000])
def test_over_long_text_is_refused_at_once(models: Models, text: str) -> None:
    models.get("de-en")
    started = time.process_time()
    said = last(models, text)
    assert time.process_time() - started < 0.05
    assert f"{len(text):,}" in said["text"] and "1,000" in said["text"]


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ANY | MIXED)
def test_any_unicode_is_answered(models: Models, text: str) -> None:
    answered(models, text)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@settings(max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(ANY | MIXED)
def test_any_unicode_is_answered_ten_thousand_times(models: Models, text: str) -> None:
    answered(models, text)


def test_a_missing_checkpoint_is_said_and_the_other_pair_works(tiny_checkpoint: Path, tmp_path: Path) -> None:
    models = Models({"en-zh": tmp_path / "nowhere", "de-en": tiny_checkpoint}, device="cpu")
    models.warm().join()
    (said,) = translate_stream(models, "Hello.", "en-zh", {})
    assert said["kind"] == "error" and "en-zh is not available here" in said["text"]
    assert last(models, "Ich renne.")["kind"] == "trace"
    models.gate.close()
