"""The page on Ray Serve: replicas by the load, a visitor's kept, one killed, and all drained."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from benchmarks.served import Answer, Visitor, crowd, free_port, sentences, wait_until_ready
from tests.cluster.started import Nodes, family, listening
from translator import load

ROOT = Path(__file__).parents[2]
LIMIT = 900
TEXT = "Ich renne in den Park."
LONG = "Ich renne in den Park, und das Haus ist groß, aber alt. " * 4
pytestmark = [pytest.mark.soak, pytest.mark.timeout(LIMIT)]
REPLICA = "ray::ServeReplica:attention-explorer:page"
LOOPBACK = {"127.0.0.1", "[::ffff:127.0.0.1]"}


@contextmanager
def running(*command: str, url: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command whose page is there."""
    where = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), **environment}
    where.pop("FORWARDED_ALLOW_IPS", None)
    process = subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT, env=where)
    try:
        wait_until_ready(url, process)
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def until(found: Callable[[], object], seconds: float = 300) -> None:
    """Wait for what happens."""
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


def replicas(pid: int) -> set[int]:
    return {each for each, name in family(pid).items() if name.startswith(REPLICA)}


def translated(url: str, address: str, **settings: object) -> str:
    """A translation by the endpoint, asked for on one connection and read on another; "" where none came."""
    body = {"text": TEXT, "direction": "de-en", **settings}
    transport = httpx.HTTPTransport(local_address=address)
    try:
        with httpx.Client(base_url=url, timeout=60, transport=transport, headers={"connection": "close"}) as http:
            event = http.post("/gradio_api/call/v2/translate", json=body).raise_for_status().json()["event_id"]
            answer = http.get(f"/gradio_api/call/translate/{event}").text
    except httpx.HTTPError:
        return ""
    found = re.search(r"event: complete\ndata: (.*)", answer)
    return str(json.loads(found[1])[0]) if found else ""


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def at_rest(pids: set[int]) -> bool:
    """Whether none of them computes, such as one that is still loading its models."""
    before = sum(map(processor_seconds, pids))
    time.sleep(3)
    return sum(map(processor_seconds, pids)) - before < 0.5


def home(url: str, address: str, pids: set[int]) -> int:
    """The replica that computes what `address` asks, by who used the processor."""
    before = {pid: processor_seconds(pid) for pid in pids}
    for _ in range(4):
        assert translated(url, address, settings={"method": "beam", "beam": 12})
    used = {pid: processor_seconds(pid) - before[pid] for pid in pids}
    most = max(used, key=used.__getitem__)
    assert all(used[most] > 3 * other for pid, other in used.items() if pid != most), used
    return most


def under_load(url: str, found: Callable[[], object]) -> list[Answer]:
    """Twelve visitors without pauses until something is found; what they were answered."""
    answers: list[Answer] = []
    end = time.monotonic() + 300
    while not found():
        assert time.monotonic() < end, "it did not happen"
        answers += asyncio.run(crowd(url, 12, 5, sentences()))[0]
    return answers


async def told_to_end(url: str, process: subprocess.Popen[bytes]) -> list[Answer]:
    """What visitors are answered who are being answered, or wait for it, when all is told to end."""
    visitors = await Visitor.at(url, 12)
    asked = [asyncio.create_task(visitor.ask(LONG)) for visitor in visitors]
    await asyncio.sleep(0.7)
    assert not all(each.done() for each in asked), "there is nothing left to drain"
    process.terminate()
    return [await each for each in asked]


def test_replicas_come_with_the_load_keep_their_visitors_outlive_one_and_finish_what_runs() -> None:
    port = free_port()
    url, want = f"http://127.0.0.1:{port}", load("de-en", device="cpu").translate(TEXT).translation
    asked = ("translator", "serve", "de-en", "--ray", "--workers", "2", "--port", str(port))
    with running(*asked, url=url) as process:
        assert listening(process.pid) <= LOOPBACK
        assert len(replicas(process.pid)) == 1 and translated(url, "127.0.8.1") == want
        answers = under_load(url, lambda: len(replicas(process.pid)) == 2)
        assert {each.kind for each in answers} == {"trace"}
        pids = replicas(process.pid)
        addresses = [f"127.0.8.{n}" for n in range(1, 13)]
        until(lambda: at_rest(pids))
        homes = {address: home(url, address, pids) for address in addresses}
        assert set(homes.values()) == pids
        assert {address: home(url, address, pids) for address in reversed(addresses)} == homes
        assert listening(process.pid) <= LOOPBACK
        victim = homes[addresses[0]]
        os.kill(victim, signal.SIGKILL)
        others = [address for address in addresses if homes[address] != victim]
        for _ in range(3):
            assert [translated(url, address) for address in others] == [want] * len(others)
        for address in addresses:
            until(lambda address=address: translated(url, address) == want)
        assert [each.kind for each in asyncio.run(told_to_end(url, process))] == ["trace"] * 12
        left = family(process.pid)
        assert process.wait(60) == 0
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in left))


def test_the_manifest_is_served_on_a_cluster() -> None:
    url = "http://127.0.0.1:8000"  # where it says
    want = load("de-en", device="cpu").translate(TEXT).translation
    nodes = Nodes(1)
    try:
        asked = ("ray.serve.scripts", "run", "deploy/serve.yaml", "--address", nodes.address)
        with running(*asked, url=url, **nodes.env):
            assert translated(url, "127.0.8.1") == want
            assert len(replicas(nodes.process.pid)) == 1
    finally:
        nodes.close()
