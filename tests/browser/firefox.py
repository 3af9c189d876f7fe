"""Firefox by WebDriver BiDi, which it speaks itself: Playwright drives only a Firefox of its own."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 120.0  # s
PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.proxy.type": 0,
    "intl.accept_languages": "en-GB",
}


class Tab:
    """The one tab of a session: where it goes and what its page's scripts say."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._calls = 0
        self._ask("session.new", {"capabilities": {}})
        contexts = self._ask("browsingContext.getTree", {})["contexts"]
        self._context = contexts[0]["context"]

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._calls += 1
        self._socket.send(json.dumps({"id": self._calls, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._calls:
                assert answer["type"] == "success", answer
                return answer["result"]

    def resize(self, width: int, height: int) -> None:
        """Give the page a viewport of this size, in CSS pixels."""
        viewport = {"width": width, "height": height}
        self._ask("browsingContext.setViewport", {"context": self._context, "viewport": viewport})

    def open(self, address: str) -> None:
        """Go to an address, and wait until it is loaded."""
        self._ask("browsingContext.navigate", {"context": self._context, "url": address, "wait": "complete"})

    def run(self, expression: str) -> Any:
        """The value of an expression, or of its promise, by way of JSON; BiDi's own values nest types."""
        asked = f"(async () => JSON.stringify(await ({expression})) ?? 'null')()"
        target = {"context": self._context}
        found = self._ask("script.evaluate", {"expression": asked, "target": target, "awaitPromise": True})
        assert found["type"] == "success", found["exceptionDetails"]["text"]
        return json.loads(found["result"]["value"])

    def until(self, expression: str) -> Any:
        """Wait until an expression is true; its value."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(expression)):
            assert time.monotonic() < end, (expression, self.run("document.body.innerText.slice(0, 800)"))
            time.sleep(0.05)
        return found


@contextmanager
def firefox(path: str) -> Iterator[Tab]:
    """A headless Firefox with a profile of its own, until the block is left."""
    from websocket import create_connection  # of websocket-client, which selenium brings

    with tempfile.TemporaryDirectory() as profile:
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items())
        (Path(profile) / "user.js").write_text("\n".join(lines), encoding="utf-8")
        command = [
            path,
            "--headless",
            "--no-remote",
            "--profile",
            profile,
            "--remote-debugging-port",
            "0",
            "about:blank",
        ]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        try:
            assert process.stderr is not None
            found = next((m for line in process.stderr if (m := re.search(r"listening on (ws://\S+)", line))), None)
            assert found, "Firefox ended before it could be driven"
            socket = create_connection(f"{found[1]}/session", timeout=PATIENCE, suppress_origin=True)
            yield Tab(socket)
            socket.close()
        finally:
            process.terminate()
            process.wait(PATIENCE)
