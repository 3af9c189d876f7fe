"""Rate and concurrency limits per address."""

from __future__ import annotations

import ipaddress
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

RATE, BURST = 60.0, 600.0
"""POST requests a second, and at once."""
READ_RATE, READ_BURST = 100.0, 4000.0
"""GET requests a second, and at once: a page is some sixty files, which forty pupils open together."""
OPEN, OPEN_EACH = 1000, 250
"""Requests that may be open at once, streams included: of all addresses, and of one."""
ADDRESSES = 10_000


def group(scope: dict[str, Any]) -> str:
    """The address that a request came from; of IPv6 the network that one subscriber has (64 bits)."""
    host = str((scope.get("client") or ("", 0))[0])
    if ":" not in host:
        return host
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    return str(address.ipv4_mapped or ipaddress.IPv6Network((address, 64), strict=False))


class Rate:
    """A bucket of tokens for each address, the least recent forgotten."""

    def __init__(self, rate: float = RATE, burst: float = BURST) -> None:
        self._rate, self._burst = rate, burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allow(self, address: str) -> bool:
        """Take one token of `address`, if it has one."""
        now = time.monotonic()
        left, since = self._buckets.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        self._buckets[address] = (left - 1 if left >= 1 else left, now)
        if len(self._buckets) > ADDRESSES:
            self._buckets.popitem(last=False)
        return left >= 1


class Held:
    """How much is held open, by address and in all."""

    def __init__(self, each: int = OPEN_EACH, most: int = OPEN) -> None:
        self._each, self._most = each, most
        self._open: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._open.total()

    @contextmanager
    def one(self, address: str) -> Iterator[str]:
        """Hold one more; yields why that is too many, or ""."""
        self._open[address] += 1
        try:
            if self._open[address] > self._each:
                yield "too many requests are open from this address; close a page, or try again in a few seconds"
            else:
                yield "busy, try again" if self._open.total() > self._most else ""
        finally:
            self._open[address] -= 1
            if self._open[address] <= 0:
                del self._open[address]
