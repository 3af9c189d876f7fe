"""What a model takes and returns: the gates of its heads, and every attention weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Gates:
    """A factor for each head of each attention; None leaves that attention alone (Voita et al. 2019).

    Each is [L, H], or [L, B, H] for a gate of its own for every row of the batch.
    """

    encoder: Tensor | None = None
    decoder: Tensor | None = None
    cross: Tensor | None = None

    @property
    def alter(self) -> bool:
        """Whether a head is changed at all."""
        return any(gates is not None and not bool((gates == 1).all()) for gates in self._all)

    def row(self, kind: str, layer: int) -> Tensor | None:
        """The gates of one layer, [H] or [B, H]."""
        gates = getattr(self, kind)
        return None if gates is None else gates[layer]

    def to(self, device: torch.device) -> Gates:
        """The same gates on another device."""
        return Gates(*(None if gates is None else gates.to(device) for gates in self._all))

    @property
    def _all(self) -> tuple[Tensor | None, ...]:
        return self.encoder, self.decoder, self.cross


@dataclass(frozen=True, eq=False)
class Encoded:
    """memory [B, S, D]; weights [B, L, H, S, S]; states [B, L + 1, S, D], the stream before layer 1 and after each.

    `memory` is the encoder's output, as `torch.nn.TransformerDecoder` calls it; `src_keep` [B, S] is True where it may
    be read, None: everywhere. Without maps there are no layers: weights [B, 0, 0, S, S] and states [B, 0, S, D].
    """

    memory: Tensor
    weights: Tensor
    states: Tensor
    src_keep: Tensor | None = None

    @classmethod
    def without_maps(cls, memory: Tensor, src_keep: Tensor | None = None) -> Encoded:
        """What a decoder needs of an encoder, memory [B, S, D] and which of it may be read."""
        batch, length, width = memory.shape
        return cls(
            memory,
            memory.new_empty(batch, 0, 0, length, length),
            memory.new_empty(batch, 0, length, width),
            src_keep,
        )


@dataclass(frozen=True, eq=False)
class Decoded:
    """logits [B, T, V]; decoder [B, L, H, T, T]; cross [B, L, H, T, S]; states [B, L + 1, T, D]."""

    logits: Tensor
    decoder: Tensor
    cross: Tensor
    states: Tensor


@dataclass(frozen=True, eq=False)
class Stepped:
    """What one cached step gives: logits [B, V], and the weights that each layer read by.

    `own` are over all T tokens read so far, [B, L, H, T] or a list of [B, H, T]; `over_source` alike, over S. `total`
    is the logits' sum, where who made them has it: it is finite only where all of them are.
    """

    logits: Tensor
    own: Tensor | np.ndarray | Sequence[Tensor]
    over_source: Tensor | np.ndarray | Sequence[Tensor]
    total: float | None = None

    @cached_property
    def decoder(self) -> Tensor:
        """Weights of the decoder's own attention, [B, L, H, T]."""
        return _stacked(self.own)

    @cached_property
    def cross(self) -> Tensor:
        """Weights of cross-attention, [B, L, H, S]."""
        return _stacked(self.over_source)

    @property
    def nbytes(self) -> int:
        """Bytes of the weights that each layer read by."""
        return sum(_nbytes(each) for each in (self.own, self.over_source))


def _nbytes(layers: Tensor | np.ndarray | Sequence[Tensor]) -> int:
    return layers.nbytes if isinstance(layers, (Tensor, np.ndarray)) else sum(each.nbytes for each in layers)


def _stacked(layers: Tensor | np.ndarray | Sequence[Tensor]) -> Tensor:
    if isinstance(layers, np.ndarray):
        return torch.from_numpy(layers)
    return layers if isinstance(layers, Tensor) else torch.stack(tuple(layers), 1)
