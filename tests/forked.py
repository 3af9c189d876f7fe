"""Processes that begin with PyTorch and the package imported: forks of a server that has done nothing else."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CONTEXT = multiprocessing.get_context("forkserver")
BEFORE = ["torch", "translator.pipeline", "translator.__main__"]
CONTEXT.set_forkserver_preload(BEFORE)
ANEW = ("huggingface_hub", "transformers")
"""They read the environment when they are imported, so each process imports its own."""


def run(
    arguments: Sequence[str], *, env: Mapping[str, str], given: bytes = b"", timeout: float = 100
) -> subprocess.CompletedProcess[str]:
    """What `python ARGUMENTS` says, "-c CODE ..." or "-m MODULE ...", where it can read what is `given`."""
    with tempfile.TemporaryDirectory() as folder:
        read, out, said = (Path(folder, name) for name in ("read", "out", "said"))
        read.write_bytes(given)
        process = CONTEXT.Process(target=_begin, args=(list(arguments), dict(env), read, out, said))
        process.start()
        process.join(timeout)
        assert process.exitcode is not None, f"it still runs after {timeout:g} seconds"
        texts = [path.read_bytes().decode() for path in (out, said)]
        return subprocess.CompletedProcess(list(arguments), process.exitcode, *texts)


class Popen:
    """`subprocess.Popen([python, "-m", MODULE, ...], env=...)` as far as one needs it that reads and says nothing."""

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], **_: Any) -> None:
        nothing = Path(os.devnull)
        self._process = CONTEXT.Process(target=_begin, args=([*command[1:]], dict(env), nothing, nothing, nothing))
        self._process.start()

    def poll(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode


def _begin(arguments: list[str], env: dict[str, str], read: Path, out: Path, said: Path) -> None:
    assert set(BEFORE) <= sys.modules.keys() and not set(ANEW) & sys.modules.keys()
    os.environ.clear()
    os.environ.update(env)
    os.dup2(os.open(read, os.O_RDONLY), 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - multiprocessing has put another in its place
    for number, path in ((1, out), (2, said)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    option, first, *rest = arguments
    sys.argv = [option, *rest]
    if option == "-c":
        exec(compile(first, "-c", "exec"), {"__name__": "__main__"})  # noqa: S102 the test's own code
        return
    assert option == "-m"
    module = importlib.import_module("translator.__main__" if first == "translator" else first)
    sys.exit(module.main(rest))
