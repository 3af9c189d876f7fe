"""An engine can be taken out: the package without them, in a copy, passes every test that is not an engine's."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGINES = ("translator/engine/cpu", "translator/engine/cuda.py", "tests/engine")
CHOICE = "    engine = _accelerated(model, precision)\n"
OTHERS = (
    "tests/model",
    "tests/decode",
    "tests/analysis",
    "tests/test_pipeline.py",
    "tests/test_request.py",
    "tests/test_trace.py",
    "tests/test_adapted.py",
)
LIGHT = "not slow and not soak and not browser"


@pytest.fixture(scope="module")
def without_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of package and tests without the engines, and without the line of `best` that offers them."""
    root = tmp_path_factory.mktemp("removed")
    for path in ROOT.iterdir():
        if path.name in ("translator", "tests"):
            shutil.copytree(path, root / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif not path.name.startswith("."):
            (root / path.name).symlink_to(path)
    for name in ENGINES:
        shutil.rmtree(root / name) if (root / name).is_dir() else (root / name).unlink()
    chooser = root / "translator/engine/__init__.py"
    text = chooser.read_text(encoding="utf-8")
    assert text.count(CHOICE) == 1
    chooser.write_text(text.replace(CHOICE, ""), encoding="utf-8")
    yield root
    shutil.rmtree(root)


@pytest.mark.slow
def test_pytorch_alone_translates(without_engines: Path, tiny_checkpoint: Path) -> None:
    code = (
        "import sys, translator; model = translator.load(sys.argv[1], device='cpu'); model.compile(wait=True);"
        "print(translator.__file__, type(model.engine).__name__, model.translate('Ich renne.').translation);"
        "import translator.engine.cpu"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tiny_checkpoint], cwd=without_engines, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith(f"{without_engines / 'translator/__init__.py'} EagerEngine "), done.stderr
    assert "No module named 'translator.engine.cpu'" in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_other_test_passes_without_them(without_engines: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", LIGHT, *OTHERS]
    done = subprocess.run(command, cwd=without_engines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout and " failed" not in done.stdout
