"""`python -m benchmarks.modules`: every module of the package with its summary, as docs/architecture.md shows it.

mkdocs calls `on_page_markdown` while it builds the site, so the list is never out of date.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1] / "translator"
MARK = "<!-- modules -->"


@cache
def summary(path: Path) -> str:
    """The first line of a module's docstring; "" where there is none."""
    told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return told.partition("\n")[0]


def listing(package: Path = PACKAGE) -> str:
    """A Markdown list for each folder of `package`, the folder's own summary first."""
    parts = []
    for folder in sorted({path.parent for path in package.rglob("*.py")}):
        name = folder.relative_to(package.parent).as_posix()
        lines = [f"- `{path.stem}`: {_plain(path)}" for path in sorted(folder.glob("*.py")) if path.stem != "__init__"]
        parts.append("\n".join([f"**`{name}/`** {_plain(folder / '__init__.py')}", "", *lines]))
    return "\n\n".join(parts) + "\n"


def _plain(path: Path) -> str:
    return summary(path).replace("*", "\\*") if path.is_file() else ""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the list in the place of its mark; mkdocs calls this for every page."""
    return markdown.replace(MARK, listing()) if MARK in markdown else markdown


if __name__ == "__main__":
    print(listing(), end="")
