"""`python -m benchmarks.lock`: every package of the page with the hashes of its files, for `pip --require-hashes`.

The versions are those of constraints.txt. PyTorch itself is left out, and so is what its CUDA build brings: its files
are other ones for each kind of machine, and `make` and the Dockerfile choose them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
EXTRAS = ("page", "fast", "hub", "train", "legacy", "transformers")
HEAD = """# Every package of the page but PyTorch, with the hashes of its files: `make lock` makes it from the pins.
#   pip install --no-deps --require-hashes -r requirements.lock
"""
_OF_TORCH = re.compile(r"(torch|triton|nvidia-[\w-]+|cuda-[\w-]+)==")


def locked(compiled: str) -> str:
    """The lock file out of what `uv pip compile` printed: entries of a requirement and its hashes."""
    entries = re.findall(r"^[a-z0-9].*(?:\n {4}--hash=.*)*", compiled, re.MULTILINE)
    return HEAD + "\n".join(entry for entry in entries if not _OF_TORCH.match(entry)) + "\n"


def main() -> int:
    """Ask the index for the hashes and write the file."""
    chosen = [part for extra in EXTRAS for part in ("--extra", extra)]
    options = ["--universal", "--python-version", "3.10", "--generate-hashes", "--no-header", "--no-annotate"]
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "-c", "constraints.txt", "-q"]
    done = subprocess.run([*command, *chosen, *options], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return 2
    LOCK.write_text(locked(done.stdout), encoding="utf-8")
    print(LOCK)
    return 0


if __name__ == "__main__":
    sys.exit(main())
