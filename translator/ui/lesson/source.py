"""A few lines of this package's own source, read at run time by the name of the function, so that they cannot drift."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Excerpt:
    """A function's code without its docstring: where it stands (path from the checkout, line from 1), and the lines."""

    name: str
    path: str
    line: int
    code: str


@cache
def excerpt(name: str) -> Excerpt:
    """The source of "package.module:function" or "package.module:Class.method".

    Raises:
        ImportError, AttributeError: there is no such module or function.
    """
    module, _, qualified = name.partition(":")
    found = importlib.import_module(module)
    for part in qualified.split("."):
        found = getattr(found, part)
    function = inspect.unwrap(found)
    lines, first = inspect.getsourcelines(function)
    path = Path(inspect.getsourcefile(function) or "").resolve()
    return Excerpt(qualified, path.relative_to(ROOT).as_posix(), first, without_docstring("".join(lines)))


def without_docstring(source: str) -> str:
    """A function's source, dedented, less its docstring and decorators."""
    source = textwrap.dedent(source)
    function = ast.parse(source).body[0]
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    lines, body = source.splitlines(), function.body
    drop: set[int] = set()
    if ast.get_docstring(function) is not None and len(body) > 1:
        drop = set(range(body[0].lineno, (body[0].end_lineno or body[0].lineno) + 1))
    return "\n".join(line for n, line in enumerate(lines, 1) if n >= function.lineno and n not in drop).rstrip()
