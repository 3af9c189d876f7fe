"""An engine can be taken out: the package without them, in a copy, passes every test that is not an engine's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clone import MADE

ROOT = Path(__file__).parents[2]
ENGINES = ("translator/engine/cpu", "translator/engine/cuda.py", "tests/engine")
CHOICE = "    engine = _accelerated(model, precision)\n"
LINKED = (".venv", "web/node_modules")
LONG = [pytest.mark.soak, pytest.mark.nightly]


@pytest.fixture(scope="module")
def without_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the checkout without the engines, their tests, and the line of `best` that offers them."""
    root = tmp_path_factory.mktemp("removed") / "checkout"
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*MADE))
    for name in LINKED:
        if (ROOT / name).exists():
            (root / name).symlink_to((ROOT / name).resolve())
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


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("chosen", "workers"),
    [
        pytest.param("not soak and not browser and not slow and not serial", 2, id="light", marks=pytest.mark.soak),
        pytest.param("not soak and not browser and slow and not serial", 2, id="slow", marks=LONG),
        pytest.param("not soak and not browser and serial", 0, id="serial", marks=LONG),
        pytest.param("not soak and browser", 2, id="browser", marks=[*LONG, pytest.mark.browser]),
    ],
)
def test_every_other_test_passes_without_them(without_engines: Path, chosen: str, workers: int) -> None:
    """Together what `make test` runs, but for what is marked `engine`."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", f"not engine and {chosen}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [*command, "-n", str(workers), "--dist", "loadfile"],
        cwd=without_engines,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout and " failed" not in done.stdout
