"""The endpoints as tools of the Model Context Protocol: what they answer, what is logged, and who hangs up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.served import free_port
from translator.errors import InputError
from translator.pipeline import load

pytestmark = pytest.mark.timeout(300)
TEXT = "wir rennen in den park"
CANARY = "Kanarienvogel4711"
LOGGERS = ["translator.ui", "mcp.server.lowlevel.server", "mcp.shared.anything"]
"""The second and third are silenced, for they write what they read."""


@pytest.mark.slow
def test_mcp_is_off_unless_asked_for(live: Any) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with httpx.Client(base_url=live.url, timeout=60) as http:
        assert http.post("/gradio_api/mcp/", json=message).status_code == 404
        assert http.get("/gradio_api/mcp/").status_code == 404


def test_without_the_package_mcp_is_refused_with_the_remedy(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from translator.ui import serve, tools

    monkeypatch.setattr(tools, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'mcp>=1.21,<2'"):
        serve.Server(live.models, mcp=True)


SPEAK = """
import asyncio, json, logging, os, sys, time
os.environ["GRADIO_MCP_SERVER"] = "True"  # Gradio's own switch moves nothing here
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from translator.errors import CancelledError
from translator.ui.models import Models
from translator.ui.serve import Server

checkpoint, port, text, typed, *loggers = sys.argv[1:]
models = Models({"de-en": checkpoint}, device="cpu")
server = Server(models, mcp=True, server_name="127.0.0.1", server_port=int(port))
headers = {"accept": "application/json, text/event-stream"}

async def speak():
    tool = streamablehttp_client(server.url + "gradio_api/mcp/")
    async with tool as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        tools = await session.list_tools()
        good = await session.call_tool("translate", {"text": text})
        bad = await session.call_tool("translate", {"text": ""})
        return [sorted(tool.name for tool in tools.tools), good.content[0].text, bad.isError, bad.content[0].text]

def post(body, timeout=60):
    return httpx.post(server.url + "gradio_api/mcp/", json=body, headers=headers, timeout=timeout).status_code

def rpc(call, timeout=60, **arguments):
    return post({"id": 1, "jsonrpc": "2.0", "method": "tools/call", "params": {"name": call, "arguments": arguments}},
                timeout)

unreadable = [post({"jsonrpc": "2.0", **body}) for body in (
    {"id": 1, "method": typed, "params": {"text": typed}},
    {"id": 2, "method": "tools/call", "params": {"name": [typed], "arguments": typed}},
    {"id": 3, "method": "tools/call", "params": {"name": typed, "arguments": {"text": typed}}},
    {"id": 4, "method": "logging/setLevel", "params": {"level": typed}},
    {"id": typed, "method": "tools/list"},
    {"method": typed, "params": {"text": typed}},
    {"method": "notifications/cancelled", "params": {"requestId": 1, "reason": [typed]}},
    {"id": typed, "result": {"text": typed}},
    {"id": 5, "error": {"code": 1, "message": typed}},
    {"id": 6, "method": "tools/list", "params": typed},
    {"id": 10**30, "method": "tools/list"},
)]
for name in loggers:  # what was silenced is silent, and nobody else
    logging.getLogger(name).error("heard %s", name)
tools = asyncio.run(speak())
said = [rpc("translate", text=typed), rpc("nothing", text=typed), rpc("translate", text=[typed], beam=typed)]
said.append(post({"jsonrpc": "2.0", "id": 1, "method": typed, "params": typed}))

real = models.get("de-en")
class Slow:
    steps = 0
    def __getattr__(self, name):
        return getattr(real, name)
    def translate(self, text, *, stop, **settings):
        while not stop():
            Slow.steps += 1
            time.sleep(0.02)
        raise CancelledError("stopped")
models._loaded["de-en"] = Slow()
try:
    rpc("translate", timeout=1, text=typed)
except httpx.TimeoutException:
    pass
time.sleep(0.5)
before = Slow.steps
time.sleep(0.5)
hung_up = {"began": before, "after": Slow.steps - before, "held": len(models.gate)}
print(json.dumps({"tools": tools, "unreadable": unreadable, "said": said, "hung_up": hung_up}), flush=True)
os._exit(0)
"""


@dataclass(frozen=True)
class Spoken:
    """What a page with MCP said in a process of its own that logs all there is, and what it wrote."""

    found: dict[str, Any]
    log: str


@pytest.fixture(scope="module")
def spoken(tiny_checkpoint: Path) -> Spoken:
    command = [sys.executable, "-c", SPEAK, str(tiny_checkpoint), str(free_port()), TEXT, CANARY, *LOGGERS]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=280, cwd=Path(__file__).parents[2], env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return Spoken(json.loads(done.stdout.strip().splitlines()[-1]), done.stdout + done.stderr)


@pytest.mark.slow
def test_the_endpoints_are_tools(spoken: Spoken, tiny_checkpoint: Path) -> None:
    tools, good, failed, said = spoken.found["tools"]
    assert tools == ["trace", "translate"]
    assert good == load(tiny_checkpoint, device="cpu").translate(TEXT).translation
    assert failed and "the text is blank" in said


@pytest.mark.slow
def test_what_is_called_wrongly_or_cannot_be_read_is_no_fault_of_the_server(spoken: Spoken) -> None:
    unreadable, said = spoken.found["unreadable"], spoken.found["said"]
    assert len(unreadable) == 11 and all(status < 500 for status in unreadable), unreadable
    assert len(said) == 4 and all(status < 500 for status in said), said


@pytest.mark.slow
def test_nothing_typed_is_logged_and_only_what_writes_it_is_silenced(spoken: Spoken) -> None:
    assert CANARY not in spoken.log
    assert [name for name in LOGGERS if f"heard {name}" in spoken.log] == LOGGERS[:1]


@pytest.mark.slow
def test_who_hangs_up_is_not_computed_for(spoken: Spoken) -> None:
    found = spoken.found["hung_up"]
    assert found["began"] > 0 and found["after"] == 0 and found["held"] == 0, found
