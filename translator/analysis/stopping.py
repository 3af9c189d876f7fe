"""How long work asks its caller whether the answer is still wanted; on the page, it gives its turn to others there."""

from __future__ import annotations

from collections.abc import Callable

from translator.errors import CancelledError

Stop = Callable[[], bool]


def ask(stop: Stop | None, work: str) -> None:
    """Go on unless `stop` says so; None always does.

    Args:
        work: what is stopped, for the message.
    Raises:
        CancelledError: it was.
    """
    if stop is not None and stop():
        raise CancelledError(f"{work} was stopped")
