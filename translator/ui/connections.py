"""Connection limits per address, and timeouts for idle or stalled connections.

uvicorn ends a connection that idles between two requests. One that never sends a request, one that stops within its
headers, and one that does not read its answer would stay for ever; here they end as well.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections import Counter
from collections.abc import Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any

import uvicorn
from gradio import http_server
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from translator.ui.addresses import group

BEGIN = 10.0
"""Seconds from the opening of a connection, or from a request's first byte, to the end of its headers."""
STALL = 10.0
"""Seconds in which a reader has to take `TAKEN` bytes of what waits for him."""
TAKEN = 4096
EACH = 300
"""Connections of one address: forty pupils, six for each browser, and some."""
MOST = 8192
RESERVE = 160
"""Open files that are kept for all else."""
FILES = 65_536
"""Open files that the process asks for."""


class Connections:
    """How many are open, by address and in all; a proxy that is trusted has no bound of its own."""

    def __init__(self, each: int = EACH, most: int | None = None, proxies: frozenset[str] | None = None) -> None:
        self._each, self._most = each, _room() if most is None else most
        self._proxies = _proxies() if proxies is None else proxies
        self._open: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._open.total()

    def enter(self, address: str) -> bool:
        """Count one more; whether there is room for it."""
        bounded = "*" not in self._proxies and address not in self._proxies
        full = self._open.total() >= self._most or (bounded and self._open[address] >= self._each)
        if not full:
            self._open[address] += 1
        return not full

    def leave(self, address: str) -> None:
        """Count one less."""
        self._open[address] -= 1
        if self._open[address] <= 0:
            del self._open[address]


def _room() -> int:
    """How many the process has files for."""
    try:
        import resource
    except ImportError:  # not on Windows, which has no such limit
        return MOST
    return max(16, min(MOST, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - RESERVE))


def _proxies(environ: Mapping[str, str] = os.environ) -> frozenset[str]:
    return frozenset(filter(None, map(str.strip, environ.get("FORWARDED_ALLOW_IPS", "").split(","))))


def raise_limit_of_files() -> None:
    """Let the process open as many files as it may, up to `FILES`: many shells begin with 1,024."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Protocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """uvicorn's connection, which ends when it is one too many, or takes too long."""

    open: Connections

    def connection_made(self, transport: Any) -> None:
        """A client has connected."""
        super().connection_made(transport)
        self._address, self._last, self._waits_for = group({"client": self.client}), None, 0
        self._begins: asyncio.TimerHandle | None = None
        self._stalls: asyncio.TimerHandle | None = None
        self._counts = self.open.enter(self._address)
        if self._counts:
            self._begins = self.loop.call_later(BEGIN, self.transport.abort)
        else:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Some of a request has come; the clock runs while it is no whole one."""
        super().data_received(data)
        if self.cycle is not self._last:
            self._last = self.cycle
            _stop(self._begins)
            self._begins = None
        elif self._begins is None and (self.cycle is None or self.cycle.response_complete):
            self._begins = self.loop.call_later(BEGIN, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""
        _stop(self._begins)
        _stop(self._stalls)
        if self._counts:
            self._counts = False
            self.open.leave(self._address)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """More waits for the reader than he takes."""
        super().pause_writing()
        self._waits_for = self.transport.get_write_buffer_size()
        self._stalls = self.loop.call_later(STALL, self._look)

    def resume_writing(self) -> None:
        """He has taken it."""
        super().resume_writing()
        _stop(self._stalls)

    def _look(self) -> None:
        left = self.transport.get_write_buffer_size()
        if self._waits_for - left < TAKEN:
            self.transport.abort()  # to close it would wait for him
            return
        self._waits_for = left
        self._stalls = self.loop.call_later(STALL, self._look)


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def config(**options: Any) -> uvicorn.Config:
    """uvicorn's settings with connections that are watched; `options` are its own."""
    watched = type("Protocol", (Protocol,), {"open": Connections()})
    return uvicorn.Config(**{"backlog": 1024, **options, "http": watched})


def adopt(server: uvicorn.Server, connection: socket.socket) -> None:
    """Have a running `server` serve a connection that another process accepted; to be called from another thread."""
    loop = server.servers[0].get_loop()
    kind: Any = server.config.http_protocol_class
    protocol = partial(kind, config=server.config, server_state=server.server_state, app_state=server.lifespan.state)
    connection.setblocking(False)
    asyncio.run_coroutine_threadsafe(loop.connect_accepted_socket(protocol, connection), loop)


def watch() -> None:
    """Have Gradio serve with `config`."""
    http_server.uvicorn = SimpleNamespace(Config=config, Server=uvicorn.Server)  # type: ignore[assignment]
