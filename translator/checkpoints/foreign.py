"""Tensors from foreign files, validated one by one; nothing is executed."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from translator.checkpoints.cost import check_model_cost, check_room
from translator.checkpoints.manifest import MAX_SIDE_BYTES, read_json
from translator.checkpoints.weights import MAX_TENSORS, check_header_size
from translator.config import ModelConfig
from translator.errors import CheckpointError, InputError
from translator.model import Transformer
from translator.text.tokenizer import SPECIALS


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Every tensor of a safetensors file, or of what `torch.save` wrote, on the CPU.

    A pickle is read with PyTorch's restricted unpickler: whatever is not tensors and plain containers is refused
    before it runs. A training state that holds its weights under "model_state_dict" gives these.

    Raises:
        CheckpointError: the file is cut off, damaged, or holds something else than tensors.
    """
    check_room(path)
    if path.suffix == ".safetensors":
        check_header_size(path)
        try:
            tensors = safetensors.torch.load_file(path)
        except (OSError, ValueError, safetensors.SafetensorError) as error:
            raise CheckpointError(f"{path} cannot be read: {error}; fetch the checkpoint again") from error
    else:
        tensors = _unpickle(path)
    if len(tensors) > MAX_TENSORS:
        raise CheckpointError(f"{path} holds {len(tensors)} tensors; it may hold {MAX_TENSORS}")
    return tensors


def _unpickle(path: Path) -> dict[str, Tensor]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > 2 * path.stat().st_size:
                raise CheckpointError(f"{path} is compressed, as no weights are; it is not unpacked")
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a hostile file makes the unpickler raise nearly anything
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CheckpointError(
            f"{path} is cut off, damaged, or holds more than weights, and none of it was run ({reason[:200]})"
        ) from error
    if isinstance(found, Mapping) and isinstance(found.get("model_state_dict"), Mapping):
        found = found["model_state_dict"]
    if not isinstance(found, Mapping):
        raise CheckpointError(f"{path} holds a {type(found).__name__}; it must hold named tensors")
    for name, value in found.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise CheckpointError(f"{path}: {name!r} is a {type(value).__name__}; every entry must be a named tensor")
        if value.layout is not torch.strided or value.numel() * value.element_size() > value.untyped_storage().nbytes():
            raise CheckpointError(f"{path}: {name!r} has more numbers than the file holds; save it contiguous")
    return dict(found)


class Weights:
    """The tensors of one file, handed out once each, in float32."""

    def __init__(self, path: Path) -> None:
        """Read `path`; see `read_tensors` for the errors."""
        self.path = path
        self._tensors = read_tensors(path)
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def shape(self, name: str, axes: int) -> tuple[int, ...]:
        """The shape of a tensor that has `axes` axes.

        Raises:
            CheckpointError: there is no such tensor, or it has another number of axes.
        """
        found = self._find(name)
        if found.dim() != axes:
            raise CheckpointError(f"{self.path}: {name} has the shape {list(found.shape)}; it must have {axes} axes")
        return tuple(found.shape)

    def take(self, name: str, *shape: int) -> Tensor:
        """A tensor of `shape` as float32.

        Raises:
            CheckpointError: it is missing, of another shape, no floating-point tensor, or not finite.
        """
        found = self._find(name)
        if tuple(found.shape) != shape:
            raise CheckpointError(f"{self.path}: {name} has the shape {list(found.shape)}, want {list(shape)}")
        if not found.is_floating_point() or found.is_sparse:
            raise CheckpointError(f"{self.path}: {name} is {found.dtype}; weights are floating-point numbers")
        if not found.isfinite().all():
            raise CheckpointError(f"{self.path}: {name} holds values that are not finite; fetch the checkpoint again")
        self._taken.add(name)
        return found.float()

    def linear(self, name: str, rows: int, columns: int, *, bias: bool = True) -> dict[str, Tensor]:
        """`name`.weight [rows, columns] and, with `bias`, `name`.bias [rows], as "weight" and "bias"."""
        part = {"weight": self.take(f"{name}.weight", rows, columns)}
        return {**part, "bias": self.take(f"{name}.bias", rows)} if bias else part

    def norm(self, name: str, width: int, weight: str = "weight", bias: str | None = "bias") -> dict[str, Tensor]:
        """A layer norm's gain and offset, as "weight" and "bias"; `bias` None for a norm without one."""
        part = {"weight": self.take(f"{name}.{weight}", width)}
        return {**part, "bias": self.take(f"{name}.{bias}", width)} if bias else part

    def finish(self, ignored: str = "(?!)") -> None:
        """Refuse the file if it holds a tensor that was neither taken nor matches `ignored` whole.

        Raises:
            CheckpointError: it does, and the message names the tensor.
        """
        for name in self._tensors:
            if name not in self._taken and not re.fullmatch(ignored, name):
                raise CheckpointError(f"{self.path} holds {name}, which this layout does not know")

    def _find(self, name: str) -> Tensor:
        if name not in self._tensors:
            raise CheckpointError(f"{self.path} lacks {name}")
        return self._tensors[name]


