"""The arena: a copier whose answer is known, judges computed again by hand, and tables over a corpus."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import bootstrap, spearmanr

from translator import CancelledError, InputError, Trace, Translator
from translator.analysis.alti import alti
from translator.analysis.arena import QUICK, RANDOM, arena, arena_table
from translator.analysis.attribution import METHODS, source_map, source_maps
from translator.analysis.deletion import deletion
from translator.analysis.words import source_words

SENTENCE = "soup salt rice egg tea"


@pytest.fixture(scope="module")
def copier(make_copier: Callable[[], Translator]) -> Translator:
    return make_copier()


def test_the_copier_copies(copier: Translator) -> None:
    assert copier.translate(SENTENCE).translation == SENTENCE


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_word_that_is_copied(copier: Translator, method: str) -> None:
    trace = copier.translate(SENTENCE)
    rows = source_words(trace).sums(source_map(copier, trace, method))[:-1]
    assert rows.argmax(axis=1).tolist() == [0, 1, 2, 3, 4]


def test_the_judges_of_the_copier_agree_with_its_answer(copier: Translator) -> None:
    """Hiding a word takes away the prediction that copies it and no other."""
    found = arena(copier, copier.translate(SENTENCE))
    assert found.words == ("soup", "salt", "rice", "egg", "tea")
    assert (found.occlusion.argmax(axis=1) == np.arange(5)).all()
    assert (found.occlusion.diagonal() > 1).all() and np.abs(
        found.occlusion - np.diag(found.occlusion.diagonal())
    ).max() < 0.5
    for method in METHODS:
        np.testing.assert_allclose(found.lost[method], found.deletion.diagonal())
    assert found.lost[RANDOM].mean() < found.deletion.diagonal().mean()


@pytest.mark.slow
def test_the_numbers_of_a_sentence_are_its_parts(tiny: Translator, trace: Trace) -> None:
    found = arena(tiny, trace, depth=2, seed=5)
    words, steps = source_words(trace), [t for t, token in enumerate(trace.tgt) if not token.special]
    np.testing.assert_allclose(found.shares["alti"], words.sums(alti(tiny, trace).total.source)[steps])
    for method in (*METHODS, RANDOM):
        for row, t in enumerate(steps):
            want = spearmanr(found.shares[method][row], found.occlusion[row]).statistic
            assert found.correlation[method][row] == pytest.approx(want, nan_ok=True)
            first, second = np.argsort(-found.shares[method][row], kind="stable")[:2]
            sets = [words.members[first], words.members[first] | words.members[second]]
            assert found.lost[method][row] == pytest.approx(deletion(tiny, trace, sets)[t].mean(), abs=1e-4)
    best = max(METHODS, key=found.mean)
    assert found.ranking[0] == best
    assert found.believable == (best if found.mean(best) > found.chance else None)


@pytest.mark.slow
def test_methods_judged_one_after_another_are_as_judged_at_once(
    tiny: Translator, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = arena(tiny, trace, depth=2, seed=5)
    begun = arena(tiny, trace, methods=QUICK, depth=2, seed=5)
    assert set(begun.shares) == {*QUICK, RANDOM} and set(begun.ranking) == set(QUICK)
    monkeypatch.setattr("translator.analysis.arena.occlusion", None)  # what was judged is not judged again
    found = arena(tiny, trace, depth=2, seed=5, begun=begun)
    assert found.ranking == whole.ranking and found.chance == whole.chance
    for method in (*METHODS, RANDOM):
        np.testing.assert_allclose(found.shares[method], whole.shares[method], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(found.lost[method], whole.lost[method], rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_a_random_order_is_no_better_than_chance(copier: Translator) -> None:
    texts = ["tea milk bread salt rice", "fish soup egg tea", "rice bread fish milk salt egg", "egg egg tea milk"] * 6
    table, sentences = arena_table(copier, texts, depth=1)
    assert sentences == 24
    assert abs(table[RANDOM].correlation) < 0.2
    assert all(table[method].correlation > table[RANDOM].correlation_range[1] for method in METHODS)
    assert all(table[method].lost > table[RANDOM].lost_range[1] for method in METHODS)


@pytest.mark.slow
def test_the_ranges_are_scipys_bootstrap_over_sentences(tiny: Translator) -> None:
    texts = ["Das Haus ist groß.", "Ich renne in den Park.", "Guten Morgen, Frau Müller!", "Ja."]
    seen: list[tuple[int, int]] = []
    table, sentences = arena_table(tiny, texts, depth=1, progress=lambda done, of: seen.append((done, of)))
    assert sentences == 3 and seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    means = np.array([arena(tiny, tiny.translate(text, method="greedy")).mean("alti") for text in texts[:3]])
    assert table["alti"].correlation == pytest.approx(means.mean())
    want = bootstrap((means,), np.mean, n_resamples=2000, method="percentile", rng=0).confidence_interval
    assert table["alti"].correlation_range == pytest.approx((want.low, want.high))


@pytest.mark.slow
def test_some_predictions_have_the_maps_that_they_have_among_all(tiny: Translator, trace: Trace) -> None:
    every, some = source_maps(tiny, trace), source_maps(tiny, trace, steps=[3, 1])
    assert every.keys() == some.keys() == set(METHODS)
    for method in METHODS:
        np.testing.assert_allclose(some[method], every[method][[3, 1]], atol=1e-5)


@pytest.mark.slow
def test_what_cannot_be_is_named(tiny: Translator, trace: Trace) -> None:
    with pytest.raises(InputError, match="2 words"):
        arena(tiny, tiny.translate("Guten Morgen", max_length=4))
    with pytest.raises(InputError, match="depth is 0"):
        arena(tiny, trace, depth=0)
    with pytest.raises(InputError, match="method is 'guess'"):
        source_map(tiny, trace, "guess")
    with pytest.raises(InputError, match="sentence 2: "):
        arena_table(tiny, ["Das Haus ist alt.", " "])
    with pytest.raises(InputError, match="at least 2"):
        arena_table(tiny, ["Das Haus ist alt."])
    with pytest.raises(CancelledError):
        source_maps(tiny, trace, stop=lambda: True)
