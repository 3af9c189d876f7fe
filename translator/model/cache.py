"""The KV cache: keys and values of the tokens read so far, and those of the source."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(eq=False)
class Cache:
    """The KV cache of N sources × `rows` hypotheses; those of one source are neighbours in the batch B = N·rows.

    `keys`, `values`: [L, B, H, max_length, d_head], filled up to `length`, the steps taken.
    `cross_keys`, `cross_values`: [L, N, H, S, d_head].
    Sources are read once for all their hypotheses: in cross-attention these stand where time stands
    in training. `hidden` [N, 1, 1, S] is True where a source is not to be read, or None.
    """

    keys: Tensor
    values: Tensor
    cross_keys: Tensor
    cross_values: Tensor
    hidden: Tensor | None
    rows: int
    length: int = 0

    @property
    def first(self) -> Tensor | int:
        """Where the next token stands, from 0."""
        return self.length

    @property
    def unread(self) -> Tensor | None:
        """Which keys that `append` returns are not to be read; None as here there are none."""
        return None

    def append(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Write a layer's key and value [B, H, 1, d_head] of the next step; returns all up to and with it.

        Raises:
            ValueError: the cache is full.
        """
        self.check()
        end = self.length + 1
        self.keys[layer, :, :, self.length : end] = key
        self.values[layer, :, :, self.length : end] = value
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def advance(self) -> None:
        """Count the step whose keys and values are written in every layer."""
        self.length += 1

    def check(self) -> None:
        """Refuse a step more than there is room for.

        Raises:
            ValueError: the cache is full.
        """
        if self.length >= self.keys.shape[3]:
            raise ValueError(f"the cache holds {self.keys.shape[3]} steps and is full")

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
        count = self.cross_keys.shape[1] if sources is None else len(sources)
        if len(rows) % count:
            raise ValueError(f"{len(rows)} hypotheses cannot be shared out over {count} sources")
        self.keys, self.values = self._pick(self.keys, rows), self._pick(self.values, rows)
        if sources is not None:
            self.cross_keys, self.cross_values = self.cross_keys[:, sources], self.cross_values[:, sources]
            if self.hidden is not None:
                self.hidden = self.hidden[sources]
        self.rows = len(rows) // count

    def _pick(self, kept: Tensor, rows: Tensor) -> Tensor:
        """Rows of [L, B, H, max_length, d_head]; only what is filled is copied."""
        filled = kept[:, :, :, : self.length].index_select(1, rows)
        if len(rows) != kept.shape[1]:
            kept = kept.new_empty(kept.shape[0], len(rows), *kept.shape[2:])
        kept[:, :, :, : self.length] = filled
        return kept
