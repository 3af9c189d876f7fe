"""The contestants of the benchmarks start on the CPU, whatever else the machine has."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from translator.checkpoints import store


@pytest.mark.slow
def test_ours_is_on_the_cpu_like_the_others(tmp_path: Path, second: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.launches import TINY
    from benchmarks.models import make

    monkeypatch.setattr(store, "choose_device", lambda name: torch.device(second if name == "auto" else name))
    two = make(TINY, tmp_path)
    assert two.ours.device.type == "cpu" and two.theirs.device.type == "cpu"
