"""Output in parts: what is whole stays, what is not is done again, and other work is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from translator.cluster.parts import Parts
from translator.cluster.records import Shard
from translator.errors import InputError

PLAN: dict[str, Any] = {"command": "translate", "checkpoint": "a" * 64, "input": "b" * 64, "columns": (), "shard": 2}
SHARDS = [Shard(n, 2 * n, 2, 10 * n, 10 * n + 10, str(n) * 64) for n in range(3)]


def test_parts_come_in_any_order_and_are_read_in_the_input_s(tmp_path: Path) -> None:
    with Parts(tmp_path / "out", PLAN) as parts:
        for shard in reversed(SHARDS):
            parts.write(shard, {"n": shard.number}, [("k", f"line {shard.number}"), ("k", "é")])
    with Parts(tmp_path / "out", PLAN) as parts:
        assert all(parts.whole(shard) for shard in SHARDS)
        assert [parts.values(shard)["n"] for shard in SHARDS] == [0, 1, 2]
        assert "".join(parts.outputs(SHARDS)) == "".join(f"k\tline {n}\nk\té\n" for n in range(3))


@pytest.mark.parametrize("harm", ["cut", "gone", "note", "other"])
def test_a_part_that_is_not_whole_is_none(harm: str, tmp_path: Path) -> None:
    with Parts(tmp_path, PLAN) as parts:
        parts.write(SHARDS[0], {}, [("eins",), ("zwei",)])
        text, note = tmp_path / "part-000000.txt", tmp_path / "part-000000.json"
        assert parts.whole(SHARDS[0]) and not parts.whole(SHARDS[1])
        if harm == "cut":
            text.write_text("eins\nzw")
        elif harm == "gone":
            text.unlink()
        elif harm == "note":
            note.write_text(note.read_text()[:-9])
        else:
            note.write_text(json.dumps(json.loads(note.read_text()) | {"digest": "9" * 64}))
        assert not parts.whole(SHARDS[0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"input": "c" * 64}, "the input .* is cccc.* and was bbbb"),
        ({"checkpoint": "c" * 64}, "the model's weights"),
        ({"settings": {"beam": 4}}, "settings is {'beam': 4} and was not set"),
        ({"shard": 3}, "the number of records in a shard is 3 and was 2"),
        ({"columns": ("2",)}, "the columns that are read"),
    ],
)
def test_other_work_is_refused_in_words(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    with Parts(tmp_path, PLAN):
        pass
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match=said), Parts(tmp_path, PLAN | change):
        pass
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_strange_folder_or_a_second_writer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds 'thesis.txt' and no plan of ours"), Parts(tmp_path / "strange", PLAN):
        pass
    with Parts(tmp_path / "out", PLAN), pytest.raises(InputError, match="another process writes"):
        Parts(tmp_path / "out", PLAN).__enter__()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="nothing can be written"), Parts(tmp_path / "file", PLAN):
        pass
    (tmp_path / "out" / "plan.json").write_text("[]")
    with pytest.raises(InputError, match=r"plan\.json cannot be read"), Parts(tmp_path / "out", PLAN):
        pass


def test_a_kill_between_the_files_of_a_part_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note comes last, and says what goes with it."""
    from translator.cluster import parts as module

    written: list[str] = []

    def write(path: Path, content: bytes | str) -> None:
        if path.suffix == ".json":
            raise KeyboardInterrupt
        written.append(path.name)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    with Parts(tmp_path, PLAN) as parts:
        monkeypatch.setattr(module, "write_whole", write)
        with pytest.raises(KeyboardInterrupt):
            parts.write(SHARDS[0], {}, [("eins",)])
        assert written == ["part-000000.txt"] and not parts.whole(SHARDS[0])


def test_parquet_parts_have_columns(tmp_path: Path) -> None:
    with Parts(tmp_path, PLAN, ending=".parquet") as parts:
        parts.write(SHARDS[0], {}, [("7", "eins\tzwei"), ("8", "")])
        parts.write(SHARDS[1], {}, [("drei",)])
        assert parts.whole(SHARDS[0]) and parts.whole(SHARDS[1])
    assert parquet.read_table(tmp_path / "part-000000.parquet").to_pydict() == {
        "key": ["7", "8"],
        "translation": ["eins\tzwei", ""],
    }
    assert parquet.read_table(tmp_path / "part-000001.parquet").to_pydict() == {"translation": ["drei"]}
