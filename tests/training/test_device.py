"""A whole run on a device that is not the CPU: the same losses, an exact resume, a checkpoint that the CPU reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from translator import load
from translator.config import TrainConfig
from translator.training.export import export
from translator.training.run import build
from translator.training.state import read_log

KEPT = ("loss", "nll", "accuracy", "grad_norm", "dev_bleu", "dev_nll", "dev_accuracy")


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
