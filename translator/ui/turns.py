"""The scheduler behind the gate: addresses take turns, first come first served within each.

Bookkeeping only, without threads or clocks of its own: its callers hold one lock.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, Protocol, TypeVar

from translator.errors import BusyError

BUSY = "the translator is busy; try again in a few seconds"
EACH = 2
"""Requests of one address that may have begun and want to compute; another of its own waits until one ends."""
RESTING = 4
"""Requests of one address that may have begun at all, those included whose reader is awaited."""


class Request(Protocol):
    """What takes turns; it is known by its identity."""

    address: str


R = TypeVar("R", bound=Request)


class _Line(Generic[R]):
    """The requests of one address."""

    def __init__(self) -> None:
        self.waiting: deque[R] = deque()  # not begun
        self.paused: deque[R] = deque()  # begun, and wants to go on
        self.running: set[R] = set()
        self.resting: set[R] = set()  # begun, and wants nothing for now

    def __len__(self) -> int:
        return len(self.waiting) + len(self.paused) + len(self.running) + len(self.resting)

    @property
    def begun(self) -> int:
        return len(self.paused) + len(self.running) + len(self.resting)


class Turns(Generic[R]):
    """A few places to compute, handed to the address that has the fewest of them and has waited longest for one."""

    def __init__(self, places: int, waiting: int, crowd: int, threads: int) -> None:
        """Have `places`.

        Args:
            waiting: requests of one address that may wait besides those that compute.
            crowd: the same of all addresses together.
            threads: requests that may have begun at once.
        """
        self._places, self._each, self._crowd, self._threads = places, places + waiting, places + crowd, threads
        self._lines: OrderedDict[str, _Line[R]] = OrderedDict()  # who was given a place last stands last

    def __len__(self) -> int:
        return sum(map(len, self._lines.values()))

    def add(self, request: R) -> R | None:
        """Let `request` wait; where all room is taken, the newest of the longest line makes room for it.

        Returns:
            The one that had to go.
        Raises:
            BusyError: its address has as many as it may have, or no line is longer.
        """
        line = self._lines.get(request.address)
        mine = len(line) if line else 0
        if mine >= self._each:
            raise BusyError(BUSY)
        gone = None
        if len(self) >= self._crowd:
            longest = max(self._lines.values(), key=lambda each: len(each.waiting))
            if len(longest.waiting) <= mine + 1:
                raise BusyError(BUSY)
            gone = longest.waiting.pop()
        self._lines.setdefault(request.address, _Line()).waiting.append(request)
        return gone

    def next(self) -> tuple[R, bool] | None:
        """The request that is given a place now, and whether it begins; None where no place or no request is left."""
        if sum(len(line.running) for line in self._lines.values()) >= self._places:
            return None
        able = self._able()
        if not able:
            return None
        line = min(able, key=lambda each: len(each.running))  # of equals the first: it waited longest
        begins = not line.paused
        request = line.waiting.popleft() if begins else line.paused.popleft()
        line.running.add(request)
        self._lines.move_to_end(request.address)
        return request, begins

    def _able(self) -> list[_Line[R]]:
        """The addresses that may be given a place, in their order."""
        room = sum(each.begun for each in self._lines.values()) < self._threads
        return [line for line in self._lines.values() if line.paused or (room and self._may_begin(line))]

    def _may_begin(self, line: _Line[R]) -> bool:
        if not line.waiting or len(line.paused) + len(line.running) >= max(EACH, self._places):
            return False
        return line.begun < RESTING + EACH

    def shares(self, request: R, *, enough: bool) -> bool:
        """Whether a request that computes has to give its place to another address.

        Args:
            enough: whether it has computed for as long as a turn is.
        """
        most = len(self._lines[request.address].running) - (1 if enough else 2)
        return most >= 0 and any(len(line.running) <= most for line in self._able())

    def pause(self, request: R, *, rests: bool = False) -> None:
        """Take the place of a request that computes; one that `rests` does not want it back for now."""
        line = self._lines[request.address]
        line.running.discard(request)
        if rests:
            line.resting.add(request)
        else:
            line.paused.append(request)

    def wants(self, request: R) -> None:
        """A request that rested wants to go on."""
        line = self._lines[request.address]
        line.resting.discard(request)
        line.paused.append(request)

    def waits(self, request: R) -> bool:
        """Whether it has not begun."""
        line = self._lines.get(request.address)
        return line is not None and request in line.waiting

    def leave(self, request: R) -> None:
        """Forget a request, wherever it stands."""
        line = self._lines.get(request.address)
        if line is None:
            return
        for group in (line.waiting, line.paused):
            if request in group:
                group.remove(request)
        line.running.discard(request)
        line.resting.discard(request)
        if not len(line):
            del self._lines[request.address]

    def before(self, request: R) -> int:
        """How many are given a place before a request that waits: its own address's, and as many of each other's."""
        line = self._lines[request.address]
        own = line.waiting.index(request)
        others = (each for each in self._lines.values() if each is not line)
        return own + len(line.paused) + sum(min(len(each.waiting) + len(each.paused), own + 1) for each in others)
