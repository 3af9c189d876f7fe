"""What stands before Gradio: only our routes, small bodies of known shape, a rate per address, safe headers.

Pure ASGI, so that a body is refused before anything parses it and streams pass through unbuffered. Gradio compresses
its files; its page, which is larger than most of them, is compressed here.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qs

from starlette.middleware.gzip import GZipMiddleware

from translator.errors import InputError
from translator.ui.gate import CALLER, Caller
from translator.ui.limits import Doors

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Any]
Send = Callable[[Message], Any]
Header = tuple[bytes, bytes]

log = logging.getLogger(__name__)
BODY = 64 * 1024
BODY_SECONDS = 10.0
OPEN = 1000
"""Requests that may be open at once, streams included."""
RATE, BURST = 60.0, 600.0
"""POST requests a second, and at once, of one address: a classroom shares one."""
ADDRESSES = 10_000

_READ = re.compile(
    r"/(config/?|theme\.css|robots\.txt|favicon\.ico|manifest\.json|pwa_icon(/\d+)?|(static|assets|svelte)/.+"
    r"|gradio_api/(info/?|openapi\.json|app_id/?|startup-events|theme\.css|heartbeat/[\w-]{1,64}|queue/(data|status)"
    r"|file=(?![a-z][a-z0-9+.-]+:).+|call/(v2/)?\w+/[\w-]{1,64}))?",
    re.IGNORECASE,
)
_PAGE = re.compile(r"/(config/?)?")
_CALLS = (
    (re.compile(r"/gradio_api/queue/join"), "join"),
    (re.compile(r"/gradio_api/cancel"), "cancel"),
    (re.compile(r"/gradio_api/reset/?"), "reset"),
    (re.compile(r"/gradio_api/component_server/?"), "function"),
    (re.compile(r"/gradio_api/mcp/?"), "rpc"),
    (re.compile(r"/gradio_api/call/(?P<name>\w+)/?"), "endpoint"),
    (re.compile(r"/gradio_api/call/v2/(?P<name>\w+)/?"), "named"),
)
_STREAM = re.compile(r"/gradio_api/(queue/data|heartbeat/(?P<heart>[\w-]+)|call/(v2/)?\w+/(?P<event>[\w-]+))")

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"strict-origin-when-cross-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (
        b"content-security-policy",
        b"default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
        b"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
        b"object-src 'none'; base-uri 'self'; form-action 'self'; "
        b"frame-ancestors 'self' https://huggingface.co https://*.hf.space",
    ),
)
_DROPPED = re.compile(rb"access-control-.*|server|x-content-type-options|referrer-policy|content-security-policy")


class Readers:
    """Which sessions have a stream open at this moment: nobody else reads what is computed for them."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()

    def __contains__(self, session: str) -> bool:
        return session in self._open

    def enter(self, session: str) -> None:
        """Count one more open stream of `session`."""
        self._open[session] += 1

    def leave(self, session: str) -> None:
        """Count one open stream of `session` less."""
        self._open[session] -= 1
        if self._open[session] <= 0:
            del self._open[session]


class Rate:
    """A bucket of tokens for each address, the least recent forgotten."""

    def __init__(self, rate: float = RATE, burst: float = BURST) -> None:
        self._rate, self._burst = rate, burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allow(self, address: str) -> bool:
        """Take one token of `address`, if it has one."""
        now = time.monotonic()
        left, since = self._buckets.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        self._buckets[address] = (left - 1 if left >= 1 else left, now)
        if len(self._buckets) > ADDRESSES:
            self._buckets.popitem(last=False)
        return left >= 1


