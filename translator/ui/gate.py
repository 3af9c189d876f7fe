"""The gate before the models: bounded concurrency, turns between addresses, deadlines, cancellation.

The work runs in threads of our own: there are never more that compute than workers, whatever is asked and cancelled.
A request that computes is asked at every step whether another address has waited for a place; then it pauses there,
so that no request waits for the end of another visitor's long one.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from translator.analysis.stopping import ask
from translator.errors import BusyError, TranslatorError
from translator.ui.job import CALLER, Caller, Job, Stop
from translator.ui.turns import BUSY, Turns

__all__ = ["BUSY", "CALLER", "Caller", "Gate", "Place", "Stop"]
M = TypeVar("M")

WORKERS = 2
WAITING = 32
"""Requests of one address that may wait: a class of pupils shares one."""
CROWD = 128
"""Requests of all addresses that may wait."""
THREADS = 24
"""Requests that may have begun: two compute, the others have given their places to other addresses."""
DEADLINE = 20.0
"""Seconds from its arrival to a request's last message; after them it is given up."""
TURN = 0.25
"""Seconds after which a request that computes gives its place to an address that waits for one."""
LOOK = 0.5
"""Seconds between two looks at how many stand before a request that waits."""

_JOB: ContextVar[Job[Any] | TranslatorError | None] = ContextVar("JOB", default=None)


@dataclass(frozen=True)
class Place:
    """How many requests are given their turn before this one."""

    before: int


