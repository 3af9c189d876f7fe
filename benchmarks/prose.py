"""`python -m benchmarks.prose`: how many words each text has that a user or a contributor reads.

Counted is what stands outside code blocks, front matter, comments and the targets of links; a word has a letter, so
that neither the bars of a table nor its figures are words. Texts that a command writes (model cards, the page of
settings) are left out, and so are those of the page itself.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRITTEN = ("docs/settings.md",)
"""Made by `python web/registry.py`."""

_ASIDE = re.compile(
    r"\A---\n.*?^---\n"  # front matter
    r"|^[ ]*```.*?^[ ]*```$"  # a block of code
    r"|^:::[^\n]*\n(?:[ ]{4}[^\n]*\n)*"  # what mkdocstrings puts there
    r"|<!--.*?-->"
    r"|(?<=\])\([^)\n]*\)",  # where a link leads
    re.MULTILINE | re.DOTALL,
)


def texts(root: Path = ROOT) -> list[Path]:
    """The files, by name."""
    found = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), root / "web" / "README.md"]
    return sorted(path for path in found if path.relative_to(root).as_posix() not in WRITTEN)


def words(text: str) -> int:
    """The words of a Markdown text."""
    return sum(any(letter.isalpha() for letter in word) for word in _ASIDE.sub(" ", text).split())


def main() -> None:
    """Print the words of each file, the longest first, and of all."""
    counted = {path.relative_to(ROOT).as_posix(): words(path.read_text(encoding="utf-8")) for path in texts()}
    for name, count in sorted(counted.items(), key=lambda each: -each[1]):
        print(f"{count:6,} {name}")
    print(f"{sum(counted.values()):6,} in all")


if __name__ == "__main__":
    main()
