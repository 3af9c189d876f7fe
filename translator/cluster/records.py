"""The records of a corpus file, and the shards that it is worked through in: lines, Parquet rows, pairs of a gold set.

A shard says where its records lie, so that whoever can read the file reads them there; no text travels. Its digest
shows whether the file that is read is the one that was cut into shards.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any, Protocol

from translator.errors import InputError

Fields = tuple[str, ...]
"""The columns of a record."""
LONGEST = 2**20
"""Bytes of a line that are looked at: no text may have so many."""
BATCH = 1024
"""Rows of a Parquet file that are decoded at once."""


@dataclass(frozen=True)
class Corpus:
    """A file and which of its columns are read: names of Parquet's, numbers from 1 of lines; () for all of a line."""

    path: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shard:
    """Records `first` to `first + rows`, from 0, of a file; `start` and `stop` are its format's own places."""

    number: int
    first: int
    rows: int
    start: int
    stop: int
    digest: str


class Records(Protocol):
    """One format."""

    def all(self) -> Iterator[tuple[bytes, int]]:
        """Every record, with the length that it takes of the format's places."""
        ...

    def between(self, start: int, stop: int) -> Iterator[bytes]:
        """The records from place `start` to before `stop`."""
        ...

    def fields(self, record: bytes) -> Fields | None:
        """The columns of a record; None if it is not UTF-8."""
        ...


def open_records(corpus: Corpus) -> Records:
    """The records of a file, whose format its name tells: .parquet, .json (a gold set), else lines, gzipped or not.

    Raises:
        InputError: a column is none that the file can have.
    """
    suffix = Path(corpus.path).suffix
    if suffix == ".parquet":
        return ParquetRows(corpus)
    return GoldPairs(corpus) if suffix == ".json" else Lines(corpus)


class Lines:
    """Lines of a text file, split at line feeds only; places are bytes, unzipped."""

    def __init__(self, corpus: Corpus) -> None:
        self.path = Path(corpus.path)
        wrong = [each for each in corpus.columns if not (each.isascii() and each.isdigit() and 1 <= int(each) <= 999)]
        if wrong:
            raise InputError(f"columns has {wrong[0]!r:.80}; columns of lines are numbers from 1, by tabs")
        self.columns = [int(each) - 1 for each in corpus.columns]

    @cached_property
    def _file(self) -> gzip.GzipFile | IO[bytes]:
        """Kept open: reading on from where a shard ended costs nothing, not even in a gzipped file."""
        return gzip.open(self.path, "rb") if self.path.suffix == ".gz" else open(self.path, "rb")

    def all(self) -> Iterator[tuple[bytes, int]]:
        """Every line, with its bytes."""
        self._file.seek(0)
        for line in self._file:
            yield line, len(line)

    def between(self, start: int, stop: int) -> Iterator[bytes]:
        """The lines from byte `start` to before `stop`."""
        self._file.seek(start)
        while start < stop and (line := self._file.readline()):
            start += len(line)
            yield line

    def fields(self, record: bytes) -> Fields | None:
        """What stands between the tabs of a line; "" for a column that it does not have. One far too long is cut."""
        try:
            text = record[:LONGEST].decode("utf-8", errors="replace" if len(record) > LONGEST else "strict")
        except UnicodeDecodeError:
            return None
        found = text.removesuffix("\n").removesuffix("\r").split("\t")
        return tuple(found[n] if n < len(found) else "" for n in self.columns) if self.columns else tuple(found)


