"""Start the app as a Space would, in a fresh environment, and translate one sentence: `python -m benchmarks.space`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from benchmarks.served import free_port

ROOT = Path(__file__).resolve().parents[1]
READY = 120.0
"""Seconds within which the page has to answer."""


def install(folder: Path) -> Path:
    """A fresh environment from requirements.txt and the constraints; returns its Python."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin" / "python"
    torch = next(line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith("torch=="))
    install = [
        str(python),
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "-c",
        str(ROOT / "constraints.txt"),
    ]
    subprocess.run([*install, torch], check=True)
    subprocess.run([*install, "-r", str(ROOT / "requirements.txt")], check=True)
    return python


def answers(python: Path) -> float:
    """Seconds until the page of `app.py` answers; the app is stopped again."""
    port = free_port()
    environment = {**os.environ, "GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(port)}
    app = subprocess.Popen([str(python), "app.py"], cwd=ROOT, env=environment)
    started = time.monotonic()
    try:
        while time.monotonic() - started < READY:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as page:  # nosec B310
                    if page.status == 200:
                        return time.monotonic() - started
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
        raise SystemExit(f"app.py did not answer within {READY:.0f} seconds")
    finally:
        app.terminate()
        app.wait(10)


def main() -> None:
    """Install, start, translate; any failure is the exit code."""
    with tempfile.TemporaryDirectory(prefix="space") as folder:
        python = install(Path(folder))
        print(f"the page answered after {answers(python):.1f} s")
        command = [str(python), "-m", "translator", "translate", "--model", "de-en", "Guten Morgen."]
        said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
        print(f"Guten Morgen. -> {said}")
        if not said:
            raise SystemExit("the translation is empty")


if __name__ == "__main__":
    main()
