"""What strangers may do to the page, done to it on loopback: `python -m benchmarks.attacks [NAME ...]`.

Each attack comes from one address while a visitor at another asks for translations; both are addresses of loopback.
Prints the rows on strangers of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx

from benchmarks.served import ROOT, App, Visitor, sentences

LONG = "Ich renne in den Park, und das Haus ist groß, aber alt. " * 6
SENTENCE = "Wir haben gestern im Park ein altes Haus gesehen."
STRANGER, VISITOR = "127.0.2.1", "127.0.3.1"
Flood = Callable[[httpx.AsyncClient, dict[str, int]], Awaitable[Any]]


def client(app: App | str, address: str, timeout: float = 120) -> httpx.AsyncClient:
    """A client at an address of loopback; it opens as many connections as it likes."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    transport = httpx.AsyncHTTPTransport(local_address=address, limits=limits)
    url = app if isinstance(app, str) else app.url
    return httpx.AsyncClient(base_url=url, timeout=timeout, transport=transport)


async def functions(http: httpx.AsyncClient) -> dict[str, int]:
    """Name → component of everything a component may ask."""
    config = (await http.get("/config")).json()
    return {name: c["id"] for c in config["components"] for name in c.get("props", {}).get("server_fns") or []}


async def call(http: httpx.AsyncClient, known: dict[str, int], name: str, data: dict[str, Any]) -> int:
    """The status of one call of a component's function."""
    body = {"data": data, "component_id": known[name], "fn_name": name, "session_hash": uuid.uuid4().hex[:11]}
    return (await http.post("/gradio_api/component_server", json=body)).status_code


def lab(view: str) -> Flood:
    def make(http: httpx.AsyncClient, known: dict[str, int]) -> Awaitable[Any]:
        data = {"text": LONG, "direction": "de-en", "view": view, "options": {}}
        return call(http, known, "lab_ask", data)

    return make


def export(name: str) -> Flood:
    def make(http: httpx.AsyncClient, known: dict[str, int]) -> Awaitable[Any]:
        settings = {"method": "beam", "beam": 4}
        return call(http, known, name, {"text": LONG, "direction": "de-en", "settings": settings})

    return make


def endpoint(name: str, settings: dict[str, Any]) -> Flood:
    async def make(http: httpx.AsyncClient, known: dict[str, int]) -> None:
        body = {"text": LONG, "direction": "de-en", "settings": settings}
        posted = await http.post(f"/gradio_api/call/v2/{name}", json=body)
        if posted.status_code == 200:
            await http.get(f"/gradio_api/call/{name}/{posted.json()['event_id']}")

    return make


FLOODS: dict[str, tuple[int, Flood]] = {
    "lab": (40, lab("faithfulness")),
    "arena": (40, lab("arena")),
    "beams": (40, endpoint("translate", {"method": "beam", "beam": 12, "max_length": 160})),
    "npz": (30, export("npz")),
    "offline": (30, export("offline")),
    "meter": (40, export("left_out")),
    "traces": (40, endpoint("trace", {"method": "beam", "beam": 12})),
}


async def starve(app: App, name: str, seconds: float) -> str:
    """What a visitor at another address waits for while one address keeps so many calls open."""
    count, _ = FLOODS[name]
    async with client(app, VISITOR) as other:
        visitor = (await Visitor.at(app.url, 1))[0]
        visitor.http = other
        alone = await asks(visitor, 3)
        stranger = multiprocessing.get_context("spawn").Process(target=flood, args=(app.url, name))
        stranger.start()  # a process of its own: what it computes must not delay the visitor's clock
        await asyncio.sleep(5)
        under, spent = [], []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            began = app.cpu_seconds
            under += await asks(visitor, 1)
            spent.append((app.cpu_seconds - began) / (os.cpu_count() or 1))  # what others run does not count
        stranger.kill()
        stranger.join()
    waits, spent = sorted(took for kind, took in under), sorted(spent)
    kinds = dict(Counter(kind for kind, _ in under))
    return (
        f"| {count} × {name} from one address | alone {max(t for _, t in alone):.2f} s; under it median "
        f"{waits[len(waits) // 2]:.2f} s, longest {waits[-1]:.2f} s; the page's processor time by cores "
        f"{spent[len(spent) // 2]:.2f} s, {spent[-1]:.2f} s: {kinds} |"
    )


def flood(url: str, name: str) -> None:
    """Keep so many calls open from one address, each made again as soon as it ends; until it is killed."""
    count, make = FLOODS[name]

    async def run() -> None:
        async with client(url, STRANGER) as http:
            known = await functions(http)

            async def again() -> None:
                while True:
                    with contextlib.suppress(httpx.HTTPError):
                        await make(http, known)
                    await asyncio.sleep(0.05)

            await asyncio.gather(*(again() for _ in range(count)))

    asyncio.run(run())


async def asks(visitor: Visitor, count: int) -> list[tuple[str, float]]:
    found = []
    for _ in range(count):
        answer = await visitor.ask(SENTENCE)
        found.append((answer.kind, answer.seconds))
        if answer.kind != "trace":
            await asyncio.sleep(0.5)
    return found


