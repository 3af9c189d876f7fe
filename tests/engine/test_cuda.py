"""Steps that are launched at once: recorded and played back on a stand-in for a GPU, against the model's whole pass."""

from __future__ import annotations

import copy
import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from translator.config import DecodeConfig
from translator.decode import finish, search
from translator.engine import EagerEngine, best, cuda
from translator.engine.cuda import CudaEngine
from translator.model import Encoded, Gates, Transformer

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
Batch = tuple[Tensor, Tensor, Tensor]
HABITS: list[dict[str, object]] = [
    {},
    {"norm": "post", "activation": "gelu", "embedding_norm": True, "positions": "learned"},
    {"norm_variant": "unbiased", "d_head": 5, "first_position": 2, "output_bias": True},
]


class Recorder(TorchDispatchMode):
    """A graph as CUDA understands it: the same operators over the same memory, whatever Python would now say.

    What waits for the device, or reads the CPU's memory, cannot be captured.
    """

    def __init__(self, waits: Callable[..., bool]) -> None:
        super().__init__()
        self.waits = waits
        self.done: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        if self.waits(op, args, kwargs) or any(each.is_cpu for each in tensors) or "cpu" in str(kwargs.get("device")):
            raise RuntimeError(f"{op}: operation not permitted when stream is capturing")
        found = op(*args, **kwargs)
        self.done.append((op, args, kwargs, found))
        return found

    def replay(self) -> None:
        """Run it all again; what an operator made anew goes where it first stood."""
        for op, args, kwargs, found in self.done:
            again = op(*args, **kwargs)
            for old, new in zip(tree_leaves(found), tree_leaves(again), strict=True):
                if isinstance(old, Tensor) and old.inner.data_ptr() != new.inner.data_ptr():
                    old.copy_(new)


class Made(list):
    """What was captured so far."""

    def __init__(self, waits: Callable[..., bool]) -> None:
        super().__init__()
        self.waits = waits

    def __call__(self, work: cuda.Work, device: torch.device) -> tuple[Callable[[], None], cuda.Outputs]:
        assert device.type == "second"
        with Recorder(self.waits) as recorder:
            outputs = work()
        self.append(recorder)

        def replay() -> None:
            assert cuda._one_at_a_time.locked(), "another thread may be capturing"
            recorder.replay()

        return replay, outputs


@pytest.fixture
def made(second: str, waits: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> Made:
    made = Made(waits)
    monkeypatch.setitem(cuda.CAPTURES, torch.device(second).type, made)
    return made


def ready(model: Transformer, device: str) -> CudaEngine:
    engine = best(model.to(device))
    engine.compile()
    assert isinstance(engine, CudaEngine) and engine.ready
    return engine


@pytest.mark.slow
@pytest.mark.parametrize("changes", HABITS)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("source", [0, 2], ids=["whole", "padded"])
@torch.inference_mode()
def test_steps_equal_the_rows_of_decode(
    make_model: Callable[..., Transformer],
    batch: Batch,
    made: Made,
    second: str,
    changes: dict[str, object],
    rows: int,
    source: int,
) -> None:
    model = make_model(**changes)
    src_ids, src_keep = batch[0][source : source + 1], batch[1][source : source + 1]
    tgt_ids = torch.randint(3, 19, (rows, 6))
    memory = model.encode(src_ids, src_keep).memory
    want = model.decode(tgt_ids, memory.expand(rows, -1, -1), src_keep.expand(rows, -1))
    encoded = Encoded.without_maps(memory.to(second), src_keep.to(second))
    session = ready(model, second).start(encoded, max_length=6, rows=rows)
    for t in range(6):
        step = session.step(tgt_ids[:, t].to(second))
        assert isinstance(step.own, Tensor) == (t > 0), "kernel by kernel"
        torch.testing.assert_close(step.logits.cpu(), want.logits[:, t], **CLOSE)
        torch.testing.assert_close(step.decoder.cpu(), want.decoder[..., t, : t + 1], **CLOSE)
        torch.testing.assert_close(step.cross.cpu(), want.cross[..., t, :], **CLOSE)
    with pytest.raises(ValueError, match="holds 6 steps and is full"):
        session.step(tgt_ids[:, 0].to(second))


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"method": "greedy"}, {"method": "beam", "beam": 3}, {"method": "sample"}])
def test_a_search_finds_the_same(
    make_model: Callable[..., Transformer], made: Made, second: str, settings: dict[str, Any]
) -> None:
    """A long source after a short one, and the short one again: what a search left behind is not read."""
    engine, plain = ready(make_model(max_positions=80), second), EagerEngine(make_model(max_positions=80))
    for source in ([5, 9, 2], [7, 8, 4, 11, 3] * 7, [5, 9, 2]):
        found, want = (list(search(each, source, DecodeConfig(**settings), max_length=20)) for each in (engine, plain))
        assert found[-1].ids == want[-1].ids
        for one, other in zip(found, want, strict=True):  # all of them are kept until the end
            torch.testing.assert_close(one.log_probs.cpu(), other.log_probs, atol=1e-4, rtol=1e-4)
            for name in ("logits", "decoder", "cross"):
                torch.testing.assert_close(getattr(one.stepped, name).cpu(), getattr(other.stepped, name), **CLOSE)
        for graph in engine.free:
            for kept in ("keys", "values", "cross_keys", "cross_values"):
                getattr(graph.cache, kept).fill_(torch.nan)
    assert len(made) == (3 if settings["method"] == "beam" else 2)  # the first without a search


