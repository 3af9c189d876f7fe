"""A translation lexicon learnt from sentence pairs alone (IBM model 1), independent of the model.

Source: Brown et al. 1993, "The mathematics of statistical machine translation", IBM model 1, by expectation
maximisation in both directions. It knows no order and no phrases: only words that it is sure of are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from translator.errors import InputError
from translator.rules import whole

Sentence = Sequence[str]
ROUNDS = 5
LONGEST = 20
"""Words that a side may have: what is longer says little of any word, and costs the square."""
SURE = 0.2
"""The least probability, in both directions, of a link that is used."""


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Of words that met in a pair: `forward` p(target word | source word), `backward` p(source word | target word)."""

    forward: dict[tuple[str, str], float]
    backward: dict[tuple[str, str], float]

    def links(self, src: Sentence, tgt: Sentence) -> list[tuple[int, int]]:
        """(source, target) places of words that are each other's best and sure in both directions."""
        table = np.array(
            [[min(self.forward.get((s, t), 0.0), self.backward.get((s, t), 0.0)) for t in tgt] for s in src]
        )
        if not table.size:
            return []
        found = []
        for s, t in enumerate(table.argmax(axis=1).tolist()):
            alone = (table[s] == table[s, t]).sum() == 1 and (table[:, t] == table[s, t]).sum() == 1
            if alone and table[s, t] >= SURE and table[:, t].argmax() == s:
                found.append((s, t))
        return found


def learn_lexicon(pairs: Iterable[tuple[Sentence, Sentence]], *, rounds: int = ROUNDS) -> Lexicon:
    """Learn both tables from (source words, target words); pairs of longer sentences are passed over.

    Raises:
        InputError: there is no pair with words on both sides, or the rounds are not from 1 to 100.
    """
    rounds = whole("rounds", rounds, 1, 100)
    both = [(src, tgt) for src, tgt in pairs if 0 < len(src) <= LONGEST and 0 < len(tgt) <= LONGEST]
    if not both:
        raise InputError("there is no sentence pair; a lexicon needs at least one")
    forward = _model_1(both, rounds)
    turned = _model_1([(tgt, src) for src, tgt in both], rounds)
    return Lexicon(forward, {(src, tgt): value for (tgt, src), value in turned.items()})


def _model_1(pairs: Sequence[tuple[Sentence, Sentence]], rounds: int) -> dict[tuple[str, str], float]:
    """p(target | source) of every two words that share a pair; source words also have an empty word beside them."""
    src_ids = {"": 0}
    tgt_ids: dict[str, int] = {}
    sources, targets, groups, group = [], [], [], 0
    for src, tgt in pairs:
        row = np.array([0, *(src_ids.setdefault(word, len(src_ids)) for word in src)])
        column = np.array([tgt_ids.setdefault(word, len(tgt_ids)) for word in tgt])
        sources.append(np.tile(row, len(column)))
        targets.append(np.repeat(column, len(row)))
        groups.append(np.repeat(group + np.arange(len(column)), len(row)))
        group += len(column)
    source, target, at = (np.concatenate(each) for each in (sources, targets, groups))
    keys, entry = np.unique(source.astype(np.int64) * len(tgt_ids) + target, return_inverse=True)
    owner = keys // len(tgt_ids)
    probability = np.full(len(keys), 1.0)
    for _ in range(rounds):
        given = probability[entry]
        given /= np.bincount(at, given)[at]  # each target word is due to one word of the other side
        counts = np.bincount(entry, given)
        probability = counts / np.bincount(owner, counts)[owner]
    src_words, tgt_words = list(src_ids), list(tgt_ids)
    kept = np.flatnonzero((probability >= SURE / 4) & (owner > 0))
    return {
        (src_words[keys[k] // len(tgt_ids)], tgt_words[keys[k] % len(tgt_ids)]): float(probability[k]) for k in kept
    }
