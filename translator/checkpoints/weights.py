"""Reading and writing weights as safetensors, with validation before a tensor is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch

from translator.config import ModelConfig
from translator.errors import CheckpointError, TranslatorError
from translator.model import Transformer

MAX_HEADER = 2**20
MAX_TENSORS = 2000
DTYPES = {"float32": ("F32", torch.float32), "float16": ("F16", torch.float16)}


def check_header_size(path: Path) -> int:
    """The size of a safetensors header in bytes, by its first eight.

    Raises:
        CheckpointError: it is larger than a header may be, or than the file.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
    if size > MAX_HEADER:
        raise CheckpointError(f"{path} has a header of {size} bytes; it may have {MAX_HEADER}")
    if size + 8 > path.stat().st_size:
        raise CheckpointError(f"{path} is cut off within its header; fetch the checkpoint again")
    return size


def to_safetensors(model: Transformer, dtype: str) -> bytes:
    """The weights of `model` as a safetensors file; a tensor that two parts share is stored once.

    Raises:
        TranslatorError: a weight is not finite, or is not any more once it is stored as `dtype`.
    """
    tensors = {}
    for name, parameter in model.named_parameters():
        tensors[name] = parameter.detach().to(device="cpu", dtype=DTYPES[dtype][1]).contiguous()
        if not tensors[name].isfinite().all():
            raise TranslatorError(f"the weights {name} are not finite as {dtype}; go back to an earlier step")
    return safetensors.torch.save(tensors)


def unpack(path: Path, config: ModelConfig, dtype: str) -> Transformer:
    """Build the model of `config` in float32 and fill it from `path`.

    Raises:
        CheckpointError: the first tensor that is missing, superfluous, of another shape or dtype, or not finite.
    """
    with torch.device("meta"):
        expected = {name: list(p.shape) for name, p in Transformer(config).named_parameters()}
    _check_header(path, _header(path), expected, DTYPES[dtype][0])
    try:
        tensors = safetensors.torch.load_file(path)
    except (OSError, ValueError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}; fetch the checkpoint again") from error
    model = Transformer(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not tensors[name].isfinite().all():
                raise CheckpointError(f"{path}: {name} holds values that are not finite; fetch the checkpoint again")
            parameter.copy_(tensors[name])
    return model.eval().requires_grad_(False)


def _header(path: Path) -> dict[str, Any]:
    """The tensors that the header names."""
    size = check_header_size(path)
    with path.open("rb") as file:
        file.seek(8)
        try:
            header = json.loads(file.read(size))
        except (ValueError, RecursionError) as error:
            raise CheckpointError(f"{path} has no readable header: {error}") from error
    if not isinstance(header, dict) or not all(isinstance(entry, dict) for entry in header.values()):
        raise CheckpointError(f"{path} has no header of tensors")
    header.pop("__metadata__", None)
    if len(header) > MAX_TENSORS:
        raise CheckpointError(f"{path} names {len(header)} tensors; it may name {MAX_TENSORS}")
    return header


def _check_header(path: Path, header: dict[str, Any], expected: dict[str, list[int]], dtype: str) -> None:
    for name, shape in expected.items():
        entry = header.get(name)
        if entry is None:
            raise CheckpointError(f"{path} lacks {name}, which its config.json asks for")
        if entry.get("shape") != shape:
            raise CheckpointError(f"{path}: {name} has the shape {entry.get('shape')}, config.json asks for {shape}")
        if entry.get("dtype") != dtype:
            raise CheckpointError(f"{path}: {name} is {entry.get('dtype')}, config.json asks for {dtype}")
    for name in header:
        if name not in expected:
            raise CheckpointError(f"{path} holds {name}, which its config.json does not ask for")
