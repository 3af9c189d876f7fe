"""A given translation scored by the model, token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from translator.analysis.passes import pair_of
from translator.decode.beam import penalty
from translator.pipeline import Translator
from translator.settings import Settings, Unpack
from translator.trace import Trace

Verdict = Literal["same", "search error", "model error"]


@dataclass(frozen=True, eq=False)
class Forced:
    """A given target beside the model's own choice.

    `trace` is the given target's, `chosen` what the model decodes. `ranks` [T]: the place of each given token among
    all of the vocabulary at its step, 1 the most probable. `score` and `chosen_score` are summed log-probabilities
    in nats; `ranked` and `chosen_ranked` the same after the length penalty, by which a search ranks.
    """

    trace: Trace
    chosen: Trace
    ranks: np.ndarray
    ranked: float
    chosen_ranked: float

    @property
    def score(self) -> float:
        """Summed log-probability of the given target, in nats."""
        return self.trace.score

    @property
    def chosen_score(self) -> float:
        """Summed log-probability of the model's own choice, in nats."""
        return self.chosen.score

    @property
    def verdict(self) -> Verdict:
        """Whose error it is that the model did not choose the given target, supposing that it should have.

        "search error": the model ranks the given target above its choice, so that the search missed it.
        "model error": the model ranks its own choice at least as high. Source: Stahlberg and Byrne 2019.
        """
        if [token.id for token in self.trace.tgt] == [token.id for token in self.chosen.tgt]:
            return "same"
        return "search error" if self.ranked > self.chosen_ranked else "model error"


def force(translator: Translator, text: str, target: str | Sequence[int], **settings: Unpack[Settings]) -> Forced:
    """Force `target` (text, or ids with their EOS) on the model, and let it choose for itself beside it.

    Args:
        settings: fields of `DecodeConfig` for the model's own choice, and for the length penalty.
    Raises:
        InputError: text or target is blank, or longer than the limit; nothing is cut. Or there are gates.
    """
    trace = translator.force(text, target, **settings)
    ranks = token_ranks(translator, trace)
    chosen = translator.translate(text, **settings)
    eos_id = translator.bundle.tgt.eos_id
    return Forced(trace, chosen, ranks, _ranked(trace, eos_id), _ranked(chosen, eos_id))


def token_ranks(translator: Translator, trace: Trace) -> np.ndarray:
    """The place of each produced token of `trace` in its step's distribution: [T] whole numbers, 1 the best.

    Raises:
        InputError: the trace is not of this model (see `pair_of`).
    """
    pair = pair_of(translator, trace)
    with torch.inference_mode():
        logits = pair.decode(pair.encode().memory).logits[0]
        own = logits.gather(1, pair.tgt_ids[:, None])
        return ((logits > own).sum(-1) + 1).cpu().numpy()


def _ranked(trace: Trace, eos_id: int) -> float:
    """The score by which a search with the trace's settings would rank it; greedy search has no penalty."""
    config = trace.settings
    forced = config.force_eos and trace.truncated and trace.tgt[-1].id == eos_id  # such an end counts 0
    score = float(trace.log_probs[: -1 if forced else None].sum())
    return score / penalty(len(trace.tgt), config) if config.method == "beam" else score
