"""The count of `benchmarks.words`: what is a word, in how many sentences it occurs, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from benchmarks.words import main
from translator.training.rare import meetings

SENTENCES = ["Das Haus, das Haus!", "Don’t go to the house.", "DON'T.", "Die Straße ist lang.", "ein Haustier"]


def test_a_word_is_counted_once_a_sentence_in_any_case() -> None:
    found = meetings(["haus", "don't", "strasse", "don", "Tier"], SENTENCES)
    assert found == {"haus": 1, "don't": 2, "strasse": 1, "don": 0, "Tier": 0}


def test_the_command_names_what_is_rare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words, table, text = tmp_path / "words.txt", tmp_path / "train.tsv.gz", tmp_path / "mono.txt"
    words.write_text("der\nhund\nkatze\nmaus\n", encoding="utf-8")
    table.write_bytes(gzip.compress(b"Der Hund.\tThe dog.\tx\nDer Hund und die Katze.\tThe dog, the cat.\tx\n"))
    text.write_text("Der Hund\n", encoding="utf-8")
    main([str(words), str(table), str(text), "--count", "3", "--least", "2"])
    said = capsys.readouterr().out
    assert "2 of 3 words occur in at least 2 sentences" in said and "1 do not, 0 of them in none" in said
    assert "katze 1" in said and "maus" not in said
    main([str(words), str(table), "--column", "1", "--count", "1", "--least", "1"])
    assert "0 of 1 words" in capsys.readouterr().out  # the English side has no "der"


@pytest.mark.parametrize(
    ("more", "words"), [(("--count", "9"), "2 words, not 9"), (("--count", "2", "--column", "3"), "has 1 columns")]
)
def test_what_cannot_be_counted_is_refused(
    more: tuple[str, ...], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "words.txt"
    path.write_text("der\nhund\n", encoding="utf-8")
    with pytest.raises(SystemExit) as refused:
        main([str(path), str(path), *more])
    assert refused.value.code == 2 and words in capsys.readouterr().err