class ParquetRows:
    """Rows of a Parquet file; places are rows. One group of rows is held at a time."""

    def __init__(self, corpus: Corpus) -> None:
        from pyarrow import ArrowException, parquet

        try:
            self.file = parquet.ParquetFile(corpus.path)
        except ArrowException as error:
            raise InputError(f"{corpus.path} is not a Parquet file: {error}") from error
        names = self.file.schema_arrow.names
        for each in corpus.columns:
            if each not in names:
                raise InputError(f"{corpus.path} has no column {each!r:.80}; its columns are {', '.join(names):.400}")
        self.columns = list(dict.fromkeys(corpus.columns))
        self.order = corpus.columns
        self._group: tuple[int, list[bytes]] = (-1, [])

    def all(self) -> Iterator[tuple[bytes, int]]:
        """Every row, each of length 1."""
        for batch in self.file.iter_batches(batch_size=BATCH, columns=self.columns):
            yield from ((row, 1) for row in self._rows(batch))

    def between(self, start: int, stop: int) -> Iterator[bytes]:
        """The rows `start` to `stop`."""
        first = 0
        for group in range(self.file.num_row_groups):
            count = self.file.metadata.row_group(group).num_rows
            if first < stop and start < first + count:
                if self._group[0] != group:
                    self._group = (group, list(self._rows(self.file.read_row_group(group, columns=self.columns))))
                yield from self._group[1][max(0, start - first) : stop - first]
            first += count

    def fields(self, record: bytes) -> Fields | None:
        """The columns that were asked for, as text; "" where there is none."""
        return tuple(json.loads(record))

    def _rows(self, batch: Any) -> Iterator[bytes]:
        columns = [batch.column(name).to_pylist() for name in self.order]
        for row in zip(*columns, strict=True):
            yield json.dumps(["" if value is None else str(value) for value in row]).encode()


class GoldPairs:
    """Pairs of a hand-aligned set as `analysis.gold` stores them: source, target, links; places are pairs."""

    def __init__(self, corpus: Corpus) -> None:
        data = json.loads(Path(corpus.path).read_bytes())
        self.pairs = [json.dumps([pair["src"], pair["tgt"], pair["links"]]).encode() for pair in data["pairs"]]

    def all(self) -> Iterator[tuple[bytes, int]]:
        """Every pair, each of length 1."""
        return ((pair, 1) for pair in self.pairs)

    def between(self, start: int, stop: int) -> Iterator[bytes]:
        """The pairs `start` to `stop`."""
        return iter(self.pairs[start:stop])

    def fields(self, record: bytes) -> Fields | None:
        """Source, target and links."""
        return tuple(json.loads(record))


Check = Callable[[Fields | None, int], None]


def cut(
    corpus: Corpus, size: int, *, limit: int | None = None, whole: bool = False, check: Check | None = None
) -> list[Shard]:
    """The shards of a file, of `size` records each but for the last. The file is read once, and never held.

    Args:
        limit: records to read at most.
        whole: let no shard end between neighbours with the same first column; a shard may then have more.
        check: is told every record's fields and its number from 0, and raises what is wrong with them.
    Raises:
        InputError: the file cannot be read; what `check` raises.
    """
    shards: list[Shard] = []
    try:
        records = open_records(corpus)
        place = start = rows = first = 0
        digest, last = hashlib.sha256(), None
        for number, (record, length) in enumerate(islice(records.all(), limit)):
            fields = records.fields(record) if check is not None or whole else None
            if check is not None:
                check(fields, number)
            key = fields[0] if whole and fields else None
            if rows >= size and not (whole and key == last):
                shards.append(Shard(len(shards), first, rows, start, place, digest.hexdigest()))
                start, first, rows, digest = place, number, 0, hashlib.sha256()
            digest.update(record)
            place, rows, last = place + length, rows + 1, key
        if rows:
            shards.append(Shard(len(shards), first, rows, start, place, digest.hexdigest()))
    except (OSError, EOFError, zlib.error, KeyError, TypeError) as error:
        raise InputError(f"{corpus.path} cannot be read: {error}") from error
    return shards


def read(records: Records, shard: Shard, path: str) -> list[Fields | None]:
    """The fields of every record of a shard.

    Raises:
        InputError: the file is another than the one that was cut.
        OSError: it cannot be read.
    """
    found = list(records.between(shard.start, shard.stop))
    digest = hashlib.sha256()
    for record in found:
        digest.update(record)
    if digest.hexdigest() != shard.digest:
        raise InputError(f"{path} is not the file that the work began with; give every machine the same one")
    return [records.fields(record) for record in found]


def digest_of(shards: Sequence[Shard]) -> str:
    """SHA-256 of the digests of all shards: another text or another cut gives another."""
    return hashlib.sha256("".join(shard.digest for shard in shards).encode()).hexdigest()
