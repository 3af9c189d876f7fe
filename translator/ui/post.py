"""Answers waiting for their readers, bounded in bytes and in time."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import orjson

TOTAL, EACH = 64 * 2**20, 16 * 2**20
"""Bytes that are held for readers: of all addresses, and of one."""
BOXES = 128
"""Readers of one address that answers may be held for."""
UNREAD = 15.0
"""Seconds for which an answer waits for its reader."""
GONE = "the answer was let go, because too much waited for this address to fetch it; ask again, and read each answer"
_GONE = orjson.dumps(GONE)

Kind = Literal["waiting", "step", "done", "failed"]


@dataclass(eq=False)
class Letter:
    """One message: `parts` are the outputs as JSON; of a failure, what is said; of one who waits, his place."""

    event: str
    kind: Kind
    parts: list[bytes] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes of the outputs."""
        return sum(map(len, self.parts))


class Box:
    """What one reader has not taken yet, and what is still computed for him."""

    def __init__(self, key: str, address: str) -> None:
        self.key, self.address = key, address
        self.letters: deque[Letter] = deque()
        self.pending: dict[str, Callable[[], None]] = {}
        """Events that have not ended, and how each is stopped."""
        self.wake = asyncio.Event()
        self.readers = 0
        self.touched = time.monotonic()

    def stop(self) -> None:
        """Stop whatever is computed for him."""
        for stop in list(self.pending.values()):
            stop()


class Post:
    """All boxes. Everything is called from one event loop."""

    def __init__(self, total: int = TOTAL, each: int = EACH, unread: float = UNREAD) -> None:
        self._total, self._each, self._unread = total, each, unread
        self._boxes: dict[str, Box] = {}
        self._bytes: Counter[str] = Counter()
        self._sweeps = False

    def __len__(self) -> int:
        return len(self._boxes)

    @property
    def bytes(self) -> int:
        """What is held now for all readers."""
        return self._bytes.total()

    def get(self, key: str) -> Box | None:
        """The box of that name, if there is one."""
        return self._boxes.get(key)

    def box(self, key: str, address: str) -> Box | None:
        """The box of that name, made where there is none; None where its address has too many."""
        found = self._boxes.get(key)
        if found is None:
            if sum(each.address == address for each in self._boxes.values()) >= BOXES:
                return None
            found = self._boxes[key] = Box(key, address)
            if not self._sweeps:
                self._sweeps = True
                asyncio.get_running_loop().call_later(1, self._sweep)
        return found

    def put(self, box: Box, letter: Letter) -> None:
        """Lay a letter into a box; a step takes the place of one of the same event that was not taken yet."""
        if self._boxes.get(box.key) is not box:
            return
        box.touched = time.monotonic()
        for old in box.letters:
            if old.event == letter.event and old.kind in ("step", "waiting"):
                self._charge(box, -old.size)
                box.letters.remove(old)
                break
        if not self._make_room(box.address, letter.size):
            if letter.kind == "step":
                return  # the answer itself comes later
            letter = Letter(letter.event, "failed", [_GONE])
        self._charge(box, letter.size)
        box.letters.append(letter)
        if letter.kind in ("done", "failed"):
            box.pending.pop(letter.event, None)
        box.wake.set()

    def take(self, box: Box) -> Letter | None:
        """The oldest letter of a box; its bytes count until `sent` says that they left."""
        return box.letters.popleft() if box.letters else None

    def sent(self, box: Box, letter: Letter) -> None:
        """The bytes of a letter that was taken are held no longer."""
        self._charge(box, -letter.size)

    def drop(self, box: Box) -> None:
        """Forget a box, with all that it holds and all that is computed for it."""
        if self._boxes.get(box.key) is box:
            del self._boxes[box.key]
        box.stop()
        for letter in box.letters:
            self._charge(box, -letter.size)
        box.letters.clear()

    def _charge(self, box: Box, size: int) -> None:
        self._bytes[box.address] += size
        if self._bytes[box.address] <= 0:
            del self._bytes[box.address]

    def _make_room(self, address: str, size: int) -> bool:
        """Let the oldest answers go until `size` bytes more may be held: the address's own, then of who holds most."""
        while self._bytes[address] + size > self._each:
            if not self._let_go(address):
                return False
        while self.bytes + size > self._total:
            most = max(self._bytes, key=self._bytes.__getitem__)
            if not self._let_go(most):
                return False
        return True

    def _let_go(self, address: str) -> bool:
        for box in self._boxes.values():
            for letter in box.letters:
                if box.address == address and letter.kind == "done" and letter.size > len(_GONE):
                    self._charge(box, len(_GONE) - letter.size)
                    letter.kind, letter.parts = "failed", [_GONE]
                    return True
        return False

    def _sweep(self) -> None:
        """Drop what has not been fetched for so long."""
        now = time.monotonic()
        for box in list(self._boxes.values()):
            if not box.readers and not box.pending and now - box.touched > self._unread:
                self.drop(box)
        self._sweeps = bool(self._boxes)
        if self._sweeps:
            asyncio.get_running_loop().call_later(1, self._sweep)
