"""Whole runs on the toy task: it is learnt, and a run that was killed, shared or cut short tells the same story."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from tests.waiting import until
from translator.config import DecodeConfig
from translator.decode import search_batch
from translator.engine import EagerEngine
from translator.errors import CheckpointError, InputError
from translator.training.config import TrainConfig
from translator.training.data import collate
from translator.training.loop import Process
from translator.training.objective import objective
from translator.training.run import build
from translator.training.state import read_log, read_whole

ROOT = Path(__file__).parents[2]
Make = Callable[..., tuple[TrainConfig, Path]]
RUN = """
import sys, torch
from pathlib import Path
from translator.training import loop
from translator.training.claim import read_config
from translator.training.run import build
torch.set_num_threads(1)
config, data, folder = map(Path, sys.argv[1:4])
loop.LOG_EVERY = 1
trainer, _ = build(read_config(config), data, folder)
trainer.run(save_every=int(sys.argv[4]))
"""


def command(*arguments: object, processes: int = 1) -> list[str]:
    launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    return [sys.executable, *(launch if processes > 1 else []), *map(str, arguments)]


def environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "run.py"
    path.write_text(RUN, encoding="utf-8")
    return path


def test_processes_wait_for_hours_while_the_first_one_evaluates(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, timedelta] = {}
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setattr(dist, "init_process_group", lambda backend, **settings: asked.update(settings))
    monkeypatch.setattr(dist, "get_rank", lambda: 1)
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    assert Process.join() == Process(1, 2)
    assert asked["timeout"] >= timedelta(hours=2)


def without_time(records: list[dict[str, float]]) -> list[dict[str, float]]:
    return [{k: v for k, v in one.items() if k not in ("hours", "tokens_per_second")} for one in records]


@pytest.mark.slow
def test_a_toy_task_is_learnt(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    plain = {"label_smoothing": 0.0, "model": {"dropout": 0.0, "positions": "learned"}}
    config, _ = toy_config(steps=300, batch_tokens=500, warmup=40, decay=150, eval_every=300, **plain)
    trainer, corpus = build(config, toy_data, tmp_path / "run")
    trainer.run(save_every=300)
    model = trainer.model.eval()
    sources = [[*ids, model.config.eos_id] for ids in corpus.src.ids_batch([pair.src for pair in corpus.dev["dev"]])]
    found = search_batch(EagerEngine(model), sources, DecodeConfig(), max_lengths=[10] * len(sources))
    right = sum(corpus.tgt.decode(ids) == pair.src[::-1] for ids, pair in zip(found, corpus.dev["dev"], strict=True))
    assert right / len(found) > 0.95
    dev = read_log(tmp_path / "run" / "log.jsonl")[-1]
    assert dev["dev_accuracy"] > 0.95 and dev["hours"] > 0


@pytest.mark.slow
def test_killed_and_resumed_equals_uninterrupted_to_the_bit(
    toy_config: Make, toy_data: Path, tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kill comes at no step in particular, in the second epoch or later, with dropout on."""
    config, path = toy_config(steps=30, eval_every=5, accumulate=2, batch_tokens=600)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    monkeypatch.setattr("translator.training.loop.LOG_EVERY", 1)
    build(config, toy_data, whole)[0].run(save_every=7)

    process = subprocess.Popen(
        command(script, path, toy_data, killed, 7), env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        until(lambda: _reached(killed, 10) or process.poll() is not None, seconds=90, every=0.005)
        assert process.poll() is None, process.stderr.read().decode() if process.stderr else ""
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    step = read_whole(killed / "state-0.pt")["progress"]["step"]
    assert 7 <= step < 30

    trainer, _ = build(config, toy_data, killed)
    assert trainer.progress.step == step
    trainer.run(save_every=7)
    one, other = (read_whole(folder / "state-0.pt") for folder in (whole, killed))
    torch.testing.assert_close(other["model"], one["model"], rtol=0, atol=0)
    torch.testing.assert_close(other["optimiser"], one["optimiser"], rtol=0, atol=0)
    assert one["progress"]["epoch"] > 0
    for name in ("best.pt", *(f"weights-{step:09d}.pt" for step in (25, 30))):
        torch.testing.assert_close(read_whole(killed / name), read_whole(whole / name), rtol=0, atol=0)
    logs = [without_time(read_log(folder / "log.jsonl")) for folder in (whole, killed)]
    assert logs[0] == logs[1]


def _reached(folder: Path, step: int) -> bool:
    records = read_log(folder / "log.jsonl") if (folder / "state-0.pt").exists() else []
    return bool(records) and records[-1]["step"] >= step


@pytest.mark.slow
def test_two_processes_learn_as_one(
    toy_config: Make, toy_data: Path, tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, path = toy_config(model={"dropout": 0.0}, accumulate=2, steps=6, eval_every=3)
    done = subprocess.run(
        command(script, path, toy_data, tmp_path / "two", 6, processes=2),
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    monkeypatch.setattr("translator.training.loop.LOG_EVERY", 1)
    build(config, toy_data, tmp_path / "one")[0].run()
    one, two = (read_log(tmp_path / name / "log.jsonl") for name in ("one", "two"))
    dev = [[record for record in records if "dev_nll" in record] for records in (one, two)]
    assert [record["dev_nll"] for record in dev[1]] == pytest.approx([record["dev_nll"] for record in dev[0]], abs=1e-4)
    losses = [[record["loss"] for record in records if "loss" in record] for records in (one, two)]
    assert len(losses[0]) == 6
    assert losses[1] == pytest.approx(losses[0], abs=1e-4)
    norms = [[record["grad_norm"] for record in records if "loss" in record] for records in (one, two)]
    assert norms[1] == pytest.approx(norms[0], rel=1e-3)


@pytest.mark.slow
def test_what_the_first_of_two_processes_refuses_both_refuse(
    toy_config: Make, toy_data: Path, tmp_path: Path, script: Path
) -> None:
    """In words, and not as a connection that was lost."""
    _, path = toy_config(steps=2, eval_every=2)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").write_text("{}")
    asked = command(script, path, toy_data, tmp_path / "run", 100, processes=2)
    done = subprocess.run(asked, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if "Error" in line and "ChildFailedError" not in line]
    assert said and all("InputError" in line and "is a checkpoint, whose files" in line for line in said), said


def test_fewer_rows_than_processes_change_nothing(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    rows = [[5], [6], [7], [8], [9]]
    shares = [Process(rank, 3) for rank in range(3)]
    assert sorted(row for one in shares for row in one.share(rows)) == rows
    assert [one.share(rows[:2]) for one in shares] == [[[5]], [[6]], [[5]]]
    assert [one.weight(rows[:2]) for one in shares] == [1, 1, 0]


@pytest.mark.slow
def test_bfloat16_learns_too(toy_config: Make, toy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, _ = toy_config(precision="bf16", steps=10, eval_every=10)
    trainer, _ = build(config, toy_data, tmp_path / "run")
    seen = []
    trainer.model.output.register_forward_hook(lambda *_: seen.append(_[2].dtype))
    monkeypatch.setattr("translator.training.loop.LOG_EVERY", 1)
    trainer.run()
    assert seen[0] == torch.bfloat16 and trainer.model.output.weight.dtype == torch.float32
    losses = [record["loss"] for record in read_log(tmp_path / "run" / "log.jsonl") if "loss" in record]
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.slow
def test_accumulated_batches_weigh_by_their_tokens(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    """The gradient of two batches is that of the mean over all their tokens, whatever their sizes."""
    config, _ = toy_config(model={"dropout": 0.0}, accumulate=2, steps=1, clip=0.0)
    trainer, _ = build(config, toy_data, tmp_path / "run")
    before = [parameter.detach().clone() for parameter in trainer.model.parameters()]
    stream = trainer.epochs.from_(0, 0)
    (_, _, *first), (_, _, *second) = next(stream), next(stream)
    src, tgt = (a + b for a, b in zip(first, second, strict=True))
    batch = collate(src, tgt, trainer.model.config)
    logits = trainer.model.train()(batch.src, batch.tgt_in, batch.src_keep).flatten(0, 1)[batch.rows]
    found = objective(logits, batch.targets, smoothing=config.label_smoothing)
    wanted = torch.autograd.grad(found.loss / found.tokens, list(trainer.model.parameters()))
    kept = []
    trainer.optimiser.step = lambda: kept.extend(p.grad.clone() for p in trainer.model.parameters())  # type: ignore
    trainer.run()
    torch.testing.assert_close(kept, list(wanted), atol=1e-6, rtol=1e-4)
    assert all(map(torch.equal, before, trainer.model.parameters()))


@pytest.mark.slow
def test_every_level_of_vocabulary_trains(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    joint = {"level": "char", "joint_vocab": True, "model": {"embeddings": "shared"}}
    mixed = {"level": "subword", "tgt_level": "char"}
    for number, changes in enumerate(({"level": "subword"}, {"level": "word"}, joint, mixed)):
        config, _ = toy_config(steps=2, eval_every=2, **changes)
        trainer, corpus = build(config, toy_data, tmp_path / str(number))
        trainer.run()
        assert corpus.src.config.level == config.level
        assert corpus.tgt.config.level == (config.tgt_level or config.level)
        assert not config.joint_vocab or len(corpus.src) == len(corpus.tgt) == 14  # 10 letters, 4 special tokens


@pytest.mark.slow
def test_what_cannot_be_trained_is_refused(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    config, _ = toy_config(max_tokens=100)
    with pytest.raises(InputError, match="max_tokens is 100; the model reads at most 64 tokens"):
        build(config, toy_data, tmp_path / "a")
    config, _ = toy_config(max_tokens=4, model={"max_positions": 4})
    with pytest.raises(InputError, match=r"the source of development pair \d+ has 4 tokens; it needs 1 to 3"):
        build(config, toy_data, tmp_path / "b")
    config, _ = toy_config()
    with pytest.raises(InputError, match="device is 'tpu'"):
        build(config, toy_data, tmp_path / "c", device="tpu")


@pytest.mark.slow
def test_a_state_that_is_damaged_is_not_trained_over(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    config, _ = toy_config()
    trainer, _ = build(config, toy_data, tmp_path / "run")
    trainer.run(until=2, save_every=2)
    state = tmp_path / "run" / "state-0.pt"
    content = state.read_bytes()[:-100]
    state.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"state-0\.pt is not a training state"):
        build(config, toy_data, tmp_path / "run")
    assert state.read_bytes() == content
    assert json.loads((tmp_path / "run" / "train.json").read_text(encoding="utf-8"))["name"] == "toy"
