"""Checkpoints on the Hugging Face hub: downloaded into its cache, pinned by commit."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from translator.checkpoints import layouts
from translator.checkpoints.bundle import OPTIONAL, REQUIRED
from translator.checkpoints.shelf import MANIFEST, PICKLED_WEIGHTS, SAFE_WEIGHTS, SHARDS, conversion, is_foreign
from translator.errors import CheckpointError

_COMMIT = re.compile(r"[0-9a-f]{40}")
_WANTED = sorted({*REQUIRED, *OPTIONAL, MANIFEST, *layouts.SIDE_FILES, SAFE_WEIGHTS, *SHARDS})


def download(repository: str, revision: str, *, pickles: bool = False) -> Path:
    """The folder of a hub checkpoint, named by its commit; a pinned one that the cache holds needs no network.

    A pickle of weights is fetched with `pickles` alone, for a conversion, and only where there are no safetensors.

    Raises:
        CheckpointError: the hub cannot be reached, has no such checkpoint or only a pickle of it, or gave another
            commit.
    """
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        if _COMMIT.fullmatch(revision):
            with contextlib.suppress(LocalEntryNotFoundError):
                cached = _fetch(repository, revision, _WANTED, offline=True)
                if _whole(cached, pickles):
                    return cached
        folder = _fetch(repository, revision, _WANTED)
        bare = is_foreign(folder) and not any((folder / name).is_file() for name in (SAFE_WEIGHTS, *SHARDS))
        if bare and pickles:
            folder = _fetch(repository, folder.name, [*_WANTED, PICKLED_WEIGHTS])
    except LocalEntryNotFoundError as error:
        raise CheckpointError(
            f"{repository} is not in the cache and the hub cannot be reached; go online once, or give a folder"
        ) from error
    except (HfHubHTTPError, HFValidationError, OSError, ValueError) as error:
        raise CheckpointError(f"{repository} at revision {revision!r} cannot be fetched: {error}") from error
    if _COMMIT.fullmatch(revision) and (folder.name != revision or not any(folder.glob("*"))):  # filed by what came
        raise CheckpointError(f"the hub gave another commit of {repository} than {revision}, which was asked for")
    if bare and not pickles:
        raise CheckpointError(
            f"{repository} has no {SAFE_WEIGHTS}; a pickle ({PICKLED_WEIGHTS}) is read only to convert it; "
            f"do that once: {conversion(f'{repository}@{folder.name}')}"
        )
    return folder


def is_fetched(folder: Path) -> bool:
    """Whether a folder is one of the hub's cache, which holds what a commit holds."""
    return folder.parent.name == "snapshots" and bool(_COMMIT.fullmatch(folder.name))


def _fetch(repository: str, revision: str, files: list[str], *, offline: bool = False) -> Path:
    from huggingface_hub import snapshot_download

    return Path(
        snapshot_download(repository, revision=revision, allow_patterns=files, local_files_only=offline)  # nosec B615
    )


def _whole(folder: Path, pickles: bool) -> bool:
    """Whether the cache holds all that is asked for: weights that load, or with `pickles` those that are converted."""
    native = all((folder / name).is_file() for name in (*REQUIRED, MANIFEST))
    weights = any((folder / name).is_file() for name in (SAFE_WEIGHTS, *([PICKLED_WEIGHTS] if pickles else ())))
    return native or (weights and layouts.is_whole(folder))
