"""Faithfulness of attention: its ranking of source words against occlusion.

Truth by occlusion: how much log-probability a target token loses when no attention may read one source word.
Sources: Jain and Wallace 2019, "Attention is not explanation"; Serrano and Smith 2019; the debate is older than
any number here. Occlusion itself is a sentence that the model never saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import rankdata

from translator.analysis.aggregate import by_word, word_groups
from translator.analysis.norms import cross_norms, share
from translator.analysis.passes import pair_of, to_numpy
from translator.analysis.rollout import rollout
from translator.analysis.stopping import Stop, ask
from translator.errors import InputError
from translator.pipeline import Translator
from translator.rules import whole
from translator.trace import Trace

METHODS = ("raw", "norm", "rollout")
DRAWS = 500
CHANCE = 0.95
POSITIONS = 768
"""Tokens of both sides of one pass: on one core about a sixth of a second, for which others wait for their turn."""
CELLS = 1 << 18
"""Words of random orders that are ranked at once: less than a tenth of a second."""


@dataclass(frozen=True, eq=False)
class Faithfulness:
    """Rank correlations of attention with occlusion.

    `words` names the W source words. `loss` [T, W]: log-probability in nats that target token t loses without word w
    (below 0: it gains). `shares` [T, W] of each method, rows summing to 1 over all that the model reads, specials
    included. `correlation` [T] of each method: Spearman's, NaN where one side is constant. `chance`: what the mean
    over steps of random orders stays below in 95 of 100 draws.
    """

    words: tuple[str, ...]
    loss: np.ndarray
    shares: dict[str, np.ndarray]
    correlation: dict[str, np.ndarray]
    chance: float

    def mean(self, method: str) -> float:
        """The mean correlation over the steps that have one; NaN if none has."""
        values = self.correlation[method]
        return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")

    def believable(self, method: str) -> bool:
        """Whether the mean is beyond chance."""
        return self.mean(method) > self.chance


def faithfulness(translator: Translator, trace: Trace, *, seed: int = 0, stop: Stop | None = None) -> Faithfulness:
    """Measure "raw" (mean of all cross heads), "norm" (mean of the layers' cross norm shares) and "rollout".

    Raises:
        InputError: the source has fewer than three words, whose order could be anything; or another checkpoint
            made the trace.
        CancelledError: `stop` said so.
    """
    seed = whole("seed", seed, 0, 2**63 - 1)
    groups = word_groups(trace.src)
    owned = np.array([not token.special for token in trace.src])
    words = np.unique(groups[owned])
    if len(words) < 3:
        raise InputError(
            f"the source has {len(words)} words and punctuation marks; a rank correlation needs at least 3"
        )
    loss = occlusion(translator, trace, [groups == word for word in words], stop=stop)
    ask(stop, "the faithfulness meter")
    maps = {
        "raw": trace.cross.astype(np.float64).mean(axis=(0, 1)),
        "norm": share(cross_norms(translator, trace)).mean(axis=0),
        "rollout": rollout(trace.encoder, trace.decoder, trace.cross).source_rows,
    }
    rows = np.arange(len(trace.tgt))
    shares = {name: by_word(weights, rows, groups)[:, words] for name, weights in maps.items()}
    correlation = {name: spearman(weights, loss) for name, weights in shares.items()}
    surfaces = tuple(trace.source[slice(*_span(trace, groups == word))] for word in words)
    return Faithfulness(surfaces, loss, shares, correlation, chance_level(loss, seed=seed, stop=stop))


def occlusion(
    translator: Translator, trace: Trace, hidden: Sequence[np.ndarray], *, stop: Stop | None = None
) -> np.ndarray:
    """Log-probability in nats that each target token loses when source tokens are hidden: [T, len(hidden)].

    Args:
        hidden: bool [S] each; no attention, the encoder's own included, reads a hidden token.
    Raises:
        InputError: a mask is not bool [S], or nothing would be left to read.
        CancelledError: `stop` said so.
    """
    pair = pair_of(translator, trace)
    masks = [np.asarray(mask) for mask in hidden]
    for mask in masks:
        if mask.dtype != np.bool_ or mask.shape != (len(trace.src),):
            raise InputError(f"a mask is {mask.dtype} {mask.shape}; it must be bool ({len(trace.src)},)")
    if not masks:
        return np.zeros((len(trace.tgt), 0))
    keep = torch.from_numpy(~np.stack(masks)).to(translator.device)
    if not keep.any(dim=1).all():
        raise InputError("every source token would be hidden; leave one to read")
    keep = torch.cat([torch.ones_like(keep[:1]), keep])  # the sentence as it is goes with them
    if pair.src_keep is not None:
        keep &= pair.src_keep
    found = []
    with torch.inference_mode():
        for rows in keep.split(max(1, POSITIONS // (keep.shape[1] + len(trace.tgt)))):
            ask(stop, "the faithfulness meter")
            found.append(pair.scored(pair.src_ids.expand(len(rows), -1), rows))
    usual, *others = torch.cat(found)
    return to_numpy(usual - torch.stack(others)).T


def spearman(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Spearman's rank correlation of each row of `a` with that of `b`, [T, W] → [T]; NaN where a row is constant."""
    return _correlation(_ranks(a), _ranks(b))


def _ranks(values: np.ndarray) -> np.ndarray:
    """The ranks along the last axis, less their mean."""
    ranks: np.ndarray = rankdata(values, axis=-1)
    ranks -= ranks.mean(axis=-1, keepdims=True)
    return ranks


def _correlation(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of `_ranks`, along the last axis; NaN where one is constant."""
    scale = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    found: np.ndarray = np.divide((x * y).sum(axis=-1), scale, out=np.full(scale.shape, np.nan), where=scale > 0)
    return found


def chance_level(loss: np.ndarray, *, seed: int = 0, draws: int = DRAWS, stop: Stop | None = None) -> float:
    """What the mean correlation of random orders of the words with `loss` [T, W] exceeds in 1 of 20 draws.

    Raises:
        CancelledError: `stop`, which is asked before every `CELLS` of the orders, said so.
    """
    rng, ranks, parts = np.random.default_rng(seed), _ranks(loss), []
    some = max(CELLS // max(loss.size, 1), 1)
    for first in range(0, draws, some):
        ask(stop, "the faithfulness meter")
        parts.append(_correlation(_ranks(rng.random((min(some, draws - first), *loss.shape))), ranks))
    found = np.concatenate(parts)
    usable = np.isfinite(found).all(axis=0)
    return float(np.quantile(found[:, usable].mean(axis=1), CHANCE)) if usable.any() else float("nan")


def _span(trace: Trace, members: np.ndarray) -> tuple[int, int]:
    """Where the text of some neighbouring source tokens stands."""
    spans = [token.span for token, own in zip(trace.src, members, strict=True) if own and token.span is not None]
    return min(start for start, _ in spans), max(end for _, end in spans)
