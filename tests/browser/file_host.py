"""The plainest host there is: files, no headers of its own, nothing compressed; and what may go wrong with one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Host:
    """A folder over HTTP on loopback.

    `damaged`: weights are sent with their last byte changed. `cut`: how many times weights end after half of their
    bytes. `gone`: every connection is closed unanswered. `hold`: weights wait until it is set. `ranges`: whether a
    part of a file may be asked for. `policy`: a Content-Security-Policy that every answer has. `asked`: the path and
    the range of every request.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged = False
        self.cut = 0
        self.gone = False
        self.ranges = False
        self.policy = ""
        self.hold = threading.Event()
        self.hold.set()
        self.asked: list[tuple[str, str | None]] = []
        self.address = ""

    def answer(self, handler: SimpleHTTPRequestHandler) -> bool:
        """Send the weights as the host is told to; False: they are not what was asked for."""
        asked = handler.headers.get("Range")
        self.asked.append((handler.path, asked))
        if self.gone:
            handler.close_connection = True
            return True
        path = handler.path.partition("?")[0]
        if not path.endswith("model.safetensors"):
            return False
        data = (self.folder / path.lstrip("/")).read_bytes()
        if self.damaged:
            data = data[:-1] + bytes([data[-1] ^ 1])
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.ranges else 0
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Length", str(len(data) - start))
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        handler.end_headers()
        half = start + (len(data) - start) // 2
        handler.wfile.write(data[start:half])
        handler.wfile.flush()
        self.hold.wait(60)
        if self.cut:
            self.cut -= 1
            handler.close_connection = True
            handler.connection.close()
            return True
        handler.wfile.write(data[half:])
        return True


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments: Any, host: Host, **options: Any) -> None:
        self.host = host
        super().__init__(*arguments, **options)

    def do_GET(self) -> None:
        try:
            if not self.host.answer(self):
                super().do_GET()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the browser left

    def end_headers(self) -> None:
        if self.host.policy:
            self.send_header("Content-Security-Policy", self.host.policy)
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def host(folder: Path) -> Iterator[Host]:
    """Serve `folder` until the block is left."""
    serving = Host(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, host=serving, directory=str(folder)))
    server.daemon_threads = True
    serving.address = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield serving
    serving.hold.set()
    server.shutdown()
    server.server_close()
