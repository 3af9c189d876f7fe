"""A hub of our own on loopback, which has one checkpoint."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

NAME = "ann/tiny"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(http.server.ThreadingHTTPServer):
    """The routes that a snapshot needs, over the files of one folder; `asked` counts what was sent of each file."""

    def __init__(self, folder: Path, name: str = NAME) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder, self.name, self.commit = folder, name, COMMIT
        self.asked: Counter[str] = Counter()
        self.revisions: set[str] = set()
        """What files were asked for by."""
        self.flows = threading.Event()
        """Not set: half of each file comes, and then nothing until it is."""
        self.flows.set()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path, name = self.path.split("?")[0], self.server.name
        if path == f"/api/models/{name}":
            self._send(json.dumps({"id": name, "sha": self.server.commit}).encode(), "application/json")
        elif path.startswith(f"/api/models/{name}/revision/"):
            files = [{"rfilename": file.name} for file in self.server.folder.iterdir()]
            self._send(
                json.dumps({"id": name, "sha": self.server.commit, "siblings": files}).encode(), "application/json"
            )
        elif path.startswith(f"/api/models/{name}/tree/"):
            files = [
                {"type": "file", "path": file.name, "size": file.stat().st_size, "oid": _digest(file)}
                for file in self.server.folder.iterdir()
            ]
            self._send(json.dumps(files).encode(), "application/json")
        elif path.startswith(f"/{name}/resolve/"):
            file = self.server.folder / path.rsplit("/", 1)[1]
            if not file.is_file():
                return self._refuse(404, "EntryNotFound")
            self.server.revisions.add(path.rsplit("/", 2)[1])
            self.server.asked[file.name] += self.command == "GET"
            self._send(file.read_bytes(), "application/octet-stream")
        else:
            self._refuse(401, "RepoNotFound")  # what the hub says of a repository that it does not show

    def _refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Repo-Commit", self.server.commit)
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.end_headers()
        if self.command == "GET":
            half = len(content) // 2 if kind == "application/octet-stream" else len(content)
            with contextlib.suppress(OSError):  # who asked may be gone
                self.wfile.write(content[:half])
                self.server.flows.wait(60)
                self.wfile.write(content[half:])

    def log_message(self, *args: object) -> None:
        pass


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextlib.contextmanager
def served(folder: Path, name: str = NAME) -> Iterator[Hub]:
    """The hub while it answers, with a script beside the checkpoint that nobody asked for."""
    (folder / "evil.py").write_text("print('never fetched')")
    server = Hub(folder, name)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.flows.set()
    server.shutdown()
    server.server_close()
