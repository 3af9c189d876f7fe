"""Atomic file writes: complete or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def write_whole(path: str | Path, content: bytes | str) -> None:
    """Write a file in one move: a full disk or a kill leaves what was there before, never half of the new content.

    Links are followed. What is no regular file, such as a pipe or /dev/stdout, is written to as it is. Text is
    written as UTF-8.

    Raises:
        OSError: it cannot be written; the former file is untouched.
    """
    data = content.encode() if isinstance(content, str) else content
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        place.write_bytes(data)
        return
    mode = place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~_umask()
    handle, part = tempfile.mkstemp(prefix=f".{place.name[:100]}.", suffix=".part", dir=place.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, mode)
        os.replace(part, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _umask() -> int:
    """What the process takes away from a new file's mode; there is no way to read it but to set it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
