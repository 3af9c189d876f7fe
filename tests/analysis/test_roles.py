"""Roles: the nearest one with its share, the same for short and long sentences, aligned by the better reading."""

import numpy as np
import pytest
from nltk.metrics.agreement import AnnotationTask

from translator.analysis.heads import Rows, describe, measure
from translator.analysis.roles import ALIGNED_RATE, BARS, READINGS, beyond_chance, judge


def rows_for(queries, keys, *, self_attention=True, special=()):
    everything = np.ones(queries, dtype=bool)
    content = ~np.isin(np.arange(queries), special) if self_attention else everything
    return Rows(
        counted=everything,
        content_rows=content,
        reading_rows=np.arange(queries) > 0,
        special=np.isin(np.arange(keys), special),
        punctuation=np.zeros(keys, dtype=bool),
        visible=np.full(queries, keys),
        self_attention=self_attention,
    )


def peaked(best, keys, peak=0.7):
    """A head [1, 1, Q, K] whose row q has its largest weight on best[q]."""
    weights = np.full((len(best), keys), (1 - peak) / (keys - 1))
    weights[np.arange(len(best)), best] = peak
    return weights[None, None]


def only(weights, rows, **rates):
    return describe(measure(weights, rows), "encoder" if rows.self_attention else "cross", **rates)[0]


def looks_back(length, share):
    """Looks at the previous token in that share of its rows, and elsewhere in the others."""
    rng = np.random.default_rng(3)
    best = np.maximum(np.arange(length) - 1, 0)
    others = rng.choice(np.arange(1, length), round((1 - share) * (length - 1)), replace=False)
    best[others] = (others + 3) % length
    return peaked(best, length)


@pytest.mark.parametrize("length", [9, 13, 41, 97])
def test_a_head_that_looks_back_in_three_rows_of_four_is_named_so_however_long_the_sentence(length):
    found = only(looks_back(length, 0.75), rows_for(length, length))
    assert found.role == "previous" and found.share == pytest.approx(0.75, abs=0.02)


def test_chance_is_taken_off_as_cohen_does():
    """Two judges of 1,000 rows with 4 keys each: one always says the right key, the other does by chance and skill."""
    rng = np.random.default_rng(0)
    truth, guess = np.repeat(np.arange(4), 250), rng.integers(0, 4, 1000)
    guess = np.where(rng.random(1000) < 0.5, truth, guess)
    balanced = np.concatenate([rng.permutation(guess[truth == k]) for k in range(4)])
    share = (balanced == truth).mean()
    judged = [(who, n, label) for who, labels in (("a", truth), ("b", balanced)) for n, label in enumerate(labels)]
    assert beyond_chance(share, np.array(0.25)) == pytest.approx(AnnotationTask(judged).kappa(), abs=0.01)
    assert beyond_chance(np.array(0.1), np.array(0.25)) == 0


def test_what_chance_gives_in_a_short_sentence_is_no_role():
    """With 4 keys, weights drawn at random look back in one row of four or more."""
    short = np.full((1, 1, 4, 4), 0.25)
    short[..., :, 3] += 0.15
    short[..., :, 0] -= 0.15
    found = only(short, rows_for(4, 4, special=(2, 3)))
    assert found.special > 0.6 and found.role != "sink", "half the keys are special: 0.65 of the weight is little more"
    back = only(peaked(np.array([4, 0, 1, 0, 1]), 5), rows_for(5, 5))
    assert back.previous == 0.5 and (back.role, back.near) == ("mixed", "previous"), "0.375 beyond chance, below 0.4"


def test_the_nearest_role_wins_and_none_is_kept_where_none_fits():
    length = 20
    half = looks_back(length, 0.5)
    half[0, 0, :, :] = 0.6 * half[0, 0] + 0.4 * np.eye(length)[19]
    found = only(half, rows_for(length, length, special=(19,)))
    assert found.role == "previous", "it looks back in half the rows, and rests with a little less than that"
    rng = np.random.default_rng(5)
    nothing = only(peaked(rng.permutation(length), length, peak=0.5), rows_for(length, length))
    assert (nothing.role, nothing.near, nothing.share) == ("mixed", "", 0)


def test_a_head_below_every_bar_is_told_the_nearest_role_and_how_much_it_has_of_it():
    found = only(looks_back(41, 0.3), rows_for(41, 41))
    assert (found.role, found.near) == ("mixed", "previous") and found.share == pytest.approx(0.3, abs=0.02)
    far = only(looks_back(41, 0.1), rows_for(41, 41))
    assert (far.role, far.near, far.share) == ("mixed", "", 0)
    named = only(looks_back(41, 0.75), rows_for(41, 41))
    assert (named.role, named.near) == ("previous", "")


def test_a_cross_head_that_is_not_sharp_enough_nearly_aligns():
    rows = rows_for(7, 8, self_attention=False, special=(7,))
    places = np.arange(7)
    two = np.full((1, 1, 7, 8), 0.18 / 6)
    two[..., places, places], two[..., places, (places + 1) % 7] = 0.42, 0.40
    measures = measure(two, rows)
    (found,) = describe(measures, "cross")
    assert (found.role, found.near, found.share) == ("mixed", "aligns", 1)
    (wrong,) = describe(measures, "cross", (np.array([[0.71]]), np.array([[0]])))
    assert wrong.near != "aligns", "what was measured not to align comes nowhere near it"


def test_a_cross_head_is_judged_by_its_better_reading_and_says_which():
    keys = 8
    predicts = peaked(np.arange(7), keys)
    reads = peaked(np.maximum(np.arange(7) - 1, 0), keys)
    reads[0, 0, 0] = np.eye(keys)[7]  # the first row reads the start sign
    rows = rows_for(7, keys, self_attention=False, special=(7,))
    assert [only(each, rows).role for each in (predicts, reads)] == ["aligns", "aligns"]
    by_reads = only(reads, rows, rates=(np.array([[0.03]]), np.array([[READINGS.index("input")]])))
    assert (by_reads.role, by_reads.reading) == ("aligns", "input") and by_reads.share == 1


def test_who_does_not_align_over_the_hand_aligned_pairs_is_not_said_to():
    rows = rows_for(7, 8, self_attention=False, special=(7,))
    weights = peaked(np.arange(7), 8)
    measures = measure(weights, rows)
    for rate, role in ((0.03, "aligns"), (ALIGNED_RATE, "aligns"), (0.71, "mixed")):
        rates = np.array([[rate]]), np.array([[0]])
        assert describe(measures, "cross", rates)[0].role == role


def test_every_role_has_a_bar_from_0_to_1():
    rows = rows_for(6, 6)
    found = judge(vars(measure(np.full((1, 1, 6, 6), 1 / 6), rows)), self_attention=True)
    assert found.name[0, 0] == "diffuse" and found.share[0, 0] == pytest.approx(1)
    assert all(0 < bar <= 1 for bar in BARS.values())
