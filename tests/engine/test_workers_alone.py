"""Products shared with workers against the same products alone, and what the work queue and its workers promise."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from translator.config import DecodeConfig
from translator.decode import finish, search
from translator.engine import best
from translator.engine.cpu import jit, matmul, work_queue
from translator.engine.cpu.workers import WORKERS, Workers
from translator.model import Transformer

ALONE = np.zeros(0, np.int64)
KINDS = (np.float32, np.uint16, np.int8, np.uint8)


class Watched:
    """A queue that some threads watch until the test is over."""

    def __init__(self, workers: int) -> None:
        self.queue = np.zeros(work_queue.QUEUE, np.int64)
        self._over = False
        self._threads = [threading.Thread(target=self._run) for _ in range(workers)]
        for thread in self._threads:
            thread.start()
        while self.queue[work_queue.AWAKE] < workers:
            time.sleep(0.001)

    def _run(self) -> None:
        while not self._over:
            matmul.serve(self.queue, 100_000)  # then it looks whether the test is over

    def close(self) -> None:
        """End the threads."""
        self._over = True
        for thread in self._threads:
            thread.join()


@pytest.fixture(params=[1, 3])
def watched(request: pytest.FixtureRequest) -> Iterator[Watched]:
    made = Watched(request.param)
    yield made
    made.close()


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch has two threads, and this machine two cores."""
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr("translator.engine.cpu.workers._cores", lambda: {0, 1})


def matrix(stored: type, outputs: int, groups: int = 1, width: int = 32) -> matmul.Matrix:
    rng = np.random.default_rng(outputs)
    weight = rng.normal(size=(1, outputs, groups * width)).astype(np.float32)
    if stored is np.uint16:
        weight = weight.astype(np.float16).view(np.uint16)
    elif stored is np.int8:
        weight = rng.integers(-127, 128, weight.shape).astype(np.int8)
    elif stored is np.uint8:
        weight = rng.integers(-(2**23), 2**23, weight.shape).astype(np.int32)
    panels = matmul.in_panels(weight)
    panels = matmul.in_three_bytes(panels) if stored is np.uint8 else panels
    whole = stored in (np.int8, np.uint8)
    scale = rng.normal(size=(1, outputs, groups)) if whole else np.ones((1, outputs, groups))
    bias = rng.normal(size=(1, outputs)).astype(np.float32)
    return matmul.Matrix(panels, matmul.in_panels(scale.astype(np.float32)), bias)


def multiply(layer: matmul.Matrix, rows: int, queue: np.ndarray) -> np.ndarray:
    x = np.random.default_rng(rows).normal(size=(rows, layer.weight.shape[2])).astype(np.float32)
    out = np.full((rows, layer.bias.shape[1]), np.nan, np.float32)
    matmul.product(layer, 0, x, out, queue)
    return out


@pytest.mark.parametrize("rows", [1, 4, 16])
@pytest.mark.parametrize(
    ("stored", "shape"),
    [(stored, shape) for stored in KINDS for shape in [(5, 1, 32), (37, 2, 48), (200, 3, 16), (64, 1, 21)]],
)
def test_a_shared_product_is_the_same_to_the_last_bit(
    watched: Watched, rows: int, stored: type, shape: tuple[int, int, int]
) -> None:
    layer = matrix(stored, *shape)
    want = multiply(layer, rows, ALONE)
    for _ in range(20):
        np.testing.assert_array_equal(multiply(layer, rows, watched.queue), want)


def test_thousands_of_products_one_after_the_other(watched: Watched) -> None:
    """Sizes, kinds and addresses change from one to the next, so that a worker that is late would do the wrong one."""
    layers = [matrix(stored, outputs) for stored in KINDS for outputs in (33, 64, 130)]
    want = [multiply(layer, 1, ALONE) for layer in layers]
    order = np.random.default_rng(0).integers(len(layers), size=3000)
    for n in order:
        np.testing.assert_array_equal(multiply(layers[n], 1, watched.queue), want[n])
    assert watched.queue[work_queue.TICKET] >> 32 > len(order) // 2, "workers slept"


def test_a_worker_that_was_promised_and_never_comes_is_not_waited_for() -> None:
    queue = np.zeros(work_queue.QUEUE, np.int64)
    queue[work_queue.AWAKE] = 2
    layer = matrix(np.float32, 100)
    np.testing.assert_array_equal(multiply(layer, 1, queue), multiply(layer, 1, ALONE))
    assert queue[work_queue.DONE] == 0 and queue[work_queue.TICKET] & 0xFFFF == 0


