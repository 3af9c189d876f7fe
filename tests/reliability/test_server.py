"""Translations, exports, memory, foreign routes and logs on the page as it is served."""

from __future__ import annotations

import contextlib
import gc
import logging
import random
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from translator.ui.addresses import Rate
from translator.ui.assembly import guard_of

pytestmark = pytest.mark.slow
CANARY = "Kanarienvogel4711"
WIDE = "Ich renne in den Park. " * 18
"""As many tokens as may be: its trace weighs a third of a MiB."""
FULL = 2**20
"""A store that is soon full: what it holds is bounded by its own tests, and here all else shall not grow."""


@pytest.fixture(scope="module", autouse=True)
def threads() -> int:
    """How many there were before the tests of this file."""
    return threading.active_count()


def test_a_translation_arrives_with_an_id_of_its_own(live: Any) -> None:
    first, second = (live.visitor().ask("Ich renne in den Park.") for _ in range(2))
    assert first["kind"] == "trace" and first["translation"] == second["translation"]
    assert len(first["id"]) >= 22 and first["id"] != second["id"]


@pytest.mark.parametrize("length", [1001, 60_000])
def test_over_long_text_is_refused_with_size_and_limit(live: Any, length: int) -> None:
    said = live.visitor().ask("a" * length)
    assert said["kind"] == "error" and f"{length:,}" in said["text"] and "1,000" in said["text"]


def test_a_large_body_is_refused_and_costs_no_memory(live: Any) -> None:
    visitor, before = live.visitor(), resident()
    for _ in range(3):
        with contextlib.suppress(Exception):  # the server hangs up while we still send
            assert visitor.join("a" * 20_000_000).status_code == 413
    raw = socket.create_connection(("127.0.0.1", live.page.server_port))
    raw.sendall(b"POST /gradio_api/queue/join HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
    raw.sendall(b"Content-Length: 50000000\r\n\r\n")
    assert b" 413 " in raw.recv(200)
    raw.close()
    gc.collect()
    assert resident() - before < 5 * 2**20 + 60_000_000  # our own client holds what it sends


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def test_an_export_of_what_was_translated_needs_no_second_decoding(live: Any, slow: Any) -> None:
    visitor = live.visitor()
    trace = visitor.ask("Ich renne in den Park.")
    request = {"text": trace["source"], "direction": "de-en", "settings": trace["settings"], "id": trace["id"]}
    steps = slow.steps
    exact = visitor.function("exact", request).json()
    assert exact["translation"] == trace["translation"] and exact["encoding"] == "f32" and slow.steps == steps


def test_an_export_works_when_the_store_has_forgotten(live: Any) -> None:
    visitor = live.visitor()
    trace = visitor.ask("Ich renne in den Park.")
    request = {"text": trace["source"], "direction": "de-en", "settings": trace["settings"], "id": "lost"}
    assert visitor.function("exact", request).json()["translation"] == trace["translation"]


def test_visitors_get_their_own_whatever_comes_between(live: Any) -> None:
    texts = ["Ich renne in den Park.", "Das Haus ist groß, aber alt.", "Guten Morgen, Frau Müller!"]
    wrong = []

    def visit(seed: int) -> None:
        visitor, choose = live.visitor(), random.Random(seed)
        for _ in range(15):
            text = choose.choice(texts)
            said = visitor.ask(text)
            if said["kind"] == "trace" and said["source"] != text:
                wrong.append((text, said["source"]))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(visit, range(2)))
    assert not wrong


def test_another_visitors_id_gives_nothing_of_his(live: Any) -> None:
    theirs = live.visitor().ask("Guten Morgen, Frau Müller!")
    request = {"text": "Ich renne.", "direction": "de-en", "settings": {}, "id": theirs["id"]}
    assert live.visitor().function("exact", request).json()["source"] == "Ich renne."


PROBES = [
    ("POST", "gradio_api/upload"), ("GET", "gradio_api/file=http://127.0.0.1:{port}/config"),
    ("GET", "gradio_api/file=/etc/passwd"), ("GET", "gradio_api/file=../../../../etc/passwd"),
    ("GET", "gradio_api/file={app}"), ("GET", "gradio_api/proxy=http://127.0.0.1:{port}/config"), ("GET", "monitoring"),
    ("GET", "monitoring/summary"), ("GET", "gradio_api/runs"), ("POST", "gradio_api/run/run"),
    ("POST", "gradio_api/call/run"), ("GET", "static/../../../etc/passwd"), ("GET", "assets/%2e%2e/%2e%2e/app.py"),
    ("GET", "gradio_api/custom_component/1/client/component/index.js"), ("GET", "gradio_api/upload_progress"),
    pytest.param("GET", f"static/{'ä' * 128}", id="name of 256 bytes"),
    pytest.param("GET", f"assets/{'a/' * 2500}", id="path of 5,000 bytes"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), PROBES)
