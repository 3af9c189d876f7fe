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
    `cross_key` [N, H, d_head, S] (laid out for the product) and `cross_value` [N, H, S, d_head].
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
    in training. `src_keep` is [N, 1, 1, S] or None. `length` counts the steps taken. `single` steps while there
    is but one hypothesis.
    """

    layers: list[LayerCache]
    src_keep: Tensor | None
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

    def cross(self, query: Tensor, layer: LayerCache, d_head: int) -> tuple[Tensor, Tensor]:
        """Cross-attention of query [N, H, rows, d_head]: mixed [N, H, rows, d_head] and weights [N, H, rows, S]."""
        scores = query @ layer.cross_key * d_head**-0.5
        if self.src_keep is not None:
            scores = scores.masked_fill(~self.src_keep, float("-inf"))
        weights = scores.softmax(dim=-1)
        if self.src_keep is not None:
            weights = weights.masked_fill(~self.src_keep, 0.0)
        return weights @ layer.cross_value, weights

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
        if sources is not None and self.src_keep is not None:
            self.src_keep = self.src_keep[sources]
        self.rows, self.single = len(rows) // count, None

    def _pick(self, kept: Tensor, rows: Tensor) -> Tensor:
        """Rows of [B, H, max_length, d_head]; only what is filled is copied."""
        filled = kept[:, :, : self.length].index_select(0, rows)
        if len(rows) != kept.shape[0]:
            kept = kept.new_empty(len(rows), *kept.shape[1:])
        kept[:, :, : self.length] = filled
        return kept
