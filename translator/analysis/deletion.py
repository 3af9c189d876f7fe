"""The drop in a translation's log-probability when words are deleted from its source.

Sources: Li et al. 2016, "Understanding neural networks through representation erasure"; DeYoung et al. 2020, "ERASER"
(comprehensiveness). Unlike occlusion, which hides words from attention, the others close ranks and take new positions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from translator.analysis.passes import Pair, pair_of, to_numpy
from translator.analysis.stopping import Stop, ask
from translator.errors import InputError
from translator.pipeline import Translator
from translator.trace import Trace

ROWS = 32
"""Shortened sources that are read at once, at most."""
POSITIONS = 1024
"""Their tokens and those of the translations together, so that a long sentence too asks `stop` often."""


def deletion(
    translator: Translator, trace: Trace, removed: Sequence[np.ndarray], *, stop: Stop | None = None
) -> np.ndarray:
    """Log-probability in nats that each target token loses when source tokens are taken out: [T, len(removed)].

    Args:
        removed: bool [S] each, which tokens go; the end of the sentence stays.
        stop: asked before every batch; True ends the work.
    Raises:
        InputError: what is removed is not bool [S], takes a special token, or another checkpoint made the trace.
        CancelledError: `stop` said so.
    """
    pair = pair_of(translator, trace)
    special = np.array([token.special for token in trace.src])
    gone = [np.asarray(each) for each in removed]
    for each in gone:
        if each.dtype != np.bool_ or each.shape != special.shape:
            raise InputError(f"what is removed is {each.dtype} {each.shape}; it must be bool {special.shape}")
        if (each & special).any():
            raise InputError(
                f"{trace.src[int(np.argmax(each & special))].surface!r} cannot be removed; no sentence is without"
            )
    if not gone:
        return np.zeros((len(trace.tgt), 0))
    gone = [np.zeros_like(special), *gone]  # the sentence as it is goes with them
    found = []
    rows = min(max(POSITIONS // (len(special) + len(trace.tgt)), 1), ROWS)
    with torch.inference_mode():
        for first in range(0, len(gone), rows):
            ask(stop, "the deletion of words")
            found.append(pair.scored(*_shortened(pair, np.stack(gone[first : first + rows]))))
    usual, *others = torch.cat(found)
    return to_numpy(usual - torch.stack(others)).T


def _shortened(pair: Pair, gone: np.ndarray) -> tuple[Tensor, Tensor | None]:
    """The shortened sources, padded to one length, [N, S'], and which of their tokens may be read."""
    config, given = pair.model.config, pair.src_ids[0]
    length = len(given) if config.padded_length is not None else int((~gone).sum(axis=1).max())
    ids = given.new_full((len(gone), length), config.pad_id)
    keep = torch.zeros(ids.shape, dtype=torch.bool, device=ids.device)
    for row, stays in enumerate(torch.from_numpy(~gone).to(given.device)):
        left = int(stays.sum())
        ids[row, :left] = given[stays]
        keep[row, :left] = True if pair.src_keep is None else pair.src_keep[0, stays]
    return ids, None if config.padded_length is not None else keep  # such a model reads its padding
