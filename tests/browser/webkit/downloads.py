"""What a page gives its visitor to keep: WebKit puts it into the folder of downloads."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp

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


def forget(folder: Path) -> None:
    """Remove what has come and nobody took: pictures that one test asked for are not the next one's."""
    for path in folder.iterdir():
        path.unlink(missing_ok=True)


def taken(folder: Path) -> Path | None:
    """The file that has come, once it is whole, in a folder of its own: the next may have the same name."""
    come = [path for path in folder.iterdir() if path.suffix != COMING]
    return come[0].rename(Path(mkdtemp(dir=folder.parent)) / come[0].name) if come else None
