"""Rows 2, 20 and 21 before Gradio: bodies, routes, shapes, headers and rates, on the guard alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import brotli
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from translator.errors import InputError
from translator.ui.addresses import Rate
from translator.ui.exchange import Exchange
from translator.ui.fields import Field
from translator.ui.gate import Gate
from translator.ui.handlers import Handler
from translator.ui.limits import Doors
from translator.ui.middleware import BODY
from translator.ui.middleware import Guard as _Guard
from translator.ui.readers import Readers

FIELDS = (Field("text", "text", empty=True), Field("number", "beams", empty=True))
DOORS = Doors(
    events={3: FIELDS}, functions=frozenset({(7, "inspect")}), endpoints={"translate": (Field("text", "text"),)}
)
JOIN = {"data": ["Hallo", 1], "fn_index": 3, "session_hash": "abc"}


class Guard(_Guard):
    """The guard with a gate of its own; `calls` are those that it let through."""

    def __init__(self, app: Any, doors: Doors, *, readers: Readers | None = None, **options: Any) -> None:
        self.calls: list[Any] = []
        handler = Handler(lambda *values: self.calls.append(values), FIELDS, (lambda value: value,))
        exchange = Exchange(Gate(), Gate(), readers or Readers())
        handlers = {3: handler, "translate": handler}
        super().__init__(app, doors, exchange, handlers=handlers, functions={(7, "inspect"): repr}, **options)


class Inner:
    """Stands for Gradio: notes what reaches it, and answers with open CORS."""

    def __init__(self, answer: bytes = b"inner") -> None:
        self.answer = answer
        self.paths: list[str] = []
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.paths.append(scope["path"])
        message = await receive() if scope["method"] == "POST" else {}
        self.bodies.append(message.get("body", b""))
        if scope["path"].endswith("/info"):
            raise RuntimeError("canary in a traceback")
        headers = [(b"content-type", b"text/plain"), (b"access-control-allow-origin", b"https://evil.example")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": self.answer})


@pytest.fixture
def inner() -> Inner:
    return Inner()


def ask(app: Any, method: str, path: str, **options: Any) -> httpx.Response:
    async def once() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://page") as client:
            return await client.request(method, path, **options)

    return asyncio.run(once())


@pytest.mark.parametrize("size", [BODY + 1, 50_000_000])
def test_a_body_that_says_it_is_too_large_is_refused_unread(inner: Inner, size: int) -> None:
    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    headers = {"content-length": str(size), "content-type": "application/json"}
    answer = ask(Guard(inner, DOORS), "POST", "/gradio_api/queue/join", content=never(), headers=headers)
    assert answer.status_code == 413 and not inner.paths


def test_a_body_that_does_not_say_is_refused_where_it_becomes_too_large(inner: Inner) -> None:
    sent = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 4096
            yield b" " * 4096

    headers = {"content-type": "application/json"}
    answer = ask(Guard(inner, DOORS), "POST", "/gradio_api/queue/join", content=chunks(), headers=headers)
    assert answer.status_code == 413 and not inner.paths
    assert sent <= BODY + 2 * 4096


DENIED = [
    ("POST", "/gradio_api/upload"),
    ("GET", "/gradio_api/upload_progress?upload_id=x"),
    ("GET", "/gradio_api/heartbeat/abc123"),
    ("GET", "/gradio_api/file=http://127.0.0.1:9/secret"),
    ("GET", "/gradio_api/file=HTTPS://example.org/"),
    ("GET", "/gradio_api/proxy=https://example.org/"),
    ("GET", "/monitoring"),
    ("GET", "/monitoring/summary"),
    ("GET", "/gradio_api/runs"),
    ("POST", "/gradio_api/run/predict"),
    ("POST", "/gradio_api/run/run"),
    ("POST", "/gradio_api/api/predict"),
    ("POST", "/gradio_api/call/run"),
    ("POST", "/gradio_api/call/v2/run"),
    ("POST", "/gradio_api/stream/abc"),
    ("GET", "/gradio_api/custom_component/1/client/component/x.js"),
    ("POST", "/login"),
    ("GET", "/gradio_api/token"),
    ("POST", "/gradio_api/process_recording"),
    ("POST", "/gradio_api/vibe-edit/"),
    ("GET", "/gradio_api/deep_link"),
    ("GET", "//gradio_api/upload"),
    ("GET", "/docs"),
    ("GET", "/openapi.json"),
    ("PUT", "/"),
    ("DELETE", "/config"),
    ("OPTIONS", "/gradio_api/queue/join"),
]


@pytest.mark.parametrize(("method", "path"), DENIED)
def test_routes_that_are_not_ours_are_denied(inner: Inner, method: str, path: str) -> None:
    answer = ask(Guard(inner, DOORS), method, path, json={"data": []})
    assert answer.status_code in (404, 405, 422) and not inner.paths


@pytest.mark.parametrize(
    "path",
    ["/", "/config", "/theme.css", "/assets/index.js", "/static/img/x.svg", "/gradio_api/queue/status",
     "/gradio_api/file=/srv/plotly.min.js", "/gradio_api/startup-events"],
)  # fmt: skip
def test_what_the_page_needs_passes(inner: Inner, path: str) -> None:
    assert ask(Guard(inner, DOORS), "GET", path).text == "inner"


def test_every_answer_has_safe_headers_and_no_open_cors(inner: Inner) -> None:
    for method, path in (("GET", "/"), ("POST", "/gradio_api/upload")):
        headers = ask(Guard(inner, DOORS), method, path, headers={"origin": "https://evil.example"}).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'self' https://huggingface.co https://*.hf.space" in headers["content-security-policy"]
        assert headers["referrer-policy"]
        assert not [name for name in headers if name.startswith("access-control")]


LINK = (b"link", b"<plotly.js>; rel=preload; as=script")


@pytest.mark.parametrize("path", ["/", "/config", "/config/"])
def test_the_page_is_compressed_and_says_what_it_will_need(path: str) -> None:
    guard = Guard(Inner(b"a page " * 1000), DOORS, page_headers=[LINK])
    answer = ask(guard, "GET", path, headers={"accept-encoding": "gzip"})
    assert answer.text == "a page " * 1000
    assert answer.headers["content-encoding"] == "gzip" and answer.num_bytes_downloaded < 1000
    assert answer.headers["link"] == LINK[1].decode() and answer.headers["x-content-type-options"] == "nosniff"
    smaller = ask(guard, "GET", path, headers={"accept-encoding": "gzip, br"})
    assert smaller.text == answer.text and smaller.headers["content-encoding"] == "br"
    assert int(smaller.headers["content-length"]) == smaller.num_bytes_downloaded < answer.num_bytes_downloaded
    assert smaller.headers["vary"] == "Accept-Encoding" and smaller.headers["link"] == LINK[1].decode()
    plain = ask(guard, "GET", path, headers={"accept-encoding": "identity"})
    assert plain.text == "a page " * 1000 and "content-encoding" not in plain.headers


@pytest.mark.parametrize(
    ("method", "path"), [("HEAD", "/"), ("GET", "/gradio_api/queue/data"), ("GET", "/assets/index.js")]
)
def test_nothing_but_the_page_is_compressed(method: str, path: str) -> None:
    """A stream must not wait for more of it, files are Gradio's affair, and a HEAD asks whether we are here."""
    guard = Guard(Inner(b"a part " * 1000), DOORS, page_headers=[LINK])
    answer = ask(guard, method, path, headers={"accept-encoding": "gzip"})
    assert answer.status_code == 200 and not {"content-encoding", "link"} & answer.headers.keys()