class Gate:
    """Lets `workers` requests compute at once; what waits takes turns by address, and has its bounds."""

    def __init__(
        self,
        *,
        workers: int = WORKERS,
        waiting: int = WAITING,
        crowd: int | None = None,
        deadline: float = DEADLINE,
        turn: float = TURN,
    ) -> None:
        """Open the gate.

        Args:
            waiting: requests of one address that may wait.
            crowd: requests that may wait in all; four times as many where it is None.
            deadline: seconds from arrival to the last message.
            turn: seconds of computing after which a place goes to another address that waits.
        """
        self.deadline = deadline
        threads = max(THREADS, workers)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="model")
        self._turns: Turns[Job[Any]] = Turns(workers, waiting, 4 * waiting if crowd is None else crowd, threads)
        self._turn = turn
        self._jobs: set[Job[Any]] = set()
        self._lock = threading.Lock()
        self._closed = False

    def __len__(self) -> int:
        """How many requests compute or wait."""
        return len(self._jobs)

    def submit(
        self,
        work: Callable[[Stop], Iterator[M]],
        *,
        caller: Caller | None = None,
        read: Callable[[], bool] | None = None,
        name: str | None = None,
    ) -> Job[M]:
        """Let `work` wait for its turn; `follow` gives what becomes of it.

        Args:
            work: is given `stop`, which it asks at every step: True, or an error, ends it.
            caller: whose request it is; when he hangs up, it is stopped.
            read: whether somebody reads the answer at this moment; None if that cannot be known.
            name: by which `stop` finds it.
        Raises:
            BusyError: too many wait.
        """
        caller = caller or CALLER.get() or Caller()
        job = Job[M](self, work, caller, self.deadline, read, name)
        with self._lock:
            if self._closed:
                raise BusyError(BUSY)
            gone = self._turns.add(job)
            self._jobs.add(job)
            self._give()
        if gone is not None:
            self._jobs.discard(gone)
            gone.end(BusyError(BUSY))
        caller.on_leave(job.cancel)
        return job

    async def follow(self, job: Job[M]) -> AsyncIterator[M | Place]:
        """The newest message of `job` each time, and its `Place` while it waits; leaving this iterator stops it.

        A slow reader gets the newest message and never those before it: sending a step costs more than
        decoding it, and each step tells the whole so far. The last message is never skipped.

        Raises:
            BusyError: the deadline passed.
            CancelledError: the request was stopped.
        """
        wake, loop, told = asyncio.Event(), asyncio.get_running_loop(), -1

        def tell() -> None:
            with suppress(RuntimeError):  # the loop has closed
                loop.call_soon_threadsafe(wake.set)

        job.on_change(tell)
        try:
            while True:
                wake.clear()
                ended = job.ended  # before the message is looked for: the last one may come between
                found = job.take()
                if found:
                    yield found[0]
                    continue
                if ended:
                    job.result()
                    return
                before = self._before(job)
                if before not in (told, None) and time.monotonic() > job.arrived + LOOK:
                    told = before or 0
                    yield Place(told)
                timer = loop.call_later(job.left() if before is None else min(LOOK, job.left()), wake.set)
                await wake.wait()
                timer.cancel()
                if job.left() <= 0:
                    raise job.late()
        finally:
            job.cancel()

    def stream(
        self, work: Callable[[Stop], Iterator[M]], *, read: Callable[[], bool] | None = None, name: str | None = None
    ) -> Iterator[M]:
        """What `work(stop)` yields, computed in a worker, for a thread that waits; the errors are those of `follow`.

        Within a request that has its turn already it is computed at once, as a part of it.
        """
        inside = _JOB.get()
        if isinstance(inside, TranslatorError):
            raise inside
        if inside is not None and inside.gate is self:
            inside.name = name or inside.name
            yield from work(inside.stop)
            return
        job = self.submit(work, read=read, name=name)
        try:
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

    def progress(self, name: str) -> tuple[float, float] | None:
        """How far the request of that name is, and out of what; None where none was reported."""
        return next((job.progress for job in list(self._jobs) if job.name == name), None)

    def close(self) -> None:
        """Stop everything at its next step, and admit nothing more."""
        with self._lock:
            self._closed = True
            jobs = list(self._jobs)
        for job in jobs:
            job.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    # What a job asks of its gate.

    def share(self, job: Job[Any]) -> None:
        """Give the place of `job` to another address if it is that one's turn, and wait for the next."""
        with self._lock:
            if not self._turns.shares(job, enough=time.monotonic() - job.since > self._turn):
                return
            job.turn.clear()
            self._turns.pause(job)
            self._give()
        job.await_turn()

    def rest(self, job: Job[Any]) -> None:
        """Give the place of `job` away until `resume`."""
        with self._lock:
            job.turn.clear()
            self._turns.pause(job, rests=True)
            self._give()

    def resume(self, job: Job[Any]) -> None:
        """Wait for a place again."""
        with self._lock:
            self._turns.wants(job)
            self._give()
        job.await_turn()

    def drop(self, job: Job[Any]) -> bool:
        """Forget `job` if it has not begun; whether that was so."""
        with self._lock:
            if not self._turns.waits(job):
                return False
            self._turns.leave(job)
            self._jobs.discard(job)
        return True

    def _before(self, job: Job[Any]) -> int | None:
        with self._lock:
            return self._turns.before(job) if self._turns.waits(job) else None

    def _give(self) -> None:
        """Hand out the places that are free; the lock is held."""
        while not self._closed and (found := self._turns.next()) is not None:
            job, begins = found
            job.since = time.monotonic()
            job.turn.set()
            if begins:
                self._threads.submit(self._compute, job)

    def _compute(self, job: Job[Any]) -> None:
        token = _JOB.set(job)
        try:
            job.compute()
        finally:
            _JOB.reset(token)
            with self._lock:
                self._turns.leave(job)
                self._jobs.discard(job)
                self._give()


def tell(done: float, total: float) -> None:
    """Say how far the present request is, for `Gate.progress`; outside of a request this does nothing."""
    job = _JOB.get()
    if isinstance(job, Job):
        job.progress = done, total


def pause() -> None:
    """Within work that was given no `stop`: ask the present request's; outside of a request this does nothing.

    Raises:
        CancelledError: it was stopped.
        BusyError: its deadline passed.
    """
    job = _JOB.get()
    if isinstance(job, Job):
        ask(job.stop, "the request")


def refused(error: TranslatorError, work: Callable[[], M]) -> M:
    """`work()` where whatever it asks of a gate is refused with `error`: so that it says so in its own way."""
    token = _JOB.set(error)
    try:
        return work()
    finally:
        _JOB.reset(token)
