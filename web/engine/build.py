"""Compile the engine: `python web/engine/build.py [FOLDER]` writes its files where the page has them, or there.

It takes the compiler of the package `ziglang` in its pinned version, so that the same sources give the same bytes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
BUILT = HERE.parents[1] / "translator" / "ui" / "static" / "live"
FILES = {"engine.wasm": "", "relaxed.wasm": "+relaxed_simd"}
"""What is built, and the instructions that it takes more."""
FLAGS = (
    "--target=wasm32-freestanding",
    "-std=c17",
    "-O3",
    "-g0",
    "-nostdlib",
    "-ffreestanding",
    "-mllvm",
    "-disable-lsr",  # it takes constant offsets out of loads; in V8 each is an instruction more, a tenth of the time
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wl,--no-entry",
    "-Wl,--strip-all",
)


def build(target: Path, more: str = "") -> None:
    """Compile every C file here into `target`, with `more` instructions; a former file stays if that fails."""
    sources = sorted(path.name for path in HERE.glob("*.c"))
    with tempfile.TemporaryDirectory() as place:
        made = Path(place) / "engine.wasm"
        processor = f"-mcpu=generic+simd128+bulk_memory{more}"
        command = [sys.executable, "-m", "ziglang", "cc", processor, *FLAGS, "-o", str(made), *sources]
        subprocess.run(command, cwd=HERE, check=True)  # relative names: the bytes do not tell where they were made
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(made.read_bytes())


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else BUILT
    for name, more in FILES.items():
        build(folder / name, more)