@pytest.mark.parametrize("offer", ["br;q=0, gzip", "gzip", "brotli", ""])
def test_whoever_does_not_take_brotli_gets_none(offer: str, tmp_path: Path) -> None:
    packed = {"/gradio_api/file=/srv/x.js": tmp_path / "there is none"}
    guard = Guard(Inner(b"a page " * 1000), DOORS, packed=packed)
    for path in ("/", *packed):
        answer = ask(guard, "GET", path, headers={"accept-encoding": offer})
        assert answer.text == "a page " * 1000 and answer.headers.get("content-encoding") != "br"


def test_a_packed_script_is_sent_as_it_lies_there(tmp_path: Path) -> None:
    script = b"let x = 1;" * 1000
    packed = tmp_path / "x.js.br"
    packed.write_bytes(brotli.compress(script))
    guard = Guard(Inner(b"inner"), DOORS, packed={"/gradio_api/file=/srv/x.js": packed})
    answer = ask(guard, "GET", "/gradio_api/file=/srv/x.js", headers={"accept-encoding": "gzip, deflate, br"})
    assert answer.content == script and answer.num_bytes_downloaded == packed.stat().st_size
    assert answer.headers["content-type"].startswith("application/javascript")
    assert answer.headers["vary"] == "Accept-Encoding" and answer.headers["x-content-type-options"] == "nosniff"
    part = {"accept-encoding": "br", "range": "bytes=0-3"}
    for other in (
        ("GET", "/gradio_api/file=/srv/y.js", {"accept-encoding": "br"}),
        ("GET", "/gradio_api/file=/srv/x.js", part),
    ):
        assert ask(guard, other[0], other[1], headers=other[2]).text == "inner"


