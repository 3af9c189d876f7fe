"""A newcomer's first command, in a fresh clone, and what it says where it cannot work."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests import clone as repository


def make(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run make in `folder`, with nothing on stdin and nothing of an outer make in the environment."""
    clean = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "VIRTUAL_ENV")}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env={**clean, **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return repository.clone(tmp_path / "clone")


@pytest.fixture
def few_tools(tmp_path: Path) -> Path:
    """A PATH on which `python3` is a shim that does not run, and nothing else is a Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "sed", "uname"):
        (folder / name).symlink_to(Path("/bin") / name)
    shim = folder / "python3"
    shim.write_text("#!/bin/sh\necho 'python3: command not found' >&2\nexit 127\n", encoding="utf-8")
    shim.chmod(0o755)
    return folder


@pytest.mark.slow
def test_without_a_python_make_says_what_to_install(clone: Path, few_tools: Path) -> None:
    make_itself = next(p for p in ("/usr/bin/make", "/bin/make", "/usr/local/bin/make") if Path(p).exists())
    (few_tools / "make").symlink_to(make_itself)
    result = make(clone, PATH=str(few_tools))
    assert result.returncode != 0
    assert "No Python 3.10, 3.11 or 3.12" in result.stdout
    assert not (clone / ".venv").exists()


@pytest.mark.soak
def test_bare_make_in_a_fresh_clone(clone: Path) -> None:
    """It builds .venv without CUDA where there is no GPU, and has nothing left to do the second time."""
    first = make(clone)
    assert first.returncode == 0, first.stdout
    if "No NVIDIA GPU here" in first.stdout:
        assert "nvidia-" not in first.stdout and "nvidia_" not in first.stdout
    python = str(clone / ".venv/bin/python")
    code = "import translator.trace, torch, gradio, plotly, nltk, jieba, opencc, tokenizers, sacrebleu, sentencepiece"
    loaded = subprocess.run([python, "-c", code], cwd=clone, capture_output=True, text=True, check=False)
    assert loaded.returncode == 0, loaded.stderr
    checked = subprocess.run([python, "-m", "pip", "check"], cwd=clone, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    again = make(clone)
    assert again.returncode == 0
    assert "pip install" not in again.stdout
