import networkx
import numpy as np

from translator.analysis.flow import self_flow


def test_flow_is_networkxs_maximum_flow(make_trace):
    encoder = make_trace(14, source=(("a", 0), ("b", 1), ("c", 2), ("d", 3))).encoder
    graph = networkx.DiGraph()
    for layer, maps in enumerate(encoder.astype(float)):
        for q, k in np.ndindex(5, 5):
            graph.add_edge((layer + 1, q), (layer, k), capacity=0.5 * maps[:, q, k].mean() + 0.5 * (q == k))
    want = np.array([[networkx.maximum_flow_value(graph, (3, q), (0, k)) for k in range(5)] for q in range(5)])
    np.testing.assert_allclose(self_flow(encoder), want / want.sum(axis=1, keepdims=True), atol=1e-5)


def test_identity_attention_flows_straight_down():
    np.testing.assert_allclose(self_flow(np.broadcast_to(np.eye(4), (3, 2, 4, 4))), np.eye(4))
