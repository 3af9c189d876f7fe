"""What a long trace costs a notebook, and what comes once it is looked at."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import translator
from translator.analysis.distance import head_distances
from translator.notebook import arrays_trace
from translator.notebook.parts import LEVELS, SMALL, WHOLE, packed_maps, sent_maps, small_pictures, special_shares
from translator.trace import Trace
from translator.ui.payload import lower_triangles, unpack

FURTHER = 120 * 1024
"""Bytes of state and output that one more trace may cost a notebook."""


def long_trace(layers: int, heads: int, size: int = 64, seed: int = 0) -> Trace:
    """Random rows, which pack worse than those of any model."""
    rng = np.random.default_rng(seed)
    maps = {kind: rng.dirichlet(np.full(size, 0.2), (layers, heads, size)) for kind in ("encoder", "decoder", "cross")}
    maps["decoder"] = np.tril(maps["decoder"])
    maps["decoder"] /= np.maximum(maps["decoder"].sum(axis=-1, keepdims=True), 1e-9)
    tokens = {f"{side}_tokens": [f"{side[:2]}{n}" for n in range(size)] for side in ("encoder", "decoder")}
    return arrays_trace(**{f"{kind}_attention": each for kind, each in maps.items()}, **tokens)


def size_of(value: Any) -> int:
    """Bytes of a widget's state, which travels as JSON with buffers beside it."""
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, dict):
        return sum(len(name) + size_of(each) for name, each in value.items())
    return sum(map(size_of, value)) if isinstance(value, (list, tuple)) else len(json.dumps(value))


def cost(widget: Any) -> int:
    """Bytes of its state and of what it puts into the notebook."""
    return size_of(widget.get_state()) + len(json.dumps(widget._repr_mimebundle_()[0]))


@pytest.mark.slow
@pytest.mark.parametrize(("layers", "heads"), [(6, 8), (12, 16)])
def test_a_further_long_trace_costs_a_notebook_little(layers: int, heads: int) -> None:
    first, second = (long_trace(layers, heads, seed=seed) for seed in range(2))
    assert sum(len(packed_maps(first, kind)) for kind in first.kinds) > 2 * FURTHER
    assert cost(translator.explore(first)) <= FURTHER
    assert cost(translator.compare(first, second)) <= 2 * FURTHER


@pytest.mark.slow
def test_a_long_translation_costs_little_with_all_that_is_known_of_it() -> None:
    """Its candidates, the hypotheses of its beam and what its heads usually do."""
    model = translator.load("de-en", device="cpu")
    text = (
        "Ich habe den Zug nach Hamburg verpasst, weil der Bus gestern Abend wegen des Schnees eine Stunde zu spät kam, "
        "und deshalb musste ich in der kalten Nacht lange auf den nächsten Zug warten, der dann auch noch ausfiel."
    )
    trace = model.translate(text, method="beam", beam=5)
    assert len(trace.src) > 45 and len(trace.tgt) > 40
    assert cost(translator.explore(trace, model=model)) <= FURTHER
    assert cost(translator.compare(trace, model.translate(text))) <= 2 * FURTHER


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "Guten Morgen.",
        "Die Bücher, die ich gestern gekauft habe, liegen noch auf dem Tisch.",
        "Ich habe den Zug nach Hamburg verpasst, weil der Bus gestern Abend wegen des Schnees eine Stunde zu spät kam.",
    ],
)
def test_a_further_trace_of_an_everyday_sentence_costs_a_notebook_little(text: str) -> None:
    assert 10_000 < cost(translator.explore(translator.load("de-en", device="cpu").translate(text))) <= FURTHER


@pytest.mark.slow
def test_a_short_trace_comes_whole_and_a_long_one_in_parts(make_trace: Callable[..., Trace]) -> None:
    short = make_trace(0)
    sent = sent_maps(short, ("cross", 1, 2))
    for kind in short.kinds:
        maps = short.weights(kind)
        want = lower_triangles(maps) if kind == "decoder" else maps
        np.testing.assert_allclose(unpack(zlib.decompress(sent[kind]), "d4"), want.ravel(), atol=5.1e-5)
    long = long_trace(3, 4)
    sent = sent_maps(long, ("cross", 1, 2))
    assert sum(len(packed_maps(long, kind)) for kind in long.kinds) > WHOLE
    assert [len(sent[kind]["heads"]) for kind in long.kinds] == [0, 0, 1]
    layer, head, packed = sent["cross"]["heads"][0]
    assert (layer, head) == (1, 2)
    np.testing.assert_allclose(unpack(zlib.decompress(packed), "d4"), long.cross[1, 2].ravel(), atol=5.1e-5)


@pytest.mark.slow
def test_a_small_picture_has_the_largest_weight_of_each_block() -> None:
    weights = np.random.default_rng(3).dirichlet(np.full(61, 0.2), (6, 8, 47))
    found = small_pictures(weights)
    pool, cells = found["pool"], np.frombuffer(zlib.decompress(found["small"]), np.uint8)
    assert pool > 1 and len(found["small"]) <= SMALL
    down, across = -(-47 // pool), -(-61 // pool)
    pictures = cells.reshape(6, 8, down, across)
    for layer, head, i, j in [(0, 0, 0, 0), (5, 7, down - 1, across - 1), (2, 3, 4, 9), (3, 1, 0, across - 1)]:
        block = weights[layer, head, i * pool : (i + 1) * pool, j * pool : (j + 1) * pool]
        assert pictures[layer, head, i, j] == round(float(block.max()) ** 0.5 * LEVELS)
    assert small_pictures(weights[:1, :1])["pool"] == 1


def test_the_kernel_sends_the_maps_that_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (long_trace(2, 3, 20, seed=seed) for seed in range(2))
    widget: Any = translator.compare(first, second)
    sent: list[tuple[dict, list[bytes]]] = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append((content, buffers)))
    question = {"ask": "maps", "number": "7", "trace": 1, "kind": "decoder", "places": [[1, 2], [0, 0]]}
    widget._handle_custom_msg(question, [])
    [(content, [packed])] = sent
    assert content == {"answer": "7"}
    want = lower_triangles(second.decoder[[1, 0], [2, 0]]).ravel()
    np.testing.assert_allclose(unpack(zlib.decompress(packed), "d4"), want, atol=5.1e-5)


def test_a_comparison_comes_with_the_distances_of_its_heads_and_the_map_that_is_shown() -> None:
    first, second = (long_trace(2, 3, 20, seed=seed) for seed in range(2))
    widget: Any = translator.compare(first, second)
    for trace in widget._maps:
        assert [[place[:2] for place in trace[kind]["heads"]] for kind in trace] == [
            [], [], [[widget.layer, widget.head]]
        ]  # fmt: skip
        assert "small" not in trace["cross"]
    told = json.loads(zlib.decompress(widget._distances))
    assert len(widget._distances) < 1500
    for kind in first.kinds:
        for unit, words in (("sub", False), ("word", True)):
            want = head_distances(first, second, kind, words=words)
            assert want is not None
            np.testing.assert_allclose(told[kind][unit], want.ravel(), atol=5.1e-5)


def test_the_share_on_special_tokens_is_counted_where_all_maps_are(make_trace: Callable[..., Trace]) -> None:
    trace = make_trace(0)
    shares = special_shares(trace)
    for kind in trace.kinds:
        keys = [j for j, token in enumerate(trace.keys(kind)) if token.special]
        rows = [head[:, keys].sum(axis=1) for layer in trace.weights(kind) for head in layer]
        assert keys and shares[kind] == pytest.approx(np.mean(rows), abs=1e-6)
