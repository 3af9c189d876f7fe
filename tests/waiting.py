"""Waiting for what another thread or process does, for as long as it takes within reason."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(what: Callable[[], object], *, seconds: float = 60, every: float = 0.05) -> None:
    """Ask `what` again and again until it is true.

    Raises:
        AssertionError: it was not within `seconds`.
    """
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(every)
