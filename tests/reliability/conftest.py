"""A page with a tiny checkpoint, served for real on loopback, and a visitor that speaks Gradio's protocol."""

from __future__ import annotations

import json
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

import httpx
import pytest

from benchmarks.served import free_port
from translator.ui.message import read

RUN = 7
"""The page's own number of the run; the answers carry it back."""
DEFAULTS = ("greedy", 4, 0.6, 1, 0, 1, 0, 0)
"""The decoding controls as the page sends them."""


CLIENTS: list[httpx.Client] = []
"""Of all visitors that came since they were last sent away."""


@pytest.fixture(autouse=True)
def _visitors_leave() -> Iterator[None]:
    """A connection that nobody closes is complained of wherever the collector happens to find it."""
    yield
    while CLIENTS:
        CLIENTS.pop().close()


@dataclass
class Visitor:
    """One browser: joins, reads its stream, cancels, asks a component's function."""

    url: str
    session: str = field(default_factory=lambda: uuid.uuid4().hex[:11])

    def __post_init__(self) -> None:
        self.http = httpx.Client(base_url=self.url, timeout=60)
        CLIENTS.append(self.http)
        config = self.http.get("/config").json()
        button = next(c["id"] for c in config["components"] if c.get("props", {}).get("elem_id") == "translate")
        self.event = next(d["id"] for d in config["dependencies"] if [button, "click"] in map(list, d["targets"]))
        self.components = {
            name: c["id"] for c in config["components"] for name in c.get("props", {}).get("server_fns") or []
        }

    def join(self, text: object, *settings: object, data: list[Any] | None = None) -> httpx.Response:
        data = [RUN, text, "de-en", *(settings or DEFAULTS)] if data is None else data
        body = {"data": data, "fn_index": self.event, "session_hash": self.session, "event_data": None}
        return self.post("/gradio_api/queue/join", body)

    def post(self, address: str, body: dict[str, Any]) -> httpx.Response:
        """Send JSON as ASCII, in which half a surrogate pair can be sent as well."""
        return self.http.post(
            address, content=json.dumps(body).encode("ascii"), headers={"content-type": "application/json"}
        )

    def read(self, until: Callable[[dict[str, Any]], bool] = lambda message: False) -> list[dict[str, Any]]:
        """The stream's messages up to its end, or up to the first that `until` likes; as it is closed, he hangs up."""
        seen = []
        with self.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": self.session}) as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    seen.append(json.loads(line[6:]))
                    if until(seen[-1]) or seen[-1]["msg"] == "close_stream":
                        break
        return seen

    def ask(self, text: object, *settings: object) -> dict[str, Any]:
        """The page's last message about a translation: a "trace" or an "error"."""
        joined = self.join(text, *settings)
        joined.raise_for_status()
        done = next(m for m in self.read() if m["msg"] == "process_completed")
        return read(done["output"]["data"][0])

    def cancel(self, event_id: str) -> httpx.Response:
        body = {"session_hash": self.session, "fn_index": self.event, "event_id": event_id}
        return self.http.post("/gradio_api/cancel", json=body)

    def call(self, name: str, data: object) -> dict[str, Any]:
        """The body that asks a component's function; an unknown one is asked of the explorer."""
        component = self.components.get(name, self.components["exact"])
        return {"data": data, "component_id": component, "fn_name": name, "session_hash": self.session}

    def function(self, name: str, data: object) -> httpx.Response:
        return self.post("/gradio_api/component_server", self.call(name, data))


@pytest.fixture(scope="session")
def live(tiny_checkpoint: Path) -> Iterator[Any]:
    """The served page; `.models` are behind it, `.visitor()` is a new browser."""
    from translator.ui.models import Models
    from translator.ui.serve import Server

    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    models.warm().join()
    models.get("de-en").compile(wait=True)  # else the first answers come from PyTorch's steps, the others not
    server = Server(models, server_name="127.0.0.1", server_port=free_port())
    server.models = models  # type: ignore[attr-defined]
    server.visitor = lambda: Visitor(server.url)  # type: ignore[attr-defined]
    yield server
    server.close()


class Slow:
    """Stands before a model: every step takes longer, and it is counted how many compute at once."""

    def __init__(self, model: Any, seconds: float) -> None:
        self._model, self._seconds, self._lock = model, seconds, threading.Lock()
        self.computing = self.most = self.steps = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def stream(self, text: str, *, stop: Callable[[], bool], **settings: Any) -> Any:
        import time

        def counted() -> bool:
            with self._lock:
                self.computing += 1
                self.steps += 1
                self.most = max(self.most, self.computing)
            time.sleep(self._seconds)
            with self._lock:
                self.computing -= 1
            return stop()

        return self._model.stream(text, stop=counted, **settings)


@pytest.fixture
def slow(live: Any, monkeypatch: pytest.MonkeyPatch) -> Slow:
    """The live page's model with steps of 50 ms."""
    made = Slow(live.models.get("de-en"), 0.05)
    monkeypatch.setitem(live.models._loaded, "de-en", made)
    return made
