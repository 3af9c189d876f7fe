"""Several processes behind one port: who keeps whom, what a death costs, how they end, and what they share."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from benchmarks.served import ROOT, free_port
from translator import load
from translator.__main__ import main
from translator.errors import InputError
from translator.ui import workers
from translator.ui.workers import EACH, MOST, Homes, checked_workers, default_workers

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
LIMIT = 60.0
EVERYWHERE = "0.0.0.0"  # noqa: S104

PLAIN = """
import os, signal, sys
from translator.ui.workers import Workers, bound_socket
def work(channel):
    def take(connection):
        with connection:
            connection.sendall(f"{os.getpid()} {connection.recv(99).decode()}".encode())
    if sys.argv[2] == "fails":
        raise ValueError("no page")
    signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"told\\n"), os._exit(0)))
    channel.ready()
    channel.each(take)
    os._exit(0)
listener = bound_socket("127.0.0.1", int(sys.argv[1]))
sys.exit(Workers(listener, 3, work).run(lambda: print("open", flush=True)))
"""
"""Workers that answer each connection with their number in place of a page."""


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("FORWARDED_ALLOW_IPS", None)
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def asked(port: int, address: str) -> int:
    """The number of the process that answers a connection from `address`; 0 if none does."""
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT, source_address=(address, 0)) as connection:
        try:
            connection.sendall(b"hello")
            found = connection.recv(99).decode()
        except OSError:
            return 0
    assert not found or found.endswith(" hello")
    return int(found.split()[0]) if found else 0


def until(found: Callable[[], object]) -> None:
    """Wait for what happens."""
    end = time.monotonic() + LIMIT
    while not found():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def children(pid: int) -> set[int]:
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_address_is_kept_by_one_worker_and_each_keeps_as_many() -> None:
    homes = Homes(3)
    first = {f"10.0.0.{n}": homes.of(f"10.0.0.{n}") for n in range(30)}
    assert [list(first.values()).count(worker) for worker in range(3)] == [10, 10, 10]
    assert {address: homes.of(address) for address in reversed(first)} == first


def test_the_least_recent_address_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ADDRESSES", 2)
    homes = Homes(2)
    assert [homes.of(address) for address in "abacad"] == [0, 1, 0, 0, 0, 1]
    assert len(homes._known) == 2 and sorted(homes._load.values()) == [1, 1]


@pytest.mark.parametrize("count", [0, -1, MOST + 1])
def test_a_number_of_workers_that_cannot_be_is_refused(count: int) -> None:
    with pytest.raises(InputError, match=f"workers is {count}; it must be from 1 to {MOST}"):
        checked_workers(count)


def test_workers_behind_a_proxy_are_refused_and_not_taken_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "127.0.0.1")
    assert default_workers(0) == checked_workers(1) == 1
    with pytest.raises(InputError, match=r"a proxy.*deploy/nginx\.conf"):
        checked_workers(2)


@pytest.mark.parametrize(
    ("cores", "free", "count"),
    [(1, 64 * EACH, 1), (4, 64 * EACH, 4), (4, 5 * EACH, 3), (4, EACH, 1), (200, 999 * EACH, MOST), (4, None, 4)],
)
def test_by_default_there_is_a_worker_for_each_core_that_memory_holds(
    monkeypatch: pytest.MonkeyPatch, cores: int, free: int | None, count: int
) -> None:
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    monkeypatch.delenv("SPACE_ID", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    monkeypatch.setattr(workers, "free_memory", lambda: free)
    assert default_workers(2 * EACH) == count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("host", "hub", "gpu", "asked", "count"),
    [
        (EVERYWHERE, "", False, (), 3),
        (EVERYWHERE, "none", False, (), 3),
        (EVERYWHERE, "all", False, (), 1),
        (EVERYWHERE, "", True, (), 1),
        ("127.0.0.1", "", False, (), 1),
        ("127.0.0.1", "none", False, (), 1),
        (EVERYWHERE, "", False, ("--workers", "2"), 2),
        ("127.0.0.1", "", False, ("--workers", "2"), 2),
    ],
)
def test_a_page_for_others_is_served_by_every_core_if_nobody_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, host: str, hub: str, gpu: bool, asked: tuple[str, ...], count: int
) -> None:
    served: list[int] = []
    monkeypatch.setattr("translator.ui.serve.serve", lambda models, *, workers, **_: served.append(workers))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    monkeypatch.setattr(workers, "free_memory", lambda: 64 * EACH)
    monkeypatch.setattr("torch.cuda.is_available", lambda: gpu)
    for name in ("FORWARDED_ALLOW_IPS", "SPACE_ID", "TRANSLATOR_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GRADIO_SERVER_NAME", "GRADIO_SERVER_PORT", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # what `start` sets ends with the test
    monkeypatch.setenv("TRANSLATOR_HUB", hub)
    try:
        main(["serve", "--host", host, "--port", str(free_port()), *asked])
    finally:
        gc.enable()
    assert served == [count]


def test_connections_of_one_address_go_to_one_worker_and_a_dead_one_is_replaced() -> None:
    port = free_port()
    with running("-c", PLAIN, str(port), "serves") as parent:
        assert parent.stdout and parent.stdout.readline() == "open\n"
        homes = {address: asked(port, address) for address in ("127.0.7.1", "127.0.7.2", "127.0.7.3")}
        assert set(homes.values()) == children(parent.pid) and len(set(homes.values())) == 3
        for _ in range(5):
            assert {address: asked(port, address) for address in homes} == homes
        os.kill(homes["127.0.7.2"], signal.SIGKILL)
        until(lambda: asked(port, "127.0.7.2") not in (0, homes["127.0.7.2"]))
        after = {address: asked(port, address) for address in homes}
        assert {a for a in homes if after[a] == homes[a]} == {"127.0.7.1", "127.0.7.3"}
        assert set(after.values()) == children(parent.pid)


@pytest.mark.slow
@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_all_end_together_when_told_to(name: signal.Signals) -> None:
    port = free_port()
    with running("-c", PLAIN, str(port), "serves") as parent:
        assert parent.stdout and parent.stdout.readline() == "open\n"
        found = children(parent.pid)
        parent.send_signal(name)
        said, _ = parent.communicate(timeout=LIMIT)
        assert parent.returncode == 0 and said == "told\n" * 3
        assert len(found) == 3 and not any(map(alive, found))


def test_workers_whose_parent_was_killed_end() -> None:
    port = free_port()
    with running("-c", PLAIN, str(port), "serves") as parent:
        assert parent.stdout and parent.stdout.readline() == "open\n"
        found = children(parent.pid)
        parent.kill()
        until(lambda: not any(map(alive, found)))


@pytest.mark.slow
def test_a_worker_that_cannot_start_ends_all_and_says_why() -> None:
    port = free_port()
    with running("-c", PLAIN, str(port), "fails") as parent:
        _, complaint = parent.communicate(timeout=LIMIT)
        assert parent.returncode == 2 and "a worker failed: ValueError: no page" in complaint


def translated(url: str, address: str, direction: str = "de-en") -> str:
    """A translation by the endpoint, asked for on one connection and read on another."""
    body = {"text": "Ich renne in den Park.", "direction": direction}
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=url, timeout=LIMIT, transport=transport, headers={"connection": "close"}) as http:
        event = http.post("/gradio_api/call/v2/translate", json=body).raise_for_status().json()["event_id"]
        answer = http.get(f"/gradio_api/call/translate/{event}").text
    found = re.search(r"event: complete\ndata: (.*)", answer)
    assert found, answer
    return str(json.loads(found[1])[0])


def private(pid: int) -> int:
    """Bytes of a process that no other shares."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    told = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
    return told["Private_Clean"] + told["Private_Dirty"]


