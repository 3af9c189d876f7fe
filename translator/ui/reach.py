"""Whether the hub can be reached, asked in a thread of its own and remembered for a while."""

from __future__ import annotations

import threading
import time

LASTS = 20.0
"""Seconds for which an answer is remembered."""
PATIENCE = 5.0
"""Seconds that the hub may take to answer."""


class Reach:
    """Whether the hub at `endpoint` (None: the library's own) answers; nothing is asked before `found` is called."""

    def __init__(self, endpoint: str | None = None) -> None:
        self._endpoint = endpoint
        self._known: bool | None = None
        self._until = 0.0
        self._asks = threading.Lock()

    def found(self, id_: str | None) -> bool | None:
        """What was last known, None before the first answer; asked anew by the model `id_` if that is long ago."""
        if id_ and time.monotonic() >= self._until and self._asks.acquire(blocking=False):
            threading.Thread(target=self._ask, args=(id_,), daemon=True).start()
        return self._known

    def _ask(self, id_: str) -> None:
        try:
            self._known = _answers(self._endpoint, id_)
        except Exception:  # many kinds: no network, no such name, a proxy that refuses, offline by setting
            self._known = False
        finally:
            self._until = time.monotonic() + LASTS
            self._asks.release()


def _answers(endpoint: str | None, id_: str) -> bool:
    from huggingface_hub import constants, get_session

    answer = get_session().get(f"{endpoint or constants.ENDPOINT}/api/models/{id_}", timeout=PATIENCE)
    return bool(answer.status_code == 200)
