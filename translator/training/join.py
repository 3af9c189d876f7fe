"""Two or three consecutive sentences joined into one example, for longer inputs.

Source: Kondo et al. 2021, "Sentence Concatenation Approach to Data Augmentation for Neural Machine Translation".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

ENDS = tuple(".!?。！？")
THREES = 1 / 4
"""The share of joined examples that have three sentences."""


def may_join(src: str, tgt: str) -> bool:
    """Whether another sentence may follow: both sides are sentences that end."""
    return src.endswith(ENDS) and tgt.endswith(ENDS) and len(src) > 3


def joined(corpora: Sequence[str], places: np.ndarray, share: float, rng: np.random.Generator) -> list[list[int]]:
    """Which pairs become one example together.

    Args:
        corpora: the corpus of each pair; only sentences of one corpus follow each other.
        places: of the pairs that may be joined, as often as they take part.
        share: of `places`, 0 to 1, that take part in a joined example as well.
    """
    chosen = places[rng.random(len(places)) < share]
    names = np.array([corpora[place] for place in chosen])
    out: list[list[int]] = []
    for name in sorted(set(names.tolist())):
        own = rng.permutation(chosen[names == name]).tolist()
        while len(own) > 1:
            count = 3 if rng.random() < THREES else 2
            out.append([own.pop() for _ in range(min(count, len(own)))])
    return out
