"""The folder that output is written to in parts, so that work that was cut short goes on where it ended.

`plan.json` says what the parts are of. Part N is `part-00000N.json`, which comes last and holds the digest of what
goes with it: `part-00000N.txt`, or `.parquet` where the input is one. Whatever else is there after a kill is no part.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from translator.cluster.records import Shard
from translator.errors import InputError
from translator.files import write_whole

FORMAT_VERSION = 1
PLAN, LOCK = "plan.json", "run.lock"
NAMES = {
    "format": "the format of the parts",
    "command": "the command",
    "checkpoint": "the model's weights (SHA-256)",
    "input": "the input (SHA-256 of its shards)",
    "columns": "the columns that are read",
    "limit": "the number of records that are read",
    "shard": "the number of records in a shard",
}
"""What must be the same when work goes on, as a person says it; anything else is a setting."""


class Parts:
    """A folder of parts. To be entered: the right to write there is held until it is left."""

    def __init__(self, folder: Path, plan: Mapping[str, Any], *, ending: str = ".txt") -> None:
        self.folder = folder
        self.plan = json.loads(json.dumps({"format": FORMAT_VERSION, **plan}))
        self.ending = ending
        self._lock = FileLock(folder / LOCK, timeout=0)

    def __enter__(self) -> Parts:
        """Take the folder, which is made where there is none.

        Raises:
            InputError: it holds something else, or the parts of other work, or another process writes there.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            try:
                self._claim()
            except BaseException:
                self._lock.release()
                raise
        except Timeout as error:
            raise InputError(f"another process writes to {self.folder}; wait until it has ended") from error
        except OSError as error:
            raise InputError(f"nothing can be written to {self.folder}: {error}") from error
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _claim(self) -> None:
        path = self.folder / PLAN
        if not path.exists():
            strange = sorted(each.name for each in self.folder.iterdir() if each.name != LOCK)
            if strange:
                raise InputError(f"{self.folder} holds {strange[0]!r} and no plan of ours; name an empty folder")
            write_whole(path, json.dumps(self.plan, indent=1, sort_keys=True) + "\n")
            return
        try:
            before = json.loads(path.read_bytes())
            if not isinstance(before, dict):
                raise ValueError("it is no JSON object")
        except ValueError as error:
            raise InputError(f"{path} cannot be read: {error}; name another folder") from error
        differ = sorted(name for name in {*before, *self.plan} if before.get(name) != self.plan.get(name))
        if differ:
            told = "; ".join(_difference(name, before.get(name), self.plan.get(name)) for name in differ)
            raise InputError(
                f"{self.folder} holds parts of other work: {told}. Ask for the same to go on, or name another folder"
            )

    def whole(self, shard: Shard) -> bool:
        """Whether the part of a shard is there, with all that goes with it."""
        values = self._read(shard)
        if values is None or values["digest"] != shard.digest:
            return False
        output = self.output(shard)
        with contextlib.suppress(OSError):
            return values["output"] is None or values["output"] == _sha256(output.read_bytes())
        return False

    def write(self, shard: Shard, values: Mapping[str, Any], lines: Sequence[Sequence[str]]) -> None:
        """Write one part: what goes with it first, each file in one move.

        Raises:
            OSError: it cannot be written; what was there is untouched.
        """
        digest = None
        if lines:
            output = _parquet(lines) if self.ending == ".parquet" else _text(lines)
            write_whole(self.output(shard), output)
            digest = _sha256(output)
        record = {"digest": shard.digest, "output": digest, "rows": shard.rows, "values": values}
        write_whole(self._path(shard, ".json"), json.dumps(record, ensure_ascii=False) + "\n")

    def values(self, shard: Shard) -> dict[str, Any]:
        """The values of a part that is whole.

        Raises:
            InputError: it is none.
        """
        record = self._read(shard)
        if record is None:
            raise InputError(f"{self._path(shard, '.json')} is no part any more; run the command again")
        values: dict[str, Any] = record["values"]
        return values

    def output(self, shard: Shard) -> Path:
        """Where the lines of a part are."""
        return self._path(shard, self.ending)

    def outputs(self, shards: Sequence[Shard]) -> Iterator[str]:
        """The lines of all text parts, in the order of the input.

        Raises:
            OSError: one cannot be read.
        """
        for shard in shards:
            yield self.output(shard).read_bytes().decode()

    def _path(self, shard: Shard, ending: str) -> Path:
        return self.folder / f"part-{shard.number:06d}{ending}"

    def _read(self, shard: Shard) -> dict[str, Any] | None:
        try:
            record = json.loads(self._path(shard, ".json").read_bytes())
        except (OSError, ValueError):
            return None
        whole = isinstance(record, dict) and {"digest", "output", "rows", "values"} <= set(record)
        return record if whole else None


def _difference(name: str, before: Any, now: Any) -> str:
    told = NAMES.get(name, name)
    return f"{told} is {_said(now)} and was {_said(before)}"


def _said(value: Any) -> str:
    return "not set" if value is None else f"{value!s:.80}"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _text(lines: Sequence[Sequence[str]]) -> bytes:
    return "".join("\t".join(line) + "\n" for line in lines).encode()


def _parquet(lines: Sequence[Sequence[str]]) -> bytes:
    """The same with columns: key, where there is one, and translation."""
    import pyarrow
    from pyarrow import parquet

    names = ("key", "translation")[-len(lines[0]) :]
    columns = zip(*lines, strict=True)
    table = pyarrow.table(
        {name: pyarrow.array(column, pyarrow.string()) for name, column in zip(names, columns, strict=True)}
    )
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()
