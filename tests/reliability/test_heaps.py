"""Threads of the page's process share a few heaps, and what lies free in them goes back to the system."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
import time

import pytest

from translator.ui import heaps as tidy

GLIBC = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_info")
ASK = """
import ctypes, sys, threading
from translator.ui.heaps import keep_few_heaps

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


HOLES = """
import ctypes, os
from translator.ui.heaps import give_back

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

library = ctypes.CDLL(None)
library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
blocks = [library.malloc(ctypes.c_size_t(20_000)) for _ in range(4_000)]
for block in blocks:
    ctypes.memset(block, 1, 20_000)
for block in blocks[:-1]:  # what lies last keeps the heap from its end
    library.free(block)
before = resident()
given = give_back()
print(before - resident(), given)
"""


@pytest.mark.skipif(not GLIBC, reason="heaps are glibc's")
def test_holes_go_back_to_the_system() -> None:
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    mebibytes, given = done.stdout.split()
    assert float(mebibytes) > 60 and given == "True"


def test_memory_is_given_back_after_work_and_left_alone_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    done, given = threading.Event(), []
    monkeypatch.setattr(tidy, "give_back", lambda: given.append(time.process_time()))
    waiting = threading.Thread(target=tidy.wait_tidily, args=(done, 0.01, 0.1), daemon=True)
    began = time.process_time()
    waiting.start()
    while not given and time.process_time() - began < 10:
        pass  # work
    assert given and given[0] - began >= 0.1
    count = len(given)
    time.sleep(0.1)
    assert len(given) == count  # ten times its interval, at rest
    done.set()
    waiting.join(5)
    assert not waiting.is_alive()


def test_another_malloc_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not tidy.give_back()