def test_a_failure_inside_is_an_answer_without_its_reason(
    inner: Inner, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = ask(Guard(inner, DOORS), "GET", "/gradio_api/info")
    assert answer.status_code == 500
    captured = capfd.readouterr()
    assert "canary" not in answer.text + caplog.text + captured.out + captured.err
    assert "RuntimeError" in caplog.text


def test_a_call_of_the_right_shape_arrives_as_it_was(inner: Inner) -> None:
    guard = Guard(inner, DOORS)
    assert answered(guard, json.dumps(JOIN).encode()) == [("Hallo", 1)] and not inner.paths


@pytest.mark.parametrize("name", [["inspect"], {"inspect": 1}, None, 7, True, "else", "Inspect"])
def test_a_function_that_is_no_name_is_refused(inner: Inner, name: object) -> None:
    body = {"data": {}, "component_id": 7, "fn_name": name, "session_hash": "abc"}
    answer = ask(Guard(inner, DOORS), "POST", "/gradio_api/component_server", json=body)
    assert answer.status_code == 422 and not inner.paths


def test_surrogates_become_visible_and_unknown_keys_go(inner: Inner) -> None:
    body = b'{"data": ["a\\ud800b", 1], "fn_index": 3, "session_hash": "abc", "batched": true}'
    assert answered(Guard(inner, DOORS), body) == [("a\ufffdb", 1)]
    assert DOORS.check("join", body).keys() == {"data", "fn_index", "session_hash"}


def answered(guard: Guard, body: bytes) -> list[Any]:
    """What came through of one call, once it was computed."""

    async def run() -> None:
        transport = httpx.ASGITransport(app=guard)
        headers = {"content-type": "application/json"}
        async with httpx.AsyncClient(transport=transport, base_url="http://page") as client:
            assert (await client.post("/gradio_api/queue/join", content=body, headers=headers)).status_code == 200
            for _ in range(100):
                if guard.calls:
                    break
                await asyncio.sleep(0.01)

    asyncio.run(run())
    return guard.calls


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"null", b"{", b"\xff\xfe", b"[" * 60_000,
        b'{"data": [NaN, 1], "fn_index": 3, "session_hash": "a"}',
        b'{"data": [1e999, 1], "fn_index": 3, "session_hash": "a"}',
        json.dumps({**JOIN, "fn_index": 4}).encode(), json.dumps({**JOIN, "fn_index": True}).encode(),
        json.dumps({**JOIN, "fn_index": 3.0}).encode(), json.dumps({**JOIN, "data": ["one"]}).encode(),
        json.dumps({**JOIN, "data": "Hallo"}).encode(), json.dumps({**JOIN, "session_hash": "../x"}).encode(),
        json.dumps({**JOIN, "session_hash": None}).encode(), json.dumps({**JOIN, "trigger_id": "x"}).encode(),
    ],
)  # fmt: skip
def test_a_call_of_another_shape_is_refused(inner: Inner, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = ask(Guard(inner, DOORS), "POST", "/gradio_api/queue/join", content=body, headers=headers)
    assert answer.status_code == 422 and not inner.paths


def test_another_content_type_is_refused(inner: Inner) -> None:
    for kind in ("multipart/form-data; boundary=x", "text/plain", ""):
        headers = {"content-type": kind}
        answer = ask(Guard(inner, DOORS), "POST", "/gradio_api/component_server", content=b"{}", headers=headers)
        assert answer.status_code == 415 and not inner.paths


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
CALLS = st.sampled_from(["join", "cancel", "reset", "function", "endpoint:translate", "endpoint:other"])
KEYS = st.sampled_from(["data", "fn_index", "session_hash", "component_id", "fn_name", "event_id", "trigger_id"])


@pytest.mark.slow
@given(CALLS, st.dictionaries(KEYS, JSON) | JSON)
def test_any_body_is_refused_or_becomes_sound_json(call: str, values: Any) -> None:
    try:
        clean = DOORS.check(call, json.dumps(values).encode())
    except InputError:
        return
    json.loads(json.dumps(clean, allow_nan=False, ensure_ascii=False).encode("utf-8"))


@pytest.mark.slow
@given(CALLS, st.binary(max_size=200))
def test_any_bytes_are_refused_or_become_sound_json(call: str, body: bytes) -> None:
    try:
        json.dumps(DOORS.check(call, body), allow_nan=False, ensure_ascii=False).encode("utf-8")
    except InputError:
        return


def test_one_address_cannot_take_it_all_and_others_do_not_suffer(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("translator.ui.addresses.time.monotonic", lambda: now)
    rate = Rate(rate=2, burst=5)
    assert [rate.allow("10.0.0.1") for _ in range(7)] == [True] * 5 + [False] * 2
    assert rate.allow("10.0.0.2")
    now += 1
    assert [rate.allow("10.0.0.1") for _ in range(3)] == [True, True, False]


def test_a_classroom_behind_one_address_is_let_through() -> None:
    rate = Rate()
    assert all(rate.allow("10.0.0.1") for _ in range(40 * 10)), "forty pupils, ten requests each at once"


def test_the_rate_forgets_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translator.ui.addresses.ADDRESSES", 10)
    rate = Rate()
    for n in range(100):
        rate.allow(f"10.0.0.{n}")
    assert len(rate._buckets) == 10


def test_too_many_requests_are_told_when_to_come_back(inner: Inner) -> None:
    guard = Guard(inner, DOORS, rate=Rate(rate=0, burst=1))
    assert ask(guard, "POST", "/gradio_api/queue/join", json=JOIN).status_code == 200
    answer = ask(guard, "POST", "/gradio_api/queue/join", json=JOIN)
    assert answer.status_code == 429 and answer.headers["retry-after"] == "5" and "try again" in answer.json()["detail"]


def test_a_session_counts_as_read_while_its_stream_is_open() -> None:
    readers, seen = Readers(), []

    async def run() -> None:
        guard = Guard(Inner(), DOORS, readers=readers)
        leave, sent = asyncio.Event(), asyncio.Event()
        guard.exchange.post.box("abc", "")
        guard.exchange.post.get("abc").pending["event"] = lambda: seen.append("stopped")  # type: ignore[union-attr]

        async def receive() -> dict[str, Any]:
            await leave.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.set()

        scope = {"type": "http", "method": "GET", "path": "/gradio_api/queue/data", "query_string": b"session_hash=abc"}
        reading = asyncio.create_task(guard(scope, receive, send))
        await sent.wait()
        await asyncio.sleep(0.05)
        seen.append("abc" in readers)
        leave.set()
        await reading

    asyncio.run(run())
    assert seen == [True, "stopped"] and "abc" not in readers
