import numpy as np
import pytest

from translator import InputError
from translator.analysis.rollout import rollout, self_rollout


def paths(layers, start, end):
    """The summed weight of every path from `start` above the last layer down to input `end`: brute force."""
    if not layers:
        return float(start == end)
    top = layers[-1]
    return sum(top[start, middle] * paths(layers[:-1], middle, end) for middle in np.flatnonzero(top[start]))


def test_identity_attention_rolls_out_to_the_identity():
    eye = np.broadcast_to(np.eye(5), (4, 2, 5, 5))
    np.testing.assert_allclose(self_rollout(eye), np.eye(5))
    got = rollout(eye, eye, eye)
    np.testing.assert_allclose(got.source_rows, np.eye(5))
    np.testing.assert_allclose(got.source_share, 1 - 0.5**4)


def test_rollout_is_the_sum_over_all_paths(make_trace):
    trace = make_trace(6, source=(("a", 0), ("b", 1), ("c", 2)))
    mixed = 0.5 * trace.encoder.astype(float).mean(axis=1) + 0.5 * np.eye(4)
    got = self_rollout(trace.encoder)
    for start, end in np.ndindex(4, 4):
        np.testing.assert_allclose(got[start, end], paths(list(mixed), start, end))


def test_rollout_through_the_decoder_is_the_sum_over_all_paths_of_one_graph(make_trace):
    trace = make_trace(7, source=(("a", 0), ("b", 1)), target=(("x", 0), ("y", 1)))
    s, t = len(trace.src), len(trace.tgt)
    eye = np.eye(s + t)
    graph = []
    for weights in trace.encoder.astype(float).mean(axis=1):
        layer = eye.copy()
        layer[:s, :s] = 0.5 * weights + 0.5 * np.eye(s)
        graph.append(layer)
    for own, across in zip(
        trace.decoder.astype(float).mean(axis=1), trace.cross.astype(float).mean(axis=1), strict=True
    ):
        for block, weights in ((slice(s, None), own), (slice(0, s), across)):
            layer = eye.copy()
            layer[s:, s:] = 0.5 * np.eye(t)
            layer[s:, block] += 0.5 * weights
            graph.append(layer)
    got = rollout(trace.encoder, trace.decoder, trace.cross)
    for row, column in np.ndindex(t, s):
        np.testing.assert_allclose(got.source[row, column], paths(graph, s + row, column))


def test_rows_sum_to_one_and_the_decoder_stays_causal(make_trace):
    trace = make_trace(8)
    got = rollout(trace.encoder, trace.decoder, trace.cross)
    np.testing.assert_allclose(got.source.sum(axis=1) + got.target.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(got.source_rows.sum(axis=1), 1)
    np.testing.assert_allclose(self_rollout(trace.encoder).sum(axis=1), 1, atol=1e-6)
    assert not np.triu(got.target, 1).any()


@pytest.mark.parametrize("residual", [-0.1, 1.1, float("nan")])
def test_a_residual_that_is_no_share_is_refused(make_trace, residual):
    with pytest.raises(InputError, match="residual is"):
        self_rollout(make_trace(6).encoder, residual)
