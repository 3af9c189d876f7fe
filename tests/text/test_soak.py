"""The properties of this folder again, each on ten thousand texts instead of a few hundred."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_every_property_holds_for_ten_thousand_texts():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-m",
        "not soak",
        "-o",
        "timeout=1800",
        str(Path(__file__).parent),
    ]
    done = subprocess.run(command, env={**os.environ, "TRANSLATOR_SOAK": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
