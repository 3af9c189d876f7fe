"""Fixtures that every part of the tests may use."""

from __future__ import annotations

import gc
import importlib.util
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

# As `make` has it. PyTorch's threads spin while they wait for each other, on a busy machine for minutes.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import translator
from translator.trace import Trace
from translator.ui.lean import without_stubs
from translator.ui.quiet import Bounded

if TYPE_CHECKING:
    from torch import Tensor

    from translator import Translator  # brings torch, which not every test needs
    from translator.model import Transformer

# jsonschema, which Gradio brings, compiles a grammar of addresses if it finds one: two seconds, and nothing needs it.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

BROWSER = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def _beside(name: str) -> ModuleType:
    """A module of this folder, which is no package."""
    path = Path(__file__).parent / f"{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def whole_log() -> Iterator[None]:
    """A server that was started in this process bounds its log; what later tests log is not counted with it."""
    yield
    for handler in logging.getLogger().handlers:
        for bounded in [each for each in handler.filters if isinstance(each, Bounded)]:
            handler.removeFilter(bounded)


@pytest.fixture(scope="session")
def make_trace() -> Callable[..., Trace]:
    """`tests/traces.py`'s `make_trace(seed, *, layers, heads, source, target)`."""
    return _beside("traces").make_trace


@pytest.fixture(scope="session")
def make_copier() -> Callable[[], Translator]:
    """`tests/copier.py`'s `copier()`: a translator that copies its source, word by word."""
    return _beside("copier").copier


@pytest.fixture(scope="session")
def checkpoint_maker() -> ModuleType:
    """`tests/checkpoint_maker.py`: `tiny_model`, `tokenizers`, `make_checkpoint`."""
    return _beside("checkpoint_maker")


@pytest.fixture(scope="session")
def adapted_maker() -> ModuleType:
    """`tests/adapted_maker.py`: `make_tokenizer`, `make_model`."""
    return _beside("adapted_maker")


@pytest.fixture(scope="session")
def hub_stand_in() -> ModuleType:
    """`tests/hub_stand_in.py`: `served(folder, name)`, a hub on loopback; `COMMIT`."""
    return _beside("hub_stand_in")


@pytest.fixture
def make_model() -> Callable[..., Transformer]:
    """`tests/small_models.py`'s `make_model(**changes)`."""
    return _beside("small_models").make_model


@pytest.fixture
def batch() -> tuple[Tensor, Tensor, Tensor]:
    """`tests/small_models.py`'s `make_batch()`: src_ids [3, 7], src_keep [3, 7] and tgt_ids [3, 6]."""
    return _beside("small_models").make_batch()


