"""Per-head gates for a model of `transformers`, by hooks on its output projections.

The heads' outputs stand side by side in what an output projection reads, so that scaling a head's part there is
what `Attention.merge` does in our own model. The gates in force belong to a thread, as models are shared by threads.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor, nn

from translator.errors import InputError
from translator.model import Gates

# Where the output projections of a layer are, by the family: encoder self, decoder self, cross.
LAYOUTS = (
    ("self_attn.out_proj", "self_attn.out_proj", "encoder_attn.out_proj"),  # BART and its descendants
    ("layer.0.SelfAttention.o", "layer.0.SelfAttention.o", "layer.1.EncDecAttention.o"),  # T5 and its descendants
)
KINDS = ("encoder", "decoder", "cross")


class HeadGates:
    """The hooks of one model; `known` says whether its layout is."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module, counts: dict[str, tuple[int, int]]) -> None:
        self._now = threading.local()
        self._counts = counts
        found = _projections(encoder, decoder, counts)
        self.known = found is not None
        for kind, layers in (found or {}).items():
            for index, projection in enumerate(layers):
                projection.register_forward_pre_hook(self._hook(kind, index))

    @contextlib.contextmanager
    def applied(self, gates: Gates | None) -> Iterator[None]:
        """Scale the heads by `gates` in this thread.

        Raises:
            InputError: it is not known where this model's heads are.
        """
        if gates is not None and gates.alter and not self.known:
            raise InputError(
                "the heads of this model cannot be switched: where its output projections are is not known"
            )
        before = getattr(self._now, "gates", None)
        self._now.gates = gates
        try:
            yield
        finally:
            self._now.gates = before

    def _hook(self, kind: str, layer: int) -> Callable[[nn.Module, tuple[Any, ...]], tuple[Any, ...] | None]:
        heads = self._counts[kind][1]

        def scale(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
            gates: Gates | None = getattr(self._now, "gates", None)
            row = None if gates is None else gates.row(kind, layer)
            if row is None:
                return None
            mixed: Tensor = inputs[0]  # [B, T, H·E]
            factors = row.to(mixed.dtype).repeat_interleave(mixed.shape[-1] // heads, dim=-1)
            return (mixed * (factors[:, None] if factors.dim() == 2 else factors), *inputs[1:])

        return scale


def _projections(
    encoder: nn.Module, decoder: nn.Module, counts: dict[str, tuple[int, int]]
) -> dict[str, list[nn.Module]] | None:
    """The output projections of every layer by kind of attention; None if the layout is unknown."""
    for paths in LAYOUTS:
        found = {}
        for kind, path in zip(KINDS, paths, strict=True):
            side = encoder if kind == "encoder" else decoder
            layers = getattr(side, "layers", None) or getattr(side, "block", None) or ()
            found[kind] = [each for each in (_at(layer, path) for layer in layers) if each is not None]
        if all(len(found[kind]) == counts[kind][0] for kind in KINDS):
            return found
    return None


def _at(module: nn.Module, path: str) -> nn.Module | None:
    try:
        return module.get_submodule(path)
    except AttributeError:
        return None
