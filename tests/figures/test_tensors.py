from itertools import pairwise

import numpy as np
import pytest

from translator.errors import InputError
from translator.figures.tensors import (
    head_shares,
    score_heatmap,
    tensor_heatmap,
    token_values,
    value_counts,
    variance_growth,
)

TOKENS = ["the", "cat", "the"]
RNG = np.random.default_rng(1)


def test_a_tensor_keeps_its_numbers_and_centres_zero():
    values = RNG.normal(size=(3, 7))
    values[0, 0] = 900.0
    fig = tensor_heatmap(values, TOKENS)
    np.testing.assert_array_equal(fig.data[0].z, values)
    assert fig.data[0].zmin == -fig.data[0].zmax and fig.data[0].zmax < 900
    assert list(fig.layout.yaxis.tickvals) == [0, 1, 2]
    assert [row[0] for row in fig.data[0].customdata] == TOKENS


def test_scores_keep_sign_and_place():
    scores = RNG.normal(size=(3, 2))
    picture = score_heatmap(scores, TOKENS, ["<i>", "b"]).data[0]
    np.testing.assert_array_equal(picture.z, scores)
    assert picture.zmax == -picture.zmin == abs(scores).max()
    assert picture.customdata[1][1] == "cat → b" and "<i>" not in str(picture.customdata)


def test_tokens_are_escaped_on_hover_and_axis():
    fig = tensor_heatmap(np.zeros((1, 2)), ["<b>%{x}"])
    assert "<b>" not in str(fig.data[0].customdata) + str(fig.layout.yaxis.ticktext)
    fig = token_values({"mean": np.zeros(1)}, ["<b>"], "mean")
    assert "<b>" not in str(fig.data[0].customdata) + str(fig.layout.xaxis.ticktext)


def test_values_stand_over_their_tokens():
    series = {"mean": RNG.normal(size=3), "std": RNG.normal(size=3)}
    fig = token_values(series, TOKENS, "size")
    for trace, (name, values) in zip(fig.data, series.items(), strict=True):
        assert trace.name == name
        np.testing.assert_array_equal(trace.y, values)


def test_a_heads_share_is_the_length_of_its_part():
    parts = RNG.normal(size=(2, 3, 5))
    want = [[sum(x * x for x in parts[h, t]) ** 0.5 for t in range(3)] for h in range(2)]
    np.testing.assert_allclose(head_shares(parts, TOKENS).data[0].z, want)


def test_counts_are_shares_on_common_bins():
    series = {"wide": RNG.normal(size=(4, 50)) * 3, "narrow": np.r_[RNG.normal(size=90), np.inf]}
    fig = value_counts(series, "score", bins=20)
    finite = np.concatenate([np.ravel(v)[np.isfinite(np.ravel(v))] for v in series.values()])
    edges = np.linspace(finite.min(), finite.max(), 21)
    for trace, values in zip(fig.data, series.values(), strict=True):
        np.testing.assert_allclose(trace.x, np.repeat(edges, 2)[1:-1])
        inside = [
            np.mean(
                [(low <= v) and (v < high or (high == edges[-1] and v <= high)) for v in np.ravel(values) if v < np.inf]
            )
            for low, high in pairwise(edges)
        ]
        np.testing.assert_allclose(trace.y[::2], inside)


def test_variances_are_drawn_against_the_widths():
    variances = np.array([(4.0, 1.0), (16.0, 1.1)])
    fig = variance_growth([4, 16], variances)
    np.testing.assert_array_equal([trace.y for trace in fig.data], variances.T)
    assert fig.layout.xaxis.type == fig.layout.yaxis.type == "log"


@pytest.mark.parametrize(
    "draw",
    [
        lambda: tensor_heatmap(np.zeros((2, 3)), TOKENS),
        lambda: score_heatmap(np.zeros((2, 3)), TOKENS, TOKENS),
        lambda: token_values({"x": np.zeros(2)}, TOKENS, "x"),
        lambda: head_shares(np.zeros((2, 2, 3)), TOKENS),
        lambda: variance_growth([4, 8], np.zeros((2, 3))),
    ],
)
def test_what_does_not_fit_is_refused(draw):
    with pytest.raises(InputError):
        draw()
