"""Files that browsers fetch from a server by their hash: what they compute with themselves."""

from __future__ import annotations

import hashlib
import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ADDRESS = re.compile(r"/live/(?P<sha256>[0-9a-f]{64})/[\w.-]{1,64}")
"""Where a file lies below the page; its name is for people and for error messages."""
_FOR_EVER = {"cache-control": "public, max-age=31536000, immutable"}
_COMPRESSED = (".js", ".json", ".html", ".wasm")


@dataclass(frozen=True)
class _File:
    name: str
    content: Path | bytes


class Published:
    """An ASGI application that sends the files it was given, each under its hash, and nothing else."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def put(self, name: str, content: Path | bytes, sha256: str | None = None) -> dict[str, Any]:
        """Publish a file; its entry as a site's manifest has it.

        Args:
            sha256: of the file, where that is known; else it is read.
        """
        if sha256 is None:
            sha256 = hashlib.sha256(content if isinstance(content, bytes) else content.read_bytes()).hexdigest()
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        self._files[sha256] = _File(name, content)
        return {"path": f"live/{sha256}/{name}", "size": size, "sha256": sha256}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a GET or HEAD of an address that matches ADDRESS; the whole file, or the range that is asked for."""
        from starlette.middleware.gzip import GZipMiddleware  # an extra, which only a page that is served has

        packed = scope["path"].endswith(_COMPRESSED)
        await (GZipMiddleware(self._send, minimum_size=1024) if packed else self._send)(scope, receive, send)

    async def _send(self, scope: Any, receive: Any, send: Any) -> None:
        from starlette.responses import FileResponse, PlainTextResponse, Response

        found = ADDRESS.fullmatch(scope["path"])
        file = self._files.get(found["sha256"]) if found else None
        answer: Response = PlainTextResponse("not found", 404)
        if file is not None:
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            if isinstance(file.content, bytes):
                answer = Response(file.content, media_type=kind, headers=_FOR_EVER)
            elif file.content.is_file():
                answer = FileResponse(file.content, media_type=kind, headers=_FOR_EVER)
        await answer(scope, receive, send)
