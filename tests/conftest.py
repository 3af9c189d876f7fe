"""Fixtures that every part of the tests may use."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from translator.trace import Trace


@pytest.fixture(scope="session")
def make_trace() -> Callable[..., Trace]:
    """`tests/traces.py`'s `make_trace(seed, *, layers, heads, source, target)`."""
    spec = importlib.util.spec_from_file_location("traces", Path(__file__).parent / "traces.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make_trace
