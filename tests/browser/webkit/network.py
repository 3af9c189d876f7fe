"""Playwright's requests, answers and routes, of what WebKit's inspector tells of a page's network."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import responses
from typing import Any

import httpx

from tests.browser.webkit.inspector import Inspected

Wanted = str | re.Pattern[str] | Callable[[Any], bool]
KINDS = {"XHR": "xhr", "Document": "document", "StyleSheet": "stylesheet"}
HOP = ("content-encoding", "content-length", "transfer-encoding", "connection")
"""What is said of an answer on its way, not of itself."""
BINARY = 2
"""Frames of a web socket that the inspector tells in base64."""


def glob(pattern: str) -> re.Pattern[str]:
    """Playwright's, whose `**` crosses slashes, as a regular expression."""
    stars = {"**": ".*", "*": "[^/]*"}
    return re.compile("^" + "".join(stars.get(each) or re.escape(each) for each in re.split(r"(\*\*?)", pattern)) + "$")


def likes(wanted: Wanted, what: Any) -> bool:
    """Whether an address is meant, or what has one."""
    if callable(wanted):
        return bool(wanted(what))
    pattern = wanted if isinstance(wanted, re.Pattern) else glob(wanted)
    return pattern.match(what.url) is not None


@dataclass(eq=False)
class Request:
    id: str
    url: str
    method: str
    headers: dict[str, str]
    post_data: str | None
    resource_type: str
    _came: dict[str, int] = field(default_factory=dict)

    def sizes(self) -> dict[str, int]:
        """Bytes that came, packed as they were."""
        return self._came

    def end(self, told: dict[str, Any]) -> None:
        """Take what the inspector says of its end."""
        metrics = told.get("metrics", {})
        self._came["responseBodySize"] = metrics.get("responseBodyBytesReceived", 0)
        self._came["responseHeadersSize"] = metrics.get("responseHeaderBytesReceived", 0)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Request:
        sent = told["request"]
        kind = told.get("type", "other")
        return cls(
            told["requestId"],
            sent["url"],
            sent["method"],
            {name.lower(): value for name, value in sent["headers"].items()},
            sent.get("postData"),
            KINDS.get(kind, kind.lower()),
        )


@dataclass(eq=False)
class Response:
    request: Request
    status: int
    headers: dict[str, str]
    _ask: Callable[[], dict[str, Any]]

    @property
    def url(self) -> str:
        return self.request.url

    @property
    def ok(self) -> bool:
        return self.status < 400

    def body(self) -> bytes:
        found = self._ask()
        return base64.b64decode(found["body"]) if found["base64Encoded"] else found["body"].encode()

    def text(self) -> str:
        return self.body().decode()

    def json(self) -> Any:
        return json.loads(self.body())


@dataclass
class Fetched:
    """What the server answers, asked by the test."""

    answer: httpx.Response

    @property
    def status(self) -> int:
        return self.answer.status_code

    @property
    def headers(self) -> dict[str, str]:
        return {name: value for name, value in self.answer.headers.items() if name not in HOP}

    def body(self) -> bytes:
        return self.answer.content

    def text(self) -> str:
        return self.answer.text

    def json(self) -> Any:
        return self.answer.json()