class _Refused(Exception):
    """An answer of ours in place of Gradio's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class Guard:
    """The ASGI application that the world talks to; `app` is Gradio's."""

    def __init__(
        self,
        app: Any,
        doors: Doors,
        *,
        readers: Readers | None = None,
        rate: Rate | None = None,
        page_headers: Sequence[Header] = (),
    ) -> None:
        self.app = app
        self._page: Any = GZipMiddleware(app, minimum_size=1024, compresslevel=6)
        self._page_headers = page_headers
        self.doors = doors
        self.readers = readers or Readers()
        self.rate = rate or Rate()
        self._open = 0
        self._streams: set[asyncio.Event] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def release(self) -> None:
        """End every open stream, as if its client had gone; to be called from another thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._end_streams)

    def _end_streams(self) -> None:
        for gone in self._streams:
            gone.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            self._loop = asyncio.get_running_loop()
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        answer = _Answer(send)
        self._open += 1
        try:
            await self._serve(scope, receive, answer)
        except _Refused as refused:
            await answer.say(refused.status, refused.text)
        except Exception as error:  # a traceback would print what the visitor typed
            log.error("%s request failed: %s", scope["method"], type(error).__name__)
            await answer.say(500, "something went wrong; please try again")
        finally:
            self._open -= 1

    async def _serve(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        if self._open > OPEN:
            raise _Refused(503, "busy, try again")
        path, method = scope["path"], scope["method"]
        if method in ("GET", "HEAD"):
            if not _READ.fullmatch(path):
                raise _Refused(404, "not found")
            await self._read(scope, receive, answer)
        elif method == "POST":
            call = _call(path)
            if call == "rpc" and not self.doors.rpc:
                raise _Refused(404, "not found")
            if not self.rate.allow((scope.get("client") or ("", 0))[0]):
                raise _Refused(429, "too many requests from this address; try again in a few seconds")
            body = await self._body(scope, receive, call)
            asked = _resized(scope, len(body))
            if call == "function":
                await self._function(asked, body, receive, answer)
            else:
                await self.app(asked, _once(body, receive), answer.send)
        else:
            raise _Refused(405, "method not allowed")

    async def _read(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        """A GET; while it is a stream of messages, its session counts as read until its client is gone."""
        found = _STREAM.fullmatch(scope["path"])
        if not found:
            page = scope["method"] == "GET" and _PAGE.fullmatch(scope["path"])
            answer.headers = self._page_headers if page else ()
            await (self._page if page else self.app)(scope, receive, answer.send)
            return
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        session = found["event"] or query.get("session_hash", [""])[0]
        reads = "" if found["heart"] else session
        gone = asyncio.Event()
        self._streams.add(gone)
        self.readers.enter(reads)

        async def watch() -> None:
            while not gone.is_set() and (await receive())["type"] != "http.disconnect":
                pass
            gone.set()

        async def leave() -> None:
            await gone.wait()
            self._streams.discard(gone)
            self.readers.leave(reads)

        async def receive_then() -> Message:
            await gone.wait()
            return {"type": "http.disconnect"}

        watching, leaving = asyncio.create_task(watch()), asyncio.create_task(leave())
        try:
            await self.app(scope, receive_then, answer.send)
        finally:
            gone.set()
            watching.cancel()
            await leaving

    async def _function(self, scope: Scope, body: bytes, receive: Receive, answer: _Answer) -> None:
        """A call that is answered as a whole; when its client hangs up, what it asked of the models is stopped."""
        caller, gone = Caller(), asyncio.Event()

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            caller.leave()
            gone.set()

        async def receive_then() -> Message:
            await gone.wait()
            return {"type": "http.disconnect"}

        watching, before = asyncio.create_task(watch()), CALLER.set(caller)
        try:
            await self.app(scope, _once(body, receive_then), answer.send)
        finally:
            watching.cancel()
            CALLER.reset(before)

    async def _body(self, scope: Scope, receive: Receive, call: str) -> bytes:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > BODY:
            raise _Refused(413, f"the request is too large; at most {BODY:,} bytes are allowed")
        if headers.get(b"content-type", b"").split(b";")[0].strip().lower() != b"application/json":
            raise _Refused(415, "the content type must be application/json")
        try:
            body = await asyncio.wait_for(_collect(receive), BODY_SECONDS)
            return self.doors.check(call, body)
        except asyncio.TimeoutError:
            raise _Refused(408, "the request took too long to arrive") from None
        except InputError as error:
            raise _Refused(422, str(error)) from None


class _Answer:
    """Passes Gradio's answer on with our headers, and knows whether it has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = self._ended = False
        self.headers: Sequence[Header] = ()
        """What is said besides."""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begun = True
            kept = [(name, value) for name, value in message.get("headers", ()) if not _DROPPED.fullmatch(name.lower())]
            message = {**message, "headers": [*kept, *_HEADERS, *self.headers]}
        elif message["type"] == "http.response.body":
            self._ended = not message.get("more_body", False)
        await self._send(message)

    async def say(self, status: int, text: str) -> None:
        """An answer of our own; if Gradio's has begun, its proper end."""
        if self._begun:
            if not self._ended:
                await self.send({"type": "http.response.body", "body": b""})
            return
        body = json.dumps({"detail": text, "error": text}).encode()  # what Gradio's own client reads
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if status in (429, 503):
            headers.append((b"retry-after", b"5"))
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def _call(path: str) -> str:
    for pattern, call in _CALLS:
        found = pattern.fullmatch(path)
        if found:
            return f"{call}:{found['name']}" if "name" in pattern.groupindex else call
    raise _Refused(404, "not found")


async def _collect(receive: Receive) -> bytes:
    """The whole body, or a refusal as soon as it is too long, whatever its header said."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Refused(400, "the request was cut off")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > BODY:
            raise _Refused(413, f"the request is too large; at most {BODY:,} bytes are allowed")
        if not message.get("more_body", False):
            return b"".join(parts)


def _once(body: bytes, receive: Receive) -> Receive:
    """`receive` that first gives `body`, which was taken from it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _resized(scope: Scope, length: int) -> Scope:
    kept = [(name, value) for name, value in scope["headers"] if name not in (b"content-length", b"transfer-encoding")]
    return {**scope, "headers": [*kept, (b"content-length", str(length).encode())]}
