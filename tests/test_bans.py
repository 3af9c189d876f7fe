"""Calls that this project never makes: they load what was not checked, or draw what was not escaped."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def sources() -> list[Path]:
    return [*sorted((ROOT / "translator").rglob("*.py")), *sorted(ROOT.glob("*.py"))]


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def imports_from(node: ast.AST, library: str) -> set[str]:
    """The names that a `from library... import` takes; empty for any other node."""
    if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == library:
        return {alias.name for alias in node.names}
    return set()


def banned(source: str) -> Iterator[str]:
    """Line and reason of every banned call."""
    if not any(word in source for word in ("nltk", "load", "weights_only", "trust_remote_code")):
        return  # most files: looking at each node takes a second
    for node in ast.walk(ast.parse(source)):
        if imports_from(node, "nltk") & {"download", "downloader"}:
            yield f"{node.lineno}: nltk.download fetches data at run time"
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        options = {keyword.arg: keyword.value for keyword in node.keywords}
        if name.endswith("load_state_dict"):
            strict = options.get("strict", node.args[1] if len(node.args) > 1 else None)
            if strict is not None and _is_false(strict):
                yield f"{node.lineno}: load_state_dict(strict=False) accepts missing weights in silence"
        if "weights_only" in options and _is_false(options["weights_only"]):
            yield f"{node.lineno}: weights_only=False runs the code in a checkpoint"
        if name == "torch.load" and "weights_only" not in options:
            yield f"{node.lineno}: torch.load must say weights_only=True"
        if "trust_remote_code" in options:
            yield f"{node.lineno}: trust_remote_code runs code from the hub"
        if name in ("nltk.download", "nltk.downloader.download"):
            yield f"{node.lineno}: nltk.download fetches data at run time"


def draws_html(source: str) -> bool:
    """Whether the module calls, subclasses or imports gradio's HTML component."""
    if "HTML" not in source:
        return False
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("gr.HTML", "gradio.HTML", "gr.components.HTML"):
            return True
        if "HTML" in imports_from(node, "gradio"):
            return True
    return False


def test_no_banned_call() -> None:
    found = [f"{p.relative_to(ROOT)}:{b}" for p in sources() for b in banned(p.read_text(encoding="utf-8"))]
    assert not found, "\n".join(found)


def test_one_module_draws_html() -> None:
    """gr.HTML runs what is in it, so one module holds it, and everything it shows is escaped there."""
    found = [str(p.relative_to(ROOT)) for p in sources() if draws_html(p.read_text(encoding="utf-8"))]
    assert len(found) <= 1, f"gr.HTML is used in {', '.join(found)}; keep it in one module"


@pytest.mark.parametrize(
    "source",
    [
        "model.load_state_dict(weights, strict=False)",
        "model.load_state_dict(weights, False)",
        "torch.load(path, weights_only=False)",
        "torch.load(path)",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
        "import nltk\nnltk.download('punkt')",
        "from nltk import download",
    ],
)
def test_a_planted_call_is_found(source: str) -> None:
    assert list(banned(source))


@pytest.mark.parametrize(
    "source", ["gr.HTML(text)", "from gradio import HTML", "class Explorer(gr.HTML): pass", "gradio.HTML(text)"]
)
def test_planted_html_is_found(source: str) -> None:
    assert draws_html(source)


@pytest.mark.parametrize(
    "source", ["model.load_state_dict(weights)", "torch.load(path, weights_only=True)", "zip(a, b, strict=False)"]
)
def test_what_is_allowed_passes(source: str) -> None:
    assert not list(banned(source))
