"""What is said of a text before it is translated is what its translation will say."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from translator import load
from translator.config import TextConfig
from translator.errors import InputError
from translator.pipeline import Limits, Translator
from translator.text import Encoding, Tokenizer
from translator.text.normalise import normalise
from translator.ui.models import Models
from translator.ui.session import _changed, health, trace_health, translate_stream

TEXTS = ["ein Hund", "…" * 9, "x" * 9, "x " * 12, "x" * 31, "\u200b", "\x00"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("padded", [None, 8])
def test_the_problem_of_a_text_is_its_refusal(
    tiny: Translator, checkpoint_maker: ModuleType, text: str, padded: int | None
) -> None:
    bundle = tiny.bundle
    model = checkpoint_maker.tiny_model(len(bundle.src), len(bundle.tgt), padded_length=padded)
    short = Translator(replace(bundle, model=model), limits=Limits(characters=20, source_tokens=10))
    said = health(short, text)
    if said["problem"]:
        with pytest.raises(InputError) as refused:
            short.source_ids(text)
        assert said["problem"] == str(refused.value)
    else:
        assert said["tokens"] == len(short.source_ids(text)) <= said["limit"]
    assert said["limit"] == (padded or 10)


def test_no_text_is_no_problem(tiny: Translator) -> None:
    assert health(tiny, " \n")["problem"] == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "words", "bytes_"),
    [
        ("en-zh", "I think we should talk about this now.", 8, 0),
        ("en-zh", "“Well-known” — he said: 3.5 %!", 4, 0),
        ("de-en", "Das ist 中 …", 3, 3),
        ("de-en", "!?", 0, 0),
    ],
)
def test_words_are_no_punctuation_and_bytes_are_told(name: str, text: str, words: int, bytes_: int) -> None:
    facts = health(load(name, device="cpu"), text)
    assert (facts["words"], facts["bytes"]) == (words, bytes_)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Das Haus ist alt.", 0),
        ("Das  Haus", 1),
        (" Das Haus ", 2),
        ("„Das“ Haus", 2),
        ("e\u0301", 2),
        ("ﬁ", 0),
        ("a\u200bb", 1),
        ("\u3000", 1),
    ],
)
def test_changes_are_counted_by_character(text: str, changed: int) -> None:
    assert _changed(text, normalise(text, TextConfig("de"))) == changed


def test_changes_of_a_text_that_alternates_are_counted_at_once(tiny: Translator) -> None:
    text = "1\u3000" * 500
    began = time.thread_time()
    facts = health(tiny, text)
    assert time.thread_time() - began < 1
    assert facts["changed"] == 500


@pytest.mark.parametrize("text", ["Das Haus ist groß.", "京都 😀", "Ich  renne\tin den Park."])
def test_the_health_of_a_trace_is_that_of_its_text_without_tokenising_it(
    tiny: Translator, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    trace, want = tiny.translate(text, max_length=3), health(tiny, text)
    for name in ("encode", "ids"):
        monkeypatch.setattr(type(tiny.bundle.src), name, None)  # would fail
    assert trace_health(tiny, trace) == want


def test_the_health_of_a_trace_leaves_out_the_padding_that_was_read(
    checkpoint_maker: ModuleType, tiny: Translator
) -> None:
    model = checkpoint_maker.tiny_model(len(tiny.bundle.src), len(tiny.bundle.tgt), padded_length=24)
    fixed = Translator(replace(tiny.bundle, model=model))
    trace = fixed.translate("Ich renne.", max_length=3)
    assert trace_health(fixed, trace) == health(fixed, "Ich renne.")


@pytest.mark.slow
def test_a_text_is_tokenised_once_a_translation(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models, count = Models({"de-en": tiny_checkpoint}, device="cpu"), 0
    src = models.get("de-en").bundle.src
    encode = type(src).encode

    def counted(tokenizer: Tokenizer, text: str) -> Encoding:
        nonlocal count
        count += tokenizer is src
        return encode(tokenizer, text)

    monkeypatch.setattr(type(src), "encode", counted)
    monkeypatch.setattr(src, "ids", None)  # would fail
    messages = list(translate_stream(models, "Ich renne in den Park.", "de-en", {}))
    assert [message["kind"] for message in messages][-1] == "trace" and count == 1
