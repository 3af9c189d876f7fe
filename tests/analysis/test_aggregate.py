import numpy as np
import pytest

from translator.analysis.aggregate import by_word, combine, count_words, hide, word_groups, word_surfaces
from translator.errors import InputError


@pytest.fixture
def trace(make_trace):
    return make_trace(5)


def test_mean_and_maximum_over_chosen_heads(trace):
    chosen = [(0, 1), (2, 3)]
    a, b = trace.cross[0, 1].astype(float), trace.cross[2, 3].astype(float)
    np.testing.assert_allclose(combine(trace.cross, chosen), (a + b) / 2)
    np.testing.assert_allclose(combine(trace.cross, chosen, how="max"), np.maximum(a, b))
    np.testing.assert_allclose(combine(trace.cross).sum(axis=-1), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("heads", "how", "words"),
    [
        ([], "mean", "no head"),
        ([(3, 0)], "mean", "no head"),
        ([(0, True)], "mean", "no head"),
        ([(1.0, 0)], "mean", "no head"),
        ((0, 1), "mean", "no head 0; a head is"),
        (None, "median", "how is"),
    ],
)
def test_a_bad_choice_is_named(trace, heads, how, words):
    with pytest.raises(InputError, match=words):
        combine(trace.cross, heads, how=how)


def test_pieces_of_a_word_share_a_group_and_special_tokens_do_not(trace):
    assert word_groups(trace.src).tolist() == [0, 1, 1, 2, 3, 4, 5, 6, 7]
    assert word_groups(trace.reads).tolist() == [0, 1, 2, 2, 3, 4, 5, 6]
    assert word_groups((trace.start, trace.start)).tolist() == [0, 1]
    assert word_surfaces(trace.src, trace.source) == ["die", "Bücher", ",", "die", "ich", "habe", ".", "</s>"]
    assert word_surfaces(trace.src) == word_surfaces(trace.src, trace.source)


def test_words_sum_over_keys_and_average_over_queries(trace):
    queries, keys = word_groups(trace.tgt), word_groups(trace.src)
    got = by_word(trace.cross, queries, keys)
    full = trace.cross.astype(float)
    assert got.shape == (3, 4, 7, 8)
    for q, k in np.ndindex(7, 8):
        want = sum(full[:, :, t, s] for t in np.flatnonzero(queries == q) for s in np.flatnonzero(keys == k))
        np.testing.assert_allclose(got[:, :, q, k], want / (queries == q).sum())
    np.testing.assert_allclose(got.sum(axis=-1), 1, atol=1e-6)
    with pytest.raises(InputError, match="do not fit"):
        by_word(trace.cross, keys, queries)


def test_hidden_keys_are_left_out_and_the_rest_is_scaled_only_on_request(trace):
    special = np.array([token.special for token in trace.src])
    kept = hide(trace.cross, keys=special)
    np.testing.assert_array_equal(kept, trace.cross[..., :-1])
    scaled = hide(trace.cross, keys=special, renormalise=True)
    np.testing.assert_allclose(scaled.sum(axis=-1), 1)
    np.testing.assert_allclose(scaled, kept / kept.sum(axis=-1, keepdims=True))
    assert hide(trace.encoder, queries=special, keys=special).shape == (3, 4, 8, 8)


def test_a_row_with_nothing_left_stays_zero():
    assert hide(np.eye(3), keys=np.array([True, False, False]), renormalise=True)[0].tolist() == [0, 0]


def test_marks_that_do_not_fit_hide_nothing(trace):
    for marks in ({"queries": np.ones(3, dtype=bool)}, {"keys": np.ones((9, 1), dtype=bool)}):
        with pytest.raises(InputError, match="do not fit"):
            hide(trace.cross, **marks)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It cost 24,50 euros at 18:30 on 3/4/2025.", 8),
        ("1,250.75 of 1.000.000", 3),
        ("Room 24, 50 beds: 3.", 5),  # a mark with a space after it ends a number
        ("word.word 3.x x:3 3-mal 2,", 8),
        ("..., !", 0),
    ],
)
def test_a_number_a_time_and_a_date_are_one_word_each(tiny, text, words):
    assert count_words(tiny.bundle.src.encode(text).tokens, text) == words
