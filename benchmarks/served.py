"""The app as a process of its own on loopback, and visitors who speak Gradio's protocol to it."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from translator.ui.message import read

ROOT = Path(__file__).resolve().parents[1]
STARTUP = 300.0
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


def sentences(direction: str = "de-en") -> list[str]:
    """What newcomers type, in a shuffled order that is always the same."""
    lines = (ROOT / "assets" / "newcomers" / f"{direction}.txt").read_text(encoding="utf-8").split("\n")
    found = [line for line in lines if line]
    random.Random(1).shuffle(found)
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class App:
    """`app.py`, started and ready, on a free port or a given one.

    `close` ends it by SIGTERM and says how long that took.
    """

    def __init__(
        self,
        environment: dict[str, str] | None = None,
        *,
        python: str = sys.executable,
        workers: int = 1,
        port: int | None = None,
    ) -> None:
        self.port = port or free_port()
        address = {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(self.port)}
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [python, *(["app.py"] if workers == 1 else ["-m", "translator", "serve", "--workers", str(workers)])],
            cwd=ROOT,
            env={**os.environ, **address, **(environment or {})},
        )
        self.url = f"http://127.0.0.1:{self.port}"
        try:
            self.ready = wait_until_ready(self.url, self.process)
        except RuntimeError:
            self.kill()
            raise

    @property
    def cpu_seconds(self) -> float:
        """Processor time used so far, all threads and workers."""
        pid = self.process.pid
        workers = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        return sum(map(_cpu_seconds, [str(pid), *workers]))

    @property
    def megabytes(self) -> float:
        """Resident memory."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="utf-8").split()[1]) * PAGE / 2**20

    @property
    def peak_megabytes(self) -> float:
        """The most resident memory since it started, or since `forget_peak`."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(status.partition("VmHWM:")[2].split()[0]) / 2**10

    def forget_peak(self) -> None:
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5", encoding="utf-8")  # proc(5)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.process.kill()
        self.process.wait()

    def close(self) -> float:
        """End it by SIGTERM; returns how many seconds that took."""
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()
        return time.monotonic() - started


def _cpu_seconds(pid: str) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> float:
    """Seconds until the page answers."""
    started = time.monotonic()
    while time.monotonic() - started < STARTUP:
        if process.poll() is not None:
            raise RuntimeError(f"the app ended with code {process.returncode} before it was ready")
        with suppress(httpx.TransportError):
            if httpx.get(f"{url}/config", timeout=5).status_code == 200:
                return time.monotonic() - started
        time.sleep(0.1)
    raise RuntimeError(f"the app was not ready within {STARTUP:g} seconds")


@dataclass(frozen=True)
class Answer:
    """How one request ended: "trace", "busy", "error" or "lost" (no proper answer), after how many seconds."""

    kind: str
    seconds: float
    status: int = 200


@dataclass
class Visitor:
    """One browser tab."""

    http: httpx.AsyncClient
    event: int
    session: str = field(default_factory=lambda: uuid.uuid4().hex[:11])
    read: int = 0
    """Bytes of answers that came so far."""

    @classmethod
    async def at(cls, url: str, count: int) -> list[Visitor]:
        """So many visitors, each with connections, cookies and an address of loopback of its own."""
        async with httpx.AsyncClient(base_url=url, timeout=30) as http:
            config = (await http.get("/config")).json()
        button = next(c["id"] for c in config["components"] if c.get("props", {}).get("elem_id") == "translate")
        event = next(d["id"] for d in config["dependencies"] if [button, "click"] in map(list, d["targets"]))
        made = []
        for number in range(count):
            transport = httpx.AsyncHTTPTransport(local_address=f"127.0.1.{number % 250 + 1}")
            http = httpx.AsyncClient(base_url=url, timeout=30, transport=transport)
            made.append(cls(http, event))
        return made

    async def join(
        self, text: str, direction: str = "de-en", method: str = "automatic", beam: int = 4
    ) -> httpx.Response:
        """Put a translation into the queue."""
        data = [1, text, direction, method, beam, 0.6, 1, 0, 1, 0, 0]  # the first is the page's own number of the run
        body = {"data": data, "fn_index": self.event, "session_hash": self.session, "event_data": None}
        return await self.http.post("/gradio_api/queue/join", json=body)

    async def cancel(self, event_id: str) -> None:
        """Take it back."""
        body = {"session_hash": self.session, "fn_index": self.event, "event_id": event_id}
        await self.http.post("/gradio_api/cancel", json=body)

    async def ask(self, text: str, direction: str = "de-en") -> Answer:
        """Translate, reading every message as a page does."""
        started = time.monotonic()
        try:
            joined = await self.join(text, direction)
            if joined.status_code != 200:
                kind = "busy" if joined.status_code in (429, 503) else "error"
                return Answer(kind, time.monotonic() - started, joined.status_code)
            kind = await self._read()
        except (httpx.HTTPError, json.JSONDecodeError):
            kind = "lost"
        return Answer(kind, time.monotonic() - started)

    async def _read(self) -> str:
        params = {"session_hash": self.session}
        async with self.http.stream("GET", "/gradio_api/queue/data", params=params) as stream:
            async for line in stream.aiter_lines():
                self.read += len(line)
                if '"msg":"process_completed"' in line[:60]:
                    message = json.loads(line[6:])
                    said = read(message["output"]["data"][0]) if message["success"] else {"kind": "error"}
                    return "busy" if "busy" in str(said.get("text", "")) else str(said["kind"])
        return "lost"


async def crowd(url: str, users: int, seconds: float, texts: Sequence[str]) -> tuple[list[Answer], float]:
    """So many users at once, each asking again as soon as he is answered; returns the answers and the time."""
    visitors = await Visitor.at(url, users)
    turn = itertools.count()
    answers: list[Answer] = []
    started = time.monotonic()

    async def stay(visitor: Visitor) -> None:
        while time.monotonic() - started < seconds:
            answer = await visitor.ask(texts[next(turn) % len(texts)])
            answers.append(answer)
            if answer.kind != "trace":
                await asyncio.sleep(1)  # a person reads "try again" first

    await asyncio.gather(*(stay(visitor) for visitor in visitors))
    took = time.monotonic() - started
    await asyncio.gather(*(visitor.http.aclose() for visitor in visitors))
    return answers, took


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of `values` lie; NaN of none."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")
