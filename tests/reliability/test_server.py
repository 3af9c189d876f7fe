"""Rows 1, 2, 15-17, 19, 20, 21 and 25 on the page as it is served."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import random
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reliability.conftest import DEFAULTS, RUN
from translator.errors import CancelledError
from translator.ui.job import PATIENCE, TRUST
from translator.ui.message import read

pytestmark = pytest.mark.slow
CANARY = "Kanarienvogel4711"
LONG = "Ich renne in den Park. " * 8
WIDE = "Ich renne in den Park. " * 18
"""As many tokens as may be: its trace weighs a third of a MiB."""
FULL = 2**20
"""A store that is soon full: what it holds is bounded by its own tests, and here all else shall not grow."""


def idle(models: Any, seconds: float) -> bool:
    """Whether nothing computes or waits any more within so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not len(models.gate):
            return True
        time.sleep(0.02)
    return False


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


@pytest.mark.parametrize(
    "data",
    [
        [CANARY, "de-en", "beam", 13, 0.6, 1, 0, 1, 0, 0],
        [CANARY, "de-en", "beam", 1.5, 0.6, 1, 0, 1, 0, 0],
        [CANARY, "de-en", "sample", 4, 0.6, 1, 10**30, 1, 0, 0],
        [CANARY, "de-en", "sample", 4, 0.6, 1, 0, 1, 2**60, 0],
        [CANARY, "de-en", CANARY, 4, 0.6, 1, 0, 1, 0, 0],
        [CANARY, CANARY, "greedy", 4, 0.6, 1, 0, 1, 0, 0],
        [CANARY, "de-en", "greedy", 4, 0.6, 1, 0, 1, 0, 161],
        [CANARY, "de-en", "greedy", 4, 0.6, 1, 0, 1, 0, -1],
        [None, None, None, None, None, None, None, None, None, None],
        ["\u200b\u3000\ufeff", "de-en", "greedy", 4, 0.6, 1, 0, 1, 0, 0],
    ],
)
def test_a_bad_value_is_answered_with_a_sentence(live: Any, data: list[Any]) -> None:
    visitor = live.visitor()
    assert visitor.join(None, data=[RUN, *data]).status_code == 200
    done = next(m for m in visitor.read() if m["msg"] == "process_completed")
    said = read(done["output"]["data"][0])
    assert said["kind"] == "error" and said["run"] == RUN and len(said["text"]) > 10 and "Traceback" not in said["text"]


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ([RUN, CANARY, "de-en", "beam", [1], 0.6, 1, 0, 1, 0, 0], "Beams (0: automatic)"),
        ([RUN, CANARY, "de-en", "beam", 4, {"a": CANARY}, 1, 0, 1, 0, 0], "Length penalty (empty: automatic)"),
        ([RUN, CANARY, ["de-en"], "greedy", 4, 0.6, 1, 0, 1, 0, 0], "Direction"),
        ([RUN, [CANARY], "de-en", "greedy", 4, 0.6, 1, 0, 1, 0, 0], "Sentence to translate"),
        ([RUN, CANARY, "de-en", "greedy", True, 0.6, 1, 0, 1, 0, 0], "Beams (0: automatic)"),
        *(([run, "Ich renne.", "de-en", *DEFAULTS], "Number") for run in ("\ud800", CANARY, {"a": [CANARY]}, True)),
    ],
)
def test_a_value_of_another_kind_is_refused_before_anything_looks_at_it(live: Any, data: list[Any], field: str) -> None:
    answer = live.visitor().join(None, data=data)
    assert answer.status_code == 422 and answer.json()["error"].startswith(f"{field} must be")
    assert CANARY not in answer.text


@pytest.mark.parametrize("run", [1.5, None, 2**53, -(2**63) - 1, 10**400])
def test_a_run_that_no_page_counts_to_is_carried_back_as_none(live: Any, run: object) -> None:
    visitor = live.visitor()
    visitor.join(None, data=[run, "Ich renne.", "de-en", *DEFAULTS])
    done = next(m for m in visitor.read() if m["msg"] == "process_completed")
    said = read(done["output"]["data"][0])
    assert (said["kind"], said["run"]) == ("trace", None)


TEXTS, NUMBERS = st.none() | st.text(max_size=30), st.none() | st.integers() | st.floats(allow_nan=False)
KINDS = st.tuples(
    NUMBERS,
    TEXTS,
    TEXTS | st.just("de-en"),
    TEXTS | st.sampled_from(["greedy", "beam", "sample"]),
    NUMBERS,
    TEXTS | NUMBERS,
    *[NUMBERS] * 5,
)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=()), max_size=30), st.lists(st.integers(), max_size=2),
    st.sampled_from(["greedy", "beam", "sample", "de-en", 1, 4, 0.5]),
)  # fmt: skip


KEYS = st.sampled_from(["text", "direction", "settings", "id", "kind", "gates", "view", "options", "run", "station"])
REQUESTS = st.dictionaries(KEYS, VALUES | st.dictionaries(st.text(max_size=9), VALUES))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(VALUES, min_size=11, max_size=11))
def test_any_eleven_values_are_answered(live: Any, data: list[Any]) -> None:
    visitor = live.visitor()
    joined = visitor.join(None, data=data)
    if joined.status_code == 422:
        assert " must be " in joined.json()["error"]
        return
    assert joined.status_code == 200
    done = next(m for m in visitor.read() if m["msg"] == "process_completed")
    assert done["success"] and read(done["output"]["data"][0])["kind"] in ("trace", "error")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    KINDS.filter(lambda values: all(value != value or abs(value) < 1e300 for value in values if type(value) is float))
)
def test_any_values_of_the_right_kinds_are_answered(live: Any, data: tuple[Any, ...]) -> None:
    visitor = live.visitor()
    assert visitor.join(None, data=list(data)).status_code == 200
    done = next(m for m in visitor.read() if m["msg"] == "process_completed")
    assert done["success"] and read(done["output"]["data"][0])["kind"] in ("trace", "error")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_request_of_a_component_is_answered(live: Any, data: st.DataObject) -> None:
    visitor = live.visitor()
    answer = visitor.function(data.draw(st.sampled_from(sorted(visitor.components))), data.draw(VALUES | REQUESTS))
    assert answer.status_code == 200 and isinstance(answer.json(), dict)


