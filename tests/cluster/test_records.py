"""Shards of a corpus against the file read in one go, whatever its format."""

from __future__ import annotations

import gzip
import json
from itertools import groupby
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from translator.cluster.records import Corpus, Shard, cut, digest_of, open_records, read
from translator.errors import InputError
from translator.text.lines import read_lines

LINE = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=12)
TEXT = "Ein Satz.\tA sentence.\nZwei\u2028Zeilen?\r\n\n\tleer\nlang " + "x" * 300 + "\nohne Ende"


def rows(corpus: Corpus, shards: list[Shard]) -> list[tuple[str, ...] | None]:
    """Every row, read shard by shard from the last to the first, in the order of the file."""
    records = open_records(corpus)
    found = {shard.number: read(records, shard, corpus.path) for shard in reversed(shards)}
    return [row for number in sorted(found) for row in found[number]]


@pytest.mark.slow
def test_lines_are_those_of_the_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("lines")

    @settings(deadline=None)
    @given(
        lines=st.lists(LINE, min_size=1, max_size=20), size=st.integers(1, 7), zipped=st.booleans(), end=st.booleans()
    )
    def check(lines: list[str], size: int, zipped: bool, end: bool) -> None:
        data = ("\n".join(lines) + "\n" * end).encode()
        path = folder / ("x.tsv.gz" if zipped else "x.tsv")
        path.write_bytes(gzip.compress(data) if zipped else data)
        corpus = Corpus(str(path))
        shards = cut(corpus, size)
        assert rows(corpus, shards) == [tuple(line.split("\t")) for line in read_lines(path)]
        assert all(shard.rows == size for shard in shards[:-1])
        assert [shard.first for shard in shards] == list(range(0, sum(each.rows for each in shards), size))

    check()


@pytest.mark.parametrize("name", ["x.txt", "x.txt.gz"])
def test_columns_and_what_is_no_text(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    data = TEXT.encode() + b"\n\xff\xfe\tB\n" + b"y" * 2**21
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    found = rows(Corpus(str(path)), cut(Corpus(str(path)), 2))
    assert found[:3] == [("Ein Satz.", "A sentence."), ("Zwei\u2028Zeilen?",), ("",)]
    assert found[3] == ("", "leer") and found[-2] is None and found[-1] == ("y" * 2**20,)
    second = Corpus(str(path), ("2", "1"))
    assert rows(second, cut(second, 3))[:3] == [("A sentence.", "Ein Satz."), ("", "Zwei\u2028Zeilen?"), ("", "")]
    assert rows(second, cut(second, 3, limit=2)) == [("A sentence.", "Ein Satz."), ("", "Zwei\u2028Zeilen?")]


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_parquet_is_what_pyarrow_reads(size: int, tmp_path: Path) -> None:
    table = pyarrow.table({"id": range(20), "text": [f"Satz\t{n}\n" if n % 4 else None for n in range(20)]})
    path = tmp_path / "x.parquet"
    parquet.write_table(table, path, row_group_size=6)
    corpus = Corpus(str(path), ("text", "id"))
    want = [(row["text"] or "", str(row["id"])) for row in table.to_pylist()]
    assert rows(corpus, cut(corpus, size)) == want
    assert rows(corpus, cut(corpus, size, limit=9)) == want[:9]


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_neighbours_stay_together(size: int, tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    sources = [name for name, times in zip("abcab", (1, 5, 2, 1, 3), strict=True) for _ in range(times)]
    path.write_text("".join(f"{source}\t{n}\n" for n, source in enumerate(sources)))
    corpus = Corpus(str(path))
    shards = cut(corpus, size, whole=True)
    records = open_records(corpus)
    parts = [[row[0] for row in read(records, shard, "x") if row] for shard in shards]
    assert [source for part in parts for source in part] == sources
    groups = [(key, len(list(each))) for key, each in groupby(sources)]
    assert [(key, len(list(each))) for part in parts for key, each in groupby(part)] == groups
    assert all(len(part) >= size for part in parts[:-1])


def test_a_file_that_changed_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("eins\nzwei\ndrei\n")
    corpus = Corpus(str(path))
    shards = cut(corpus, 2)
    before = digest_of(shards)
    path.write_text("eins\nzwei\ndrex\n")
    assert digest_of(cut(corpus, 2)) != before
    records = open_records(corpus)
    assert read(records, shards[0], "x") == [("eins",), ("zwei",)]
    with pytest.raises(InputError, match=r"x\.txt is not the file that the work began with"):
        read(records, shards[1], "x.txt")


@pytest.mark.parametrize(
    ("name", "columns", "said"),
    [
        ("none.txt", (), "cannot be read"),
        ("x.txt", ("0",), "columns has '0'"),
        ("x.txt", ("text",), "numbers from 1"),
        ("x.parquet", ("text",), "is not a Parquet file"),
        ("x.txt.gz", (), "cannot be read"),
        ("good.parquet", ("words",), "has no column 'words'; its columns are text"),
    ],
)
def test_what_cannot_be_read_is_said(name: str, columns: tuple[str, ...], said: str, tmp_path: Path) -> None:
    for each in ("x.txt", "x.parquet", "x.txt.gz"):
        (tmp_path / each).write_text("no such thing\n")
    parquet.write_table(pyarrow.table({"text": ["a"]}), tmp_path / "good.parquet")
    with pytest.raises(InputError, match=said):
        cut(Corpus(str(tmp_path / name), columns), 2)


def test_pairs_of_a_gold_set(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    pairs = [{"src": f"a {n}", "tgt": f"b {n}", "links": "0-0"} for n in range(5)]
    path.write_text(json.dumps({"pairs": pairs}))
    corpus = Corpus(str(path))
    assert rows(corpus, cut(corpus, 2)) == [(f"a {n}", f"b {n}", "0-0") for n in range(5)]
