"""WebKit's inspector, for what its driver lacks: scripts that run before a page's own, and the network.

The driver tells the browser where to listen, to it and to inspectors. Both send the length of a message (four bytes),
a flag for the order of bytes, the message's name, and its values as GLib packs them.
"""

from __future__ import annotations

import itertools
import json
import queue
import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Error

PATIENCE = 30.0
"""Seconds that an answer, or a new page, may take."""
NAMED = b"WEBKIT_INSPECTOR_SERVER="
ITSELF = 1
"""The browser among the processes that can be inspected; what it opens has numbers, one after the other."""
DRIVER = 2
"""The number of the driver's own session, which gets no more messages once another client asks for it."""
DOMAINS = ("Page", "Runtime", "Console", "Network")


def port(driver: int) -> int:
    """Where the browser listens that a driver, a process, has started."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for child in Path(f"/proc/{driver}/task/{driver}/children").read_text().split():
            for each in Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
                if each.startswith(NAMED):
                    return int(each.rpartition(b":")[2])
        time.sleep(0.1)
    raise RuntimeError("WebKit's driver has started no browser that can be inspected")


class Inspector:
    """One browser's pages."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._pages: dict[int, Inspected] = {}
        self._last = 0
        threading.Thread(target=self._listen, daemon=True).start()
        self._send("SetupInspectorClient", b"\0")

    def newest(self) -> Inspected:
        """The page that was opened last. Asking for a number that no page has does nothing."""
        for number in {*range(self._last + 1, self._last + 5)} - {DRIVER}:
            self._pages[number] = Inspected(self, number)
            self._send("Setup", struct.pack("<QQ", ITSELF, number))
        end = time.monotonic() + PATIENCE
        while not (found := [number for number, page in self._pages.items() if number > self._last and page.target]):
            if time.monotonic() > end:
                raise Error("WebKit's inspector knows nothing of the new page")
            time.sleep(0.01)
        self._last = found[-1]
        return self._pages[self._last]

    def send(self, number: int, message: dict[str, Any]) -> None:
        self._send("SendMessageToBackend", struct.pack("<QQ", ITSELF, number) + json.dumps(message).encode() + b"\0")

    def close(self) -> None:
        self._socket.close()

    def _send(self, name: str, values: bytes) -> None:
        data = name.encode() + b"\0" + values
        self._socket.sendall(struct.pack(">IB", len(data), 1) + data)

    def _listen(self) -> None:
        came = b""
        while True:
            try:
                more = self._socket.recv(1 << 20)
            except OSError:
                return
            if not more:
                return
            came += more
            while len(came) >= 5 and len(came) >= 5 + (length := struct.unpack(">I", came[:4])[0]):
                name, _, values = came[5 : 5 + length].partition(b"\0")
                came = came[5 + length :]
                if name == b"SendMessageToFrontend":
                    _, number = struct.unpack("<QQ", values[:16])
                    if number in self._pages:
                        self._pages[number].heard(json.loads(values[16:-1]))


class Inspected:
    """A page: what it is told, and what it tells (`events`, in their order).

    It may move to another process as it goes elsewhere; what it was told by `always` goes with it.
    """

    target = ""

    def __init__(self, inspector: Inspector, number: int) -> None:
        self._inspector, self._number = inspector, number
        self._always: dict[Any, tuple[str, dict[str, Any]]] = {}
        self._answers: dict[int, dict[str, Any]] = {}
        self._answered = threading.Condition()
        self._numbers = itertools.count(1)
        self.events: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        for domain in DOMAINS:
            self._always[domain] = (f"{domain}.enable", {})

    def call(self, method: str, **values: Any) -> dict[str, Any]:
        """Ask, and wait for the answer.

        Raises:
            Error: it is refused, or does not come.
        """
        number = self.tell(method, **values)
        with self._answered:
            self._answered.wait_for(lambda: number in self._answers, PATIENCE)
            answer = self._answers.pop(number, {"error": {"message": "no answer"}})
        if "error" in answer:
            raise Error(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    def tell(self, method: str, **values: Any) -> int:
        """Ask, and wait for nothing; the question's number."""
        return self._tell(self.target, method, values)

    def always(self, key: Any, method: str, **values: Any) -> None:
        """Tell, here and wherever the page goes; in place of what was told by the same key."""
        self._always[key] = (method, values)
        self.call(method, **values)

    def heard(self, message: dict[str, Any]) -> None:
        """Take what the browser says; the thread that reads calls this."""
        name, values = message.get("method"), message.get("params", {})
        if name == "Target.targetCreated" and values["targetInfo"]["type"] == "page":
            created = values["targetInfo"]["targetId"]
            for method, given in list(self._always.values()):
                self._tell(created, method, given)
            if values["targetInfo"].get("isPaused"):
                self._inspector.send(
                    self._number, {"id": 0, "method": "Target.resume", "params": {"targetId": created}}
                )
            if not values["targetInfo"].get("isProvisional"):
                self.target = created
        elif name == "Target.didCommitProvisionalTarget":
            self.target = values["newTargetId"]
        elif name == "Target.dispatchMessageFromTarget":
            told = json.loads(values["message"])
            if "id" not in told:
                self.events.put(told)
                return
            with self._answered:
                self._answers[told["id"]] = told
                self._answered.notify_all()

    def _tell(self, target: str, method: str, values: dict[str, Any]) -> int:
        number = next(self._numbers)
        outer = {"targetId": target, "message": json.dumps({"id": number, "method": method, "params": values})}
        self._inspector.send(self._number, {"id": number, "method": "Target.sendMessageToTarget", "params": outer})
        return number
