"""Find a checkpoint by name, folder or hub id, verify it, and load it as a `Bundle`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import torch

from translator.checkpoints.bundle import CARD, CONFIG, FORMAT_VERSION, SRC, TGT, WEIGHTS, Bundle
from translator.checkpoints.cost import check_decode_cost, check_model_cost, check_room
from translator.checkpoints.destination import former
from translator.checkpoints.hub import download
from translator.checkpoints.layouts import load_foreign
from translator.checkpoints.manifest import inside, read_json, verify
from translator.checkpoints.save import vocabulary_mismatch
from translator.checkpoints.shelf import (
    HUB_ID,
    MANIFEST,
    NAME,
    checkpoints_folder,
    is_foreign,
    pickle_refusal,
    pickled,
)
from translator.checkpoints.weights import DTYPES, check_header_size, unpack
from translator.config import DecodeConfig, ModelConfig, TextConfig, from_dict
from translator.errors import CheckpointError, InputError
from translator.text import Tokenizer, load_tokenizer
from translator.text.casing import with_casing
from translator.trace import CheckpointId

log = logging.getLogger(__name__)
KEYS = ("format", "name", "languages", "dtype", "model", "text", "decode")


def load_bundle(name: str | Path, *, device: str = "auto", revision: str | None = None) -> Bundle:
    """Load a checkpoint after verifying every file of it; one of `transformers` too, but for the manifest.

    Weights are safetensors: a pickle is read only by `convert`.

    Args:
        name: a name in the checkpoints folder ("de-en"), a folder, or a hub id ("owner/name").
        device: "auto" (CUDA where there is one that takes the model), or what PyTorch calls a device.
        revision: of a hub id only: a branch, a tag or, to pin it, the 40 hex digits of a commit.
    Raises:
        CheckpointError: it is missing, damaged, its weights are a pickle, or its files do not fit each other.
        InputError: the device does not exist or has no room, or a revision was given for a folder.
    """
    if not isinstance(name, (str, Path)):
        raise InputError(f"the checkpoint is {name!r:.40}; name it by a text or a path")
    place = choose_device(device)
    bundle = _find(name, revision)
    try:
        bundle.model.to(place)
    except RuntimeError as error:  # as a rule its memory ran out, when some of the weights were there
        if device != "auto":
            said = f"device is {device!r}, which does not take {name}: {error}; use 'auto' or 'cpu'"
            raise InputError(said) from error
        log.warning("%s stays on the CPU: %s", bundle.info.name, error)
        bundle.model.cpu()
    return bundle


def _find(name: str | Path, revision: str | None) -> Bundle:
    """The checkpoint, on the CPU."""
    bundle = _loaded(name, revision)
    try:
        check_decode_cost(bundle.model.config, bundle.decode)
    except CheckpointError as error:
        raise CheckpointError(f"{bundle.folder}: {error}") from error
    return bundle


def _loaded(name: str | Path, revision: str | None) -> Bundle:
    folder = _local(name)
    if folder is None:
        if not HUB_ID.fullmatch(str(name)):
            raise CheckpointError(f"there is no checkpoint {str(name)!r}; {_known()}")
        folder = download(str(name), revision or "main")
        return _read(folder, root=folder.parents[1], name=f"{name}@{folder.name[:12]}")
    if revision is not None:
        raise InputError(f"revision is {revision!r}, but {folder} is a folder; revisions are for hub ids (owner/name)")
    return _read(folder, root=folder)


def choose_device(name: str | torch.device) -> torch.device:
    """The device that `name` means: "auto" is CUDA where there is one.

    Raises:
        InputError: there is no such device here.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        if not isinstance(name, (str, torch.device)):
            raise TypeError(f"device is {type(name).__name__}; it must be a string")
        device = torch.device(name)
        if device.type == "meta":
            raise ValueError("the device meta holds no data")
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError, ValueError, TypeError, ImportError) as error:
        raise InputError(f"device is {name!r}, which is not available here; use 'auto' or 'cpu'") from error
    return device


