"""Word alignments from attention in Pharaoh format, and their alignment error rate.

A link is a (source, target) pair of positions counted from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from translator.errors import InputError

Link = tuple[int, int]
_PAIR = re.compile(r"([0-9]{1,6})([-p?])([0-9]{1,6})")


@dataclass(frozen=True)
class Gold:
    """A gold standard: `sure` links, and `possible` ones, which always contain the sure ones."""

    sure: frozenset[Link]
    possible: frozenset[Link]

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)


def best_links(cross: np.ndarray, src: np.ndarray | None = None, tgt: np.ndarray | None = None) -> frozenset[Link]:
    """Each target's largest weight as a link; of equal weights the first.

    Args:
        cross: [T, S].
        src: bool [S], the source tokens that may be linked (None: all).
        tgt: bool [T], the target tokens that may be linked (None: all).
    """
    allowed = _allowed(cross, src, tgt)
    best = np.where(allowed, cross, -np.inf).argmax(axis=1)
    return frozenset((int(best[t]), int(t)) for t in np.flatnonzero(allowed.any(axis=1)))


def links_above(
    cross: np.ndarray, threshold: float, src: np.ndarray | None = None, tgt: np.ndarray | None = None
) -> frozenset[Link]:
    """Every weight of at least `threshold` as a link; `cross` [T, S], `src` [S] and `tgt` [T] as in `best_links`."""
    allowed = _allowed(cross, src, tgt) & (np.asarray(cross) >= threshold)
    return frozenset((int(s), int(t)) for t, s in np.argwhere(allowed))


def input_shift(cross: np.ndarray) -> np.ndarray:
    """Rows [T, S] moved so that row t belongs to the query that *reads* target t, not the one that predicts it.

    No query reads the last target, so that T - 1 rows remain. Deeper layers align what they predict, lower
    ones often what they read. Source: Chen et al. 2020, "Accurate word alignment induction from NMT".
    """
    return cross[1:]


def both_ways(forward: frozenset[Link], backward: frozenset[Link]) -> frozenset[Link]:
    """The links that both directions found; `backward` holds (target, source) pairs of the reverse model."""
    return forward & frozenset((s, t) for t, s in backward)


def pharaoh(links: Iterable[Link], possible: Iterable[Link] = ()) -> str:
    """Links in Pharaoh format, sorted: `0-0 2-1`; possible links that are not sure are written `2p1`."""
    sure = set(links)
    marked = [(s, t, "-") for s, t in sure] + [(s, t, "p") for s, t in set(possible) - sure]
    return " ".join(f"{s}{mark}{t}" for s, t, mark in sorted(marked))


def read_pharaoh(text: str, src_length: int, tgt_length: int) -> Gold:
    """One sentence's links in Pharaoh format: `s-t` sure, `spt` or `s?t` possible.

    Raises:
        InputError: something is no link, or points outside the sentence pair.
    """
    sure: set[Link] = set()
    possible: set[Link] = set()
    for item in text.split():
        match = _PAIR.fullmatch(item)
        if match is None:
            raise InputError(f"{item[:40]!r} is no alignment link; write 0-0, or 0p0 for a possible one")
        s, mark, t = int(match[1]), match[2], int(match[3])
        if s >= src_length or t >= tgt_length:
            raise InputError(
                f"the link {item} points outside a pair of {src_length} source and {tgt_length} target words; "
                "words count from 0"
            )
        (sure if mark == "-" else possible).add((s, t))
    return Gold(frozenset(sure), frozenset(possible))


def read_pharaoh_file(text: str, lengths: Sequence[tuple[int, int]]) -> tuple[Gold, ...]:
    """A file of one line a sentence; `lengths` are each pair's (source, target) words.

    Raises:
        InputError: lines and sentences differ in number, or a line is wrong; the line is named.
    """
    lines = text.splitlines()
    if len(lines) != len(lengths):
        raise InputError(f"the alignment has {len(lines)} lines for {len(lengths)} sentence pairs; they must agree")
    gold = []
    for number, (line, (source, target)) in enumerate(zip(lines, lengths, strict=True), start=1):
        try:
            gold.append(read_pharaoh(line, source, target))
        except InputError as error:
            raise InputError(f"line {number}: {error}") from error
    return tuple(gold)


def error_rate(found: Sequence[frozenset[Link]], gold: Sequence[Gold]) -> float:
    """Alignment error rate over sentences, 0 (best) to 1: 1 - (|A∩S| + |A∩P|) / (|A| + |S|).

    Source: Och and Ney 2003, "A systematic comparison of various statistical alignment models".

    Raises:
        InputError: the numbers of sentences differ, or there is no link at all to judge.
    """
    if len(found) != len(gold):
        raise InputError(f"there are {len(found)} alignments for {len(gold)} gold ones; they must agree")
    counts = [shared(links, truth) for links, truth in zip(found, gold, strict=True)]
    return rate_of(sum(hits for hits, _ in counts), sum(total for _, total in counts))


def shared(links: frozenset[Link], truth: Gold) -> tuple[int, int]:
    """What the error rate counts of one sentence, and what adds up over sentences: |A∩S| + |A∩P|, and |A| + |S|."""
    return len(links & truth.sure) + len(links & truth.possible), len(links) + len(truth.sure)


def rate_of(hits: int, total: int) -> float:
    """The error rate that the sums of `shared` come to.

    Raises:
        InputError: there is no link at all to judge.
    """
    if total == 0:
        raise InputError("neither side has a link; an error rate needs at least one")
    return 1 - hits / total


def _allowed(cross: np.ndarray, src: np.ndarray | None, tgt: np.ndarray | None) -> np.ndarray:
    """Where a link may stand, bool [T, S]."""
    rows, columns = cross.shape
    may_src = np.ones(columns, dtype=bool) if src is None else np.asarray(src, dtype=bool)
    may_tgt = np.ones(rows, dtype=bool) if tgt is None else np.asarray(tgt, dtype=bool)
    allowed: np.ndarray = may_tgt[:, None] & may_src[None, :]
    return allowed
