"""A bounded LRU cache of traces, so that exports need not decode again."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from translator.trace import Trace

LIMIT = 64 * 2**20
"""Bytes; some 850 everyday traces. What is not kept is decoded again, in a tenth of a second."""
_FIXED_BYTES, _STEP_BYTES, _BEAM_BYTES, _TOKEN_BYTES = 8192, 600, 300, 400
"""What CPython needs for the objects around the arrays, rounded up; a test holds it to what is allocated."""


@dataclass(frozen=True, eq=False)
class _Entry:
    key: Hashable
    trace: Trace
    size: int


class TraceStore:
    """The traces that were asked for last, at most `limit` bytes of them, by ids that nobody can guess.

    An id answers only to the request that it was given for: another visitor who types the same sentence
    gets an id of his own, and cannot tell from the time it takes whether somebody typed it before.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def bytes(self) -> int:
        """What is held now, by `trace_bytes`."""
        return self._bytes

    def put(self, key: Hashable, trace: Trace) -> str:
        """Keep `trace`, the answer to the request `key`, and return its id (128 random bits).

        A trace that is larger than the store by itself is not kept; its id then misses.
        """
        id_, size = secrets.token_urlsafe(16), trace_bytes(trace)
        if size <= self.limit:
            with self._lock:
                self._entries[id_] = _Entry(key, trace, size)
                self._bytes += size
                while self._bytes > self.limit:
                    _, oldest = self._entries.popitem(last=False)
                    self._bytes -= oldest.size
        return id_

    def get(self, id_: object, key: Hashable) -> Trace | None:
        """The trace of an id, if it is still kept and was the answer to this very request."""
        with self._lock:
            entry = self._entries.get(id_) if isinstance(id_, str) else None
            if entry is None or entry.key != key:
                return None
            self._entries.move_to_end(str(id_))
            return entry.trace


def trace_bytes(trace: Trace) -> int:
    """About how much memory a trace holds: its arrays, and its tokens and candidates."""
    size = trace.encoder.nbytes + trace.decoder.nbytes + trace.cross.nbytes
    for step in trace.steps:
        size += 0 if step.cross.base is not None else step.cross.nbytes  # usually a view of trace.cross
        size += _STEP_BYTES + _TOKEN_BYTES * len(step.candidates) + 8 * len(step.tokens)
        size += sum(_BEAM_BYTES + 8 * len(beam.ids) for beam in step.beams)
    strings = 4 * (len(trace.source) + len(trace.normalised) + len(trace.translation))
    return size + strings + _FIXED_BYTES + _TOKEN_BYTES * (len(trace.src) + len(trace.tgt))
