"""What every visitor fetches, packed by Brotli: the page as it is sent, plotly.js as it lies in the assets.

Gradio packs its files by Brotli too, anew for every visitor and therefore lightly, and its page not at all.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import brotli
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse

from translator.errors import BusyError
from translator.ui.addresses import Rate, group

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Any]
App = Any  # Starlette's, which are typed with their own names for the same

QUALITY = 6
"""Of the page: a seventh less than gzip's in less time; 9 takes four times as long for 2% less."""
LEAST = 1024
"""Bytes of a page that is worth it."""
KEPT = 32
"""Answers that are kept: of two pages, by the names that people call this server by."""
MADE_RATE, MADE_BURST = 0.5, 24.0
"""Answers that are made for one address a second, and at once: each takes as long as a translation."""
_NAMED = (b"host", b"x-forwarded-host", b"x-forwarded-proto")
_PACKED = ((b"content-encoding", b"br"), (b"vary", b"Accept-Encoding"))


def takes_brotli(scope: Scope) -> bool:
    """Whether a client says so."""
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept-encoding").lower()
    offers = [each.replace(b" ", b"") for each in accepted.split(b",")]
    return any(each == b"br" or (each.startswith(b"br;") and each not in (b"br;q=0", b"br;q=0.0")) for each in offers)


class PackedPage:
    """An ASGI application that sends what `app` answers in one piece packed, by gzip where Brotli is not known."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._gzip: App = GZipMiddleware(app, minimum_size=LEAST, compresslevel=6)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not takes_brotli(scope):
            await self._gzip(scope, receive, send)
            return
        begun: list[Message] = []

        async def packed(message: Message) -> None:
            if message["type"] == "http.response.start":
                begun.append(message)
                return
            if begun:
                start, body = begun.pop(), message.get("body", b"")
                known = {name for name, _ in start["headers"]}
                if len(body) >= LEAST and not message.get("more_body") and b"content-encoding" not in known:
                    body = brotli.compress(body, mode=brotli.MODE_TEXT, quality=QUALITY)
                    kept = [each for each in start["headers"] if each[0] not in (b"content-length", b"vary")]
                    length = (b"content-length", str(len(body)).encode())
                    start, message = {**start, "headers": [*kept, length, *_PACKED]}, {**message, "body": body}
                await send(start)
            await send(message)

        await self._app(scope, receive, packed)


class KeptPage:
    """A page that `app` sends whole and makes alike for all who call it by one address: made once and kept.

    Gradio and Brotli take 60 ms of the processor to make it; it names its own address in it, and nothing else of a
    request. A stranger who makes names up has few of them answered.
    """

    def __init__(self, app: App, most: int = KEPT, makes: Rate | None = None) -> None:
        self._app, self._most = app, most
        self._makes = makes or Rate(MADE_RATE, MADE_BURST)
        self._kept: OrderedDict[tuple[Any, ...], list[Message]] = OrderedDict()
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a GET or HEAD.

        Raises:
            BusyError: too many were made for this address.
        """
        if scope["method"] == "HEAD":  # which asks whether the page is here
            plain = [each for each in scope["headers"] if each[0] != b"accept-encoding"]
            scope = {**scope, "headers": plain, "method": "GET"}  # the server sends no body
        key = _asked_for(scope)
        messages = self._kept.get(key)
        if messages is None:
            async with self._making:
                messages = self._kept.get(key) or await self._make(key, scope, receive)
        else:
            self._kept.move_to_end(key)
        for message in messages:
            await send(message)

    async def _make(self, key: tuple[Any, ...], scope: Scope, receive: Receive) -> list[Message]:
        if not self._makes.allow(group(scope)):
            raise BusyError("this address asks for the page by too many names")
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._app(scope, receive, keep)
        if messages and messages[0].get("status") == 200:
            self._kept[key] = messages
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return messages


def _asked_for(scope: Scope) -> tuple[Any, ...]:
    """All that an answer depends on: what is asked for, by which name, and how it may be packed."""
    told = {name: value for name, value in scope["headers"] if name in _NAMED}
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept-encoding").lower()
    packing = "br" if takes_brotli(scope) else "gzip" if b"gzip" in accepted else ""
    server = scope.get("scheme"), scope.get("root_path"), tuple(scope.get("server") or ())
    return scope["path"], packing, server, *(told.get(name) for name in _NAMED)


class PackedFile:
    """An ASGI application that sends a script from the file `packed` to clients that accept it, else as `app` does."""

    def __init__(self, app: App, packed: Path) -> None:
        self._app, self._packed = app, packed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        part = any(name == b"range" for name, _ in scope["headers"])
        if part or not takes_brotli(scope):
            await self._app(scope, receive, send)
            return
        headers = {name.decode(): value.decode() for name, value in _PACKED}
        answer: App = FileResponse(self._packed, media_type="application/javascript", headers=headers)
        await answer(scope, receive, send)