def count_layers(weights: Weights, pattern: str) -> int:
    """How many consecutive layers, from 0, have the tensor that `pattern` names with {}."""
    count = 0
    while pattern.format(count) in weights:
        count += 1
    return count


def stacked(parts: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Several linear layers as one: their rows below each other."""
    parts = list(parts)
    return {key: torch.cat([part[key] for part in parts]) for key in parts[0]}


def assemble(config: ModelConfig, parts: Mapping[str, Mapping[str, Tensor]]) -> Transformer:
    """The model of `config` with the weights of `parts`: {module: {"weight": tensor, "bias": tensor}}.

    A module named "" holds parameters of the model itself.

    Raises:
        ValueError: the names are not those of the model.
    """
    tensors = {f"{module}.{name}".lstrip("."): value for module, part in parts.items() for name, value in part.items()}
    model = Transformer(config)
    named = dict(model.named_parameters())
    if named.keys() != tensors.keys():
        raise ValueError(f"weights and model differ in {sorted(named.keys() ^ tensors.keys())[:3]}")
    with torch.no_grad():
        for name, parameter in named.items():
            parameter.copy_(tensors[name])
    return model.eval().requires_grad_(False)


def reordered(tensor: Tensor, order: Iterable[int | None], fill: float = 0.0) -> Tensor:
    """Rows of `tensor` in the `order` of their old ids; a row of `fill` for None."""
    empty = torch.full_like(tensor[0], fill)
    return torch.stack([empty if row is None else tensor[row] for row in order])


def read_words(path: Path, special: Mapping[str, str]) -> tuple[list[str], list[int | None]]:
    """A vocabulary {word: id} as our pieces and, for each, the id that it had.

    Args:
        special: their names of our first tokens, by ours; one that is not named was not there.
    Raises:
        CheckpointError: the file is missing or no such mapping, or lacks a special word.
    """
    if not path.is_file():
        raise CheckpointError(f"{path} is missing; export the vocabulary once as JSON, see docs/checkpoints.md")
    ids = read_json(path, MAX_SIDE_BYTES)
    words: dict[int, str] = {}
    for word, id_ in ids.items():
        if not isinstance(id_, int) or isinstance(id_, bool) or id_ < 0 or id_ in words:
            raise CheckpointError(f"{path}: the id of {word!r} is {id_!r}; every word has an id of its own from 0")
        words[id_] = word
    for name in special.values():
        if name not in ids:
            raise CheckpointError(f"{path} lacks the word {name!r}")
    taken = {ids[name] for name in special.values()}
    rest = [id_ for id_ in sorted(words) if id_ not in taken]
    pieces = [*SPECIALS, *(words[id_] for id_ in rest)]
    return pieces, [*(ids[special[name]] if name in special else None for name in SPECIALS), *rest]


def model_config(path: Path, **values: object) -> ModelConfig:
    """A `ModelConfig` of what a foreign file says.

    Raises:
        CheckpointError: `path` says something that no model can have.
    """
    try:
        config = ModelConfig(**values)  # type: ignore[arg-type]
        check_model_cost(config)
        return config
    except (CheckpointError, InputError, TypeError) as error:
        raise CheckpointError(f"{path}: {error}") from error
