"""The ASGI guard in front of Gradio: allowlisted routes, bounded bodies, rate limits, safe headers.

Pure ASGI, so that a body is refused before anything parses it and streams pass through unbuffered. Gradio compresses
its files; its page and plotly.js, which are larger than all others together, are sent packed from here.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import orjson

from translator.errors import BusyError, InputError
from translator.ui.addresses import READ_BURST, READ_RATE, Held, Rate, group
from translator.ui.exchange import Exchange
from translator.ui.fields import FieldError
from translator.ui.forwarded import HOSTS, Trust, host_of
from translator.ui.handlers import Handler
from translator.ui.job import CALLER, Caller
from translator.ui.limits import Doors
from translator.ui.live.published import Published
from translator.ui.packed import KeptPage, PackedFile, PackedPage
from translator.ui.readable import readable

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Any]
Header = tuple[bytes, bytes]

log = logging.getLogger(__name__)
BODY = 64 * 1024
BODY_SECONDS = 10.0
PIECE = 64 * 1024
"""Bytes of an answer that are handed on at once; the next follow when these have left."""

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
_STREAM = re.compile(r"/gradio_api/(queue/data|call/(v2/)?\w+/(?P<event>[\w-]+))")

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
_EVENTS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),  # a proxy that holds steps back would show them late
]
_TOO_OFTEN = "too many requests from this address; try again in a few seconds"
_DROPPED = re.compile(rb"access-control-.*|server|x-content-type-options|referrer-policy|content-security-policy")


class _Refused(Exception):
    """An answer of ours in place of Gradio's."""

    def __init__(self, status: int, text: str, detail: Any = None) -> None:
        super().__init__(text)
        self.status, self.text, self.detail = status, text, detail or text


