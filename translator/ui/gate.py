"""The gate before the models: few workers, a short queue, a deadline, and no work that outlives its reader.

Gradio frees a slot as soon as an event is cancelled, while the event's thread computes on. Here the work
runs in threads of our own: there are never more of them than workers, whatever is joined and cancelled.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from translator.errors import BusyError, CancelledError

M = TypeVar("M")
Stop = Callable[[], bool]

WORKERS = 2
WAITING = 32
DEADLINE = 20.0
"""Seconds from admission to the last message; after them a request is given up."""
TRUST = 1.0
"""Seconds of work done for a request that nobody has begun to read; then it pauses."""
PATIENCE = 3.0
"""Seconds that it pauses before it is given up."""
BUSY = "the translator is busy; try again in a few seconds"


class Caller:
    """Who waits for an answer that comes whole; when he hangs up, what runs for him is stopped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = False
        self._actions: list[Callable[[], None]] = []

    def on_leave(self, action: Callable[[], None]) -> None:
        """Have `action` done when he hangs up; at once if he has."""
        with self._lock:
            if not self._left:
                self._actions.append(action)
                return
        action()

    def leave(self) -> None:
        """He has hung up."""
        with self._lock:
            self._left = True
            actions, self._actions = self._actions, []
        for action in actions:
            action()


CALLER: ContextVar[Caller | None] = ContextVar("CALLER", default=None)
"""Who called in the present request, where that is known."""


class Gate:
    """Lets `workers` requests compute at once and `waiting` wait; the next is told that it is busy."""

    def __init__(self, *, workers: int = WORKERS, waiting: int = WAITING, deadline: float = DEADLINE) -> None:
        self.deadline = deadline
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="model")
        self._limit = workers + waiting
        self._jobs: set[_Job[Any]] = set()
        self._lock = threading.Lock()
        self._closed = False

    def __len__(self) -> int:
        """How many requests compute or wait."""
        return len(self._jobs)

    def stream(
        self, work: Callable[[Stop], Iterator[M]], *, read: Callable[[], bool] | None = None, name: str | None = None
    ) -> Iterator[M]:
        """What `work(stop)` yields, computed in a worker; closing this iterator stops it at its next step.

        A slow reader gets the newest message and never those before it: sending a step costs more than
        decoding it, and each step tells the whole so far. The last message is never skipped.

        Args:
            work: is given `stop`, which it asks at every step: True, or an error, ends it.
            read: whether somebody reads the answer at this moment; None if that cannot be known.
            name: by which `stop` finds it.
        Raises:
            BusyError: too many wait, or the deadline passed.
            CancelledError: the reader went away, or the request was stopped.
        """
        job = _Job[M](self.deadline, read, name)
        self._admit(job, work)
        try:
            if (caller := CALLER.get()) is not None:
                caller.on_leave(job.cancel)
            yield from job.messages()
        finally:
            job.cancel()

    def run(self, work: Callable[[Stop], M], *, read: Callable[[], bool] | None = None, name: str | None = None) -> M:
        """`work(stop)`, computed in a worker; `read`, `name` and the errors are those of `stream`."""
        return next(iter(self.stream(lambda stop: iter((work(stop),)), read=read, name=name)))

    def stop(self, name: str) -> None:
        """Stop the request of that name, if it still computes or waits, at its next step."""
        for job in list(self._jobs):
            if job.name == name:
                job.cancel()

    def close(self) -> None:
        """Stop everything at its next step, and admit nothing more."""
        with self._lock:
            self._closed = True
            jobs = list(self._jobs)
        for job in jobs:
            job.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _admit(self, job: _Job[M], work: Callable[[Stop], Iterator[M]]) -> None:
        with self._lock:
            if self._closed or len(self._jobs) >= self._limit:
                raise BusyError(BUSY)
            self._jobs.add(job)
            job.future = self._threads.submit(job.compute, work)
        job.future.add_done_callback(lambda _: self._jobs.discard(job))


class _Job(Generic[M]):
    """One request: its worker leaves messages, its reader takes the newest."""

    def __init__(self, deadline: float, read: Callable[[], bool] | None, name: str | None) -> None:
        self.name = name
        self.future: Future[None] | None = None
        self._end = time.monotonic() + deadline
        self._deadline = deadline
        self._trusted = 0.0
        self._read = read
        self._cancelled = threading.Event()
        self._changed = threading.Condition()
        self._newest: list[M] = []  # at most one
        self._ended: list[BaseException | None] = []  # how, once it has

    def compute(self, work: Callable[[Stop], Iterator[M]]) -> None:
        """Run in a worker: every message, then how it ended."""
        self._trusted = time.monotonic() + TRUST
        error: BaseException | None = None
        try:
            if self.stop():
                raise CancelledError("the request was given up before its turn came")
            for message in work(self.stop):
                with self._changed:
                    self._newest[:] = [message]
                    self._changed.notify()
        except BaseException as raised:
            error = raised
        with self._changed:
            self._ended.append(error)
            self._changed.notify()

    def messages(self) -> Iterator[M]:
        """Run by the reader: the newest message each time; raises what the worker raised."""
        while True:
            with self._changed:
                left = max(self._end + 0.5 - time.monotonic(), 0)
                if not self._changed.wait_for(lambda: self._newest or self._ended, left):
                    raise self._late()  # a single step may take longer than what was left
                if not self._newest:
                    break
                message = self._newest.pop()
            yield message
        if self._ended[0] is not None:
            raise self._ended[0]

    def cancel(self) -> None:
        """Stop at the next step; a request that still waits gives its place free at once."""
        self._cancelled.set()
        if self.future is not None and self.future.cancel():  # no worker will end it
            with self._changed:
                self._ended.append(CancelledError("the request was given up before its turn came"))
                self._changed.notify()

    def stop(self) -> bool:
        """Asked by the work at every step: True once nobody wants it any more.

        Raises:
            BusyError: the deadline passed.
        """
        pause_end = time.monotonic() + PATIENCE
        while not self._cancelled.is_set():
            now = time.monotonic()
            if now > self._end:
                raise self._late()
            if self._read is None or now < self._trusted or self._read():
                return False
            if now > pause_end:
                return True
            self._cancelled.wait(0.05)
        return True

    def _late(self) -> BusyError:
        return BusyError(f"no translation within {self._deadline:g} seconds: {BUSY}, or send a shorter text")
