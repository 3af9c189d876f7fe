"""The command line as a shell sees it: what is printed where, and with which exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from translator import Trace, Translator
from translator.__main__ import main

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.usefixtures("tiny_by_name")


def run(*arguments: str, given: bytes = b"", code: int = 0) -> tuple[bytes, str]:
    """Run the command in a process of its own; returns what it printed and what it complained of."""
    done = subprocess.run([sys.executable, "-m", "translator", *arguments], input=given, cwd=ROOT, capture_output=True)
    complaints = done.stderr.decode()
    assert done.returncode == code, complaints
    assert "Traceback" not in complaints
    return done.stdout, complaints


@pytest.mark.slow
def test_one_line_in_one_line_out(tiny: Translator) -> None:
    lines = ["Ich renne.", "", "Guten Morgen!", "x" * 1001, "\u3000", "Das Haus\u2028ist groß.", "京都", "wort " * 60]
    given = "\n".join(lines).encode() + b"\nkein \xff UTF-8\r\nIch renne.\r\nIch renne."
    out, complaints = run("translate", "--model", "tiny", "--max-length", "9", given=given, code=2)
    found = out.decode().split("\n")
    assert found.pop() == ""
    assert len(found) == 11
    assert [n for n, text in enumerate(found, 1) if not text] == [2, 4, 5, 8, 9]
    for n in (0, 2, 5, 6):
        assert found[n] == tiny.translate(lines[n], max_length=9).translation.replace("\r", " ").replace("\n", " ")
    assert found[0] == found[9] == found[10]
    notes = complaints.splitlines()
    assert [note.split(":")[0] for note in notes] == ["line 2", "line 4", "line 5", "line 8", "line 9"]
    assert "at most 1,000 are allowed" in notes[1]
    assert "not UTF-8" in notes[4]


@pytest.mark.slow
def test_lines_without_fault_end_with_zero_and_in_order(tiny: Translator) -> None:
    lines = [f"Ich renne {'in den Park ' * (n % 4)}{n}." for n in range(40)]
    given = "\n".join(lines).encode() + b"\n"
    out, complaints = run("translate", "--model", "tiny", "--max-length", "5", "--threads", "1", given=given)
    expected = [text.replace("\r", " ").replace("\n", " ") for text in tiny.translate_batch(lines, max_length=5)]
    assert out.decode().split("\n") == [*expected, ""]
    assert complaints == ""


@pytest.mark.slow
def test_a_slow_pipe_is_answered_line_by_line() -> None:
    command = [sys.executable, "-m", "translator", "translate", "--model", "tiny", "--max-length", "3"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write(b"Ich renne.\n")
            process.stdin.flush()
            assert process.stdout.readline().endswith(b"\n")
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_error() -> None:
    translate = f"{sys.executable} -m translator translate --model tiny --max-length 2"
    command = f"yes 'Ich renne.' | head -5000 | {translate} | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, capture_output=True, check=False)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == b""


TRANSLATE = "translate --model tiny --max-length 2"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (f"{TRANSLATE} <&-", 0, ""),
        (f"{TRANSLATE} </dev/null", 0, ""),
        (f"{TRANSLATE} Hallo >&-", 0, ""),
        (f"{TRANSLATE} Hallo <&- >&- 2>&-", 0, ""),
        ("translate --model nowhere x 2>&-", 2, ""),
        ("--version >&-", 0, ""),
        ("fly 2>&-", 2, ""),
        (f"{TRANSLATE} Hallo >/dev/full", 2, "translator: [Errno 28] No space left on device\n"),
        ("--version >/dev/full", 2, "translator: [Errno 28] No space left on device\n"),
        (f"{TRANSLATE} Hallo | true", 0, ""),
        ("translate --help | true", 0, ""),
        ("lab lens --model tiny Hallo | true", 0, ""),
        (f"{TRANSLATE} '' 2>/dev/full", 2, ""),
    ],
)
def test_closed_and_full_streams_end_quietly(command: str, code: int, said: str) -> None:
    """Python buffers what it prints to a file or a pipe, and writes it at its end."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    line = f"{sys.executable} -m translator {command}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr.decode()) == (code, said)


@pytest.mark.slow
def test_an_interrupt_is_no_traceback() -> None:
    command = [sys.executable, "-m", "translator", "translate", "--model", "tiny", "--max-length", "2"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job ignores it
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"Ich renne.\n")
        process.stdin.flush()
        process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
        assert process.stderr.read() == b""