async def unread(app: App, count: int, path: str = "trace") -> str:
    """Answers that nobody fetches."""
    before = app.megabytes
    refused = 0
    async with client(app, STRANGER) as http:
        for _ in range(count):
            body = {"text": LONG, "direction": "de-en", "settings": {"method": "greedy", "max_length": 160}}
            posted = await http.post(f"/gradio_api/call/v2/{path}", json=body)
            refused += posted.status_code != 200
            await asyncio.sleep(0.15)
    peak = app.megabytes
    await asyncio.sleep(30)
    return (
        f"| {count} unread /{path} answers | {before:.0f} → {peak:.0f} MiB, {app.megabytes:.0f} half a minute later; "
        f"{refused} refused |"
    )


async def asleep(app: App, count: int) -> str:
    """Readers who open their answer's stream and never read of it."""
    before, sockets = app.megabytes, []
    app.forget_peak()
    async with client(app, STRANGER) as http:
        for _ in range(count):
            body = {"text": LONG, "direction": "de-en", "settings": {"method": "greedy", "max_length": 160}}
            posted = await http.post("/gradio_api/call/v2/trace", json=body)
            if posted.status_code == 200:
                raw = socket.create_connection(("127.0.0.1", app.port), source_address=(STRANGER, 0))
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                raw.sendall(
                    f"GET /gradio_api/call/trace/{posted.json()['event_id']} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
                )
                sockets.append(raw)
            await asyncio.sleep(0.15)
        await asyncio.sleep(30)
    held = app.megabytes
    for raw in sockets:
        raw.close()
    await asyncio.sleep(5)
    memory = f"{before:.0f} → {app.peak_megabytes:.0f} MiB at most, {held:.0f} held, {app.megabytes:.0f} after"
    return f"| {count} readers who never read | {memory} |"


def held(app: App, count: int, said: bytes = b"") -> tuple[list[socket.socket], int]:
    """So many connections from one address that say no more than `said`; and how many came about."""
    sockets = []
    for _ in range(count):
        with contextlib.suppress(OSError):
            raw = socket.create_connection(("127.0.0.1", app.port), timeout=2, source_address=(STRANGER, 0))
            raw.sendall(said)
            sockets.append(raw)
    return sockets, len(sockets)


def closed(sockets: list[socket.socket]) -> int:
    """How many of them the server has ended."""
    gone = 0
    for raw in sockets:
        raw.settimeout(0.01)
        try:
            while data := raw.recv(65536):
                del data
            gone += 1
        except TimeoutError:
            pass
        except OSError:
            gone += 1
    return gone


async def connections(app: App, name: str, count: int, said: bytes, log: Path) -> str:
    """Connections that are held; whether a visitor at another address is still served, and when they end."""
    sockets, made = await asyncio.to_thread(held, app, count, said)
    statuses: Counter[Any] = Counter()
    async with client(app, VISITOR, timeout=5) as http:
        for _ in range(5):
            try:
                statuses[(await http.get("/")).status_code] += 1
            except httpx.HTTPError as error:
                statuses[type(error).__name__] += 1
            await asyncio.sleep(0.2)
    await asyncio.sleep(15)
    gone = await asyncio.to_thread(closed, sockets)
    for raw in sockets:
        raw.close()
    await asyncio.sleep(1)
    size = log.stat().st_size / 2**20
    served = f"another's GET /: {dict(statuses)}; {gone} ended after 15 s; log {size:.2f} MiB"
    return f"| {name}: {made} of {count} made | {served} |"


HELD = {
    "heartbeats": (1000, b"GET /gradio_api/heartbeat/abc HTTP/1.1\r\nHost: x\r\n\r\n"),
    "streams": (1000, b"GET /gradio_api/queue/data?session_hash=abc HTTP/1.1\r\nHost: x\r\n\r\n"),
    "idle": (1100, b""),
    "half-sent": (1100, b"GET / HTTP/1.1\r\nHost: x\r\nX-A"),
}


def limited(folder: Path) -> App:
    """The app under `ulimit -n 1024`, as most shells start it, with its log in `folder`."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nulimit -n 1024\nexec "{sys.executable}" "$@" 2>"{folder}/log"\n', encoding="utf-8")
    script.chmod(0o700)
    return App({"OMP_NUM_THREADS": "1"}, python=str(script))


def run(names: list[str], seconds: float) -> list[str]:
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    rows = []
    compiled()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        for name in names:
            app = limited(Path(folder))
            try:
                asyncio.run(warm(app))
                if name in FLOODS:
                    rows.append(asyncio.run(starve(app, name, seconds)))
                elif name in HELD:
                    rows.append(asyncio.run(connections(app, name, *HELD[name], log)))
                elif name == "unread":
                    rows.append(asyncio.run(unread(app, 200)))
                elif name == "asleep":
                    rows.append(asyncio.run(asleep(app, 40)))
            finally:
                app.kill()
            print(rows[-1], flush=True)
    return rows


def compiled() -> None:
    """Make the machine code that the app finds then: a page on loopback compiles beside the first requests."""
    script = "from translator.pipeline import load; load('de-en').compile(wait=True)"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


async def warm(app: App) -> None:
    (visitor,) = await Visitor.at(app.url, 1)
    for text in sentences()[:3]:
        await visitor.ask(text)
    await visitor.ask(LONG)
    await asyncio.sleep(3)
    await visitor.http.aclose()


def main() -> None:
    """Start the app for each attack, attack it, print what came of it."""
    known = [*FLOODS, "unread", "asleep", *HELD]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all without")
    parser.add_argument("--seconds", type=float, default=20, help="of each flood")
    chosen = parser.parse_args()
    run(chosen.names or known, chosen.seconds)
    print(f"\n{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}; {json.dumps({'seconds': chosen.seconds})}")


if __name__ == "__main__":
    main()
