"""The readers with an open stream, for whom alone results are computed."""

from __future__ import annotations

from collections import Counter


class Readers:
    """Open streams by the session, or the event, that they read."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def __contains__(self, session: str) -> bool:
        return session in self._open

    def enter(self, session: str) -> None:
        """Count one more open stream of `session`."""
        self._open[session] += 1

    def leave(self, session: str) -> None:
        """Count one open stream of `session` less."""
        self._open[session] -= 1
        if self._open[session] <= 0:
            del self._open[session]