def test_every_chunk_is_taken_once_from_either_end() -> None:
    queue = np.zeros(work_queue.QUEUE, np.int64)
    for chunks in (1, 2, 7):
        work_queue.post(queue, chunks)
        taken = [work_queue.take_last(queue) if n % 2 else work_queue.take(queue) for n in range(chunks)]
        assert taken == [n // 2 if n % 2 else True for n in range(chunks)]
        assert work_queue.take_last(queue) == -1 and not work_queue.take(queue)


def test_chunks_that_threads_take_are_all_there_are() -> None:
    queue = np.zeros(work_queue.QUEUE, np.int64)
    work_queue.post(queue, 20_000)
    found: list[list[int]] = [[], [], []]

    def run(mine: list[int]) -> None:
        while (queue[work_queue.TICKET] & 0xFFFF) > 0:
            taken = work_queue.take_last(queue)
            if taken >= 0:
                mine.append(taken)

    threads = [threading.Thread(target=run, args=(mine,)) for mine in found]
    for thread in threads:
        thread.start()
    own = sum(iter(lambda: work_queue.take(queue), False))
    for thread in threads:
        thread.join()
    helped = sorted(taken for mine in found for taken in mine)
    assert helped == list(range(len(helped))) and own + len(helped) == 20_000


@pytest.mark.skipif(work_queue._core is None, reason="the system does not say which core a thread is on")
def test_a_worker_on_its_owners_core_leaves_after_one_chunk() -> None:
    queue, layer = np.zeros(work_queue.QUEUE, np.int64), matrix(np.float32, 64)
    queue[work_queue.AWAKE] = 1
    multiply(layer, 1, queue)  # leaves its job on the queue
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        out = np.zeros(64, np.float32)
        queue[work_queue.JOB + 4] = out.ctypes.data
        work_queue.post(queue, 1)
        assert matmul.serve(queue, 100)
        assert queue[work_queue.DONE] == 1 and queue[work_queue.AWAKE] == 1
    finally:
        os.sched_setaffinity(0, before)
    assert not matmul.serve(queue, 100), "nothing to do, nothing in the way"


def test_one_caller_has_workers_and_a_second_works_alone(two_threads: None) -> None:
    pool = Workers()
    with pool.queue() as queue:
        assert len(queue) == work_queue.QUEUE
        with pool.queue() as other:
            assert len(other) == 0
    with pool.queue() as again:
        assert again is queue


def test_with_one_thread_or_one_core_nobody_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    for threads, cores in ((1, {0, 1}), (2, {0})):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        monkeypatch.setattr("translator.engine.cpu.workers._cores", lambda cores=cores: cores)
        before = threading.active_count()
        with Workers().queue() as queue:
            assert len(queue) == 0
        assert threading.active_count() == before


def test_workers_sleep_when_there_is_nothing_to_do(two_threads: None, monkeypatch: pytest.MonkeyPatch) -> None:
    came, serve = threading.Event(), matmul.serve

    def served(queue: np.ndarray, looks: int) -> bool:
        came.set()
        return serve(queue, looks)

    monkeypatch.setattr(matmul, "serve", served)  # a worker is awake for less than a busy machine may look away
    pool = Workers()
    with pool.queue() as queue:
        assert came.wait(60)
    until = time.monotonic() + 60
    while queue[work_queue.AWAKE] != 0 or not all(worker._asleep for worker in pool._workers):
        assert time.monotonic() < until
        time.sleep(0.001)
    came.clear()
    with pool.queue():
        assert came.wait(60), "a worker that slept was not woken"


def test_a_forked_process_begins_anew(two_threads: None) -> None:
    pool = Workers()
    with pool.queue():
        pool.forget()
        with pool.queue() as queue:
            assert len(queue) == work_queue.QUEUE


@torch.inference_mode()
def test_decoding_with_workers_gives_the_same(
    make_model: Callable[..., Transformer], batch: tuple[Tensor, Tensor, Tensor], two_threads: None
) -> None:
    engine = best(make_model())
    engine.compile(wait=True)
    config, ids = DecodeConfig(method="beam", beam=4), batch[0][0].tolist()
    shared = finish(search(engine, ids, config, max_length=8))
    posted = WORKERS._queue[work_queue.TICKET] >> 32
    WORKERS._callers += 1  # as if another caller decoded
    try:
        alone = finish(search(engine, ids, config, max_length=8))
    finally:
        WORKERS._callers -= 1
    assert WORKERS._queue[work_queue.TICKET] >> 32 == posted
    assert shared == alone


def test_what_was_compiled_is_kept_under_the_state_of_all_sources(tmp_path: Path) -> None:
    for name in jit.FILES:
        (tmp_path / name).write_bytes((Path(jit.__file__).parent / name).read_bytes())
    assert jit.state(tmp_path) == jit.STATE and matmul.part.py_func.__qualname__ == f"part{jit.STATE}"
    for name in jit.FILES:
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + b"\n")
        assert jit.state(tmp_path) != jit.STATE
        (tmp_path / name).write_bytes((Path(jit.__file__).parent / name).read_bytes())
