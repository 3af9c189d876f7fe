"""What a run keeps on disk, and what a full disk or a kill leaves of it."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from translator.errors import CheckpointError
from translator.training import state
from translator.training.state import (
    LastWeights,
    Log,
    random_state,
    read_log,
    read_whole,
    restore_random_state,
    write_whole,
)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state-0.pt"
    write_whole(path, {"step": 1})

    def full(value: object, file: Any) -> None:
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(state.torch, "save", full)
    with pytest.raises(CheckpointError, match=r"state-0.pt could not be written .*No space left.*untouched"):
        write_whole(path, {"step": 2})
    assert read_whole(path) == {"step": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["state-0.pt"]


def test_a_damaged_state_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state-0.pt"
    write_whole(path, {"step": torch.zeros(1000)})
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(CheckpointError, match=r"state-0\.pt is not a training state"):
        read_whole(path)


class Generators:
    """Those of three GPUs, which must not be asked for by a run on none."""

    def __init__(self) -> None:
        self.states = {0: 0.0, 1: 1.0, 2: 2.0}

    def get_rng_state(self, device: torch.device) -> torch.Tensor:
        return torch.tensor(self.states[device.index])

    def set_rng_state(self, state: torch.Tensor, device: torch.device) -> None:
        self.states[device.index] = float(state)

    def get_rng_state_all(self) -> list[torch.Tensor]:
        return list(map(torch.tensor, self.states.values()))

    def is_available(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("device", "saved", "want"),
    [
        ("cuda:1", None, {0: 0.0, 1: 7.0, 2: 2.0}),
        ("cpu", None, {0: 0.0, 1: 1.0, 2: 2.0}),
        ("cuda:0", [7.0], {0: 7.0, 1: 1.0, 2: 2.0}),
        ("cuda:2", [7.0], {0: 0.0, 1: 1.0, 2: 7.0}),
        ("cuda:1", [5.0, 6.0, 7.0, 8.0, 9.0], {0: 0.0, 1: 6.0, 2: 2.0}),
        ("cpu", [5.0, 6.0], {0: 0.0, 1: 1.0, 2: 2.0}),
    ],
)
def test_a_run_keeps_the_generator_of_its_own_gpu(
    monkeypatch: pytest.MonkeyPatch, device: str, saved: list[float] | None, want: dict[int, float]
) -> None:
    """An older state, of every GPU of another machine, is read too."""
    there = torch.device(device)
    generators = Generators()
    monkeypatch.setattr(torch, "cuda", generators)
    if saved is None:
        generators.states = {0: 4.0, 1: 7.0, 2: 4.0}
        kept = random_state(there)
        assert len(kept["cuda"]) == (there.type == "cuda")
        generators.states = {0: 0.0, 1: 1.0, 2: 2.0}
    else:
        kept = {"cpu": torch.get_rng_state(), "cuda": list(map(torch.tensor, saved))}
    restore_random_state(kept, there)
    assert generators.states == want


def test_the_last_weights_are_averaged_and_older_ones_forgotten(tmp_path: Path) -> None:
    last = LastWeights(tmp_path, 3)
    with pytest.raises(CheckpointError, match="no weights to average"):
        last.average()
    for step, value in ((500, 10.0), (1000, 1.0), (1500, 2.0), (2000, 6.0)):
        last.add(step, {"w": torch.full((2,), value)})
    assert [file.name for file in last.files()] == [f"weights-{step:09d}.pt" for step in (1000, 1500, 2000)]
    torch.testing.assert_close(last.average()["w"], torch.full((2,), 3.0))


def test_an_average_looks_again_when_the_run_goes_on_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    last = LastWeights(tmp_path, 2)
    for step, value in ((1, 1.0), (2, 3.0)):
        last.add(step, {"w": torch.tensor(value)})
    read, raced = read_whole, []

    def racing(path: Path) -> Any:
        if not raced:
            raced.append(last.add(3, {"w": torch.tensor(5.0)}))
        return read(path)

    monkeypatch.setattr(state, "read_whole", racing)
    assert float(last.average()["w"]) == 4.0


def test_a_resumed_log_drops_what_lies_beyond_the_state(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = Log(path, 0)
    for step in (20, 40, 60):
        log.add(step=step, loss=1.0)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"step": 80, "lo')  # killed while it wrote
    assert [record["step"] for record in read_log(path)] == [20, 40, 60]
    log = Log(path, 40)
    log.add(step=60, loss=0.5)
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [
        {"step": 20, "loss": 1.0},
        {"step": 40, "loss": 1.0},
        {"step": 60, "loss": 0.5},
    ]
