"""The manifest: SHA-256 and size of every file of a checkpoint, checked before anything is loaded."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from translator.checkpoints.bundle import OPTIONAL, REQUIRED, WEIGHTS
from translator.checkpoints.shelf import MANIFEST
from translator.errors import CheckpointError

FORMAT_VERSION = 1
MAX_BYTES = 2**20
MAX_SIDE_BYTES = 2**26  # of any file but the weights


def seal(folder: Path) -> None:
    """Write the manifest of a folder whose files are as they should be (after a card was edited, say)."""
    files = {}
    for name in (*REQUIRED, *OPTIONAL):
        path = folder / name
        if path.exists():
            files[name] = {"sha256": sha256(path), "size": path.stat().st_size}
    text = json.dumps({"format": FORMAT_VERSION, "files": files}, indent=2, sort_keys=True) + "\n"
    fresh = folder / f".{MANIFEST}.new"
    write_through(fresh, text.encode())
    os.replace(fresh, folder / MANIFEST)


def is_sealed(folder: Path) -> bool:
    """Whether a folder has a manifest of ours; what it lists is not compared."""
    try:
        return WEIGHTS in _read(folder / MANIFEST)
    except CheckpointError:
        return False


def is_listed(folder: Path, name: str) -> bool:
    """Whether the manifest of `folder` lists a file, so that loading has verified it; any other may be anything."""
    return (folder / MANIFEST).is_file() and name in _read(folder / MANIFEST)


def sha256(path: Path) -> str:
    """The digest of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _digest(file)


def _digest(file: Any) -> str:
    """`hashlib.file_digest` for Python 3.10."""
    digest = hashlib.sha256()
    while block := file.read(2**20):
        digest.update(block)
    return digest.hexdigest()


def write_through(path: Path, content: bytes) -> None:
    """Write a file and wait until the disk has it."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def verify(folder: Path, root: Path) -> dict[str, str]:
    """Check every file of `folder` against its manifest.

    Args:
        root: no file may lie outside it, whatever links say.
    Returns:
        the SHA-256 of every file by name.
    Raises:
        CheckpointError: the first file that is missing, not listed, outside `root` or different.
    """
    listed = _read(inside(folder, MANIFEST, root))
    for name in REQUIRED:
        if name not in listed:
            raise CheckpointError(f"{folder / MANIFEST} does not list {name}; save the checkpoint again")
    for name, (digest, size) in listed.items():
        path = inside(folder, name, root)
        found = path.stat().st_size
        if found != size:
            raise CheckpointError(f"{path} has {found} bytes, its manifest says {size}; fetch the checkpoint again")
        if name != WEIGHTS and size > MAX_SIDE_BYTES:
            raise CheckpointError(f"{path} has {size} bytes; only {WEIGHTS} may have more than {MAX_SIDE_BYTES}")
        if sha256(path) != digest:
            raise CheckpointError(f"{path} is damaged: its SHA-256 is not what its manifest says; fetch it again")
    return {name: digest for name, (digest, _) in listed.items()}


def inside(folder: Path, name: str, root: Path) -> Path:
    """The path of a regular file of `folder`.

    Raises:
        CheckpointError: it is missing, or leads out of `root`.
    """
    path = folder / name
    if not path.is_file():
        raise CheckpointError(f"{path} is missing; a checkpoint has {', '.join((*REQUIRED, MANIFEST))}")
    if not path.resolve().is_relative_to(root.resolve()):
        raise CheckpointError(f"{path} is a link that leads out of {root}; put the file itself there")
    return path


def _read(path: Path) -> dict[str, tuple[str, int]]:
    """The manifest as {name: (SHA-256, size)}."""
    data = read_json(path, MAX_BYTES)
    if data.get("format") != FORMAT_VERSION or not isinstance(data.get("files"), dict):
        raise CheckpointError(f"{path} is not a manifest of format {FORMAT_VERSION}")
    for name, entry in data["files"].items():
        if name not in (*REQUIRED, *OPTIONAL):
            raise CheckpointError(f"{path} lists {name!r}, which is not a file of a checkpoint")
        if not isinstance(entry, dict) or set(entry) != {"sha256", "size"}:
            raise CheckpointError(f"{path}: the entry of {name} must have sha256 and size, and nothing else")
    return {name: (entry["sha256"], entry["size"]) for name, entry in data["files"].items()}


def read_json(path: Path, limit: int) -> dict[str, Any]:
    """A JSON object from a file of at most `limit` bytes.

    Raises:
        CheckpointError: the file cannot be read, is too large, or holds something else.
    """
    try:
        size = path.stat().st_size
        if size > limit:
            raise CheckpointError(f"{path} has {size} bytes; it may have {limit}")
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(data, dict):
        raise CheckpointError(f"{path} holds no JSON object")
    return data