def test_help_needs_no_heavy_library() -> None:
    code = (
        "import sys, translator.__main__ as m\n"
        "try: m.main(['--help'])\n"
        "except SystemExit: print(*sorted({'torch', 'gradio', 'plotly', 'jieba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


@pytest.mark.parametrize("settings", [[], ["--method", "beam", "--beam", "3"], ["--method", "sample", "--seed", "4"]])
def test_one_text(tiny: Translator, capsys: pytest.CaptureFixture[str], settings: list[str]) -> None:
    assert main(["translate", "--model", "tiny", "--max-length", "7", "Ich renne.", *settings]) == 0
    values = [int(value) if value.isdigit() else value for value in settings[1::2]]
    wanted = dict(zip([name[2:] for name in settings[::2]], values, strict=True))
    assert capsys.readouterr().out == tiny.translate("Ich renne.", max_length=7, **wanted).translation + "\n"


def test_a_trace_is_saved_whole(tiny: Translator, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.npz"
    assert main(["trace", "--model", "tiny", "Guten Morgen.", "--max-length", "9", "--out", str(path)]) == 0
    trace = tiny.translate("Guten Morgen.", max_length=9)
    assert capsys.readouterr().out == trace.translation + "\n"
    with np.load(path, allow_pickle=False) as arrays:
        assert {"encoder", "decoder", "cross", "src", "tgt", "log_probs"} <= set(arrays)
        np.testing.assert_allclose(arrays["cross"], trace.cross, atol=1e-6)
        assert arrays["src"].tolist() == [token.surface for token in trace.src]
    assert Trace.load(path).translation == trace.translation


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("cell", [[], ["--layer", "2", "--head", "1"]])
def test_a_figure_is_a_page_that_needs_no_network(tmp_path: Path, kind: str, cell: list[str]) -> None:
    page, saved = tmp_path / "x.html", tmp_path / "x.npz"
    main(["trace", "--model", "tiny", "Ich renne.", "--max-length", "9", "--out", str(saved)])
    assert main(["figure", "--trace", str(saved), "--kind", kind, *cell, "--out", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert "Plotly.newPlot" in html
    assert 'src="http' not in html
    if cell:
        assert ("renne" in html) == (kind != "decoder")


def test_a_figure_can_translate_first(tmp_path: Path) -> None:
    page = tmp_path / "x.html"
    assert main(["figure", "--model", "tiny", "Guten Morgen.", "--max-length", "3", "--out", str(page)]) == 0
    assert page.stat().st_size > 1_000_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["translate", "--model", "nowhere", "x"], "no checkpoint 'nowhere'"),
        (["translate", "--model", "tiny", ""], "nothing to translate"),
        (["translate", "--model", "tiny", "x" * 1001], "1,001 characters"),
        (["translate", "--model", "tiny", "x", "--beam", "0"], "beam is 0"),
        (["translate", "--model", "tiny", "x", "--method", "guess"], "method is 'guess'"),
        (["translate", "--model", "tiny", "x", "--max-length", "999"], "max_length is 999"),
        (["translate", "--model", "tiny", "x", "--device", "abacus"], "device is 'abacus'"),
        (["translate", "--model", "tiny", "x", "--revision", "main"], "revision is 'main'"),
        (["translate", "--model", "tiny", "x", "--threads", "0"], "threads is 0"),
        (["trace", "--model", "tiny", "x", "--out", "/no/such/folder/x.npz"], "/no/such/folder"),
        (["figure", "--trace", "/no/such.npz", "--out", "x.html"], "is no trace file"),
        (["figure", "--trace", "x.npz", "--out", "x.png"], "written as .html"),
        (["figure", "--out", "x.html"], "either a TEXT"),
        (["figure", "x", "--out", "x.html"], "give --model"),
    ],
)
def test_errors_go_to_stderr_with_code_2(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("translator: ")
    assert words in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("cell", [["--layer", "3", "--head", "1"], ["--layer", "1"], ["--layer", "0", "--head", "1"]])
def test_a_head_that_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cell: list[str]
) -> None:
    command = ["figure", "--model", "tiny", "x", "--max-length", "2", *cell, "--out", str(tmp_path / "x.html")]
    assert main(command) == 2
    assert "this trace has" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize("arguments", [[], ["fly"], ["translate"], ["trace", "--model", "tiny", "x"]])
def test_a_wrong_call_shows_the_usage(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_serve_starts_the_app_where_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    started: dict[str, object] = {}

    def note(path: str, run_name: str) -> None:
        host, port = os.environ["GRADIO_SERVER_NAME"], os.environ["GRADIO_SERVER_PORT"]
        started.update(path=path, name=run_name, host=host, port=port)

    monkeypatch.setenv("GRADIO_SERVER_NAME", "")
    monkeypatch.setenv("GRADIO_SERVER_PORT", "")
    monkeypatch.setattr("runpy.run_path", note)
    assert main(["serve", "--host", "127.0.0.1", "--port", "7999"]) == 0
    assert started == {"path": str(ROOT / "app.py"), "name": "__main__", "host": "127.0.0.1", "port": "7999"}
