"""How functions become machine code, and when what was kept of an earlier time is used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import njit

FAST = ("reassoc", "contract", "nsz", "arcp")
"""What sums may assume: order and rounding are free, while infinities and NaN keep their meaning."""
FILES = ("jit.py", "work_queue.py", "matmul.py", "attention.py", "kernel.py", "beams.py")
F = TypeVar("F", bound=Callable[..., Any])


def state(folder: Path) -> str:
    """What the source of all compiled functions is, in eight digits."""
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in FILES)).hexdigest()[:8]


STATE = state(Path(__file__).parent)


def jit(function: F) -> F:
    """Compile `function` when it is first called, and keep what comes of it where a folder may be written.

    Numba makes it anew when its own file has changed, but not when a function has that it calls and another file holds:
    so the name under which it is kept tells the state of all.
    """
    function.__qualname__ += STATE
    compiled: Any
    try:
        compiled = njit(cache=True, nogil=True, fastmath=set(FAST), error_model="numpy")(function)
    except RuntimeError:
        compiled = njit(nogil=True, fastmath=set(FAST), error_model="numpy")(function)
    return compiled
