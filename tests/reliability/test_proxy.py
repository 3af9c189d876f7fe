"""`deploy/nginx.conf` as it is, run against what strangers do with connections; needs nginx."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import uvicorn

from benchmarks.replicas import nginx
from benchmarks.served import free_port
from tests.reliability.test_connections import connected, ended

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (shutil.which("nginx") or Path("/usr/sbin/nginx").exists()), reason="nginx is not installed"
    ),
]


async def app(scope: Any, receive: Any, send: Any) -> None:
    """A stream that lasts, or a short answer."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await receive()
    if scope["path"] == "/stream":
        await send({"type": "http.response.body", "body": b"begun\n", "more_body": True})
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(receive(), 20)
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """nginx before two replicas that answer at once."""
    servers = []
    for _ in range(2):
        config = uvicorn.Config(app, port=free_port(), log_level="error", lifespan="off")
        servers.append(uvicorn.Server(config))
        threading.Thread(target=lambda server=servers[-1]: asyncio.run(server.serve()), daemon=True).start()
    while not all(server.started for server in servers):
        time.sleep(0.02)
    with nginx([SimpleNamespace(port=server.config.port) for server in servers]) as url:  # type: ignore[misc]
        yield int(httpx.URL(url).port or 0)
    for server in servers:
        server.should_exit = True


def status(port: int, address: str) -> str:
    """The first line that a visitor at another address is answered."""
    with connected(port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", address=address) as raw:
        return raw.recv(100).split(b"\r\n")[0].decode()


def test_streams_of_one_address_are_bounded_and_another_is_served(port: int) -> None:
    held = [connected(port, b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n", address="127.0.5.1") for _ in range(300)]
    first = Counter(raw.recv(12) for raw in held)
    assert first == {b"HTTP/1.1 200": 250, b"HTTP/1.1 503": 50}
    assert status(port, "127.0.5.2") == "HTTP/1.1 200 OK"
    for raw in held:
        raw.close()


def test_what_says_nothing_or_half_ends_and_others_are_served_meanwhile(port: int) -> None:
    ways = {"127.0.5.1": b"", "127.0.5.4": b"GET / HTTP/1.1\r\nHost: x\r\nX-A"}
    held = [connected(port, said, address=address) for address, said in ways.items() for _ in range(500)]
    assert status(port, "127.0.5.2") == "HTTP/1.1 200 OK"
    time.sleep(12)
    assert all(ended(raw, 0.2) for raw in held)


def test_calls_of_one_address_have_a_rate_and_another_is_served(port: int) -> None:
    transport = httpx.HTTPTransport(local_address="127.0.5.3")
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", transport=transport) as stranger:
        said = Counter(stranger.post("/gradio_api/queue/join").status_code for _ in range(1500))
    assert said[429] > 100 and said[200] >= 600
    assert status(port, "127.0.5.2") == "HTTP/1.1 200 OK"
