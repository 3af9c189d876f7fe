"""`python -m benchmarks.decisions`: every decision with its status, as docs/decisions/index.md shows it.

mkdocs calls `on_page_markdown` while it builds the site, so the list is never out of date.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parents[1] / "docs" / "decisions"
MARK = "<!-- decisions -->"


class Decision(NamedTuple):
    """What the head of a decision's file says."""

    number: int
    title: str
    status: str
    date: str
    file: str


def read(path: Path) -> Decision:
    """The number and title of a file's first line, the status and date of its third.

    Raises:
        ValueError: it begins otherwise.
    """
    head, _, told = path.read_text(encoding="utf-8").splitlines()[:3]
    title = re.fullmatch(r"# (\d+)\. (.+)", head)
    status = re.fullmatch(r"Status: (.+) · (20\d\d-\d\d(?:-\d\d)?)", re.sub(r"\[(\d+)\]\([^)]+\)", r"\1", told))
    if title is None or status is None:
        raise ValueError(f'{path} does not begin with "# N. Title", a blank line, and "Status: ... · DATE"')
    return Decision(int(title[1]), title[2], status[1], status[2], path.name)


def listing(folder: Path = FOLDER) -> str:
    """A Markdown table, by number."""
    rows = [
        f"| {each.number} | [{each.title}]({each.file}) | {each.status} |"
        for each in sorted(read(path) for path in folder.glob("[0-9]*.md"))
    ]
    return "\n".join(["| # | decision | status |", "|---|---|---|", *rows]) + "\n"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the table in the place of its mark; mkdocs calls this for every page."""
    return markdown.replace(MARK, listing()) if MARK in markdown else markdown


if __name__ == "__main__":
    print(listing(), end="")
