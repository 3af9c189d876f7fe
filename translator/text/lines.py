"""Text files line by line, split at line feeds only."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from translator.errors import InputError


def read_lines(path: str | Path) -> Iterator[str]:
    """The lines of a UTF-8 file, gzipped or not, without the line feed (or CR LF) at their ends.

    Nothing but a line feed ends a line. Python's `splitlines` would also cut at U+0085, U+2028 and a dozen others,
    which stand within sentences of real corpora: all lines after it would move away from their translations.

    Raises:
        InputError: the file cannot be read, or is not UTF-8; a line that is not is named by its number.
    """
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    text = line.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise InputError(f"{path} cannot be read: line {number} is not UTF-8") from error
                yield text.removesuffix("\n").removesuffix("\r")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
