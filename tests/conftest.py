"""Fixtures that every part of the tests may use."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import translator
from translator.trace import Trace

if TYPE_CHECKING:
    from translator import Translator  # brings torch, which not every test needs

BROWSER = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def _beside(name: str) -> ModuleType:
    """A module of this folder, which is no package."""
    path = Path(__file__).parent / f"{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def make_trace() -> Callable[..., Trace]:
    """`tests/traces.py`'s `make_trace(seed, *, layers, heads, source, target)`."""
    return _beside("traces").make_trace


@pytest.fixture(scope="session")
def checkpoint_maker() -> ModuleType:
    """`tests/checkpoint_maker.py`: `tiny_model`, `tokenizers`, `make_checkpoint`."""
    return _beside("checkpoint_maker")


@pytest.fixture(scope="session")
def tiny_checkpoint(checkpoint_maker: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny German-English checkpoint called "tiny"; for reading only."""
    return checkpoint_maker.make_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny")


@pytest.fixture(scope="session")
def tiny(tiny_checkpoint: Path) -> Translator:
    """That checkpoint's translator on the CPU, random weights."""
    return translator.load(tiny_checkpoint, device="cpu")


@pytest.fixture(scope="session")
def second() -> str:
    """The name of a device that is not the CPU and refuses what CUDA refuses: `tests/second_device.py`."""
    pytest.importorskip("torch", minversion="2.10", reason="PyTorch has devices written in Python since 2.10")
    return str(_beside("second_device").second_device())


@pytest.fixture
def tiny_by_name(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands find that checkpoint by its name."""
    monkeypatch.setenv("TRANSLATOR_CHECKPOINTS", str(tiny_checkpoint.parent))


@pytest.fixture(scope="session")
def tiny_marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random Marian checkpoint, 3 + 1 layers of 2 and 4 heads; for reading only."""
    maker = _beside("marian_maker")
    texts = maker.sentences(300)
    models = maker.spm_model(texts, 120), maker.spm_model(texts[:200], 110)
    return maker.make_marian(tmp_path_factory.mktemp("marian") / "opus-mt-de-en", "unequal", models)[0]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The one Chromium of all tests, found or installed as `browser/install.py` does; never skipped.

    Playwright keeps an event loop running in this thread, so `make test` runs the browser's tests apart.
    """
    from playwright.sync_api import sync_playwright

    path = _beside("browser/install").find()
    assert path is not None, "there is no Chromium; run tests/browser/install.py"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=[*BROWSER, "--disable-sync"])
        yield started
        started.close()
