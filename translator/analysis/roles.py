"""Head roles: the best fit beyond chance, and the share of rows that fit.

Sources: Voita et al. 2019 (positional heads), Clark et al. 2019 (attention to separators), Chen et al. 2020 (an
aligning head may align the word that its row reads, not the one that it predicts).

A long sentence has fewer rows that fit a role by chance than a short one. What depends on that is counted beyond
chance, as Cohen's kappa does: (share - chance) / (1 - chance), where chance is what looking at all keys alike gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

POSITIONAL = 0.4
"""Beyond chance: the share of rows with their largest weight on the token before, on itself, or on the next."""
SINK = 0.4
"""Beyond chance: the share of weight on special tokens and punctuation."""
DIFFUSE = 0.8
"""Entropy as a share of ln n, the entropy of looking at all n keys alike."""
ALIGNED = 0.55
"""The share of content rows with their largest weight on content, or, if that is less, on a word of their own."""
ALIGNED_CONFIDENCE = 0.35
"""Beyond chance: the mean largest weight of an aligning head's content rows."""
ALIGNED_RATE = 0.5
"""The alignment error rate that an aligning head may have, where it was measured against hand-aligned pairs."""
BARS = {
    "previous": POSITIONAL, "same": POSITIONAL, "next": POSITIONAL, "sink": SINK, "aligns": ALIGNED, "diffuse": DIFFUSE,
}  # fmt: skip

NEAR = 0.5
"""The share of its bar from where on a role that no head reaches is still told as the nearest."""

ROLES = ("previous", "same", "next", "sink", "aligns", "diffuse", "mixed")
Reading = Literal["output", "input"]
READINGS: tuple[Reading, ...] = ("output", "input")
"""A cross row belongs to the token that it predicts ("output") or to the token that it reads ("input")."""


@dataclass(frozen=True, eq=False)
class Roles:
    """Arrays [L, H]: `name`, one of ROLES; `near`, `share` and `reading`.

    `near` is the role other than "diffuse" that a "mixed" head comes closest to; "" where it gets to less than half of
    every bar (NEAR) and for heads that have a role. `share` is how much of the head its role, or `near`, describes:
    what the bars say of each role, without the correction for chance, of rows, of weight, of ln n; 0 where there is
    neither. `reading`, one of READINGS, belongs to "aligns" and is "" for all others.
    """

    name: np.ndarray
    near: np.ndarray
    share: np.ndarray
    reading: np.ndarray


def judge(
    measures: Mapping[str, np.ndarray],
    *,
    self_attention: bool,
    rates: np.ndarray | None = None,
    readings: np.ndarray | None = None,
) -> Roles:
    """The role that exceeds its bar most, for each head; "mixed" where none reaches it.

    Positional roles are for self-attention alone, "aligns" for cross-attention alone.

    Args:
        measures: the arrays [L, H] of `heads.Measures`, by name.
        rates: alignment error rates [L, H] of the heads over hand-aligned pairs, by their better reading.
        readings: that reading, as an index into READINGS [L, H]; without it the sentence decides.
    """
    shape = measures["entropy"].shape
    shares = {"diffuse": measures["relative_entropy"]}
    beyond = dict(shares)
    shares["sink"] = measures["special"] + measures["punctuation"]
    beyond["sink"] = beyond_chance(shares["sink"], measures["even_sink"])
    reading = np.zeros(shape, dtype=int)
    if self_attention:
        for beside in ("previous", "same", "next"):
            shares[beside] = measures[beside]
            beyond[beside] = beyond_chance(measures[beside], measures[f"even_{beside}"])
    else:
        shares["aligns"], beyond["aligns"], reading = _aligned(measures, rates, readings)
    names = [name for name in ROLES if name in beyond]
    none = len(names)
    reached = np.stack([beyond[name] / BARS[name] for name in names])
    role = np.where(reached.max(axis=0) >= 1.0, reached.argmax(axis=0), none)
    others = reached[:-1]  # without "diffuse": half the greatest entropy is what most heads have, nothing is near it
    near = np.where((role == none) & (others.max(axis=0) >= NEAR), others.argmax(axis=0), none)
    told = np.minimum(role, near)
    share = np.stack([*(shares[name] for name in names), np.zeros(shape)])
    return Roles(
        name=np.array([*names, "mixed"])[role],
        near=np.array([*names, ""])[near],
        share=np.take_along_axis(share, told[None], axis=0)[0],
        reading=np.where(np.array([*names, ""])[told] == "aligns", np.array(READINGS)[reading], ""),
    )


def beyond_chance(share: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """How far a share [...] goes beyond what chance gives [...], of what is left beyond it; [...], never below 0."""
    beyond: np.ndarray = np.maximum(share - chance, 0.0) / np.maximum(1.0 - chance, 1e-9)
    return beyond


def _aligned(
    measures: Mapping[str, np.ndarray], rates: np.ndarray | None, readings: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By the better reading: the share of rows that align, how much of it counts, and the reading.

    A head that is not sharp enough stays below the bar, by as much as its sharpness does; one whose error rate is too
    high does not align at all.
    """
    share = np.stack([np.minimum(measures[f"{by}on_content"], measures[f"{by}distinct"]) for by in ("", "read_")])
    sharp = np.stack([measures[f"{by}content_confidence"] for by in ("", "read_")])
    by = (share * sharp).argmax(axis=0) if readings is None else readings
    own = np.take_along_axis(share, by[None], axis=0)[0]
    confidence = np.take_along_axis(sharp, by[None], axis=0)[0]
    sharpness = beyond_chance(confidence, measures["even_confidence"]) / ALIGNED_CONFIDENCE
    counts = np.where(sharpness >= 1, own, np.minimum(own, ALIGNED * sharpness))
    if rates is not None:
        counts = np.where(rates <= ALIGNED_RATE, counts, 0.0)
    return own, counts, by
