"""Checkpoints from the Hugging Face hub, against a hub of our own on loopback."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import safetensors.torch
import torch

import translator

pytestmark = pytest.mark.slow  # every load is a process of its own
COMMIT = "0123456789abcdef0123456789abcdef01234567"
LOAD = """
import sys, translator
try:
    pickles = "--no-pickles" not in sys.argv
    engine = translator.load(sys.argv[1], device="cpu", revision=sys.argv[2] or None, pickles=pickles)
    print(engine.name, engine.translate("Das Haus.", max_length=4).translation if "--translate" in sys.argv else "")
except translator.CheckpointError as error:
    print("refused:", error)
"""


class Hub(http.server.ThreadingHTTPServer):
    """The three routes that a snapshot needs, over the files of one folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = self.path.split("?")[0]
        if path.startswith("/api/models/ann/tiny/revision/"):
            files = [{"rfilename": file.name} for file in self.server.folder.iterdir()]
            self._send(json.dumps({"id": "ann/tiny", "sha": COMMIT, "siblings": files}).encode(), "application/json")
        elif path.startswith("/api/models/ann/tiny/tree/"):
            files = [
                {"type": "file", "path": file.name, "size": file.stat().st_size, "oid": _digest(file)}
                for file in self.server.folder.iterdir()
            ]
            self._send(json.dumps(files).encode(), "application/json")
        elif path.startswith("/ann/tiny/resolve/"):
            self._send((self.server.folder / path.rsplit("/", 1)[1]).read_bytes(), "application/octet-stream")
        else:
            self.send_response(401)  # what the hub says of a repository that it does not show
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Hub]:
    """The hub while it answers, with a script beside the checkpoint that nobody asked for."""
    (folder / "evil.py").write_text("print('never fetched')")
    server = Hub(folder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def hub(tiny_checkpoint: Path, tmp_path: Path) -> Iterator[Hub]:
    with served(Path(shutil.copytree(tiny_checkpoint, tmp_path / "served"))) as server:
        yield server


@pytest.fixture
def marian_hub(tiny_marian: Path, tmp_path: Path) -> Iterator[Hub]:
    with served(Path(shutil.copytree(tiny_marian, tmp_path / "served"))) as server:
        yield server


def load(home: Path, endpoint: str, revision: str = "", *flags: str, name: str = "ann/tiny", **more: str) -> str:
    """What a fresh process says that loads `name`; the library reads its settings once, when it is imported."""
    proxies = {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
    hub = {"HF_HOME": str(home), "HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_XET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, name, revision, *flags],
        env={**os.environ, **proxies, **hub, **more},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def endpoint(hub: Hub) -> str:
    return f"http://127.0.0.1:{hub.server_address[1]}"


def test_a_branch_is_resolved_and_its_commit_noted_and_the_cache_works_offline(hub: Hub, tmp_path: Path) -> None:
    home = tmp_path / "home"
    named = f"ann/tiny@{COMMIT[:12]}"
    assert load(home, endpoint(hub)) == named
    assert load(home, endpoint(hub), COMMIT) == named
    assert not list(home.rglob("evil.py"))
    hub.shutdown()
    assert load(home, "http://127.0.0.1:9", COMMIT) == named
    assert load(home, "http://127.0.0.1:9", HF_HUB_OFFLINE="1") == named


def test_without_hub_and_cache_it_says_so(tmp_path: Path) -> None:
    said = load(tmp_path / "home", "http://127.0.0.1:9", HF_HUB_OFFLINE="1")
    assert "not in the cache and the hub cannot be reached" in said


def test_another_commit_than_was_pinned_is_refused(hub: Hub, tmp_path: Path) -> None:
    said = load(tmp_path / "home", endpoint(hub), "f" * 40)
    assert said == f"refused: the hub gave another commit of ann/tiny than {'f' * 40}, which was asked for"


def test_a_tampered_download_is_refused(hub: Hub, tmp_path: Path) -> None:
    path = hub.folder / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert "is damaged" in load(tmp_path / "home", endpoint(hub), COMMIT)


def test_an_unknown_repository_is_refused(hub: Hub, tmp_path: Path) -> None:
    said = load(tmp_path / "home", endpoint(hub), name="ann/nowhere")
    assert "refused: ann/nowhere at revision 'main' cannot be fetched" in said


def test_a_marian_checkpoint_is_fetched_pinned_and_translates_offline(
    marian_hub: Hub, tiny_marian: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    expected = translator.load(tiny_marian, device="cpu").translate("Das Haus.", max_length=4).translation
    said = f"ann/tiny@{COMMIT[:12]} {expected}".strip()
    assert load(home, endpoint(marian_hub), COMMIT, "--translate", "--no-pickles") == said
    assert not list(home.rglob("evil.py"))
    marian_hub.shutdown()
    assert load(home, "http://127.0.0.1:9", COMMIT, "--translate") == said


def test_a_marian_pickle_is_fetched_only_where_there_are_no_safetensors_and_never_for_a_page(
    marian_hub: Hub, tmp_path: Path
) -> None:
    weights = marian_hub.folder / "model.safetensors"
    torch.save(safetensors.torch.load_file(weights), marian_hub.folder / "pytorch_model.bin")
    assert load(tmp_path / "both", endpoint(marian_hub), COMMIT) == f"ann/tiny@{COMMIT[:12]}"
    assert not list((tmp_path / "both").rglob("pytorch_model.bin"))
    weights.unlink()
    said = load(tmp_path / "page", endpoint(marian_hub), COMMIT, "--no-pickles")
    assert said.startswith("refused:") and "convert the checkpoint once" in said
    assert not list((tmp_path / "page").rglob("pytorch_model.bin"))
    assert load(tmp_path / "pickle", endpoint(marian_hub), COMMIT) == f"ann/tiny@{COMMIT[:12]}"


def test_another_commit_of_a_marian_checkpoint_is_refused(marian_hub: Hub, tmp_path: Path) -> None:
    said = load(tmp_path / "home", endpoint(marian_hub), "f" * 40)
    assert said.startswith("refused: the hub gave another commit") and not list((tmp_path / "home").rglob("evil.py"))
