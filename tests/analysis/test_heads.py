import math
from dataclasses import fields

import numpy as np
import pytest
import scipy.stats

from translator.analysis.heads import (
    HeadStats,
    Rows,
    describe,
    entropy,
    head_stats,
    is_punctuation,
    leading_head,
    measure,
)
from translator.analysis.roles import ROLES
from translator.errors import InputError
from translator.trace import Token


def plain_rows(queries, keys, *, self_attention=True, special=(), punctuation=(), visible=None):
    return Rows(
        counted=np.ones(queries, dtype=bool),
        content_rows=np.ones(queries, dtype=bool),
        reading_rows=np.ones(queries, dtype=bool),
        special=np.isin(np.arange(keys), special),
        punctuation=np.isin(np.arange(keys), punctuation),
        visible=np.full(queries, keys) if visible is None else visible,
        self_attention=self_attention,
    )


def one_head(matrix):
    return np.asarray(matrix, dtype=np.float32)[None, None]


def role(matrix, rows):
    return describe(measure(one_head(matrix), rows), "encoder" if rows.self_attention else "cross")[0].role


def test_entropy_of_uniform_is_ln_n_of_one_hot_0_and_of_any_row_scipys():
    assert entropy(np.full(7, 1 / 7)) == pytest.approx(math.log(7))
    assert (entropy(np.eye(5)) == 0).all()
    rows = np.random.default_rng(0).dirichlet(np.ones(9), size=(2, 3))
    np.testing.assert_allclose(entropy(rows), scipy.stats.entropy(rows, axis=-1), rtol=1e-12)


def test_measures_equal_a_loop_over_the_cells():
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.ones(6), size=(2, 3, 5))
    rows = plain_rows(5, 6, self_attention=False, special=(0, 5), punctuation=(4,))
    rows.counted[[1, 3]] = False
    got = measure(weights, rows)
    kept = [0, 2, 4]
    for layer, head in np.ndindex(2, 3):
        m = weights[layer, head]
        far = sum(m[q, k] * abs(q * 5 / 4 - k) for q in kept for k in range(6)) / 3
        assert got.distance[layer, head] == pytest.approx(far)
        assert got.confidence[layer, head] == pytest.approx(sum(max(m[q]) for q in kept) / 3)
        assert got.special[layer, head] == pytest.approx(sum(m[q, 0] + m[q, 5] for q in kept) / 3)
        assert got.punctuation[layer, head] == pytest.approx(sum(m[q, 4] for q in kept) / 3)


def test_best_keys_are_counted_as_a_loop_counts_them():
    weights = np.random.default_rng(2).dirichlet(np.full(9, 0.3), size=(2, 3, 9))
    rows = plain_rows(9, 9, special=(0, 8), punctuation=(4,))
    rows.counted[[2, 8]] = rows.content_rows[[0, 2, 8]] = rows.reading_rows[[0, 1, 2]] = False
    got = measure(weights, rows)
    for layer, head in np.ndindex(2, 3):
        best = weights[layer, head].argmax(axis=-1)
        for offset, name in ((-1, "previous"), (0, "same"), (1, "next")):
            fits = [best[q] == q + offset for q in range(9) if rows.counted[q] and 0 <= q + offset < 9]
            assert getattr(got, name)[layer, head] == sum(fits) / len(fits)
        for prefix, chosen in (("", rows.content_rows), ("read_", rows.reading_rows)):
            keys = [best[q] for q in range(9) if chosen[q]]
            content = sum(k not in (0, 4, 8) for k in keys) / len(keys)
            assert getattr(got, f"{prefix}distinct")[layer, head] == len(set(keys)) / 6
            assert getattr(got, f"{prefix}on_content")[layer, head] == pytest.approx(content)
            sharp = np.mean([weights[layer, head, q].max() for q in range(9) if chosen[q]])
            assert getattr(got, f"{prefix}content_confidence")[layer, head] == pytest.approx(sharp)


def test_shares_of_positions_count_only_rows_that_have_such_a_key():
    previous = np.eye(6, k=-1)
    previous[0, 3] = 1
    got = measure(one_head(previous), plain_rows(6, 6))
    assert got.previous[0, 0] == 1 and got.same[0, 0] == 0 and got.next[0, 0] == 0
    causal = np.eye(6, k=-1)
    causal[0, 0] = 1
    got = measure(one_head(causal), plain_rows(6, 6, visible=np.arange(1, 7)))
    assert got.previous[0, 0] == 1 and got.same[0, 0] == 0
    assert got.distance[0, 0] == pytest.approx(5 / 6)