@pytest.mark.slow
@pytest.mark.timeout(900)  # the port waits for the models, which a busy machine may compile for minutes
def test_the_page_by_two_workers_translates_shares_its_weights_and_outlives_one() -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    want = load("de-en", device="cpu").translate("Ich renne in den Park.").translation
    weights = sum(load(name, device="cpu").memory for name in ("de-en", "en-zh"))
    with running("-m", "translator", "serve", "de-en", "--workers", "2", "--port", str(port)) as parent:
        assert parent.stdout and "with 2 workers" in parent.stdout.readline()
        addresses = ("127.0.8.1", "127.0.8.2")
        assert [translated(url, address) for address in addresses] == [want, want]
        assert all(translated(url, address, "en-zh") for address in addresses)
        first = children(parent.pid)
        assert len(first) == 2 and all(private(pid) < weights for pid in first), "each has weights of its own"
        victim = min(first)
        os.kill(victim, signal.SIGKILL)
        until(lambda: len(children(parent.pid)) == 2 and victim not in children(parent.pid))

        def answers(address: str) -> bool:
            try:
                return translated(url, address) == want
            except httpx.HTTPError:  # its worker is not back yet
                return False

        for address in addresses:
            until(lambda address=address: answers(address))
        parent.terminate()
        assert parent.wait(LIMIT) == 0
