"""Rows 18 and 19: the trace store holds no more than its bytes, and an id answers only to its own request."""

from __future__ import annotations

import random
import threading
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from translator.trace import Trace
from translator.ui.store import LIMIT, TraceStore, trace_bytes


def words(count: int) -> list[tuple[str, int]]:
    return [(f"word{i}", i) for i in range(count)]


@pytest.fixture(scope="module")
def traces(make_trace: Callable[..., Trace]) -> list[Trace]:
    return [make_trace(seed, layers=2, heads=2, source=words(5 + seed), target=words(4 + seed)) for seed in range(4)]


@pytest.mark.slow
def test_ten_thousand_inserts_stay_within_the_bytes(make_trace: Callable[..., Trace]) -> None:
    trace, store = make_trace(1, layers=6, heads=8, source=words(24), target=words(20)), TraceStore()
    ids = [store.put(("sha", "text", i), trace) for i in range(10_000)]
    assert store.limit == LIMIT == 64 * 2**20
    assert store.bytes <= LIMIT
    assert len(store) == LIMIT // trace_bytes(trace)
    assert store.get(ids[-1], ("sha", "text", 9_999)) is trace
    assert store.get(ids[0], ("sha", "text", 0)) is None


@pytest.mark.slow
def test_the_estimate_is_what_is_allocated(make_trace: Callable[..., Trace]) -> None:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = [make_trace(seed, layers=3, heads=4, source=words(30), target=words(30)) for seed in range(8)]
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert held <= sum(map(trace_bytes, kept)) <= 3 * held


def test_who_was_asked_for_last_stays(traces: list[Trace]) -> None:
    trace = traces[0]
    store = TraceStore(limit=3 * trace_bytes(trace))
    ids = [store.put(i, trace) for i in range(3)]
    assert store.get(ids[0], 0) is trace
    store.put(3, trace)
    assert store.get(ids[0], 0) is trace
    assert store.get(ids[1], 1) is None


def test_what_is_larger_than_the_store_is_not_kept(traces: list[Trace]) -> None:
    store = TraceStore(limit=100)
    assert store.get(store.put("key", traces[0]), "key") is None
    assert store.bytes == 0


def test_an_id_answers_only_to_its_own_request(traces: list[Trace]) -> None:
    store = TraceStore()
    id_ = store.put(("sha", "Guten Tag.", "greedy"), traces[0])
    assert store.get(id_, ("sha", "Guten Tag.", "greedy")) is traces[0]
    for key in (("other", "Guten Tag.", "greedy"), ("sha", "Gute Nacht.", "greedy"), ("sha", "Guten Tag.", "beam")):
        assert store.get(id_, key) is None


def test_ids_cannot_be_guessed_and_the_same_request_gets_another(traces: list[Trace]) -> None:
    store = TraceStore()
    ids = {store.put("key", traces[0]) for _ in range(500)}
    assert len(ids) == 500 and all(len(id_) >= 22 for id_ in ids)
    assert store.get("", "key") is None and store.get(None, "key") is None and store.get(["x"], "key") is None


def test_a_kept_trace_cannot_be_changed(traces: list[Trace]) -> None:
    with pytest.raises(ValueError, match="read-only"):
        traces[0].cross[0, 0, 0, 0] = 1
    with pytest.raises(AttributeError):
        traces[0].source = "x"  # type: ignore[misc]
    assert isinstance(traces[0].cross, np.ndarray)


def test_visitors_at_once_get_their_own(traces: list[Trace]) -> None:
    store, wrong = TraceStore(limit=20 * max(map(trace_bytes, traces))), []

    def visit(who: int) -> None:
        choose = random.Random(who)
        mine: list[tuple[str, int]] = []
        for turn in range(500):
            which = choose.randrange(len(traces))
            mine.append((store.put((who, turn), traces[which]), which))
            back = choose.randrange(len(mine))
            found = store.get(mine[back][0], (who, back))
            if found is not None and found is not traces[mine[back][1]]:
                wrong.append((who, back))

    threads = [threading.Thread(target=visit, args=(who,)) for who in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and store.bytes <= store.limit