@pytest.mark.parametrize(("offset", "name"), [(-1, "previous"), (0, "same"), (1, "next")])
def test_diagonals_are_positional(offset, name):
    matrix = 0.7 * np.eye(12, k=offset) + 0.3 / 12
    assert role(matrix, plain_rows(12, 12)) == name
    assert role(matrix, plain_rows(12, 12, self_attention=False)) != name


def test_a_sink_a_diffuse_and_an_aligning_head_are_told_apart():
    sink = np.full((6, 6), 0.05)
    sink[:, 5] = 0.75
    assert role(sink, plain_rows(6, 6, special=(5,))) == "sink"
    assert role(sink, plain_rows(6, 6)) == "mixed"
    assert role(np.full((6, 6), 1 / 6), plain_rows(6, 6)) == "diffuse"
    reversing = 0.8 * np.eye(6)[::-1] + 0.2 / 6
    assert role(reversing, plain_rows(6, 6, self_attention=False)) == "aligns"
    assert role(reversing, plain_rows(6, 6)) == "mixed"
    one_column = np.full((6, 6), 0.02)
    one_column[:, 2] = 0.9
    assert role(one_column, plain_rows(6, 6, self_attention=False)) == "mixed"


def test_uniform_causal_rows_are_diffuse_by_the_keys_that_they_see():
    uniform = np.tril(np.ones((8, 8)))
    uniform /= uniform.sum(axis=1, keepdims=True)
    got = measure(one_head(uniform), plain_rows(8, 8, visible=np.arange(1, 9)))
    assert got.relative_entropy[0, 0] == pytest.approx(1)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_trace_gives_one_record_a_head_in_order(make_trace, kind):
    trace = make_trace(3)
    stats = head_stats(trace, kind)
    assert [(s.layer, s.head) for s in stats] == list(np.ndindex(3, 4))
    weights = trace.weights(kind).astype(np.float64)
    counted = {"encoder": range(8), "decoder": range(1, 8), "cross": range(7)}[kind]
    for s in stats:
        rows = weights[s.layer, s.head][list(counted)]
        assert s.entropy == pytest.approx(np.mean([scipy.stats.entropy(r) for r in rows]))
        assert s.special == pytest.approx(rows[:, 0 if kind == "decoder" else -1].mean())
        assert s.role in ROLES and s.kind == kind


def test_a_trace_of_eos_alone_still_has_measures(make_trace):
    trace = make_trace(source=(), target=())
    for kind in ("encoder", "decoder", "cross"):
        assert all((s.confidence, s.special, s.distance) == (1, 1, 0) for s in head_stats(trace, kind))
    with pytest.raises(InputError, match="kind is 'self'"):
        head_stats(trace, "self")


def test_punctuation_of_any_script():
    assert all(is_punctuation(Token(5, text)) for text in (".", "，", "。", "„", "...", "$"))
    assert not any(is_punctuation(Token(5, text)) for text in ("a.", "书", "", "7"))
    assert not is_punctuation(Token(2, "</s>", special=True))


def test_describe_names_the_same_numbers_as_the_arrays():
    weights = np.random.default_rng(4).dirichlet(np.ones(5), size=(2, 2, 5))
    got = measure(weights, plain_rows(5, 5))
    assert [s.entropy for s in describe(got, "encoder")] == got.entropy.ravel().tolist()


def candidate(layer, head, role, sharp, content=1.0):
    """A cross head that does no more than these say."""
    numbers = {name.name: 0.0 for name in fields(HeadStats) if name.name not in ("kind", "layer", "head", "role")}
    numbers |= {"content_confidence": sharp, "on_content": content}
    return HeadStats(kind="cross", layer=layer, head=head, role=role, **numbers)


def test_the_leading_head_aligns_then_is_sharp_on_content_then_was_measured_to_be_right():
    stats = [
        candidate(0, 0, "other", 1.0),
        candidate(0, 1, "aligns", 0.9, 0.7),
        candidate(1, 0, "aligns", 0.8, 0.9),
        candidate(1, 1, "aligns", 0.7, 0.9),
    ]
    assert leading_head(stats) == (1, 0), "0.8 × 0.9 is more than 0.9 × 0.7 and 0.7 × 0.9"
    assert leading_head(stats, [0.0, 0.3, 0.6, 0.2]) == (1, 1), "0.504 against 0.441, 0.288 and one that aligns not"
    assert leading_head(stats[:1], [1.0]) == (0, 0)


def test_a_leading_head_needs_heads_and_a_rate_for_each():
    with pytest.raises(InputError, match="0 heads"):
        leading_head([])
    with pytest.raises(InputError, match="1 heads and 2 rates"):
        leading_head([candidate(0, 0, "aligns", 0.5)], [0.1, 0.2])