@pytest.mark.slow
@torch.inference_mode()
def test_hypotheses_that_become_more_go_on_elsewhere(
    make_model: Callable[..., Transformer], batch: Batch, made: Made, second: str
) -> None:
    model, tgt_ids = make_model(), batch[2][:1]
    memory = model.encode(batch[0][:1], None).memory
    want = model.decode(tgt_ids, memory, None).logits[0]
    session = ready(model, second).start(Encoded.without_maps(memory.to(second)), max_length=6)
    for t in range(3):
        session.step(tgt_ids[:, t].to(second))
    session.reorder(torch.zeros(2, dtype=torch.long, device=second))
    for t in range(3, 6):
        logits = session.step(tgt_ids[:, t].expand(2).to(second)).logits.cpu()
        torch.testing.assert_close(logits, want[t].expand(2, -1), **CLOSE)
    assert len(made) == 2


@pytest.mark.slow
def test_graphs_are_lent_to_one_search_at_a_time(
    make_model: Callable[..., Transformer], made: Made, second: str
) -> None:
    engine, plain = ready(make_model(), second), EagerEngine(make_model())
    config, sources = DecodeConfig(method="greedy"), ([5, 9, 2], [4, 4, 8, 2])
    running = [search(engine, source, config, max_length=9) for source in sources]
    found: list[list[int]] = [[], []]
    for _ in range(5):
        for ids, steps in zip(found, running, strict=True):
            ids.append(next(steps).id)
    for ids, source in zip(found, sources, strict=True):
        assert tuple(ids) == finish(search(plain, source, config, max_length=9)).ids[:5]
    del running, steps
    gc.collect()
    assert len(made) == 2 and len(engine.free) == 2
    finish(search(engine, sources[0], config, max_length=9))
    assert len(made) == 2


@pytest.mark.slow
@torch.inference_mode()
def test_gated_heads_are_stepped_kernel_by_kernel(
    make_model: Callable[..., Transformer], batch: Batch, made: Made, second: str
) -> None:
    model = make_model()
    gates = Gates(decoder=torch.rand(2, 2), cross=torch.rand(2, 2))
    memory, tgt_ids = model.encode(batch[0][:1], None).memory, batch[2][:1]
    want = model.decode(tgt_ids, memory, None, gates).logits[0]
    engine, encoded = ready(model, second), Encoded.without_maps(memory.to(second))
    session = engine.start(encoded, max_length=4, gates=gates.to(torch.device(second)))
    for t in range(4):
        step = session.step(tgt_ids[:, t].to(second))
        assert not isinstance(step.own, Tensor)
        torch.testing.assert_close(step.logits[0].cpu(), want[t], **CLOSE)


@pytest.mark.slow
def test_a_model_that_moves_begins_anew(make_model: Callable[..., Transformer], made: Made, second: str) -> None:
    engine = ready(make_model(), second)
    made.clear()
    for module in engine.model.modules():  # as `double` does, but for parameters that the recorder holds
        for tensors in (module._parameters, module._buffers):
            tensors.update({name: each.double() for name, each in tensors.items() if each is not None})
    assert not engine.ready
    finish(search(engine, [5, 9, 2], DecodeConfig(), max_length=5))
    assert not made
    engine.compile()
    assert engine.ready and len(made) == 1
    finish(search(engine, [5, 9, 2], DecodeConfig(method="greedy"), max_length=5))
    assert len(made) == 1


@pytest.mark.slow
def test_another_model_with_the_same_parts_is_not_served(
    make_model: Callable[..., Transformer], made: Made, second: str
) -> None:
    """As the lab makes one that reads positions otherwise."""
    model = ready(make_model(), second).model
    other = copy.copy(model)
    other._buffers = {name: 3 * table for name, table in model._buffers.items()}
    found, want = (
        finish(search(best(each), [5, 9, 2], DecodeConfig(), max_length=9)).score
        for each in (other, copy.deepcopy(other))
    )
    assert found == pytest.approx(want) and len(made) == 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["refuses", "differs", "does nothing", "knows one step"])
