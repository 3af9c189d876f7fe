"""The words of one side of a trace, each with its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from translator.analysis.aggregate import word_groups
from translator.trace import Token, Trace


@dataclass(frozen=True, eq=False)
class Words:
    """W words: `texts` as they stand in the sentence, and `members` [W, N], bool: which tokens each is made of."""

    texts: tuple[str, ...]
    members: np.ndarray

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def lettered(self) -> np.ndarray:
        """Which words hold a letter or a digit, [W] bool; the others are punctuation."""
        return np.array([any(each.isalnum() for each in text) for text in self.texts], dtype=bool)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """What the tokens of each word come to together: [..., N] → [..., W]."""
        sums: np.ndarray = np.asarray(values, dtype=np.float64) @ self.members.T
        return sums

    def means(self, values: np.ndarray) -> np.ndarray:
        """The mean over the tokens of each word: [..., N] → [..., W]."""
        means: np.ndarray = self.sums(values) / self.members.sum(axis=1)
        return means


def source_words(trace: Trace) -> Words:
    """The words that the encoder reads; special tokens are in none."""
    return _words(trace.src, trace.source)


def target_words(trace: Trace) -> Words:
    """The words of the translation; special tokens are in none."""
    return _words(trace.tgt, trace.translation)


def _words(tokens: Sequence[Token], text: str) -> Words:
    groups = word_groups(tokens)
    kept = [group for group in dict.fromkeys(groups.tolist()) if not tokens[int(np.argmax(groups == group))].special]
    members = groups[None] == np.array(kept, dtype=np.int64)[:, None]
    return Words(tuple(_text(tokens, row, text) for row in members), members)


def _text(tokens: Sequence[Token], chosen: np.ndarray, text: str) -> str:
    own = [token for token, member in zip(tokens, chosen, strict=True) if member]
    spans = [token.span for token in own if token.span is not None]
    if len(spans) == len(own):
        return text[min(start for start, _ in spans) : max(end for _, end in spans)]
    return "".join(token.surface for token in own)