def test_a_storm_of_joins_and_cancels_never_has_more_than_two_computing(live: Any, slow: Any) -> None:
    visitors = [live.visitor() for _ in range(8)]

    def storm(visitor: Any) -> None:
        for _ in range(5):
            joined = visitor.join(LONG)
            time.sleep(0.15)
            if joined.status_code == 200:
                visitor.cancel(joined.json()["event_id"])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(storm, visitors))
    assert 1 <= slow.most <= 2
    # A cancel that overtook its own event leaves one that nobody reads; it is given up after these.
    assert idle(live.models, TRUST + PATIENCE + 2), f"{len(live.models.gate)} still hold a place"
    steps = slow.steps
    time.sleep(0.5)
    assert slow.steps == steps, "cancelled work went on"


def test_what_is_cancelled_before_it_begins_frees_its_place(live: Any, slow: Any) -> None:
    """Both places are taken, and what waits behind them is stopped at once."""
    visitors = [live.visitor() for _ in range(4)]
    events = [visitor.join(LONG).json()["event_id"] for visitor in visitors]
    assert until(lambda: len(live.models.gate) == 4, 2)
    for visitor, event in zip(visitors[2:], events[2:], strict=True):
        assert visitor.cancel(event).json() == {"success": True}
        assert visitor.read()[-1]["msg"] == "close_stream"
    assert until(lambda: len(live.models.gate) == 2, 0.5), "what never began holds a place"
    for visitor, event in zip(visitors[:2], events[:2], strict=True):
        visitor.cancel(event)
    assert live.visitor().ask("Ich renne.")["kind"] == "trace"


@pytest.mark.parametrize("way", ["closed socket", "stop", "never read"])
def test_the_machine_is_idle_a_second_after_the_reader_is_gone(live: Any, slow: Any, way: str) -> None:
    visitor = live.visitor()
    event_id = visitor.join(LONG, "beam", 8, 0.6, 1, 0, 1, 0, 160).json()["event_id"]
    if way == "never read":
        time.sleep(1.3)
    else:
        visitor.read(until=lambda m: m["msg"] == "process_generating")
        if way == "stop":
            visitor.cancel(event_id)
        else:
            visitor.http.close()
        time.sleep(1)
    steps = slow.steps
    time.sleep(0.5)
    assert slow.steps - steps <= 1, "it computes for nobody"
    assert idle(live.models, TRUST + PATIENCE + 2)


@pytest.mark.parametrize("way", ["closed socket", "stop"])
@pytest.mark.parametrize("waits", [False, True])
def test_a_question_of_the_lab_ends_when_its_visitor_stops_or_leaves(
    live: Any, monkeypatch: pytest.MonkeyPatch, way: str, waits: bool
) -> None:
    from translator.ui import lab_views

    passes = []

    def endless(model: Any, trace: Any, asked: Any, stop: Any) -> dict[str, Any]:
        while not stop():
            passes.append(asked["who"])
            time.sleep(0.02)
        raise CancelledError("stopped")

    monkeypatch.setitem(lab_views.VIEWS, "lens", endless)
    visitors = [live.visitor() for _ in range(3 if waits else 1)]
    threads = []
    for number, visitor in enumerate(visitors):
        asked = {"text": "Ich renne.", "direction": "de-en", "view": "lens", "run": f"run{number}"}
        request = {**asked, "options": {"who": number}}
        threads.append(threading.Thread(target=send, args=(live, visitor, request), daemon=True))
        threads[-1].start()
        assert until(lambda n=number: n == 2 or n in passes, 3)
    if waits:
        assert until(lambda: len(live.models.gate) == 3, 3)
    last = len(visitors) - 1
    if way == "stop":
        live.visitor().function("lab_stop", {"run": f"run{last}"})
    else:
        visitors[last].socket.shutdown(socket.SHUT_RDWR)
    assert until(lambda: len(live.models.gate) == last, 1), "it computes or waits for nobody"
    for number in range(last):
        live.models.gate.stop(f"run{number}")
    assert idle(live.models, 2) and (2 not in passes)


def until(condition: Any, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(condition())


def send(live: Any, visitor: Any, request: dict[str, Any]) -> None:
    """Ask the lab over a socket of one's own, which a test may close, and wait for the answer."""
    body = json.dumps(visitor.call("lab_ask", request)).encode()
    visitor.socket = socket.create_connection(("127.0.0.1", live.page.server_port))
    head = "POST /gradio_api/component_server HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    visitor.socket.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    with contextlib.suppress(OSError):
        visitor.socket.recv(1)


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


def test_after_a_failure_the_next_request_works(live: Any) -> None:
    broken = live.models.get("de-en")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(broken), "stream", lambda self, text, **_: (_ for _ in ()).throw(RuntimeError("no")))
        visitor = live.visitor()
        visitor.join("Ich renne.")
        assert not next(m for m in visitor.read() if m["msg"] == "process_completed")["success"]
    assert live.visitor().ask("Ich renne.")["kind"] == "trace"
    assert threading.active_count() < 80
