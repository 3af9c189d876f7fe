"""The checkpoints on offer, found by file names alone, without reading files or importing PyTorch."""

from __future__ import annotations

import logging
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from translator.errors import CheckpointError
from translator.resources import is_installed, resources

MANIFEST = "manifest.json"
SAFE_WEIGHTS, PICKLED_WEIGHTS = "model.safetensors", "pytorch_model.bin"
SHARDS = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
DOCUMENT_VOCAB = "src_vocab.json"  # of the two source documents' layouts, whose weights are pickles as a rule
DOCUMENT_WEIGHTS = ("model.pt", "model.pth", "model.bin", PICKLED_WEIGHTS)
SOURCE_SPM, TARGET_SPM, VOCAB = "source.spm", "target.spm", "vocab.json"
SPM, TOKENIZER_JSON = "sentencepiece.bpe.model", "tokenizer.json"
SOURCE_VOCAB, TARGET_VOCAB, MERGES = "vocab-src.json", "vocab-tgt.json", "merges.txt"  # FSMT's
NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_PINNED = re.compile(rf"({HUB_ID.pattern})(@[\w./-]+)?")
TRANSFORMERS = "transformers:"
"""Stands before what `transformers` loads, a folder or a hub id, and not this package's own readers."""
_log = logging.getLogger(__name__)


def checkpoints_folder() -> Path:
    """Where checkpoints are found by name: $TRANSLATOR_CHECKPOINTS, else those that came with the package."""
    named = os.environ.get("TRANSLATOR_CHECKPOINTS")
    return Path(named) if named else resources("checkpoints")


def new_checkpoints_folder() -> Path:
    """Where a new checkpoint goes unless told otherwise: `checkpoints_folder`, or `checkpoints/` here if installed."""
    named = os.environ.get("TRANSLATOR_CHECKPOINTS")
    return Path(named or "checkpoints") if named or is_installed() else checkpoints_folder()


def is_foreign(folder: Path) -> bool:
    """Whether a folder is laid out as `transformers` lays out a translator: no manifest of ours, but its files."""
    if (folder / MANIFEST).exists():
        return False
    return any((folder / name).is_file() for name in (SOURCE_SPM, TARGET_SPM, VOCAB, SPM, TOKENIZER_JSON, SOURCE_VOCAB))


def conversion(source: str | Path) -> str:
    """The command that makes a checkpoint of ours of a folder or a hub id, in a folder that is not there yet."""
    name = os.path.basename(os.path.abspath(str(source).partition("@")[0]))
    place = new_checkpoints_folder() / name
    while os.path.lexists(place):
        place = place.with_name(f"{place.name}-converted")
    return f"python -m translator convert {shlex.quote(str(source))} {shlex.quote(str(place))}"


def pickle_refusal(source: str | Path, file: str | Path) -> str:
    """Why the weights `file` of a folder or a hub id are not loaded, and what makes a folder that is."""
    return f"{file} is a pickle, which is read only to convert it; do that once: {conversion(source)}"


def pickled(folder: Path) -> Path | None:
    """The pickle that holds a folder's weights, where there is no other file of them."""
    if (folder / SAFE_WEIGHTS).exists():
        return None
    names = (PICKLED_WEIGHTS,) if is_foreign(folder) else DOCUMENT_WEIGHTS
    known = is_foreign(folder) or (folder / DOCUMENT_VOCAB).is_file()
    return next((folder / name for name in names if known and (folder / name).is_file()), None)


def refusal(folder: Path) -> str | None:
    """Why a page does not offer `folder`, or None if it does: our own format, or another's with safetensors.

    Nothing is verified yet; that is done when it is loaded.
    """
    if (folder / MANIFEST).is_file():
        return None
    pickle = pickled(folder)
    if pickle is not None:
        return pickle_refusal(folder, pickle)
    if is_foreign(folder):
        return None if (folder / SAFE_WEIGHTS).is_file() else f"{folder} has no {SAFE_WEIGHTS}; fetch the weights"
    if not folder.is_dir():
        return f"{folder} is no folder"
    files = f"{MANIFEST}, {SOURCE_SPM}, {SPM} or {SOURCE_VOCAB}"
    return f"{folder} is no checkpoint: it has no {files}; if it is another's, convert it first: {conversion(folder)}"


def offered(
    named: Sequence[str] = (), shipped: Sequence[str] = (), adapted: Sequence[str] = ()
) -> dict[str, str | Path]:
    """What a page offers, by the name that it shows: `named` first, then `shipped`, then the checkpoints folder's rest.

    Args:
        named: folders, names in the checkpoints folder, or hub ids (owner/name, owner/name@revision).
        shipped: names that are offered whether they are there or not.
        adapted: folders or hub ids of seq2seq models that `transformers` loads; they come first.
    Returns:
        for each what `load` takes; a hub id still has its revision.
    Raises:
        CheckpointError: something named is no checkpoint that a page may load.
    """
    place = checkpoints_folder()
    found: dict[str, str | Path] = {}
    for name in adapted:
        folder = Path(name).expanduser()
        if not folder.is_dir() and not _PINNED.fullmatch(name):
            raise CheckpointError(f"there is no model {name!r}; name a folder, or a hub id (owner/name@revision)")
        label, what = (folder.resolve().name, str(folder.resolve())) if folder.is_dir() else (name, name)
        found.setdefault(_fresh(label, TRANSFORMERS + what, found), TRANSFORMERS + what)
    for name in named:
        where = _where(name, place)
        found.setdefault(_fresh(name if isinstance(where, str) else where.name, where, found), where)
    for name in shipped:
        found.setdefault(name, name)
    for folder in sorted(place.iterdir()) if place.is_dir() else ():
        known = folder.name in shipped or folder in found.values()
        if known or folder.name.startswith(".") or not folder.is_dir():
            continue
        reason = refusal(folder)
        if reason is None:
            found[_fresh(folder.name, folder, found)] = folder
        else:
            _log.warning("%s", reason)
    return found


def pinned(what: str | Path) -> tuple[str | Path, str | None]:
    """A hub id apart from its "@revision"; any other name of a checkpoint as it is, with None."""
    if isinstance(what, Path) or not _PINNED.fullmatch(what):
        return what, None
    repository, _, revision = what.partition("@")
    return repository, revision or None


def _where(name: str, place: Path) -> str | Path:
    """The folder or the hub id that `name` stands for, as `load` finds it."""
    folders = [place / name] if NAME.fullmatch(name) else []
    folder = next((each for each in (*folders, Path(name).expanduser()) if name and each.is_dir()), None)
    if folder is not None:
        reason = refusal(folder)
        if reason is not None:
            raise CheckpointError(reason)
        return folder if folder.parent == place else folder.resolve()
    if _PINNED.fullmatch(name):
        return name
    raise CheckpointError(f"there is no checkpoint {name!r}; name a folder, or a hub id (owner/name@revision)")


def _fresh(name: str, where: str | Path, taken: dict[str, str | Path]) -> str:
    """`name` as it can stand in an address, with a number if it is taken by something else."""
    clean = re.sub(r"[^\w.@/-]+", "-", name)
    fresh, number = clean, 2
    while taken.get(fresh, where) != where:
        fresh, number = f"{clean}-{number}", number + 1
    return fresh
