"""Whose processor time the benchmarks count as their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from benchmarks.timing import _living_children


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_what_living_children_and_theirs_take_is_counted() -> None:
    """A browser's processes are children of a child, and live while they are watched."""
    spin = "while True: pass"
    inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {spin!r}], timeout=60)"
    before, started = _living_children(), time.monotonic()
    child = subprocess.Popen([sys.executable, "-c", inner], start_new_session=True)
    try:
        while _living_children() < before + 0.3:
            assert time.monotonic() - started < 30, "what the grandchild took was not counted"
            time.sleep(0.05)
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