def test_what_cannot_be_captured_is_left_as_it_is(
    make_model: Callable[..., Transformer],
    made: Made,
    second: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: str,
) -> None:
    def capture(work: cuda.Work, device: torch.device) -> tuple[Callable[[], None], cuda.Outputs]:
        if fault == "refuses":
            raise RuntimeError("operation not permitted")
        replay, outputs = made(work, device)
        once = [each.clone() for each in outputs]
        replays: dict[str, Callable[[], object]] = {
            "differs": lambda: (replay(), outputs[0].add_(0.1)),
            "does nothing": lambda: None,
            "knows one step": lambda: [each.copy_(then) for each, then in zip(outputs, once, strict=True)],
        }
        return lambda: (replays[fault](), None)[1], outputs

    monkeypatch.setitem(cuda.CAPTURES, "second", capture)
    plain = make_model(output_bias=True)
    with torch.no_grad():
        plain.output.bias[4] = -1e4  # as checkpoints ban a token
    engine = best(copy.deepcopy(plain).to(second))
    assert isinstance(engine, CudaEngine)
    engine.compile()
    assert not engine.ready and "kernel by kernel" in caplog.text
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    config = DecodeConfig(method="greedy")
    found, want = (finish(search(each, [5, 9, 2], config, max_length=9)) for each in (engine, EagerEngine(plain)))
    assert found.ids == want.ids


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"max_positions": 1}])
def test_what_gives_the_same_is_taken(
    make_model: Callable[..., Transformer], made: Made, second: str, changes: dict[str, int]
) -> None:
    model = make_model(output_bias=True, **changes)
    with torch.no_grad():
        model.output.bias[4] = -1e4
    assert ready(model, second) and len(made) == 1


@pytest.mark.slow
@pytest.mark.parametrize("room", [1, 3])
def test_so_many_graphs_wait_as_memory_is_granted(
    make_model: Callable[..., Transformer], made: Made, second: str, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    engine = ready(make_model(), second)
    graph = engine.free[0]
    assert graph.bytes > 2 * graph.cache.keys.nbytes
    monkeypatch.setattr(cuda, "KEPT", room * graph.bytes)
    running = [search(engine, [5, 9, 2], DecodeConfig(method="greedy"), max_length=9) for _ in range(5)]
    for steps in running:
        next(steps), next(steps)
    del running, steps
    gc.collect()
    assert len(made) == 5 and len(engine.free) == room


class Streams:
    """`torch.cuda` of two GPUs, as far as it says which stream a thread's work goes to.

    As in PyTorch a capture comes back from its stream only if it ends well.
    """

    def __init__(self, refuses: bool) -> None:
        self.refuses, self.on, self.current = refuses, 0, [self.Stream(0), self.Stream(1)]
        self.log: list[str] = []

    def Stream(self, on: int | None = None) -> SimpleNamespace:
        stream = SimpleNamespace(device=torch.device("cuda", self.on if on is None else on))
        stream.wait_stream = lambda other: self.log.append("waits")
        return stream

    def CUDAGraph(self) -> SimpleNamespace:
        return SimpleNamespace(replay=lambda: None)

    def current_stream(self) -> SimpleNamespace:
        return self.current[self.on]

    @contextmanager
    def device(self, device: torch.device) -> Iterator[None]:
        before, self.on = self.on, self.on if device.index is None else device.index
        try:
            yield
        finally:
            self.on = before

    @contextmanager
    def stream(self, stream: SimpleNamespace) -> Iterator[None]:
        before, self.current[stream.device.index] = self.current[stream.device.index], stream
        try:
            yield
        finally:
            self.current[stream.device.index] = before

    @contextmanager
    def graph(self, graph: object, stream: SimpleNamespace | None = None, **_: object) -> Iterator[None]:
        stream = stream or self.Stream(0)  # PyTorch's own is the first GPU's
        before, self.current[stream.device.index] = self.current[stream.device.index], stream
        self.log.append("captures")
        yield
        if self.refuses:
            raise RuntimeError("operation failed due to a previous error during capture")
        self.current[stream.device.index] = before


@pytest.mark.parametrize("refuses", [False, True])
@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:1"])
def test_work_is_captured_on_a_stream_of_its_own_gpu(
    monkeypatch: pytest.MonkeyPatch, device: str, refuses: bool
) -> None:
    streams = Streams(refuses)
    before, used = list(streams.current), []

    def work() -> Any:
        streams.log.append("works")
        used.append(streams.current_stream())

    monkeypatch.setattr(torch, "cuda", streams)
    monkeypatch.setattr(cuda, "_asides", {})
    for _ in range(2):
        with pytest.raises(RuntimeError) if refuses else nullcontext():
            cuda.capture_on_cuda(work, torch.device(device))
    assert streams.log == ["waits", "works", "waits", "captures", "works"] * 2
    assert len({id(stream) for stream in used}) == 1, "each stream costs memory"
    assert used[0] not in before and used[0].device == torch.device("cuda", torch.device(device).index or 0)
    assert (streams.on, streams.current) == (0, before)


def test_nothing_is_captured_on_a_cpu(make_model: Callable[..., Transformer], caplog: pytest.LogCaptureFixture) -> None:
    engine = CudaEngine(make_model())
    with caplog.at_level(logging.DEBUG):
        engine.compile()
    assert not engine.ready and not caplog.records


@torch.inference_mode()
def test_a_step_that_waits_for_the_device_cannot_be_captured(second: str, waits: Callable[..., bool]) -> None:
    """The stand-in refuses what CUDA refuses."""
    there = torch.ones(2, device=second)
    for work in (lambda: float(there[0]), lambda: there.cpu(), lambda: there.copy_(torch.ones(2))):
        with pytest.raises(RuntimeError, match="not permitted"), Recorder(waits):
            work()
