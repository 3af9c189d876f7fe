"""Imports point down the list of layers only, and heavy libraries stay in their rooms."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "translator"

# Lowest first. The package's own front door, `translator/__init__.py`, offers what `pipeline` makes.
LAYERS = (
    "errors",
    "resources",
    "rules",
    "registry",
    "files",
    "config",
    "trace",
    "text",
    "model",
    "engine",
    "decode",
    "checkpoints",
    "settings",
    "request",
    "assembly",
    "spare",
    "pipeline",
    "adapted",
    "__init__",
    "analysis",
    "figures",
    "training",
    "cluster",
    "ui",
    "notebook",
    "__main__",
)
FORBIDDEN = {
    "torch": {"errors", "resources", "rules", "registry", "files", "config", "trace", "figures", "ui", "notebook"},
    "gradio": set(LAYERS) - {"ui"},
    "plotly": set(LAYERS) - {"figures", "ui"},
}
MACHINE_CODE = {"numba", "llvmlite"}
ENGINES = (("engine", "cpu"), ("engine", "cuda"))
CHOOSES = "translator/engine/__init__.py"


def layer_of(parts: tuple[str, ...]) -> str:
    """The layer of a module, from its path below the package without `.py`."""
    return parts[0] if parts else "__init__"


def imported(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line and dotted name of everything imported, inside functions too; `package` resolves relative imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, tuple(alias.name.split("."))) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            yield from ((node.lineno, (*base, alias.name)) for alias in node.names)


def violations(path: str, source: str) -> list[str]:
    """What the module at `path` (relative to the root) may not import, one line each."""
    parts = Path(path).with_suffix("").parts
    layer = layer_of(parts[1:])
    if layer not in LAYERS:
        return [f"{path}: {layer} is in no layer; give it a place in LAYERS and in docs/architecture.md"]
    found = []
    for line, name in imported(ast.parse(source), parts[:-1]):
        if name[0] == PACKAGE:
            target = layer_of(name[1:2]) if name[1:2] and name[1] in LAYERS else "__init__"
            if LAYERS.index(target) > LAYERS.index(layer):
                found.append(f"{path}:{line}: {layer} imports {target}, which stands above it")
            if name[1:3] in ENGINES and parts[1:3] != name[1:3] and path != CHOOSES:
                found.append(f"{path}:{line}: only `best` chooses an engine, and {'.'.join(name[1:3])} is one")
        elif name[0] in MACHINE_CODE and parts[1:3] != ("engine", "cpu"):
            found.append(f"{path}:{line}: {name[0]} may not be imported outside translator/engine/cpu")
        elif layer in FORBIDDEN.get(name[0], ()):
            found.append(f"{path}:{line}: {name[0]} may not be imported in {layer}")
    return found


def test_imports_point_down() -> None:
    modules = sorted((ROOT / PACKAGE).rglob("*.py"))
    assert modules
    found = [v for m in modules for v in violations(m.relative_to(ROOT).as_posix(), m.read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("translator/trace.py", "import torch"),
        ("translator/figures/maps.py", "def f():\n    from torch.nn import functional"),
        ("translator/ui/page.py", "import torch.nn as nn"),
        ("translator/pipeline.py", "import gradio as gr"),
        ("translator/analysis/heads.py", "from plotly import graph_objects"),
        ("translator/text/subword.py", "from translator.model import attention"),
        ("translator/model/layers.py", "from translator import pipeline"),
        ("translator/model/layers.py", "from translator import load"),
        ("translator/model/transformer.py", "from translator.engine import EagerEngine"),
        ("translator/engine/eager.py", "from translator.decode import search"),
        ("translator/engine/__init__.py", "from numba import njit"),
        ("translator/engine/cuda.py", "from llvmlite import ir"),
        ("translator/model/attention.py", "import numba"),
        ("translator/pipeline.py", "from translator.engine.cpu import CpuEngine"),
        ("translator/engine/eager.py", "from translator.engine import cuda"),
        ("translator/engine/cuda.py", "from translator.engine.cpu.linear import pack"),
        ("translator/config.py", "from .trace import Token"),
        ("translator/decode/search.py", "from ..checkpoints.store import Bundle"),
        ("translator/decode/search.py", "from .. import figures"),
        ("translator/__init__.py", "from .ui import page"),
        ("translator/helpers.py", ""),
    ],
)
def test_a_planted_violation_is_found(path: str, source: str) -> None:
    assert violations(path, source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("translator/text/subword.py", "from ..trace import Token\nfrom . import segment"),
        ("translator/figures/maps.py", "from plotly import graph_objects\nfrom translator.analysis import heads"),
        ("translator/ui/page.py", "import gradio, plotly\nfrom translator import load"),
        ("translator/__init__.py", "from translator.pipeline import Translator"),
        ("translator/trace.py", "import torchlight"),
        ("translator/engine/__init__.py", "def best():\n    from translator.engine import cpu, cuda"),
        ("translator/engine/cpu/kernel.py", "import numba\nfrom translator.engine.cpu import jit"),
        ("translator/decode/search.py", "from translator.engine import Engine"),
    ],
)
def test_what_is_allowed_passes(path: str, source: str) -> None:
    assert not violations(path, source)


@pytest.mark.parametrize("module", ["errors", "resources", "rules", "files", "config", "trace"])
def test_the_values_load_without_heavy_libraries(module: str) -> None:
    """What a module imports by way of others counts too."""
    heavy = "{'torch', 'gradio', 'plotly', 'transformers', 'jieba'}"
    code = f"import sys, translator.{module}; print(*sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == ""


@pytest.mark.slow
def test_a_first_translation_imports_no_library_that_takes_a_second(tiny_checkpoint: Path) -> None:
    code = (
        "import sys, translator; translator.load(sys.argv[1], device='cpu').translate('Hallo Welt');"
        "print(sorted({'nltk', 'scipy.stats', 'sympy', 'torch._dynamo', 'gradio', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code, tiny_checkpoint], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
