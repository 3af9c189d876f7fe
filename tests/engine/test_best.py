"""Which engine runs a model: its device and its numbers decide, and a bundle alone is run by PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from translator import Translator, load
from translator.engine import EagerEngine, best, cuda
from translator.engine.cpu import CpuEngine
from translator.engine.cpu.linear import PackedLinear
from translator.engine.cuda import CudaEngine
from translator.model import Linear, Transformer


def test_a_float32_model_on_the_cpu_gets_packed_layers(make_model: Callable[..., Transformer]) -> None:
    model = make_model()
    before = dict(model.named_parameters())
    engine = best(model)
    assert type(engine) is CpuEngine and engine.model is model
    layers = [layer for layer in model.modules() if isinstance(layer, Linear)]
    assert layers and all(isinstance(layer, PackedLinear) for layer in layers)
    after = dict(model.named_parameters())
    assert list(after) == list(before) and all(after[name] is before[name] for name in before)


def test_other_numbers_on_the_cpu_are_left_to_pytorch(make_model: Callable[..., Transformer]) -> None:
    model = make_model().double()
    assert type(best(model)) is EagerEngine
    assert not any(isinstance(layer, PackedLinear) for layer in model.modules())


def test_a_device_without_graphs_is_left_to_pytorch(
    make_model: Callable[..., Transformer], second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model().to(second)
    assert type(best(model)) is EagerEngine
    monkeypatch.setitem(cuda.CAPTURES, torch.device(second).type, lambda work, device: (lambda: None, work()))
    assert type(best(model)) is CudaEngine


def test_load_takes_the_best_and_a_bundle_alone_the_reference(tiny_checkpoint: Path) -> None:
    loaded = load(tiny_checkpoint, device="cpu")
    assert type(loaded.engine) is CpuEngine
    assert type(Translator(loaded.bundle).engine) is EagerEngine