def test_routes_that_are_not_ours_are_denied(live: Any, method: str, path: str) -> None:
    app = Path(__file__).parents[2] / "app.py"
    address = path.format(port=live.page.server_port, app=app)
    answer = live.visitor().http.request(method, f"/{address}", json={"data": []} if method == "POST" else None)
    assert answer.status_code in (403, 404, 405, 415, 422)


@pytest.mark.soak
def test_memory_reaches_a_plateau(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """7 MiB are usual; sixty traces kept would add 18 to them, sixty sessions 45."""
    monkeypatch.setattr(live.page.state_holder, "capacity", 10)  # Gradio's; the page's own is 200
    assert grown(live, monkeypatch, 20, 60) < 16


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_memory_reaches_a_plateau_in_a_thousand_requests(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert grown(live, monkeypatch, 200, 800) < 64


def grown(live: Any, monkeypatch: pytest.MonkeyPatch, before: int, requests: int) -> float:
    """MiB that so many requests add to what is held after the first ones."""
    monkeypatch.setattr(live.models.store, "limit", FULL)
    monkeypatch.setattr(guard_of(live.page), "rate", Rate(rate=1e6))  # a fast machine asks more often than one may
    settle(live, before)
    gc.collect()
    held = resident()
    settle(live, requests)
    gc.collect()
    added = (resident() - held) / 2**20
    print(f"grown by {added:.1f} MiB in {requests} requests")
    return added


def settle(live: Any, requests: int) -> None:
    """New sessions, every fortieth of them joining without ever reading, which costs its place for four seconds."""
    visitor, settings = live.visitor(), ("greedy", 4, 0.6, 1, 0, 1, 0, 8)
    for number in range(requests):
        visitor.session = f"settle{number}x{random.random()}".replace(".", "")
        if number % 40 == 0:
            visitor.join(WIDE, *settings)
        else:
            assert visitor.ask(WIDE, *settings)["kind"] == "trace"


def test_nothing_of_a_visitor_reaches_a_log(
    live: Any, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    visitor = live.visitor()
    visitor.ask(f"Ich renne {CANARY}.")
    visitor.ask(CANARY * 100)
    visitor.join(None, data=[CANARY])
    visitor.join(None, data=[CANARY, CANARY, CANARY, {"x": CANARY}, CANARY, [CANARY], 1, 0, 1, 0, 0])
    visitor.read()
    assert {"exact", "lab_ask", "station"} <= visitor.components.keys()
    for name in (*visitor.components, CANARY):
        visitor.function(name, {"text": CANARY, "direction": CANARY, "settings": {CANARY: CANARY}})
        visitor.function(name, {"text": CANARY, "direction": "de-en", "settings": {}})
        visitor.function(name, {"text": CANARY, "direction": "de-en", "view": CANARY, "station": CANARY, "run": CANARY})
        visitor.function(name, [CANARY])
    visitor.function("lab_ask", {"text": CANARY, "direction": "de-en", "view": "force", "options": {"target": CANARY}})
    for call in ("call/v2/translate", "call/v2/trace", f"call/v2/{CANARY}"):
        posted = visitor.http.post(f"/gradio_api/{call}", json={"text": CANARY, "settings": {"method": CANARY}})
        if posted.status_code == 200:
            visitor.http.get(f"/gradio_api/{call.replace('/v2', '')}/{posted.json()['event_id']}")
    for path in (f"/gradio_api/{CANARY}", f"/?text={CANARY}", f"/gradio_api/file={CANARY}", f"/assets/{CANARY}"):
        visitor.http.get(path)
    visitor.http.get("/gradio_api/queue/data", params={"session_hash": CANARY})
    broken = live.models.get("de-en")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(broken), "stream", lambda self, text, **_: (_ for _ in ()).throw(RuntimeError(text)))
        patch.setattr(type(broken), "translate", lambda self, text, **_: (_ for _ in ()).throw(RuntimeError(text)))
        visitor.join(f"Ich renne {CANARY}.")
        visitor.read()
        for name in visitor.components:
            visitor.function(name, {"text": f"{CANARY}.", "direction": "de-en", "settings": {}, "kind": "cross"})
    captured = capfd.readouterr()
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore"))]  # the client's
    for where, log in (("stdout", captured.out), ("stderr", captured.err), ("log", "\n".join(ours))):
        assert CANARY not in log, f"{where} holds what was typed"


def test_after_a_failure_the_next_request_works(live: Any, threads: int) -> None:
    broken = live.models.get("de-en")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(broken), "stream", lambda self, text, **_: (_ for _ in ()).throw(RuntimeError("no")))
        visitor = live.visitor()
        visitor.join("Ich renne.")
        assert not next(m for m in visitor.read() if m["msg"] == "process_completed")["success"]
    assert live.visitor().ask("Ich renne.")["kind"] == "trace"
    assert threading.active_count() - threads < 80