class Guard:
    """The ASGI application that the world talks to; `app` is Gradio's, which sends the page and its files."""

    def __init__(
        self,
        app: Any,
        doors: Doors,
        exchange: Exchange,
        *,
        handlers: Mapping[int | str, Handler] | None = None,
        functions: Mapping[tuple[int, str], Callable[[Any], Any]] | None = None,
        tools: Any = None,
        rate: Rate | None = None,
        held: Held | None = None,
        page_headers: Sequence[Header] = (),
        trust: Trust | None = None,
        published: Published | None = None,
        packed: Mapping[str, Path] | None = None,
    ) -> None:
        """Stand before `app`.

        Args:
            exchange: which takes every call.
            handlers: what answers an event's number, or an endpoint's name.
            functions: what answers a component's question.
            tools: ASGI application that speaks the Model Context Protocol, where that is asked for.
            published: files that browsers compute with themselves.
            packed: scripts among Gradio's files by their path, each with the file that holds it packed by Brotli.
        """
        self.app = app
        self._published = published or Published()
        self._trust = trust or Trust()
        self._page = KeptPage(PackedPage(app))
        self._packed = {path: PackedFile(app, file) for path, file in (packed or {}).items()}
        self._page_headers = page_headers
        self.doors, self.exchange = doors, exchange
        self._handlers, self._functions, self._tools = handlers or {}, functions or {}, tools
        self.rate, self.held = rate or Rate(), held or Held()
        self._reads = Rate(READ_RATE, READ_BURST)
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
        answer, caller = _Answer(send), Caller(group(scope))
        try:
            with self.held.one(caller.address) as too_many:
                if too_many:
                    raise _Refused(503, too_many)
                await self._serve(scope, receive, answer, caller)
        except _Refused as refused:
            await answer.say(refused.status, refused.text, refused.detail)
        except Exception as error:  # a traceback would print what the visitor typed
            log.error("%s request failed: %s", scope["method"], type(error).__name__)
            await answer.say(500, "something went wrong; please try again")

    async def _serve(self, scope: Scope, receive: Receive, answer: _Answer, caller: Caller) -> None:
        path, method = scope["path"], scope["method"]
        scope = self._trust.cleaned(scope)
        if method in ("GET", "HEAD"):
            if not readable(path):
                raise _Refused(404, "not found")
            if not self._reads.allow(caller.address):
                raise _Refused(429, _TOO_OFTEN)
            await self._read(scope, receive, answer)
        elif method == "POST":
            call = _call(path)
            if call == "rpc" and not self.doors.rpc:
                raise _Refused(404, "not found")
            if not self.rate.allow(caller.address):
                raise _Refused(429, _TOO_OFTEN)
            values = await self._body(scope, receive, call)
            await self._answer(call, values, scope, receive, answer, caller)
        else:
            raise _Refused(405, "method not allowed")

    async def _read(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        """A GET: a stream of answers, the page, or one of its files."""
        found = _STREAM.fullmatch(scope["path"])
        if found and scope["method"] == "GET":
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            key = found["event"] or query.get("session_hash", [""])[0]
            await self._stream(key, not found["event"], receive, answer)
            return
        if scope["path"].lower().startswith("/live/"):
            await self._published(scope, receive, answer.send)
            return
        if _PAGE.fullmatch(scope["path"]):
            if not self._trust.knows(host_of(scope)):
                raise _Refused(421, f"this page is not known by that name; name it in {HOSTS}, see SECURITY.md")
            scope = {**scope, "query_string": b""}  # Gradio looks up pages and stored links by it; there are none
            answer.headers = self._page_headers if scope["method"] == "GET" else ()
            try:
                await self._page(scope, receive, answer.send)
            except BusyError:
                raise _Refused(429, _TOO_OFTEN) from None
            return
        file = self._packed.get(scope["path"], self.app) if scope["method"] == "GET" else self.app
        await file(scope, receive, answer.send)

    async def _stream(self, key: str, page: bool, receive: Receive, answer: _Answer) -> None:
        """Send whatever is answered to a reader, until all is, or until he is gone."""
        gone = asyncio.Event()
        self._streams.add(gone)
        await answer.send({"type": "http.response.start", "status": 200, "headers": _EVENTS})
        messages = self.exchange.read(key, page=page, gone=gone)
        sending = asyncio.create_task(_send_all(messages, answer))
        watching = [asyncio.create_task(_left(receive)), asyncio.create_task(gone.wait())]
        try:
            await asyncio.wait([sending, *watching], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._streams.discard(gone)
            for task in (sending, *watching):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await sending
        await answer.send({"type": "http.response.body", "body": b""})

    async def _answer(
        self, call: str, values: dict[str, Any], scope: Scope, receive: Receive, answer: _Answer, caller: Caller
    ) -> None:
        """A POST whose body was found good."""
        name, _, endpoint = call.partition(":")
        if name == "function":
            function = self._functions[values["component_id"], values["fn_name"]]
            watching = asyncio.create_task(_left(receive, caller.leave))
            try:
                await answer.json(await self.exchange.ask(function, values["data"], caller))
            finally:
                watching.cancel()
        elif name == "cancel":
            self.exchange.cancel(values["session_hash"], values["event_id"])
            await answer.json(b'{"success":true}')
        elif name == "reset":  # all that there is to reset, a cancel does
            await answer.json(b'{"success":true}')
        elif name == "rpc":
            await self._rpc(json.dumps(values).encode(), scope, receive, answer, caller)  # orjson has 64 bits
        else:
            handler = self._handlers[endpoint or values["fn_index"]]
            given, session = values if name == "named" else values["data"], values.get("session_hash", "")
            try:
                event = self.exchange.join(handler, given, caller, session=session)
            except BusyError as error:
                raise _Refused(503, str(error)) from None
            await self.exchange.closed(session)
            await answer.json(orjson.dumps({"event_id": event}))

    async def _rpc(self, body: bytes, scope: Scope, receive: Receive, answer: _Answer, caller: Caller) -> None:
        """A message of the Model Context Protocol; what it asked for is stopped when its client hangs up."""
        gone, before = asyncio.Event(), CALLER.set(caller)

        def leave() -> None:
            caller.leave()
            gone.set()

        async def receive_then() -> Message:
            await gone.wait()
            return {"type": "http.disconnect"}

        watching = asyncio.create_task(_left(receive, leave))
        try:
            await self._tools(_resized(scope, len(body)), _once(body, receive_then), answer.send)
        finally:
            watching.cancel()
            CALLER.reset(before)

    async def _body(self, scope: Scope, receive: Receive, call: str) -> dict[str, Any]:
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
        except FieldError as error:  # as Gradio's clients read it
            found = {"__type__": "validate", "is_valid": False, "message": str(error), "parameter_name": error.field}
            raise _Refused(422, str(error), [found]) from None
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

    async def json(self, body: bytes) -> None:
        """An answer of ours, as a whole."""
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await self.send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._pieces(body, more=False)

    async def event(self, body: bytes) -> None:
        """A part of a stream."""
        await self._pieces(body, more=True)

    async def _pieces(self, body: bytes, *, more: bool) -> None:
        """A long answer is written piece by piece, each when the last has left: else all of it would be held twice."""
        for start in range(0, len(body) or 1, PIECE):
            end = start + PIECE
            await self.send(
                {"type": "http.response.body", "body": body[start:end], "more_body": more or end < len(body)}
            )

    async def say(self, status: int, text: str, detail: Any = None) -> None:
        """An answer of our own; if Gradio's has begun, its proper end."""
        if self._begun:
            if not self._ended:
                await self.send({"type": "http.response.body", "body": b""})
            return
        body = json.dumps({"detail": detail or text, "error": text}).encode()  # what Gradio's own client reads
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if status in (429, 503):
            headers.append((b"retry-after", b"5"))
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


async def _send_all(messages: AsyncIterator[bytes], answer: _Answer) -> None:
    async with aclosing(messages):  # type: ignore[type-var]
        async for message in messages:
            if message:
                await answer.event(message)


async def _left(receive: Receive, then: Callable[[], None] = lambda: None) -> None:
    """Wait until the client has hung up, and do `then`."""
    while (await receive())["type"] != "http.disconnect":
        pass
    then()


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
