"""What a stranger names is never fetched, stored or served, whatever call names it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.served import free_port

ATTACK = """
import json, os, sys, tempfile, time
from pathlib import Path

asked = []
def note(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        asked.append(str(arguments[1][0]))
    elif event == "socket.getaddrinfo":
        asked.append(str(arguments[0]))
sys.addaudithook(note)

import httpx
from translator.ui.models import Models
from translator.ui.serve import Server

folder = Path(os.environ["GRADIO_TEMP_DIR"])
models = Models({"de-en": sys.argv[1]}, device="cpu")
server = Server(models, mcp=True, server_name="127.0.0.1", server_port=int(sys.argv[2]))
before, statuses = len(list(folder.rglob("*"))), []
http = httpx.Client(base_url=server.url, timeout=30)

def post(path, body):
    answer = http.post("/gradio_api/" + path, json=body)
    statuses.append(answer.status_code)
    if path.startswith("call") and answer.status_code == 200:
        name = path.rsplit("/", 1)[-1]
        http.get(f"/gradio_api/call/{name}/{answer.json()['event_id']}")

config = http.get("/config").json()
meta = {"_type": "gradio.FileData"}
files = [
    {"path": "http://203.0.113.7/x", "meta": meta},
    {"path": "https://stranger.example/x", "url": "https://stranger.example/x", "meta": meta},
    {"path": "/etc/hostname", "meta": meta},
]
for one in files:
    for value in (one, [one], {"a": one}, {"a": [one]}, {"__type__": "update", "value": one}):
        for name in ("translate", "trace"):
            for data in ([value, "de-en", {}], ["a", value, {}], ["a", "de-en", value]):
                post(f"call/{name}", {"data": data})
                post(f"run/{name}", {"data": data})
                post(f"api/{name}", {"data": data})
            post(f"call/v2/{name}", {"text": value})
            post(f"call/v2/{name}", {"text": "a", "settings": value})
            call = {"name": name, "arguments": {"text": "a", "settings": value}}
            rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            http.post("/gradio_api/mcp/", json=rpc, headers={"accept": "application/json, text/event-stream"})
        for event in config["dependencies"]:
            body = {"data": [value] * len(event["inputs"]), "fn_index": event["id"], "session_hash": "stranger"}
            post("queue/join", {**body, "event_data": value})
        for component in config["components"]:
            for name in component.get("props", {}).get("server_fns") or []:
                ask = {"component_id": component["id"], "fn_name": name, "session_hash": "stranger"}
                http.post("/gradio_api/component_server", json={**ask, "data": value})
                http.post("/gradio_api/component_server", json={**ask, "data": {"text": "a", "settings": value}})
time.sleep(1)
kept = len(list(folder.rglob("*"))) - before
print(json.dumps({"asked": sorted(set(asked) - {"127.0.0.1", "localhost"}), "kept": kept,
                  "statuses": sorted(set(statuses))}), flush=True)
os._exit(0)
"""


LONE = """
import fcntl, json, socket, struct, subprocess, sys, threading

STRANGER = "203.0.113.7"
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
    fcntl.ioctl(plain, 0x8914, struct.pack("16sH14s", b"lo", 0x41, b""))  # SIOCSIFFLAGS: up and running
    its = struct.pack("16sHH4s8s", b"lo:1", socket.AF_INET, 0, socket.inet_aton(STRANGER), b"")
    fcntl.ioctl(plain, 0x8916, its)  # SIOCSIFADDR: the stranger's address is this host's
reached = []

def listen(server):
    while True:
        reached.append(server.accept()[1])

threading.Thread(target=listen, args=(socket.create_server((STRANGER, 80)),), daemon=True).start()
done = subprocess.run([sys.executable, "-c", *sys.argv[1:]], capture_output=True, text=True)
sys.stderr.write(done.stderr)
found = {**json.loads(done.stdout.strip().splitlines()[-1]), "reached": len(reached)}
socket.create_connection((STRANGER, 80)).close()
while not reached:
    pass
print(json.dumps(found))
"""
"""The attack in a network of its own, where the stranger's host is there and counts who comes; it can be reached."""


def lone() -> list[str]:
    """What stands before a command that is to run without any network but its own; [] where that cannot be."""
    apart = ["unshare", "--map-root-user", "--net"]
    try:
        return apart if subprocess.run([*apart, "true"], capture_output=True).returncode == 0 else []
    except OSError:
        return []


def attacked(checkpoint: Path, folder: Path, apart: list[str]) -> dict[str, Any]:
    """What a page in a process of its own asked of whom while it was attacked, what it kept, and how it answered."""
    environment = {"GRADIO_TEMP_DIR": str(folder), "OMP_NUM_THREADS": "1", "GRADIO_ANALYTICS_ENABLED": "False"}
    done = subprocess.run(
        [*apart, sys.executable, "-c", *([LONE] if apart else []), ATTACK, str(checkpoint), str(free_port())],
        capture_output=True, text=True, timeout=250, cwd=Path(__file__).parents[2], env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


@pytest.mark.slow
@pytest.mark.timeout(280)
def test_what_a_stranger_names_is_neither_fetched_nor_kept(tiny_checkpoint: Path, tmp_path: Path) -> None:
    """An audit hook sees every connection and every name that the process asks for, whoever makes it."""
    apart = lone()
    found = attacked(tiny_checkpoint, tmp_path, apart)
    assert found["asked"] == [], "it asked a host that a stranger named"
    assert not apart or found["reached"] == 0, "a stranger's host was reached"
    assert found["kept"] == 0, "it kept what a stranger named"
    assert set(found["statuses"]) <= {200, 404, 422, 429}
