"""The measurement of `benchmarks.rare`: which words are asked about, and when one arrives."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.rare import Case, cases, main
from translator.training.data import Pair
from translator.training.dictionary import Dictionary

ENTRIES = [
    Pair("Jacht", "yacht", "x"),
    Pair("Jacht", "boat", "x"),
    Pair("Quark", "curd", "x"),
    Pair("Haus", "house", "x"),
]


def test_words_whose_reference_has_a_translation_are_asked_about() -> None:
    dictionary = Dictionary(ENTRIES, ("de", "en"), {})
    pairs = [
        Pair("Die Jacht ist alt.", "The ship is old.", "x"),
        Pair("Die Jacht ist alt.", "The Boat is old.", "x"),
        Pair("Der Quark ist da.", "The curds are here.", "x"),
        Pair("Das Haus.", "The house.", "x"),
    ]
    found = cases(["jacht", "quark", "fehlt"], pairs, dictionary)
    assert found == [Case("Die Jacht ist alt.", "jacht", frozenset({"yacht", "boat"}))]
    assert found[0].arrives("A YACHT!", "en") and not found[0].arrives("The boats are old.", "en")
    assert Case("", "", frozenset({"游艇"})).arrives("这艘游艇很旧", "zh")


def test_a_word_with_ss_is_asked_about() -> None:
    dictionary = Dictionary([Pair("Straße", "street", "x")], ("de", "en"), {})
    found = cases(["straße"], [Pair("Die Straße ist lang.", "The street is long.", "x")], dictionary)
    assert [case.word for case in found] == ["straße"]


@pytest.mark.slow
def test_the_command_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stand-in translates every word that it is said to know."""

    class Model:
        languages = ("de", "en")

        def translate_batch(self, texts: list[str], *, method: str) -> list[str]:
            return [text.replace("Jacht", "yacht") for text in texts]

    monkeypatch.setattr("translator.load", lambda name: Model())
    words, train, test = tmp_path / "words.txt", tmp_path / "train.tsv", tmp_path / "test.tsv"
    words.write_text("jacht\nquark\nhaus\n", encoding="utf-8")
    rare = [Pair("Sein Quark hier.", "His curd here.", "rare")] * 9
    often = [Pair("Das Haus hier.", "The house here.", "x")] * 9
    lines = [f"{pair.src}\t{pair.tgt}\t{pair.corpus}\n" for pair in [*ENTRIES, *rare, *often]]
    train.write_text("".join(lines), encoding="utf-8")
    held = [("Die Jacht.", "The yacht."), ("Der Quark.", "The curd."), ("Ein Haus.", "A house.")]
    test.write_text("".join(f"{src}\t{tgt}\tx\n" for src, tgt in held), encoding="utf-8")
    given = [str(words), str(test), "--data", str(tmp_path), "--model", "some", "--count", "3"]
    main(given)
    assert capsys.readouterr().out == "some: 1 of 2 arrive; of those with new pairs 0 of 1\n"
    with pytest.raises(SystemExit) as refused:
        main([*given, "--count", "9"])
    assert refused.value.code == 2 and "3 words, not 9" in capsys.readouterr().err