class Socket:
    """A web socket, whose frames are heard."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._hears: list[Callable[[str | bytes], Any]] = []

    def on(self, _: str, hear: Callable[[str | bytes], Any]) -> None:
        self._hears.append(hear)

    def take(self, data: str | bytes) -> None:
        for hear in self._hears:
            hear(data)


@dataclass(eq=False)
class Route:
    """A request that waits for what a test says of it."""

    request: Request
    _page: Inspected
    _others: list[Callable[[Route], Any]] = field(default_factory=list)

    def fulfill(
        self,
        *,
        response: Fetched | None = None,
        status: int = 200,
        headers: dict[str, str] | None = None,
        content_type: str | None = None,
        body: str | bytes | None = None,
        json: Any = None,
    ) -> None:
        said = dict(response.headers if response else {}, **(headers or {}))
        if response:
            status, body = response.status, response.body() if body is None else body
        if json is not None:
            body, content_type = _json(json), content_type or "application/json"
        kind = content_type or said.get("content-type", "text/plain")
        said["content-type"] = kind
        content = body.encode() if isinstance(body, str) else body or b""
        self._page.tell(
            "Network.interceptRequestWithResponse",
            requestId=self.request.id,
            content=base64.b64encode(content).decode(),
            base64Encoded=True,
            mimeType=kind.partition(";")[0],
            status=status,
            statusText=responses.get(status, ""),
            headers=said,
        )

    def continue_(self) -> None:
        self._page.tell("Network.interceptContinue", requestId=self.request.id, stage="request")

    def abort(self, *_: str) -> None:
        self._page.tell("Network.interceptRequestWithError", requestId=self.request.id, errorType="General")

    def fallback(self) -> None:
        """Let the route that was there before say it, or the server."""
        if self._others:
            self._others.pop()(self)
        else:
            self.continue_()

    def fetch(self) -> Fetched:
        """The server's own answer."""
        sent = {name: value for name, value in self.request.headers.items() if name != "accept-encoding"}
        content = (self.request.post_data or "").encode()
        with httpx.Client(trust_env=False, timeout=60) as http:
            return Fetched(http.request(self.request.method, self.request.url, headers=sent, content=content))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


class Network:
    """A page's requests: who wants to hear of them, and who answers for the server."""

    def __init__(self, page: Inspected) -> None:
        self._page = page
        self._requests: dict[str, Request] = {}
        self._sockets: dict[str, Socket] = {}
        self.hears: dict[str, list[Callable[[Any], Any]]] = {}
        self._routes: list[tuple[Wanted, Callable[[Route], Any]]] = []

    def route(self, wanted: Wanted, handle: Callable[[Route], Any]) -> None:
        if not self._routes:
            self._page.always("cache", "Network.setResourceCachingDisabled", disabled=True)
            self._page.always("interception", "Network.setInterceptionEnabled", enabled=True)
        self._routes.append((wanted, handle))
        pattern = ".*" if callable(wanted) else (wanted if isinstance(wanted, re.Pattern) else glob(wanted)).pattern
        told = {"url": pattern, "stage": "request", "isRegex": True, "caseSensitive": True}
        self._page.always(pattern, "Network.addInterception", **told)

    def tell(self, kind: str, what: Any) -> None:
        for hear in list(self.hears.get(kind, ())):
            hear(what)

    def take(self, name: str, told: dict[str, Any]) -> None:
        """What the inspector says of a request."""
        number = told.get("requestId", "")
        if name == "requestWillBeSent":
            if told["request"]["url"].startswith(("data:", "blob:")):
                return
            request = self._requests[number] = Request.of(told)
            self.tell("request", request)
        elif name == "requestIntercepted":
            self._answer(self._requests.get(number) or Request.of(told))
        elif name == "responseReceived" and number in self._requests:
            answer = told["response"]
            headers = {key.lower(): value for key, value in answer["headers"].items()}
            ask = lambda: self._page.call("Network.getResponseBody", requestId=number)  # noqa: E731
            response = Response(self._requests[number], answer["status"], headers, ask)
            self.tell("response", response)
        elif name in ("loadingFinished", "loadingFailed") and number in self._requests:
            request = self._requests.pop(number)
            request.end(told)
            self.tell("requestfinished" if name == "loadingFinished" else "requestfailed", request)
        elif name == "webSocketCreated":
            socket = self._sockets[number] = Socket(told["url"])
            self.tell("websocket", socket)
        elif name == "webSocketFrameReceived" and number in self._sockets:
            data = told["response"]["payloadData"]
            self._sockets[number].take(base64.b64decode(data) if told["response"]["opcode"] == BINARY else data)

    def _answer(self, request: Request) -> None:
        *others, last = [handle for wanted, handle in self._routes if likes(wanted, request)] or [Route.continue_]
        last(Route(request, self._page, others))