@pytest.fixture(scope="session")
def tiny_checkpoint(checkpoint_maker: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny German-English checkpoint called "tiny"; for reading only."""
    return checkpoint_maker.make_checkpoint(tmp_path_factory.mktemp("checkpoints") / "tiny")


@pytest.fixture(scope="session")
def tiny(tiny_checkpoint: Path) -> Translator:
    """That checkpoint's translator on the CPU, random weights; PyTorch's steps alone: it is never compiled."""
    return translator.load(tiny_checkpoint, device="cpu")


@pytest.fixture(scope="session")
def compiled(tiny_checkpoint: Path) -> Translator:
    """The same with compiled steps."""
    own = translator.load(tiny_checkpoint, device="cpu")
    own.compile(wait=True)
    return own


SERIAL = (
    "cluster/test_fleet.py",
    "cluster/test_ray.py",
    "reliability/test_connections.py",
    "reliability/test_gate.py",
    "reliability/test_heaps.py",
    "reliability/test_leaving.py",
    "reliability/test_sinks.py",
    "reliability/test_turns.py",
    "reliability/test_workers.py",
    "test_timing.py",
)
"""Files whose tests look at a clock or at memory: nothing may run beside them, nor beside any `*_alone.py`.

What counts processor time, waits for something to happen, or serves a page of its own may run beside others. Ray looks
at a clock itself: it gives a node thirty seconds to start.
"""


def is_serial(path: Path) -> bool:
    """Whether the tests of a file run alone; the browser's have a run of their own."""
    name = path.relative_to(Path(__file__).parent).as_posix()
    return name in SERIAL or name.endswith("_alone.py") or name.startswith("browser/")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What is left out by where it is or by how it runs is not read: its imports take seconds."""
    chosen: str = config.option.markexpr
    if "not browser" in chosen and collection_path == Path(__file__).parent / "browser":
        return True
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    if chosen.endswith("and not serial"):
        return is_serial(collection_path) or None
    return (chosen.endswith("and serial") and not is_serial(collection_path)) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What was imported and collected stays: the collector need not look through it again and again."""
    gc.disable()
    with without_stubs():
        yield
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what has to run alone, and what is an engine's, before anything is chosen by its marks."""
    engines = Path(__file__).parent / "engine"
    for item in items:
        if item.path.is_relative_to(engines):
            item.add_marker("engine")
        if is_serial(item.path):
            item.add_marker("serial")


@pytest.hookimpl(trylast=True, specname="pytest_collection_modifyitems")
def heaviest_first(items: list[pytest.Item], config: pytest.Config) -> None:
    """Side by side, files whose tests may take longest come first, or one process would have one left in the end."""
    if not hasattr(config, "workerinput"):
        return
    limits, counts = Counter[Path](), Counter[Path]()
    for item in items:
        marker = item.get_closest_marker("timeout")
        limits[item.path] = max(limits[item.path], marker.args[0] if marker else 0)
        counts[item.path] += 1
    items.sort(key=lambda item: (-limits[item.path], -counts[item.path], item.path))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Make the second device known before any test: PyTorch counts devices once, when it first differentiates."""
    wanted = any("second" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and (module := _second_device()) is not None:
        module.second_device()


@cache
def _second_device() -> ModuleType | None:
    """`tests/second_device.py`; None where PyTorch has no devices that are written in Python (before 2.10)."""
    from torch.utils import backend_registration

    ready = hasattr(backend_registration, "_setup_privateuseone_for_python_backend")
    return _beside("second_device") if ready else None


@pytest.fixture(scope="session")
def second() -> str:
    """The name of a device that is not the CPU and refuses what CUDA refuses."""
    module = _second_device()
    if module is None:
        pytest.skip("this PyTorch has no devices that are written in Python")
    return str(module.second_device())


@pytest.fixture
def waits(second: str) -> Callable[..., bool]:
    """`tests/second_device.py`: whether an operator waits for the device."""
    module = _second_device()
    assert module is not None
    return module.waits


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
def tiny_multilingual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random checkpoint in the layout of NLLB, called "nllb"; for reading only."""
    maker, marian = _beside("multilingual_maker"), _beside("marian_maker")
    texts = marian.sentences(300)
    folder = tmp_path_factory.mktemp("multilingual") / "nllb"
    tokenizer = maker.make_tokenizer("nllb", folder, texts, marian.spm_model(texts, 120))
    maker.make_model("nllb", folder, "plain", tokenizer)
    return folder


@pytest.fixture(scope="session")
def tiny_fsmt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random checkpoint in the layout of FSMT; for reading only."""
    maker, marian = _beside("fsmt_maker"), _beside("marian_maker")
    folder = tmp_path_factory.mktemp("fsmt") / "fsmt"
    maker.make_model(folder, "plain", maker.make_tokenizer(folder, marian.sentences(300)))
    return folder


@pytest.fixture(scope="session")
def launch() -> Iterator[Callable[..., Any]]:
    """`launch(*switches)`: a Chromium, found or installed as `browser/install.py` does; never skipped.

    Playwright keeps an event loop running in this thread, so `make test` runs the browser's tests apart.
    """
    from playwright.sync_api import sync_playwright

    path = _beside("browser/install").find()
    assert path is not None, "there is no Chromium; run tests/browser/install.py"
    started: list[Any] = []

    def launched(*switches: str) -> Any:
        switches = (*BROWSER, "--disable-sync", *switches)
        started.append(playwright.chromium.launch(executable_path=path, args=switches))
        return started[-1]

    with sync_playwright() as playwright:
        yield launched
        for each in started:
            each.close()


@pytest.fixture(scope="session")
def browser(launch: Callable[..., Any]) -> Any:
    """The Chromium in which each test has a context of its own."""
    return launch()


@pytest.fixture(scope="session")
def regular(launch: Callable[..., Any]) -> Any:
    """`tests/browser/regular.py`'s `Regular`, the visitor who comes again, in a Chromium of his own."""
    from tests.browser.regular import RENDERERS, Regular

    return Regular(launch(RENDERERS))
