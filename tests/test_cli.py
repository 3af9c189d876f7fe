"""The command line as a shell sees it: what is printed where, and with which exit code."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch

import translator
from tests import forked
from translator import Trace, Translator
from translator.__main__ import main

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.usefixtures("tiny_by_name")


def run(*arguments: str, given: bytes = b"", code: int = 0) -> tuple[str, str]:
    """Run the command in a process of its own; returns what it printed and what it complained of."""
    done = forked.run(["-m", "translator", *arguments], env=os.environ, given=given)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout, done.stderr


@pytest.mark.slow
def test_one_line_in_one_line_out(tiny: Translator) -> None:
    lines = ["Ich renne.", "", "Guten Morgen!", "x" * 1001, "\u3000", "Das Haus\u2028ist groß.", "京都", "wort " * 60]
    given = "\n".join(lines).encode() + b"\nkein \xff UTF-8\r\nIch renne.\r\nIch renne."
    out, complaints = run("translate", "--model", "tiny", "--max-length", "9", given=given, code=2)
    found = out.split("\n")
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
def test_a_multilingual_checkpoint_translates_between_the_languages_that_are_named(tiny_multilingual: Path) -> None:
    model = translator.load(tiny_multilingual, device="cpu")
    expected = model.translate("Das Haus ist alt.", src="fra_Latn", tgt="eng_Latn", max_length=9).translation
    command = ("translate", "--model", str(tiny_multilingual), "--max-length", "9", "--src", "fra_Latn")
    out, _ = run(*command, "--tgt", "eng_Latn", given=b"Das Haus ist alt.\n")
    assert out.rstrip("\n") == expected
    _, complaints = run(*command, "--tgt", "klingon", given=b"Das Haus ist alt.\n", code=2)
    assert "the language is 'klingon'; this checkpoint knows" in complaints


@pytest.mark.slow
def test_lines_without_fault_end_with_zero_and_in_order(tiny: Translator) -> None:
    lines = [f"Ich renne {'in den Park ' * (n % 4)}{n}." for n in range(40)]
    given = "\n".join(lines).encode() + b"\n"
    out, complaints = run("translate", "--model", "tiny", "--max-length", "5", "--threads", "1", given=given)
    expected = [text.replace("\r", " ").replace("\n", " ") for text in tiny.translate_batch(lines, max_length=5)]
    assert out.split("\n") == [*expected, ""]
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


@pytest.mark.slow
def test_help_needs_no_heavy_library() -> None:
    code = (
        "import sys, translator.__main__ as m\n"
        "try: m.main(['--help'])\n"
        "except SystemExit: print(*sorted({'torch', 'gradio', 'plotly', 'jieba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


@pytest.mark.slow
@pytest.mark.parametrize("settings", [[], ["--method", "beam", "--beam", "3"], ["--method", "sample", "--seed", "4"]])
def test_one_text(tiny: Translator, capsys: pytest.CaptureFixture[str], settings: list[str]) -> None:
    assert main(["translate", "--model", "tiny", "--max-length", "7", "Ich renne.", *settings]) == 0
    values = [int(value) if value.isdigit() else value for value in settings[1::2]]
    wanted = dict(zip([name[2:] for name in settings[::2]], values, strict=True))
    assert capsys.readouterr().out == tiny.translate("Ich renne.", max_length=7, **wanted).translation + "\n"


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
        (["figure", "--trace", "/no/such.npz", "--out", "x.html"], "is not a trace file"),
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


@pytest.mark.parametrize("count", [0, -1, 100_000, 10**30])
def test_threads_that_no_machine_has_are_refused(capsys: pytest.CaptureFixture[str], count: int) -> None:
    assert main(["translate", "--model", "tiny", "--threads", str(count), "Hallo"]) == 2
    assert f"threads is {count}" in capsys.readouterr().err


@pytest.mark.slow
def test_a_line_of_a_hundred_megabytes_is_refused_at_once() -> None:
    given = b"Ich renne.\n" + b"a" * 100_000_000 + b"\nIch renne.\n"
    command = [sys.executable, "-m", "translator", "translate", "--model", "tiny", "--max-length", "3"]
    began = os.times()
    done = subprocess.run(command, input=given, cwd=ROOT, capture_output=True)
    ended = os.times()
    assert done.returncode == 2
    out, complaints = done.stdout, done.stderr.decode()
    took = ended.children_user + ended.children_system - began.children_user - began.children_system
    assert took < 15  # seconds of processor time, most of them the start of the command; 89 before
    first, second, third, end = out.decode().split("\n")
    assert first == third != second == end == ""
    assert complaints.startswith("line 2: the text has") and len(complaints) < 200


@pytest.mark.slow
def test_blocks_join_to_the_lines_that_they_were_cut_from(tiny: Translator) -> None:
    lines = ["Ich renne in den Park. " * 3, "x" * 70_000, "", "Guten Morgen.", "y" * (2**16 - 1), "z" * 2**16, "Ja."]
    out, complaints = run("translate", "--model", "tiny", "--max-length", "3", given="\n".join(lines).encode(), code=2)
    found = out.split("\n")
    expected = [tiny.translate(text, max_length=3).translation if 0 < len(text) < 1000 else "" for text in lines]
    assert found == [text.replace("\r", " ").replace("\n", " ") for text in expected] + [""]
    assert [note.split(":")[0] for note in complaints.splitlines()] == ["line 2", "line 3", "line 5", "line 6"]
    assert "70,000" in complaints and "65,536" in complaints


@pytest.mark.slow
def test_what_steers_a_terminal_is_shown_and_not_obeyed(
    tiny_marian: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tensor's name is a stranger's text."""
    steering = "\x1b]0;owned\x07\x1b[2J\u202e\r"
    folder = shutil.copytree(tiny_marian, tmp_path / "marian")
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    safetensors.torch.save_file({**weights, steering: torch.zeros(1)}, folder / "model.safetensors")
    assert main(["translate", "--model", str(folder), "Hallo"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and all(char.isprintable() or char == "\n" for char in said)
    assert r"\x1b]0;owned\x07\x1b[2J\u202e\r" in said


@pytest.fixture
def small_files() -> Iterator[Callable[[], None]]:
    """Call it, and no file of this process may become larger than 2 KB, as on a disk that is nearly full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [["trace", "--model", "tiny", "Ich renne.", "--out", "trace.npz"],
     ["figure", "--model", "tiny", "Ich renne.", "--out", "heads.html"],
     ["export", "--model", "tiny", "Ich renne.", "--out", "gallery"],
     ["export", "--live", "--model", "tiny", "Ich renne.", "--out", "site"]],
)  # fmt: skip
@pytest.mark.parametrize("former", [True, False])
def test_a_full_disk_leaves_no_cut_file(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    small_files: Callable[[], None],
    command: list[str],
    former: bool,
) -> None:
    room, full = tmp_path / "room", tmp_path / "full"
    room.mkdir()
    full.mkdir()
    assert main([*command[:-1], str(room / command[-1])]) == 0
    out = full / command[-1]
    if former and out.suffix:
        out.write_text("what was there")
    capsys.readouterr()
    small_files()
    assert main([*command[:-1], str(out)]) == 2
    assert capsys.readouterr().err == "translator: [Errno 27] File too large\n"
    if out.suffix:
        assert [path.name for path in full.iterdir()] == [out.name] * former
        assert not former or out.read_text() == "what was there"
    elif "--live" in command:  # files before the one that did not fit are whole, and no page opens
        assert sorted(path.name for path in out.rglob("*") if path.is_file()) == ["README.md", "config.json"]
        assert json.loads((out / "checkpoints" / "tiny" / "config.json").read_text(encoding="utf-8"))["name"] == "tiny"
    else:
        assert list(out.iterdir()) == []
