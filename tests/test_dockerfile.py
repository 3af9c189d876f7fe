"""The Dockerfile passes hadolint; no container engine is needed for that."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="hadolint has no wheel here")
def test_hadolint_has_nothing_to_say(tmp_path: Path) -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    poor = tmp_path / "Dockerfile"
    poor.write_text("FROM debian\nRUN cd /tmp && apt-get install curl\n")
    assert subprocess.run([hadolint, poor], capture_output=True).returncode != 0
