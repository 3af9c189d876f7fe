"""The sentences of a corpus as ids, encoded per epoch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from translator.text import Tokenizer
from translator.training.config import TrainConfig
from translator.training.data import Pair
from translator.training.vary import careless, recopied


class Encoder:
    """Sentences as ids, anew for each epoch where subword dropout, noise or other names and numbers are on."""

    def __init__(self, pairs: Sequence[Pair], src: Tokenizer, tgt: Tokenizer, config: TrainConfig) -> None:
        self.pairs, self.config, self.tokenizers = pairs, config, (src, tgt)
        self.src = [src.pretokens(pair.src) for pair in pairs]
        self.tgt = [tgt.pretokens(pair.tgt) for pair in pairs]
        self.plain: tuple[list[list[int]], list[list[int]]] | None = None

    def __call__(self, epoch: int) -> tuple[list[list[int]], list[list[int]]]:
        """(source ids, target ids) of every pair in this epoch."""
        dropout = self.config.bpe_dropout
        if self.plain is None or dropout:
            seed = self.config.seed * 100_003 + 2 * epoch
            src = self.tokenizers[0].ids_of_pretokens(self.src, dropout=dropout, seed=seed)
            tgt = self.tokenizers[1].ids_of_pretokens(self.tgt, dropout=dropout, seed=seed + 1)
            self.plain = src, tgt
        return self._varied(epoch, *self.plain)

    def _varied(
        self, epoch: int, src: list[list[int]], tgt: list[list[int]]
    ) -> tuple[list[list[int]], list[list[int]]]:
        config = self.config
        if not config.noise and not config.recopied:
            return src, tgt
        rng = np.random.default_rng([config.seed, epoch, 1])  # the order of the batches has a stream of its own
        noisy = rng.random(len(self.pairs)) < config.noise
        other = rng.random(len(self.pairs)) < config.recopied
        src, tgt = list(src), list(tgt)
        changed: list[tuple[int, Pair]] = []
        for place in np.flatnonzero(noisy | other).tolist():
            pair = recopied(self.pairs[place], (config.src, config.tgt), rng) if other[place] else self.pairs[place]
            if noisy[place]:
                pair = Pair(careless(pair.src, config.src, rng), pair.tgt, pair.corpus)
            if pair != self.pairs[place]:
                changed.append((place, pair))
        sides = [pair.src for _, pair in changed], [pair.tgt for _, pair in changed]
        for side, tokenizer, texts in zip((src, tgt), self.tokenizers, sides, strict=True):
            for (place, _), ids in zip(changed, tokenizer.ids_batch(texts), strict=True):
                side[place] = ids
        return src, tgt
