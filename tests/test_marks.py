"""What looks at a clock runs alone, whatever runs side by side."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.conftest import SERIAL, is_serial

ROOT = Path(__file__).parent
CLOCKS = {"monotonic", "perf_counter", "time", "getrusage"}


def looks_at_a_clock(source: str) -> bool:
    """Whether a test reads the time or how much memory it took."""
    if not any(f".{name}(" in source for name in CLOCKS):
        return False
    calls = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    names = {call.attr for call in calls if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name)}
    return bool(names & CLOCKS)


def test_a_file_that_looks_at_a_clock_runs_alone() -> None:
    beside = [path for path in ROOT.rglob("test_*.py") if not is_serial(path)]
    assert not [path.name for path in beside if looks_at_a_clock(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("name", SERIAL)
def test_what_runs_alone_is_there(name: str) -> None:
    assert (ROOT / name).exists()


@pytest.mark.parametrize(
    ("source", "looks"),
    [("time.monotonic()", True), ("resource.getrusage(0)", True), ("a = time.sleep(1)", False), ("x.y.time()", False)],
)
def test_a_clock_is_found(source: str, looks: bool) -> None:
    assert looks_at_a_clock(source) == looks
