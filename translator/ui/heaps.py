"""Memory of the process: malloc arenas, and free memory returned to the system."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Mapping

HEAPS, _HEAPS_AT_MOST = 2, -8
"""Heaps of the process; what glibc calls their number (`M_ARENA_MAX` of its malloc.h)."""
EVERY, WORK = 10.0, 1.0
"""Seconds between two returns of free memory, and of the processor's time that have to lie between them."""


def keep_few_heaps(environ: Mapping[str, str] = os.environ) -> None:
    """Let threads share two heaps: glibc gives them up to eight a core, and what is free in one serves no other.

    Does nothing where the environment says how many, or where malloc is another's.
    """
    if "MALLOC_ARENA_MAX" not in environ and (library := _with("mallopt")):
        library.mallopt(_HEAPS_AT_MOST, HEAPS)


def give_back() -> bool:
    """Return every page that lies free within a heap to the system; some milliseconds, of which Python waits for none.

    glibc by itself returns the end of a heap only, so what it holds would depend on what happened to lie last.

    Returns:
        Whether there was any; False too where malloc is another's.
    """
    library = _with("malloc_trim")
    return library is not None and bool(library.malloc_trim(ctypes.c_size_t(0)))


def wait_tidily(done: threading.Event, every: float = EVERY, work: float = WORK) -> None:
    """Wait for `done`, giving memory back each `every` seconds in which the process worked for `work` seconds."""
    worked = time.process_time()
    while not done.wait(every):
        if time.process_time() - worked >= work:
            give_back()
            worked = time.process_time()


def _with(function: str) -> ctypes.CDLL | None:
    """The C library if it is glibc's and has `function`."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, function) else None
