"""Worker threads, which share the products of compiled code with one decoding thread at a time.

They are as many as PyTorch's threads, less the caller's own. A worker watches for work for a fraction of a millisecond
and then sleeps, so between two sentences it costs nothing. Where two sentences are decoded at once each keeps to its
own thread: cores that do one thing each lose nothing to waiting.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from translator.engine.cpu import matmul, work_queue

MOST = 4
"""Threads on one product: what memory gives grows little beyond."""
_NOBODY = np.zeros(0, np.int64)
PATIENCE = 20_000
"""Looks at the queue before a worker sleeps: some two thirds of a millisecond."""


class Workers:
    """Threads that come when they are first wanted, and the work queue that they watch."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew; a forked process does, in which no worker lives."""
        self._lock = threading.Lock()
        self._callers = 0
        self._workers: list[_Worker] = []
        self._queue = _NOBODY

    @contextmanager
    def queue(self) -> Iterator[np.ndarray]:
        """What products are shared out by, as long as the context lasts; empty: the caller works alone."""
        wanted = min(torch.get_num_threads(), MOST) - 1
        if wanted > 0:
            wanted = min(wanted, len(_cores()) - 1)
        with self._lock:
            self._callers += 1
            alone = self._callers > 1 or wanted < 1
            if not alone:
                self._wake(wanted)
        try:
            yield _NOBODY if alone else self._queue
        finally:
            with self._lock:
                self._callers -= 1

    def _wake(self, wanted: int) -> None:
        if not len(self._queue):
            self._queue = np.zeros(work_queue.QUEUE, np.int64)
        while len(self._workers) < wanted:
            self._workers.append(_Worker(self._queue))
        for worker in self._workers[:wanted]:
            worker.wake()


class _Worker:
    """One thread, asleep until it is woken."""

    def __init__(self, queue: np.ndarray) -> None:
        self._queue = queue
        self._cores = _cores()
        self._called = threading.Semaphore(0)
        self._asleep = True
        threading.Thread(target=self._run, daemon=True, name="worker").start()

    def wake(self) -> None:
        """Let it watch the queue; this does not wait until it does."""
        if self._asleep:
            self._asleep = False
            self._called.release()

    def _run(self) -> None:
        while True:
            self._called.acquire()
            while matmul.serve(self._queue, PATIENCE):  # on the owner's core: a system may be slow to move it
                os.sched_setaffinity(0, self._cores - {int(self._queue[work_queue.CORE])})
            self._asleep = True


def _cores() -> set[int]:
    """The cores that the calling thread may run on."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


WORKERS = Workers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKERS.forget)
