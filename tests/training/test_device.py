"""A whole run on a device that is not the CPU: the same losses, an exact resume, a checkpoint that the CPU reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from translator import load
from translator.training.config import TrainConfig
from translator.training.export import export
from translator.training.loop import Meter
from translator.training.run import build
from translator.training.state import read_log


class Patience(TorchDispatchMode):
    """Counts what waits for the device, by name."""

    def __init__(self, waits: Callable[..., bool]) -> None:
        super().__init__()
        self.waits = waits
        self.waited: list[str] = []

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.waits(op, args, kwargs or {}):
            self.waited.append(str(op))
        return op(*args, **kwargs or {})


KEPT = ("loss", "nll", "accuracy", "grad_norm", "dev_bleu", "dev_nll", "dev_accuracy")


@pytest.mark.slow
def test_a_run_trains_resumes_and_is_exported(
    toy_config: Callable[..., tuple[TrainConfig, Path]],
    toy_data: Path,
    tmp_path: Path,
    second: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without dropout, whose masks each device draws by itself."""
    monkeypatch.setattr("translator.training.loop.LOG_EVERY", 1)
    config, _ = toy_config(steps=8, eval_every=4, accumulate=2, model={"dropout": 0.0})
    logs = []
    for device in (second, "cpu"):
        folder = tmp_path / torch.device(device).type
        build(config, toy_data, folder, device=device)[0].run(until=5, save_every=5)
        trainer, corpus = build(config, toy_data, folder, device=device)
        assert trainer.progress.step == 5 and trainer.device.type == torch.device(device).type
        trainer.run()
        logs.append([{name: line[name] for name in KEPT if name in line} for line in read_log(folder / "log.jsonl")])
        exported = export(folder, corpus.dev, tmp_path / f"{folder.name}-out", device=torch.device(device))
        assert load(exported.folder, device="cpu").translate("abc", max_length=4).tgt
    assert len(logs[0]) == len(logs[1]) == 11  # eight steps, and three looks at the development set
    for found, want in zip(*logs, strict=True):
        assert found == pytest.approx(want, rel=1e-4, abs=1e-4)


@pytest.mark.slow
def test_a_step_never_waits_for_the_device(
    toy_config: Callable[..., tuple[TrainConfig, Path]],
    toy_data: Path,
    tmp_path: Path,
    second: str,
    waits: Callable[..., bool],
) -> None:
    """A GPU that is waited for has nothing to do until it is asked again; a report fetches its numbers at once."""
    config, _ = toy_config(accumulate=2, model={"dropout": 0.0})
    trainer, _ = build(config, toy_data, tmp_path / "run", device=second)
    stream, meter = trainer.epochs.from_(0, 0), Meter()
    with Patience(waits) as patience:
        trainer._step(stream, meter)
        trainer._step(stream, meter)
    assert patience.waited == [] and trainer.progress.step == 2
    with Patience(waits) as patience:
        meter.record(trainer.process)
    assert len(patience.waited) == 1  # the norm; that `tolist` fetches the sums, the stand-in does not tell