def _local(name: str | Path) -> Path | None:
    """The folder that `name` stands for, or None if it names none."""
    try:
        if isinstance(name, str) and NAME.fullmatch(name):
            folder = whole_folder(checkpoints_folder() / name)
            if folder.is_dir():
                return folder
        folder = whole_folder(Path(name).expanduser())
        return folder if str(name) and folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # too long a name, a NUL in it, or nobody's home
        return None


def whole_folder(folder: Path) -> Path:
    """`folder`, or the former one that a save left beside it when it was killed between its two moves."""
    return former(folder) if folder.name and not folder.exists() and former(folder).is_dir() else folder


def _known() -> str:
    folder = checkpoints_folder()
    names = sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST}") if not path.parent.name.startswith("."))
    found = f"{folder} holds {', '.join(names)}" if names else f"{folder} holds none"
    return f"{found}; a folder or a hub id (owner/name) will do as well"


def _read(folder: Path, *, root: Path, name: str | None = None) -> Bundle:
    """Verify and load `folder`; `name` overrules the name it gives itself."""
    if is_foreign(folder):
        return load_foreign(folder, root=root, name=name)
    pickle = pickled(folder)
    if pickle is not None:
        raise CheckpointError(pickle_refusal(folder, pickle))
    weights = inside(folder, WEIGHTS, root)
    check_header_size(weights)  # before a byte of it is hashed
    config = read_json(inside(folder, CONFIG, root), 2**20)
    try:
        src_language, tgt_language = _check_config(config)
        model_config = from_dict(ModelConfig, config["model"])
        decode = from_dict(DecodeConfig, config["decode"])
        text = {side: from_dict(TextConfig, config["text"][side]) for side in ("src", "tgt")}
        check_model_cost(model_config)
    except (CheckpointError, InputError, KeyError, TypeError) as error:
        raise CheckpointError(f"{folder / CONFIG}: {error}") from error
    check_room(weights, widened=2 if config["dtype"] == "float16" else 1)
    digests = verify(folder, root)
    tokenizers = {side: _tokenizer(folder / file, text[side]) for side, file in (("src", SRC), ("tgt", TGT))}
    model = unpack(weights, model_config, config["dtype"])
    mismatch = vocabulary_mismatch(model, tokenizers["src"], tokenizers["tgt"])
    if mismatch:
        raise CheckpointError(f"{folder}: {mismatch}")
    return Bundle(
        model=model,
        src=with_casing(tokenizers["src"]),
        tgt=tokenizers["tgt"],
        info=CheckpointId(name or config["name"], digests[WEIGHTS], src_language, tgt_language),
        decode=decode,
        card=(folder / CARD).read_text(encoding="utf-8", errors="replace"),
        folder=folder,
    )


def _check_config(config: dict[str, Any]) -> tuple[str, str]:
    """Keys and plain values of config.json; returns the two languages."""
    for key in KEYS:
        if key not in config:
            raise InputError(f"it lacks {key!r}")
    if config["format"] != FORMAT_VERSION:
        raise InputError(f"format is {config['format']!r}; this version reads {FORMAT_VERSION}")
    for key in config:
        if key not in KEYS:
            raise InputError(f"it holds {key!r}; known are {', '.join(KEYS)}")
    if config["dtype"] not in DTYPES:
        raise InputError(f"dtype is {config['dtype']!r}; it must be one of {', '.join(DTYPES)}")
    languages = config["languages"]
    if not isinstance(languages, list) or len(languages) != 2 or not all(isinstance(x, str) for x in languages):
        raise InputError(f"languages is {languages!r}; it must be two codes, source and target")
    if not isinstance(config["name"], str):
        raise InputError(f"name is {config['name']!r}; it must be text")
    return languages[0], languages[1]


def _tokenizer(path: Path, config: TextConfig) -> Tokenizer:
    tokenizer = load_tokenizer(path)
    if tokenizer.config != config:
        raise CheckpointError(f"{path} is set up as {tokenizer.config}, but {CONFIG} asks for {config}")
    return tokenizer
