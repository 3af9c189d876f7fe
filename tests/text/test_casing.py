"""Capitals for what was typed without: `translator.text.casing`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import translator
from translator.config import TextConfig
from translator.errors import InputError
from translator.text import SubwordTokenizer, VocabularyTokenizer
from translator.text import casing as casing_module
from translator.text.casing import (
    CasedTokenizer,
    as_read,
    learn_casing,
    main,
    restore_casing,
    shipped_casing,
    with_casing,
)

GERMAN = {"zug": "Zug", "münchen": "München", "usa": "USA", "anna": "Anna"}


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("wann fährt der zug nach münchen?", "Wann fährt der Zug nach München?"),
        ("Wann fährt der zug nach münchen?", "Wann fährt der Zug nach München?"),
        ("DER ZUG NACH MÜNCHEN", "Der Zug nach München"),
        ("zug", "Zug"),
        ("das ist gut. der zug kommt!  ist anna da?", "Das ist gut. Der Zug kommt!  Ist Anna da?"),
        ("z. b. der zug", "Z. b. der Zug"),
        ("der zug, ca. zwei stunden", "Der Zug, ca. zwei stunden"),
        ("3 züge und ein zug", "3 züge und ein Zug"),
        ('"der zug ist da"', '"Der Zug ist da"'),
        ("anna's zug", "Anna's Zug"),
        ("ob's zug'anna gibt", "Ob's Zug'anna gibt"),
        ("zug2 zugabe vorzug", "Zug2 zugabe vorzug"),
        ("iß", "Iß"),
        ("ŉzug", "ŉzug"),
        ("", ""),
        ("今天 123 !", "今天 123 !"),
        ("привет zug", "привет Zug"),
    ],
)
def test_words_have_their_capitals_back(typed: str, read: str) -> None:
    assert restore_casing(typed, GERMAN) == read


@pytest.mark.parametrize(
    "typed",
    ["Der Mann im zug", "der zug nach Bonn", "NATO", "iPhone und zug", "Anna fährt Zug, anna fährt zug", "der eZug"],
)
def test_a_text_with_a_capital_of_its_own_is_left_alone(typed: str) -> None:
    assert restore_casing(typed, GERMAN) == typed


def test_a_language_without_words_is_left_alone() -> None:
    assert shipped_casing("zh") == {}
    assert shipped_casing("../de") == {}
    assert restore_casing("le train", {}) == "le train"


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "en"])
def test_what_is_read_is_as_long_as_what_was_typed_and_read_alike_again(language: str) -> None:
    written, draw = shipped_casing(language), random.Random(3)
    letters = "abzuigeöäßİŉǅĀñ '’.!?,-\n\u00a01"
    words = list(written)
    for _ in range(3000):
        parts = [
            draw.choice(words) if draw.random() < 0.5 else "".join(draw.choices(letters, k=3))
            for _ in range(draw.randint(1, 6))
        ]
        text = draw.choice((" ", ". ", "'", "")).join(parts)
        text = draw.choice((str, str.upper, str.capitalize))(text)
        read = restore_casing(text, written)
        assert len(read) == len(text)
        assert read.casefold() == text.casefold()
        assert restore_casing(read, written) == read


def test_learnt_is_what_is_mostly_written_so_where_no_sentence_begins() -> None:
    text = [
        "Der Zug kommt.",
        "Ein Zug, ein Zug.",
        "Heute Essen, morgen essen.",
        "Wir essen. Essen hilft Essen.",
        "ZUG ZUG",
    ]
    text += [
        "Die USA und die USA",
        "Ein Plan b, Plan B, kein plan B",
        "Er sagt: Komm, komm",
        "Wenn I was",
        "Und I am",
        "ein Tag, ein Tag",
        "TAG, TAG",
    ]
    assert learn_casing(text) == ["I", "USA", "Zug"]


def test_the_command_writes_what_is_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(casing_module, "FOLDER", tmp_path / "casing")
    table = tmp_path / "train.tsv"
    table.write_text("Der Zug.\tThe Train Stop\tx\nEin Zug.\tA Train Stop\tx\n", encoding="utf-8")
    main(["de", str(table)])
    assert (tmp_path / "casing" / "de.txt").read_text(encoding="utf-8") == "Zug\n"
    table.write_text("ein tag\tA Day\tx\n", encoding="utf-8")
    with pytest.raises(InputError, match="no word is written with capitals"):
        main(["de", str(table)])
    with pytest.raises(InputError, match="absent"):
        main(["de", str(tmp_path / "absent.tsv")])


def test_only_the_source_of_normalised_text_with_capitals_is_read_so(tmp_path: Path) -> None:
    text = ["der Zug kommt"] * 5
    subword = SubwordTokenizer.train(text, TextConfig("de"), 300)
    cased = with_casing(subword)
    assert isinstance(cased, CasedTokenizer)
    assert cased.ids("der zug kommt") == subword.ids("Der Zug kommt") != subword.ids("der zug kommt")
    assert cased.ids_batch(["der zug"]) == subword.ids_batch(["der zug"]), "training reads what is written"
    assert cased.encode("der zug").tokens == subword.encode("Der Zug").tokens
    assert cased.encode("der zug").normalised == "Der Zug"
    assert as_read(cased, "zug") == "Zug"
    assert as_read(subword, "zug") == "zug"
    assert cased.save(tmp_path, "cased").read_bytes() == subword.save(tmp_path, "plain").read_bytes()
    for other in (
        SubwordTokenizer.train(text, TextConfig("de", lowercase=True), 300),
        SubwordTokenizer.train(text, TextConfig("de", normalise="none"), 300),
        VocabularyTokenizer.train(text, TextConfig("de", level="word"), 50),
    ):
        assert with_casing(other) is other


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "typed", "written"),
    [
        ("de-en", "wann fährt der nächste zug nach münchen?", "Wann fährt der nächste Zug nach München?"),
        ("de-en", "ICH TRINKE JEDEN TAG KAFFEE.", "Ich trinke jeden Tag Kaffee."),
        ("en-zh", "i met anna in london on monday.", "I met Anna in London on Monday."),
    ],
)
def test_a_shipped_checkpoint_reads_it_as_it_is_written(name: str, typed: str, written: str) -> None:
    model = translator.load(name, device="cpu")
    assert model.source_ids(typed) == model.source_ids(written)
    assert model.bundle.tgt.__class__ is SubwordTokenizer
    trace = model.translate(typed, method="greedy", max_length=4)
    assert trace.source == typed
