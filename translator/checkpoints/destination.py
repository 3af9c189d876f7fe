"""Where a checkpoint may be written: only our own checkpoints are ever replaced."""

from __future__ import annotations

import os
from pathlib import Path

from translator.checkpoints.bundle import OPTIONAL, REQUIRED, Bundle
from translator.checkpoints.hub import is_fetched
from translator.checkpoints.manifest import is_sealed
from translator.checkpoints.shelf import MANIFEST, conversion
from translator.errors import CheckpointError, InputError

FILES = frozenset((*REQUIRED, *OPTIONAL, MANIFEST))


def free_folder(folder: str | Path) -> Path:
    """Where `folder` leads, links followed: nothing is there, an empty folder, or a checkpoint of ours and no more.

    To be asked before the work whose result goes there.

    Raises:
        InputError: something else is there, which a checkpoint would have to replace, or no folder can be made there.
    """
    try:
        place = Path(os.path.realpath(folder))
        if place == Path.cwd():
            raise InputError(f"{place} is the folder that this runs in; name another one for the checkpoint")
        for each in (place, former(place)):
            stranger = _stranger(each)
            if stranger:
                raise InputError(f"{stranger}, and only a checkpoint of ours is ever replaced; name a new folder")
        ground = next(above for above in place.parents if above.exists())
    except OSError as error:
        raise InputError(f"no checkpoint can be written to {folder}: {error}") from error
    if not ground.is_dir():
        raise InputError(f"{ground} is a file, so that no folder can be made in it; name another one")
    return place


def former(folder: Path) -> Path:
    """Where the old checkpoint stands for the moment that a new one takes its place."""
    return folder.with_name(f".{folder.name}.old") if folder.name else folder


def own_folder(bundle: Bundle) -> Path:
    """The folder that a bundle was loaded from, if its card and profile may be written anew.

    Raises:
        CheckpointError: it was loaded from none, from the hub's cache, or from one of another format.
    """
    if bundle.folder is None:
        raise CheckpointError(f"{bundle.info.name} has no folder to write to; save it first")
    if is_fetched(bundle.folder):
        raise CheckpointError(f"{bundle.folder} is the hub's; copy it to a folder of yours, which may be written to")
    if not (bundle.folder / MANIFEST).is_file():
        raise CheckpointError(
            f"{bundle.folder} is of another format, which nothing can be added to; convert it once: "
            f"{conversion(bundle.folder)}"
        )
    return bundle.folder


def _stranger(place: Path) -> str:
    """What is at `place` beside a checkpoint of ours, as the start of a sentence; "" if there is nothing."""
    if not os.path.lexists(place):
        return ""
    if not place.is_dir():
        return f"{place} is a file"
    strange = sorted(path.name for path in place.iterdir() if path.name not in FILES or not path.is_file())
    if strange:
        more = f" and {len(strange) - 1} more" if strange[1:] else ""
        return f"{place} holds {strange[0]!r}{more}"
    if any(place.iterdir()) and not is_sealed(place):
        return f"{place} holds files, but no manifest of ours"
    return ""
