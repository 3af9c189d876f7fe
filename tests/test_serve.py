"""The command `serve`: where the page is, and what is refused before there is one."""

from __future__ import annotations

import runpy
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.served import free_port
from translator.__main__ import main

ROOT = Path(__file__).parents[1]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What the page would have been served with."""
    given: dict[str, object] = {}
    monkeypatch.setattr("translator.ui.serve.serve", lambda models, **address: given.update(models=models, **address))
    for name in ("GRADIO_SERVER_NAME", "GRADIO_SERVER_PORT"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr("gc.disable", lambda: None)
    return given


def test_serve_starts_the_page_where_it_is_told(served: dict[str, object]) -> None:
    port = free_port()
    assert main(["serve", "--host", "127.0.0.1", "--port", str(port)]) == 0
    assert (served["server_name"], served["server_port"], served["mcp"]) == ("127.0.0.1", port, False)


def test_app_py_is_the_command_serve(served: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("GRADIO_SERVER_PORT", str(port))
    monkeypatch.setattr("sys.argv", ["app.py"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "app.py"), run_name="__main__")
    assert ended.value.code == 0
    assert (served["server_name"], served["server_port"]) == ("127.0.0.1", port)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "99999"], "port is 99999"),
        (["--port", "-4"], "port is -4"),
        (["--port", "0"], "port is 0"),
        (["--workers", "0"], "workers is 0; it must be from 1 to"),
        (["--workers", "65"], "workers is 65; it must be from 1 to"),
        (["--host", "999.1.1.1"], "cannot listen on 999.1.1.1"),
        (["--host", "a..b"], "cannot listen on a..b"),
        (["--host", "x" * 300], "cannot listen on x"),
        (["--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
    ],
)
def test_an_address_that_cannot_be_had_is_refused_in_words(
    served: dict[str, object], capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    port = [] if "--port" in arguments else ["--port", str(free_port())]
    assert main(["serve", *arguments, *port]) == 2
    assert said in capsys.readouterr().err and not served


@pytest.mark.parametrize("said", ["abc", "-1", "٣", "1e3"])
def test_a_port_of_the_environment_that_is_none_is_refused(
    served: dict[str, object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str
) -> None:
    monkeypatch.setenv("GRADIO_SERVER_PORT", said)
    assert main(["serve"]) == 2
    assert "GRADIO_SERVER_PORT" in capsys.readouterr().err and not served


@pytest.mark.slow
def test_a_busy_port_ends_with_two_and_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = [sys.executable, "-m", "translator", "serve", "--port", str(taken.getsockname()[1])]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "already in use" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.slow
def test_a_port_that_is_taken_while_the_page_is_made_ends_with_two() -> None:
    """The models' threads run by then, and an ordinary end of the process would abort among them."""
    late = (
        "import sys, translator.ui.start as s; s.free_address = lambda host, port: (host, port);"
        "from translator.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command = [sys.executable, "-c", late, "serve", "--port", str(taken.getsockname()[1])]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "translator: " in done.stderr and "Traceback" not in done.stderr
