"""Processes that begin with PyTorch and the package imported: forks of a server that has done nothing else."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

CONTEXT = multiprocessing.get_context("forkserver")
BEFORE = ["torch", "translator.pipeline", "translator.__main__"]
CONTEXT.set_forkserver_preload(BEFORE)
ANEW = ("huggingface_hub", "transformers")
"""They read the environment when they are imported, so each process imports its own."""


def run(arguments: Sequence[str], *, env: Mapping[str, str], timeout: float = 100) -> subprocess.CompletedProcess[str]:
    """What `python ARGUMENTS` says, "-c CODE ..." or "-m translator ..."; it reads nothing."""
    with tempfile.TemporaryDirectory() as folder:
        out, said = Path(folder, "out"), Path(folder, "said")
        process = CONTEXT.Process(target=_begin, args=(list(arguments), dict(env), out, said))
        process.start()
        process.join(timeout)
        assert process.exitcode is not None, f"it still runs after {timeout:g} seconds"
        texts = [path.read_text(encoding="utf-8") for path in (out, said)]
        return subprocess.CompletedProcess(list(arguments), process.exitcode, *texts)


def _begin(arguments: list[str], env: dict[str, str], out: Path, said: Path) -> None:
    assert set(BEFORE) <= sys.modules.keys() and not set(ANEW) & sys.modules.keys()
    os.environ.clear()
    os.environ.update(env)
    for number, path in ((1, out), (2, said)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    option, first, *rest = arguments
    sys.argv = [option, *rest]
    if option == "-c":
        exec(compile(first, "-c", "exec"), {"__name__": "__main__"})  # noqa: S102 the test's own code
        return
    assert (option, first) == ("-m", "translator")
    from translator.__main__ import main

    sys.exit(main(rest))
