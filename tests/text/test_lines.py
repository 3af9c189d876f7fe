"""A line feed ends a line and nothing else does, so that parallel lines stay parallel."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from translator.__main__ import _lines
from translator.analysis.profile import read_pairs
from translator.errors import InputError
from translator.text.lines import read_lines
from translator.training.data import Pair
from translator.training.data import read_pairs as read_corpus

WITHIN = "\u0085\u2028\u2029\x0b\x0c\x1c\x1d\x1e\r"


@pytest.mark.parametrize("name", ["x.txt", "x.txt.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_every_character_that_python_cuts_at_stays_within_its_line(
    tmp_path: Path, name: str, end: str, last: bool
) -> None:
    lines = [f"a{character}b" for character in WITHIN] + ["", "c"]
    opener = gzip.open if name.endswith(".gz") else open
    with opener(tmp_path / name, "wb") as file:
        file.write((end.join(lines) + (end if last else "")).encode())
    assert list(read_lines(tmp_path / name)) == lines


@pytest.mark.parametrize("character", WITHIN)
def test_a_pair_stays_a_pair(tmp_path: Path, character: str) -> None:
    """In corpora to learn from and to score on, for a profile, and for a gallery."""
    source, path = f"Ja,{character}doch.", tmp_path / "x.tsv"
    path.write_bytes(f"{source}\tYes.\tcorpus\nNein.\tNo.\tcorpus\n".encode())
    assert read_corpus(path) == [Pair(source, "Yes.", "corpus"), Pair("Nein.", "No.", "corpus")]
    assert read_pairs(path) == [(source, "Yes."), ("Nein.", "No.")]
    path.write_bytes(f"{source}\n\nNein.".encode())
    assert _lines(path) == [source, "Nein."]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none", None, "No such file"),
        ("latin.txt", b"gut\n\xe4\n", "line 2 is not UTF-8"),
        ("plain.gz", b"no gzip\n", "cannot be read"),
        ("cut.gz", gzip.compress(b"abc\n" * 999, mtime=0)[:-9], "cannot be read"),
        ("torn.gz", gzip.compress(bytes(range(250)) * 99, mtime=0)[:40] + b"\xff" * 99, "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"{name} cannot be read: .*|{words}") as refused:
        list(read_lines(tmp_path / name))
    assert words in str(refused.value)
