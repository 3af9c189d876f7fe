"""Threads of the page's process share a few heaps, so that what one lets go another can use."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

GLIBC = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_info")
ASK = """
import ctypes, sys, threading
from translator.ui.serve import keep_few_heaps

keep_few_heaps(dict(each.split("=") for each in sys.argv[1:]))
library, met = ctypes.CDLL(None), threading.Barrier(6)
library.malloc.restype = library.open_memstream.restype = ctypes.c_void_p

def hold():
    library.malloc(ctypes.c_size_t(50_000))
    met.wait()

threads = [threading.Thread(target=hold) for _ in range(6)]
[each.start() for each in threads]
[each.join() for each in threads]
text, size = ctypes.c_char_p(), ctypes.c_size_t()
stream = ctypes.c_void_p(library.open_memstream(ctypes.byref(text), ctypes.byref(size)))
library.malloc_info(0, stream)
library.fclose(stream)
print(text.value.count(b"<heap nr"))
"""


def heaps(*environment: str) -> int:
    """How many there are once six threads hold memory at the same time."""
    done = subprocess.run([sys.executable, "-c", ASK, *environment], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.skipif(not GLIBC, reason="heaps are glibc's")
def test_threads_share_two_heaps() -> None:
    assert heaps() == 2


@pytest.mark.skipif(not GLIBC, reason="heaps are glibc's")
def test_who_says_how_many_is_heard() -> None:
    assert heaps("MALLOC_ARENA_MAX=9") > 2, "the library would have had two anyway"
