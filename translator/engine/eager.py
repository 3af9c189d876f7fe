"""The engine that runs a model by PyTorch alone: the default, and the reference for every other."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from translator.config import ModelConfig
from translator.engine import ranking
from translator.model import Cache, Encoded, Gates, Stepped, Transformer


class EagerSession:
    """Decoding with a KV cache, operator by operator; see `translator.engine.Session`."""

    def __init__(self, model: Transformer, cache: Cache, gates: Gates | None) -> None:
        self.model, self.cache, self.gates = model, cache, gates

    @property
    def length(self) -> int:
        """Steps taken."""
        return self.cache.length

    @property
    def rows(self) -> int:
        """Hypotheses of each source."""
        return self.cache.rows

    def step(self, ids: Tensor | Sequence[int]) -> Stepped:
        """Read one more id of every hypothesis, ids [B]."""
        return self.model.step(self._tensor(ids), self.cache, self.gates)

    def rank(self, logits: Tensor, scores: Sequence[Sequence[float]], count: int) -> ranking.Ranked:
        """The best continuations of scores [N, rows] by what a step gave, logits [B, V]."""
        return ranking.rank(logits, scores, count)

    def reorder(self, rows: Tensor | Sequence[int], *, sources: Tensor | None = None) -> None:
        """Let hypothesis i be what hypothesis rows[i] was; `sources` [N'] names the sources that stay (None = all)."""
        self.cache.reorder(self._tensor(rows), sources=sources)

    def _tensor(self, numbers: Tensor | Sequence[int]) -> Tensor:
        if isinstance(numbers, Tensor):
            return numbers
        return torch.tensor(numbers, device=self.model.output.weight.device)


class EagerEngine:
    """A model run by PyTorch; see `translator.engine.Engine`."""

    def __init__(self, model: Transformer) -> None:
        self.model = model

    @property
    def config(self) -> ModelConfig:
        """The model's."""
        return self.model.config

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return self.model.output.weight.device

    @property
    def nbytes(self) -> int:
        """Bytes of the model's parameters and buffers."""
        return sum(each.nbytes for each in (*self.model.parameters(), *self.model.buffers()))

    def encode(
        self, src_ids: Tensor, src_keep: Tensor | None, gates: Gates | None = None, *, maps: bool = True
    ) -> Encoded:
        """Read sources src_ids [B, S], of which `src_keep` [B, S] (None: all) is real."""
        return self.model.encode(src_ids, src_keep, gates, maps=maps)

    def start(self, encoded: Encoded, *, max_length: int, rows: int = 1, gates: Gates | None = None) -> EagerSession:
        """Begin to decode `rows` hypotheses of each source, at most `max_length` steps."""
        cache = self.model.start(encoded.memory, encoded.src_keep, max_length=max_length, rows=rows)
        return EagerSession(self.model, cache, gates)

    def compile(self, *, wait: bool = False) -> None:
        """Nothing: PyTorch's operators are there already."""
