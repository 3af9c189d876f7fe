"""A log filter that limits the number of records of each kind per minute."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict

EACH, SECONDS = 20, 60.0
"""Records of one kind, and within how long."""
KINDS = 1000


class Bounded(logging.Filter):
    """Lets the first `each` records of a kind through; the kind is its logger, its level and its form of words."""

    def __init__(self, each: int = EACH, seconds: float = SECONDS) -> None:
        super().__init__()
        self._each, self._seconds = each, seconds
        self._seen: OrderedDict[tuple[str, int, str], tuple[float, int]] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether `record` is written; the first of its kind after a silence tells how many were not."""
        kind, now = (record.name, record.levelno, str(record.msg)[:200]), time.monotonic()
        since, count = self._seen.pop(kind, (now, 0))
        left_out = 0
        if now - since > self._seconds:
            left_out, since, count = max(0, count - self._each), now, 0
        self._seen[kind] = since, count + 1
        if len(self._seen) > KINDS:
            self._seen.popitem(last=False)
        if left_out:
            record.msg = f"{record.msg} [{left_out} more like it were left out]"
        return count < self._each


def bound_the_log() -> None:
    """Bound whatever this process logs to its handlers, those that others have installed too."""
    bounded = Bounded()
    handlers = [logging.lastResort, *logging.getLogger().handlers]
    for name in list(logging.root.manager.loggerDict):
        handlers += logging.getLogger(name).handlers
    for handler in handlers:
        if handler is not None and not any(isinstance(each, Bounded) for each in handler.filters):
            handler.addFilter(bounded)
