"""Connections that are held open, stop half-way or take nothing, and a log that stays small."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from benchmarks.served import free_port
from translator.ui import connections
from translator.ui.connections import Connections
from translator.ui.quiet import Bounded

ROOT = Path(__file__).parents[2]
LARGE = 64 * 2**20
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    size = LARGE if scope["path"] == "/large" else 2
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(size).encode())]})
    for _ in range(size // 65536):
        await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
    await send({"type": "http.response.body", "body": b"ok" if size == 2 else b""})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server that ends what takes longer than half a second, and takes 20 connections of an address."""
    monkeypatch.setattr(connections, "BEGIN", 0.5)
    monkeypatch.setattr(connections, "STALL", 0.5)
    monkeypatch.setattr(connections, "EACH", 20)
    made = connections.config(app=app, host="127.0.0.1", port=free_port(), log_level="error", lifespan="off")
    made.http.open = Connections(each=20, most=200, proxies=frozenset())  # type: ignore[union-attr]
    server = uvicorn.Server(made)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield made.port
    server.should_exit = True
    thread.join(5)


def connected(port: int, said: bytes = b"", address: str = "127.0.0.1") -> socket.socket:
    raw = socket.create_connection(("127.0.0.1", port), timeout=3, source_address=(address, 0))
    raw.sendall(said)
    return raw


def ended(raw: socket.socket, seconds: float = 3) -> bool:
    """Whether the server ends it within so long."""
    raw.settimeout(seconds)
    try:
        while raw.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-A", b"G"])
def test_a_connection_that_says_nothing_or_stops_half_way_ends(port: int, said: bytes) -> None:
    with connected(port, said) as raw:
        assert ended(raw)


def test_headers_that_drip_end_as_well(port: int) -> None:
    with connected(port, GET) as raw:
        answer = b""
        while not answer.endswith(b"ok"):  # headers and body come in one part or in two
            part = raw.recv(500)
            assert part, answer
            answer += part
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            for letter in b"GET / HTTP/1.1\r\nX-A: " + b"a" * 60:  # sound as far as it goes, or that would end it
                raw.sendall(bytes((letter,)))
                time.sleep(0.1)
        assert time.monotonic() - began < 3, "it would have waited for all of it"


@pytest.mark.slow
def test_a_reader_that_takes_nothing_is_let_go_and_a_slow_one_is_not(port: int) -> None:
    with connected(port, GET.replace(b"/ ", b"/large ", 1)) as deaf, connected(port) as slow:
        slow.sendall(GET.replace(b"/ ", b"/large ", 1))
        size, end = 0, time.monotonic() + 2.5
        while time.monotonic() < end:
            size += len(slow.recv(65536))
            time.sleep(0.01)
        assert size > 0 and not _reset(slow)
        assert _reset(deaf)


def _reset(raw: socket.socket) -> bool:
    """Whether the connection was cut, and not merely ended."""
    try:
        raw.sendall(b"x")
        time.sleep(0.1)
        raw.sendall(b"x")
    except OSError:
        return True
    return False


@pytest.mark.slow
def test_one_address_has_so_many_and_another_is_served(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BEGIN", 30)
    mine = [connected(port) for _ in range(30)]
    time.sleep(0.2)
    with connected(port, GET, address="127.0.9.9") as other:
        assert b"200 OK" in other.recv(200)
    assert [ended(raw, 0.05) for raw in mine] == [False] * 20 + [True] * 10
    for raw in mine:
        raw.close()
    time.sleep(0.2)
    with connected(port, GET) as raw:  # there is room again
        assert b"200 OK" in raw.recv(200)


def test_a_trusted_proxy_has_no_bound_of_its_own() -> None:
    known = Connections(each=2, most=10, proxies=frozenset({"10.0.0.1"}))
    assert [known.enter("10.0.0.2") for _ in range(3)] == [True, True, False]
    assert all(known.enter("10.0.0.1") for _ in range(8)) and not known.enter("10.0.0.1")


FILES = """
import resource
from translator.ui import connections
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
before = connections.Connections()._most
connections.raise_limit_of_files()
print(before, connections.Connections()._most, *resource.getrlimit(resource.RLIMIT_NOFILE), hard)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_process_may_open_as_many_files_as_the_system_lets_it() -> None:
    """A shell's 256 or 1,024 are no bound; what connections may take leaves room for all else."""
    done = subprocess.run([sys.executable, "-c", FILES], capture_output=True, text=True, check=True, cwd=ROOT)
    before, most, soft, kept, hard = map(int, done.stdout.split())
    assert (before, kept) == (256 - connections.RESERVE, hard)
    assert soft == (min(hard, connections.FILES) if hard >= 0 else connections.FILES)
    assert most == max(16, min(connections.MOST, soft - connections.RESERVE)) > before


def test_of_each_kind_of_record_so_many_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("translator.ui.quiet.time.monotonic", lambda: now)
    bounded, said = Bounded(each=3, seconds=60), []
    for number in range(1000):
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "accept() failed: %s", (number,), None)
        if bounded.filter(record):
            said.append(record.getMessage())
    other = logging.LogRecord("translator", logging.ERROR, "", 0, "another", (), None)
    assert len(said) == 3 and bounded.filter(other)
    now += 61
    record = logging.LogRecord("asyncio", logging.ERROR, "", 0, "accept() failed: %s", (7,), None)
    assert bounded.filter(record) and record.getMessage() == "accept() failed: 7 [997 more like it were left out]"
