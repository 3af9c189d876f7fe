import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate import Alignment
from nltk.translate.metrics import alignment_error_rate

from translator.analysis.alignment import (
    Gold,
    best_links,
    both_ways,
    error_rate,
    input_shift,
    links_above,
    pharaoh,
    read_pharaoh,
    read_pharaoh_file,
)
from translator.errors import InputError

LINKS = st.frozensets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@pytest.mark.slow
@given(LINKS, LINKS.filter(bool), LINKS)
def test_error_rate_equals_nltks(found, sure, possible):
    want = alignment_error_rate(Alignment(sure), Alignment(found), Alignment(possible | sure))
    assert error_rate([found], [Gold(sure, possible)]) == pytest.approx(want)


def test_error_rate_by_hand_over_two_sentences():
    gold = [Gold(frozenset({(0, 0)}), frozenset({(1, 0)})), Gold(frozenset({(0, 1), (1, 1)}), frozenset())]
    found = [frozenset({(0, 0), (1, 0)}), frozenset({(2, 2)})]
    assert error_rate(found, gold) == pytest.approx(1 - (1 + 2) / (3 + 3))
    with pytest.raises(InputError, match="must agree"):
        error_rate(found[:1], gold)
    with pytest.raises(InputError, match="at least one"):
        error_rate([frozenset()], [Gold(frozenset(), frozenset())])


@pytest.mark.slow
@given(LINKS, LINKS)
def test_pharaoh_round_trip(sure, possible):
    gold = Gold(sure, possible)
    assert read_pharaoh(pharaoh(gold.sure, gold.possible), 7, 7) == gold


@pytest.mark.parametrize("text", ["0-7", "7-0", "0:0", "a-b", "-1-0", "0-", "1.0-2", "²-0", "0-0-0", "0" * 5000 + "-0"])
def test_what_is_no_link_or_points_outside_is_named(text):
    with pytest.raises(InputError, match=text[:5]):
        read_pharaoh(text, 7, 7)


def test_a_file_names_its_bad_line_and_a_wrong_number_of_lines():
    assert read_pharaoh_file("0-0 1?1\n\n", [(2, 2), (1, 1)])[0].possible == {(0, 0), (1, 1)}
    with pytest.raises(InputError, match=r"line 2: .*3-0"):
        read_pharaoh_file("0-0\n3-0\n", [(2, 2), (1, 1)])
    with pytest.raises(InputError, match="1 lines for 2"):
        read_pharaoh_file("0-0\n", [(2, 2), (1, 1)])


def test_best_links_equal_argmax_within_what_may_be_linked():
    cross = np.random.default_rng(0).dirichlet(np.ones(6), size=5)
    assert best_links(cross) == {(int(row.argmax()), t) for t, row in enumerate(cross)}
    src, tgt = np.array([1, 1, 1, 1, 1, 0], bool), np.array([1, 0, 1, 1, 1], bool)
    assert best_links(cross, src, tgt) == {(int(cross[t, :5].argmax()), t) for t in (0, 2, 3, 4)}
    assert best_links(cross, np.zeros(6, bool)) == frozenset()


def test_a_sure_link_is_not_written_again_as_possible():
    assert pharaoh({(1, 0)}, {(1, 0), (0, 0), (10, 2)}) == "0p0 1-0 10p2"


def test_threshold_shift_and_intersection():
    cross = np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]])
    assert links_above(cross, 0.5) == {(0, 0), (1, 1), (0, 2), (1, 2)}
    assert links_above(cross, 0.5, tgt=np.array([True, True, False])) == {(0, 0), (1, 1)}
    assert best_links(input_shift(cross)) == {(1, 0), (0, 1)}
    assert both_ways(frozenset({(0, 1), (2, 2)}), frozenset({(1, 0), (2, 0)})) == {(0, 1)}
