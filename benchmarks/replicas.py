"""Two replicas behind nginx against one, on loopback, and one of them killed: `python -m benchmarks.replicas`."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from benchmarks.served import ROOT, Answer, App, crowd, free_port, percentile, sentences

OWN_FILES = "/tmp/translator-nginx"  # noqa: S108 # nosec B108 what deploy/nginx.conf says, to be replaced
PROXY = {"FORWARDED_ALLOW_IPS": "127.0.0.1"}


@contextmanager
def nginx(replicas: list[App]) -> Iterator[str]:
    """`deploy/nginx.conf` with these replicas' ports, on a free port; gives its address."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(program).exists():
        raise SystemExit("nginx is not installed (Debian, Ubuntu: apt install nginx-light)")
    port = free_port()
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    ports = [replica.port for replica in replicas] * (3 - len(replicas))
    for old, new in (("7860;", f"{port};"), ("7861 ", f"{ports[0]} "), ("7862 ", f"{ports[1]} ")):
        text = text.replace(f"127.0.0.1:{old}", f"127.0.0.1:{new}")
    with tempfile.TemporaryDirectory(prefix="replicas") as folder:
        path = Path(folder) / "nginx.conf"
        path.write_text(text.replace(OWN_FILES, f"{folder}/nginx"), encoding="utf-8")
        server = subprocess.Popen([program, "-p", folder, "-c", str(path), "-g", "daemon off;"])
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url)
            yield url
        finally:
            server.terminate()
            server.wait(10)


def _wait(url: str) -> None:
    for _ in range(100):
        try:
            httpx.get(f"{url}/config", timeout=5).raise_for_status()
            return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise RuntimeError("nginx does not answer")


def measure(url: str, replicas: list[App], users: int, seconds: float) -> tuple[str, list[Answer]]:
    """One load as a row of text, and its answers."""
    before = sum(replica.cpu_seconds for replica in replicas if replica.process.poll() is None)
    answers, took = asyncio.run(crowd(url, users, seconds, sentences()))
    alive = [replica for replica in replicas if replica.process.poll() is None]
    cpu = sum(replica.cpu_seconds for replica in alive) - before
    done = [answer.seconds for answer in answers if answer.kind == "trace"]
    kinds = Counter(answer.kind for answer in answers)
    cores = f"{cpu / took:.2f} cores" if len(alive) == len(replicas) else "one killed"
    text = f"{len(done) / took:.1f} requests/s, {cores}, p95 {percentile(done, 0.95):.2f} s, {dict(kinds)}"
    return text, answers


def main() -> None:
    """One process, two processes, two of which one is killed half-way; then both are alive again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20, help="of each load, at most 120")
    chosen = parser.parse_args()
    users, seconds = min(chosen.users, 100), min(chosen.seconds, 120)
    busy = os.getloadavg()[0]
    print("| replicas | measured |\n|---|---|", flush=True)
    replicas = [App(PROXY)]
    try:
        with nginx(replicas) as url:
            measure(url, replicas, 2, 5)  # the models load
            print(f"| one | {measure(url, replicas, users, seconds)[0]} |", flush=True)
        replicas.append(App(PROXY))
        with nginx(replicas) as url:
            measure(url, replicas, 4, 5)
            print(f"| two | {measure(url, replicas, users, seconds)[0]} |", flush=True)
            threading.Timer(seconds / 2, replicas[1].kill).start()
            text, answers = measure(url, replicas, users, seconds)
            lost = sum(answer.kind in ("lost", "error") for answer in answers)
            print(f"| two, one killed after {seconds / 2:g} s | {text}; {lost} requests lost |", flush=True)
            after = asyncio.run(crowd(url, users, 3, sentences()))[0]
            print(f"| the other alone, right after | {dict(Counter(answer.kind for answer in after))} |", flush=True)
    finally:
        for replica in replicas:
            replica.close()
    print(f"\n{os.cpu_count()} cores, load average {busy:.1f} before.")


if __name__ == "__main__":
    main()
