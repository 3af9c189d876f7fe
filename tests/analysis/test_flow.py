import networkx
import numpy as np

from translator.analysis.flow import flow, self_flow


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


def test_the_flow_through_the_decoder_is_networkxs(make_trace):
    trace = make_trace(3, layers=2, source=(("a", 0), ("b", 1)), target=(("x", 0), ("y", 1)))
    encoder, decoder, cross = (maps.astype(float) for maps in (trace.encoder, trace.decoder, trace.cross))
    graph = networkx.DiGraph()
    for layer in range(2):
        for q, k in np.ndindex(3, 3):
            for name, maps in (("e", encoder), ("self", decoder)):
                below = (name, layer, k) if name == "e" else ("d", layer, k)
                above = (name, layer + 1, q) if name == "e" else ("mixed", layer, q)
                graph.add_edge(above, below, capacity=0.5 * maps[layer, :, q, k].mean() + 0.5 * (q == k))
            graph.add_edge(("d", layer + 1, q), ("e", 2, k), capacity=0.5 * cross[layer, :, q, k].mean())
        for q in range(3):
            graph.add_edge(("d", layer + 1, q), ("mixed", layer, q), capacity=0.5)
    ends = [("e", 0, k) for k in range(3)] + [("d", 0, k) for k in range(3)]
    want = np.array([[networkx.maximum_flow_value(graph, ("d", 2, q), end) for end in ends] for q in range(3)])
    want /= want.sum(axis=1, keepdims=True)
    found = flow(encoder, decoder, cross)
    np.testing.assert_allclose(np.hstack([found.source, found.target]), want, atol=1e-5)
    np.testing.assert_allclose(found.source_share + found.target.sum(axis=1), 1)
