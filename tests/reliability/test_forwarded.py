"""What a request says of itself: whom it asked for, which bytes it wants, which page; before Gradio and with it."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from translator.ui.exchange import Exchange
from translator.ui.forwarded import Trust
from translator.ui.gate import Gate
from translator.ui.limits import Doors
from translator.ui.middleware import Guard
from translator.ui.readers import Readers

STRANGER = "evil.example"
ANYWHERE = "0.0.0.0"  # noqa: S104 - only said


class Inner:
    """Stands for Gradio: notes what reaches it."""

    def __init__(self) -> None:
        self.seen: list[tuple[dict[str, str], str]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
        self.seen.append((headers, scope["query_string"].decode()))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"inner"})


def ask(trust: Trust, path: str = "/", **headers: str) -> tuple[httpx.Response, Inner]:
    inner = Inner()

    async def once() -> httpx.Response:
        transport = httpx.ASGITransport(app=Guard(inner, Doors(), Exchange(Gate(), Gate(), Readers()), trust=trust))
        async with httpx.AsyncClient(transport=transport, base_url="http://page") as client:
            return await client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    return asyncio.run(once()), inner


FORWARDED = {"x_forwarded_host": STRANGER, "x_gradio_server": f"http://{STRANGER}", "x_forwarded_proto": "https"}


@pytest.mark.parametrize("path", ["/", "/config", "/gradio_api/info", "/gradio_api/startup-events"])
def test_nobody_but_a_proxy_says_what_was_asked_for(path: str) -> None:
    _, inner = ask(Trust(), path, **FORWARDED)
    headers, _ = inner.seen[0]
    assert STRANGER not in str(headers) and "x-forwarded-proto" not in headers


def test_a_proxy_is_believed_where_one_stands() -> None:
    _, inner = ask(Trust(proxied=True), **FORWARDED)
    headers, _ = inner.seen[0]
    assert headers["x-forwarded-host"] == STRANGER and headers["x-forwarded-proto"] == "https"
    assert "x-gradio-server" not in headers, "no proxy of ours says that"


@pytest.mark.parametrize(
    ("server_name", "environ", "host", "known"),
    [
        ("127.0.0.1", {}, "127.0.0.1:7860", True),
        ("127.0.0.1", {}, "localhost:7860", True),
        ("127.0.0.1", {}, "LOCALHOST", True),
        ("::1", {}, "[::1]:7860", True),
        (None, {}, STRANGER, False),
        ("127.0.0.1", {}, STRANGER, False),
        ("127.0.0.1", {}, "localhost.evil.example", False),
        ("127.0.0.1", {"TRANSLATOR_HOSTS": "Page.example , other.example"}, "page.example", True),
        ("127.0.0.1", {"TRANSLATOR_HOSTS": "page.example"}, STRANGER, False),
        ("127.0.0.1", {"FORWARDED_ALLOW_IPS": "127.0.0.1"}, "page.example", True),
        (ANYWHERE, {}, "anything.example", True),
        (ANYWHERE, {"TRANSLATOR_HOSTS": "page.example"}, STRANGER, False),
        (ANYWHERE, {"TRANSLATOR_HOSTS": "page.example"}, "127.0.0.1", True),
        (ANYWHERE, {}, "evil.example/x", False),
        (ANYWHERE, {}, "user@evil.example", False),
        (ANYWHERE, {}, "evil example", False),
        (ANYWHERE, {}, "x" * 300, False),
    ],
)
def test_the_page_answers_to_its_own_names(
    server_name: str | None, environ: dict[str, str], host: str, known: bool
) -> None:
    answer, inner = ask(Trust.of(server_name, environ), host=host)
    assert answer.status_code == (200 if known else 421) and bool(inner.seen) == known
    if not known:
        assert "TRANSLATOR_HOSTS" in answer.json()["detail"] and host not in answer.text


@pytest.mark.parametrize(
    "value", ["bytes=0-1,3-4", "bytes=5-2", "bytes=zz", "bytes=", "lines=1-2", "bytes=0-" + "9" * 40]
)
def test_a_range_that_is_not_one_of_bytes_is_left_out(value: str) -> None:
    _, inner = ask(Trust(), "/gradio_api/file=/x", range=value)
    assert "range" not in inner.seen[0][0]


@pytest.mark.parametrize("value", ["bytes=0-1", "bytes=10-", "bytes=-5"])
def test_one_range_of_bytes_passes(value: str) -> None:
    _, inner = ask(Trust(), "/gradio_api/file=/x", range=value)
    assert inner.seen[0][0]["range"] == value


@pytest.mark.slow
@pytest.mark.parametrize("query", ["page=zz", "page=lab&direction=de-en", "page=%ff"])
def test_any_page_is_the_page(live: Any, query: str) -> None:
    for path in ("/", "/config"):
        assert httpx.get(f"{live.url.rstrip('/')}{path}?{query}").status_code == 200


@pytest.mark.slow
def test_several_ranges_are_answered_with_the_whole(live: Any) -> None:
    from translator.ui.frontend import PLOTLY_ADDRESS, PLOTLY_JS

    size = PLOTLY_JS.stat().st_size
    for value, status, length in (("bytes=0-1,3-4", 200, size), ("bytes=0-1", 206, 2), ("bytes=5-2", 200, size)):
        answer = httpx.get(live.url + PLOTLY_ADDRESS, headers={"range": value, "accept-encoding": "identity"})
        assert (answer.status_code, len(answer.content)) == (status, length)


@pytest.mark.slow
def test_the_address_of_the_page_is_nobodys_to_name(live: Any) -> None:
    for headers in ({"x-forwarded-host": STRANGER}, {"x-gradio-server": f"http://{STRANGER}"}, {"host": STRANGER}):
        answer = httpx.get(f"{live.url}config", headers=headers)
        assert STRANGER not in answer.text
    assert httpx.get(f"{live.url}config").json()["root"] == live.url.rstrip("/")


@pytest.mark.slow
def test_the_arrays_of_a_trace_need_no_temporary_folder(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    monkeypatch.setattr("tempfile.mkstemp", full)
    for name in ("npz", "inspect", "offline"):
        answer = live.visitor().function(name, {"text": "Ich renne.", "direction": "de-en"})
        assert answer.status_code == 200 and "error" not in answer.json()


@pytest.mark.slow
@pytest.mark.parametrize("gate", [1e39, 10**400, "1", None, [1.0]], ids=lambda gate: f"{str(gate)[:8]}")
def test_a_gate_that_is_no_number_of_ours_is_refused_in_words(live: Any, gate: object) -> None:
    asked = {"text": "Ich renne.", "direction": "de-en", "gates": {"cross": [[gate, 1.0], [1.0, 1.0]]}}
    answer = live.visitor().function("lab_switch", asked)
    assert answer.status_code == 200 and "gate" in answer.json()["error"]
