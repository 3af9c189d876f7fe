"""Excerpts of this package's source, read at run time by function name.

The file is read, not imported: the page shows code before torch is there.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache

from translator.resources import PACKAGE

ROOT = PACKAGE.parent


@dataclass(frozen=True)
class Excerpt:
    """A function's code without its docstring: where it stands (path from the checkout, line from 1), and the lines."""

    name: str
    path: str
    line: int
    code: str


@cache
def excerpt(name: str) -> Excerpt:
    """The source of "package.module:function" or "package.module:Class.method", without decorators and docstring.

    Raises:
        LookupError: there is no such function.
    """
    module, _, qualified = name.partition(":")
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    source = path.read_text(encoding="utf-8")
    function = _find(ast.parse(source), qualified)
    lines = source.splitlines()[function.lineno - 1 : function.end_lineno]
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        del lines[first.lineno - function.lineno : (first.end_lineno or first.lineno) - function.lineno + 1]
    code = "\n".join(line[function.col_offset :] for line in lines)
    return Excerpt(qualified, path.relative_to(ROOT).as_posix(), function.lineno, code)


def _find(tree: ast.Module, qualified: str) -> ast.FunctionDef:
    node: ast.AST = tree
    for part in qualified.split("."):
        kinds = (ast.ClassDef, ast.FunctionDef)
        found = [each for each in ast.iter_child_nodes(node) if isinstance(each, kinds) and each.name == part]
        if not found:
            raise LookupError(f"there is no {qualified}")
        node = found[0]
    if not isinstance(node, ast.FunctionDef):
        raise LookupError(f"{qualified} is no function")
    return node
