"""What a page gives its visitor to keep: WebKit puts it into the folder of downloads."""

from __future__ import annotations

import shutil
from pathlib import Path

COMING = ".wkdownload"
"""What a file is called until all of it has come."""


class Download:
    """A file that has come, as Playwright has it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def suggested_filename(self) -> str:
        return self._path.name

    def path(self) -> Path:
        return self._path

    def save_as(self, path: str | Path) -> None:
        shutil.copyfile(self._path, path)


def newest(folder: Path, before: set[Path]) -> Path | None:
    """The file that was not there before, once it is whole; two of the same name are not told apart."""
    come = [path for path in folder.iterdir() if path not in before and path.suffix != COMING]
    return come[0] if come else None
