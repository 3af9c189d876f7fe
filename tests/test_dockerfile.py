"""The Dockerfile passes hadolint; no container engine is needed for that."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


def test_nothing_is_built_upon_that_is_not_pinned() -> None:
    """The base by its digest, pip by its version, and every package but PyTorch by the hashes of its files."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    bases = [line for line in lines if line.startswith("FROM ")]
    assert bases and all(re.search(r"@sha256:[0-9a-f]{64}( AS \w+)?$", line) for line in bases)
    install = [part for line in lines if line.startswith("RUN ") for part in line.split("&&") if "pip install" in part]
    assert "--upgrade pip -c constraints.txt" in install[0]
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert any(re.fullmatch(r"pip==[\d.]+", line) for line in pins)
    assert [("--require-hashes" in part, '"torch==' in part) for part in install[1:]] == [(False, True), (True, False)]
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))["updates"]
    assert "docker" in {each["package-ecosystem"] for each in updates}, "a digest grows old"


@pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="hadolint has no wheel here")
def test_hadolint_has_nothing_to_say(tmp_path: Path) -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    poor = tmp_path / "Dockerfile"
    poor.write_text("FROM debian\nRUN cd /tmp && apt-get install curl\n")
    assert subprocess.run([hadolint, poor], capture_output=True).returncode != 0
