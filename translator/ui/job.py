"""One request at the gate: its worker writes messages, its reader takes the newest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Generic, TypeVar

from translator.errors import BusyError, CancelledError
from translator.ui.turns import BUSY

if TYPE_CHECKING:
    from translator.ui.gate import Gate

M = TypeVar("M")
Stop = Callable[[], bool]

TRUST = 1.0
"""Seconds of work done for a request whose answer is not being read yet; then it pauses."""
PATIENCE = 3.0
"""Seconds that it pauses before it is given up."""
GRACE = 0.5
"""Seconds after the deadline in which a last step may still end."""


class Caller:
    """Whose request it is, and since when it is here; when he hangs up, what runs for him is stopped."""

    def __init__(self, address: str = "", arrived: float | None = None) -> None:
        self.address = address
        self.arrived = time.monotonic() if arrived is None else arrived
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


class Job(Generic[M]):
    """One request. `turn` is set while it may compute, and `since` says since when; `progress` is how far it is, and
    out of what, where its work says so."""

    def __init__(
        self,
        gate: Gate,
        work: Callable[[Stop], Iterator[M]],
        caller: Caller,
        deadline: float,
        read: Callable[[], bool] | None,
        name: str | None,
    ) -> None:
        self.gate, self.name, self.address, self.arrived = gate, name, caller.address, caller.arrived
        self.turn, self.since = threading.Event(), 0.0
        self.progress: tuple[float, float] | None = None
        self._work, self._read, self._deadline = work, read, deadline
        self._end = caller.arrived + deadline
        self._trusted = 0.0
        self._cancelled = threading.Event()
        self._changed = threading.Condition()
        self._tell: Callable[[], None] | None = None
        self._newest: list[M] = []  # at most one
        self._ended: list[BaseException | None] = []  # how, once it has

    # The worker's side.

    def compute(self) -> None:
        """Run in a worker: every message, then how it ended.

        Raises:
            CancelledError: never to its caller; it is one of the ends that the reader is told.
        """
        self._trusted = time.monotonic() + TRUST
        error: BaseException | None = None
        try:
            if self.stop():
                raise CancelledError("the request was given up before its turn came")
            for message in self._work(self.stop):
                with self._changed:
                    self._newest[:] = [message]
                    self._notify()
        except BaseException as raised:
            error = raised
        self.end(error)

    def stop(self) -> bool:
        """Asked by the work at every step: True once the answer is not wanted any more.

        Pauses here while another address has its turn, or while the answer is not read.

        Raises:
            BusyError: the deadline passed.
        """
        gives_up = None
        while not self._cancelled.is_set():
            now = time.monotonic()
            if now > self._end:
                raise self.late()
            if self._read is None or now < self._trusted or self._read():
                if gives_up is not None:
                    self.gate.resume(self)
                else:
                    self.gate.share(self)
                return self._cancelled.is_set()
            if gives_up is None:
                gives_up = now + PATIENCE
                self.gate.rest(self)
            elif now > gives_up:
                return True
            self._cancelled.wait(0.05)
        return True

    def await_turn(self) -> None:
        """Wait until there is a place for it again; the time does not count as work done unread.

        Raises:
            BusyError: the deadline passed.
        """
        began = time.monotonic()
        if not self._cancelled.is_set() and not self.turn.wait(max(self._end - began, 0)):
            raise self.late()
        self._trusted += time.monotonic() - began

    # The reader's side.

    @property
    def ended(self) -> bool:
        """Whether it will send nothing more."""
        return bool(self._ended)

    def on_change(self, tell: Callable[[], None]) -> None:
        """Have `tell` called, in whatever thread, when there is a message, and at the end."""
        self._tell = tell

    def take(self) -> list[M]:
        """The newest message, if there is one that was not taken."""
        with self._changed:
            found, self._newest = self._newest, []
        return found

    def result(self) -> None:
        """Tell how it ended.

        Raises:
            BaseException: whatever the worker raised.
        """
        if self._ended[0] is not None:
            raise self._ended[0]

    def messages(self) -> Iterator[M]:
        """For a thread that waits: the newest message each time.

        Raises:
            BusyError: the deadline passed.
            BaseException: whatever the worker raised.
        """
        while True:
            with self._changed:
                if not self._changed.wait_for(lambda: self._newest or self._ended, max(self.left(), 0)):
                    raise self.late()  # a single step may take longer than what was left
                if not self._newest:
                    break
                message = self._newest.pop()
            yield message
        self.result()

    def cancel(self) -> None:
        """Stop at the next step; a request that still waits gives its place free at once."""
        self._cancelled.set()
        if self.gate.drop(self):
            self.end(CancelledError("the request was given up before its turn came"))
        self.turn.set()

    def end(self, error: BaseException | None) -> None:
        """Nothing comes after this."""
        with self._changed:
            self._ended.append(error)
            self._notify()

    def left(self) -> float:
        """Seconds until its reader gives up."""
        return self._end + GRACE - time.monotonic()

    def late(self) -> BusyError:
        """What is said after the deadline."""
        return BusyError(f"no translation within {self._deadline:g} seconds: {BUSY}, or send a shorter text")

    def _notify(self) -> None:
        self._changed.notify()
        if self._tell is not None:
            self._tell()
