"""Whoever cancels, stops or hangs up: work that nobody reads any more ends, and its place is free again."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from translator.errors import CancelledError
from translator.ui.job import PATIENCE, TRUST

pytestmark = pytest.mark.slow
LONG = "Ich renne in den Park. " * 8


def idle(models: Any, seconds: float) -> bool:
    """Whether nothing computes or waits any more within so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not len(models.gate):
            return True
        time.sleep(0.02)
    return False


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


def test_a_call_that_nobody_reads_is_given_up(live: Any, slow: Any) -> None:
    slow._seconds = 0.3
    called = live.visitor().http.post("/gradio_api/call/v2/translate", json={"text": "wir rennen in den park"})
    assert called.status_code == 200
    time.sleep(6)
    assert len(live.models.gate) == 0
    counted = slow.steps
    time.sleep(1)
    assert slow.steps == counted


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


def test_a_page_that_reads_what_nobody_sent_is_told_to_close(live: Any) -> None:
    """Its event may have ended on the stream before; a stream that just ended would be waited for ever after."""
    assert [message["msg"] for message in live.visitor().read()] == ["unexpected_error", "close_stream"]


@pytest.mark.parametrize(("hangs_up", "closing"), [(True, 20.0), (False, 0.5)])
def test_a_page_hears_of_its_event_when_its_former_stream_has_closed(
    live: Any, monkeypatch: pytest.MonkeyPatch, hangs_up: bool, closing: float
) -> None:
    """A page opens no stream while it believes in an open one."""
    monkeypatch.setattr("translator.ui.exchange.CLOSING", closing)
    visitor, heard = live.visitor(), threading.Event()

    def join() -> None:
        if visitor.join("Ich renne.").status_code == 200:
            heard.set()

    visitor.join("Ich renne.")
    with visitor.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": visitor.session}) as answer:
        lines = answer.iter_lines()  # one that is let go hangs up
        while "close_stream" not in next(lines):
            pass
        asking = threading.Thread(target=join)
        asking.start()
        assert not heard.wait(closing / 100 if hangs_up else closing / 2)
        if not hangs_up:
            assert heard.wait(10)
    asking.join(closing / 2)
    assert heard.is_set()
    assert visitor.read()[-2]["msg"] == "process_completed"
