"""What a decoder remembers between two steps: its own keys and values, and those of the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from translator.model.single import Single


@dataclass(eq=False)
class LayerCache:
    """One layer's keys and values.

    `key`, `value`: [B, H, max_length, d_head], filled up to the cache's length.
    `cross_key`, `cross_value`: [N, H, S, d_head].
    """

    key: Tensor
    value: Tensor
    cross_key: Tensor
    cross_value: Tensor

    def append(self, key: Tensor, value: Tensor, length: int) -> tuple[Tensor, Tensor]:
        """Write key and value [B, H, 1, d_head] at index `length`; returns all up to and with it.

        Raises:
            ValueError: the cache is full.
        """
        if length >= self.key.shape[2]:
            raise ValueError(f"the cache holds {self.key.shape[2]} steps and is full")
        self.key[:, :, length : length + 1] = key
        self.value[:, :, length : length + 1] = value
        return self.key[:, :, : length + 1], self.value[:, :, : length + 1]


@dataclass(eq=False)
class Cache:
    """The memory of N sources × `rows` hypotheses; hypotheses of one source are neighbours in the batch B = N·rows.

    Sources are read once for all their hypotheses: in cross-attention these stand where time stands
    in training. `hidden` [N, 1, 1, S] is True where a source is not to be read, or None. `length` counts the steps
    taken. `single` steps while there is but one hypothesis.
    """

    layers: list[LayerCache]
    hidden: Tensor | None
    rows: int
    length: int = 0
    single: Single | None = None

    def by_source(self, x: Tensor) -> Tensor:
        """[N·rows, H, 1, E] as [N, H, rows, E]."""
        if self.rows == 1:
            return x
        return x.squeeze(2).unflatten(0, (-1, self.rows)).transpose(1, 2)

    def by_row(self, x: Tensor) -> Tensor:
        """[N, H, rows, E] as [N·rows, H, 1, E]."""
        if self.rows == 1:
            return x
        return x.transpose(1, 2).flatten(0, 1).unsqueeze(2)

    def reorder(self, rows: Tensor, *, sources: Tensor | None = None) -> None:
        """Let hypothesis i be what hypothesis rows[i] was; `sources` [N'] names the sources that stay (None = all).

        Raises:
            ValueError: the rows are not a whole number for each source.
        """
        count = self.layers[0].cross_key.shape[0] if sources is None else len(sources)
        if len(rows) % count:
            raise ValueError(f"{len(rows)} hypotheses cannot be shared out over {count} sources")
        for layer in self.layers:
            layer.key = self._pick(layer.key, rows)
            layer.value = self._pick(layer.value, rows)
            if sources is not None:
                layer.cross_key, layer.cross_value = layer.cross_key[sources], layer.cross_value[sources]
        if sources is not None and self.hidden is not None:
            self.hidden = self.hidden[sources]
        self.rows, self.single = len(rows) // count, None

    def _pick(self, kept: Tensor, rows: Tensor) -> Tensor:
        """Rows of [B, H, max_length, d_head]; only what is filled is copied."""
        filled = kept[:, :, : self.length].index_select(0, rows)
        if len(rows) != kept.shape[0]:
            kept = kept.new_empty(len(rows), *kept.shape[1:])
        kept[:, :, : self.length] = filled
        return kept
