"""The logit lens for the decoder: each layer's prediction through the final projection.

Source: nostalgebraist 2020, "interpreting GPT: the logit lens". The output projection was trained on the last
layer alone, so that an early layer's "word" may be nonsense though the layer does its work.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from translator.analysis.passes import pair_of, to_numpy
from translator.pipeline import Translator
from translator.rules import whole
from translator.trace import Candidate, Trace


@dataclass(frozen=True, eq=False)
class Lens:
    """Row l reads the stream before layer l + 1; the last row is the model's output. T steps.

    `best`, `[L + 1][T][k]`: the likeliest tokens, best first. `log_probs` [L + 1, T]: of the produced token, in nats.
    `ranks` [L + 1, T]: its place, 1 the best. `divergence` [L + 1, T]: from the last row, KL(last ‖ row) in nats.
    """

    best: tuple[tuple[tuple[Candidate, ...], ...], ...]
    log_probs: np.ndarray
    ranks: np.ndarray
    divergence: np.ndarray

    @property
    def decided(self) -> np.ndarray:
        """The first row, [T], from which on the produced token stays the best; L + 1 where it never is."""
        later_best = np.logical_and.accumulate((self.ranks == 1)[::-1])[::-1]
        return np.where(later_best.any(axis=0), later_best.argmax(axis=0), len(self.ranks))


def lens(translator: Translator, trace: Trace, *, count: int = 3) -> Lens:
    """Read every layer of the decoder of `trace` with the model's own last norm and output projection.

    Args:
        count: candidates a layer and step.
    Raises:
        InputError: the count is below 1, or another checkpoint made the trace.
    """
    count = whole("count", count, 1, 10**6)
    pair = pair_of(translator, trace)
    with torch.inference_mode():
        states = pair.decode(pair.encode().memory).states[0]
        log_probs = pair.model.output(pair.model.decoder_norm(states)).float().log_softmax(-1)  # (L + 1, T, V)
        own = log_probs.gather(-1, pair.tgt_ids.expand(log_probs.shape[:2])[..., None])
        best = log_probs.topk(min(count, log_probs.shape[-1]))
        ranks = (log_probs > own).sum(-1) + 1
        divergence = (log_probs[-1].exp() * (log_probs[-1] - log_probs)).sum(-1)
    token = translator.bundle.tgt.token
    rows = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    found = tuple(
        tuple(
            tuple(Candidate(token(id_), value) for id_, value in zip(ids, values, strict=True))
            for ids, values in zip(*row, strict=True)
        )
        for row in rows
    )
    return Lens(found, to_numpy(own.squeeze(-1)), ranks.cpu().numpy(), to_numpy(divergence))
