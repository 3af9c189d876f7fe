"""Compiled steps against the same model's whole pass, whatever its habits, its weights and the number of hypotheses."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable

import numba
import numpy as np
import pytest
import torch
from torch import Tensor

from translator.config import DecodeConfig
from translator.decode import finish, search
from translator.engine import EagerEngine, Engine, best
from translator.engine.cpu import CpuEngine, attention, jit, kernel, matmul
from translator.engine.cpu.compiled import Compiled
from translator.engine.cpu.formats import rounded
from translator.engine.cpu.linear import PackedLinear
from translator.errors import CheckpointError
from translator.model import Encoded, Gates, Linear, Transformer

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
Batch = tuple[Tensor, Tensor, Tensor]
HABITS: list[dict[str, object]] = [
    {},
    {"norm": "post", "activation": "gelu", "embedding_norm": True, "positions": "learned"},
    {"norm_variant": "unbiased", "final_norm": False, "activation": "none", "d_head": 5, "first_position": 2},
    {"norm_bias": False, "qkv_bias": False, "out_bias": False, "ff_bias": False, "activation": "silu"},
    {"output_bias": True, "scale_embeddings": False, "embeddings": "separate", "decoder_d_ff": 40},
    {"d_model": 64, "d_ff": 128},
]
"""The last is wide enough for weights of two and three bytes; machine code for each takes ten seconds to make."""


def ready(model: Transformer, precision: str = "fp32") -> CpuEngine:
    """An engine for the model whose passes are compiled."""
    engine = best(model, precision)  # type: ignore[arg-type]
    engine.compile(wait=True)
    assert isinstance(engine, CpuEngine) and is_ready(engine)
    return engine


def is_ready(engine: CpuEngine) -> bool:
    """Whether machine code is used."""
    with torch.inference_mode():
        return engine.compiled is not None


def halve(model: Transformer) -> None:
    """Round every weight to what 16 bits hold, some of them to the smallest there are."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.view(-1)[:2] *= 1e-6
            parameter.copy_(parameter.half().float())


@pytest.mark.slow
@pytest.mark.parametrize("changes", HABITS)
@pytest.mark.parametrize("rows", [1, 2, 4, 5])
@pytest.mark.parametrize("stored", ["float", "half"])
@pytest.mark.parametrize(("source", "gated"), [(0, False), (2, True)], ids=["whole", "padded and gated"])
@torch.inference_mode()
def test_steps_equal_the_rows_of_decode(
    make_model: Callable[..., Transformer],
    batch: Batch,
    changes: dict[str, object],
    rows: int,
    stored: str,
    source: int,
    gated: bool,
) -> None:
    model = make_model(**changes)
    if stored == "half":
        halve(model)
    src_ids, src_keep = batch[0][source : source + 1], batch[1][source : source + 1]
    tgt_ids = torch.randint(3, 19, (rows, 6))
    gates = Gates(decoder=torch.rand(2, 2), cross=torch.rand(2, rows, 2)) if gated else None
    encoded = model.encode(src_ids, src_keep).memory
    want = model.decode(tgt_ids, encoded.expand(rows, -1, -1), src_keep.expand(rows, -1), gates)
    session = ready(model).start(Encoded.without_maps(encoded, src_keep), max_length=6, rows=rows, gates=gates)
    for t in range(6):
        step = session.step(tgt_ids[:, t])
        assert isinstance(step.own, np.ndarray), "PyTorch took the step"
        assert step.total == pytest.approx(float(step.logits.double().sum()), abs=1e-4)
        torch.testing.assert_close(step.logits, want.logits[:, t], **CLOSE)
        torch.testing.assert_close(step.decoder, want.decoder[..., t, : t + 1], **CLOSE)
        torch.testing.assert_close(step.cross, want.cross[..., t, :], **CLOSE)
    with pytest.raises(ValueError, match="holds 6 steps and is full"):
        session.step(tgt_ids[:, 0])


@pytest.mark.slow
@torch.inference_mode()
def test_a_source_of_which_nothing_may_be_read_has_maps_of_zeros(make_model: Callable[..., Transformer]) -> None:
    unread = Encoded.without_maps(torch.randn(1, 3, 16), torch.zeros(1, 3, dtype=torch.bool))
    step = ready(make_model()).start(unread, max_length=1).step(torch.tensor([5]))
    assert not step.cross.any() and bool(step.logits.isfinite().all())


@pytest.mark.slow
@torch.inference_mode()
def test_one_hypothesis_becomes_three_and_one_again(make_model: Callable[..., Transformer], batch: Batch) -> None:
    model = make_model()
    src_ids, tgt_ids = batch[0][:1], batch[2]
    encoded = model.encode(src_ids, None).memory
    three = torch.cat([tgt_ids[:1, :2].expand(3, -1), tgt_ids[:, 2:]], 1)
    want = model.decode(three, encoded.expand(3, -1, -1), None).logits
    session = ready(model).start(Encoded.without_maps(encoded), max_length=6)
    for t in range(2):
        torch.testing.assert_close(session.step(three[:1, t]).logits, want[:1, t], **CLOSE)
    session.reorder(torch.tensor([0, 0, 0]))
    for t in (2, 3):
        torch.testing.assert_close(session.step(three[:, t]).logits, want[:, t], **CLOSE)
    session.reorder(torch.tensor([1, 2, 0]))  # as many: only where each stands is known
    session.reorder(torch.tensor([1]))
    for t in (4, 5):
        torch.testing.assert_close(session.step(three[2:, t]).logits, want[2:, t], **CLOSE)


@torch.inference_mode()
def test_two_sessions_keep_their_own_gates_and_tokens(make_model: Callable[..., Transformer], batch: Batch) -> None:
    model, src_ids = make_model(), batch[0][:1]
    gates = (None, Gates(cross=torch.zeros(2, 2)))
    reads = torch.tensor([[5, 6], [7, 8]])
    encoded = model.encode(src_ids, None)
    want = [model.decode(reads[n : n + 1], encoded.memory, None, gates[n]).logits[0] for n in range(2)]
    engine = ready(model)
    sessions = [engine.start(encoded, max_length=2, gates=each) for each in gates]
    for t in range(2):  # in turns
        for n, session in enumerate(sessions):
            torch.testing.assert_close(session.step(reads[n, t : t + 1]).logits[0], want[n][t], **CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_search_finds_what_it_found_before(make_model: Callable[..., Transformer], method: str) -> None:
    engine = best(make_model())
    config = DecodeConfig(method=method, beam=4)  # type: ignore[arg-type]
    before = finish(search(engine, [5, 9, 7, 2], config, max_length=12))
    found = finish(search(ready(engine.model), [5, 9, 7, 2], config, max_length=12))
    assert found.ids == before.ids and found.score == pytest.approx(before.score, abs=1e-4)


@pytest.mark.slow
def test_a_changed_weight_is_packed_anew_and_a_copy_begins_without(make_model: Callable[..., Transformer]) -> None:
    engine = ready(make_model())
    model = engine.model
    copied, pickled = (EagerEngine(each) for each in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))))  # noqa: S301

    def logits(each: Engine) -> Tensor:
        with torch.inference_mode():
            session = each.start(Encoded.without_maps(torch.ones(1, 2, 16)), max_length=1)
            return session.step(torch.tensor([5])).logits

    before = logits(engine)
    torch.testing.assert_close(logits(copied), before, **CLOSE)
    torch.testing.assert_close(logits(pickled), before, **CLOSE)
    with torch.no_grad():
        model.decoder[1].feed_forward.up.weight.mul_(2)
    after = logits(engine)
    with torch.no_grad():
        copied.model.decoder[1].feed_forward.up.weight.mul_(2)
    torch.testing.assert_close(after, logits(copied), **CLOSE)
    assert not torch.allclose(after, before)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_logits_that_are_not_finite_are_refused(make_model: Callable[..., Transformer], method: str) -> None:
    engine = ready(make_model(embeddings="separate"))
    with torch.no_grad():
        engine.model.output.weight[7] = 3e38
    with pytest.raises(CheckpointError, match="are not finite"):
        finish(search(engine, [5, 9, 7, 2], DecodeConfig(method=method), max_length=12))


@torch.inference_mode()
def test_pytorch_takes_the_steps_of_several_sources_and_of_many_hypotheses(
    make_model: Callable[..., Transformer], batch: Batch
) -> None:
    engine = ready(make_model())
    for sources, rows in ((3, 1), (1, 13)):
        session = engine.start(engine.encode(batch[0][:sources], None), max_length=1, rows=rows)
        assert not isinstance(session.step(torch.full((sources * rows,), 5)).own, np.ndarray)


def test_without_numba_pytorch_takes_the_steps(
    make_model: Callable[..., Transformer], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "numba"]:
        monkeypatch.setitem(sys.modules, name, None)
    for module in ("compiled", "kernel", "attention", "matmul", "jit", "work_queue", "workers", "weights"):
        monkeypatch.delitem(sys.modules, f"translator.engine.cpu.{module}", raising=False)
        monkeypatch.delattr(f"translator.engine.cpu.{module}", raising=False)
    engine = CpuEngine(make_model())
    with caplog.at_level("INFO"):
        engine.compile(wait=True)
    assert not is_ready(engine)
    (record,) = caplog.records
    assert record.levelname == "INFO" and "import of numba" in record.getMessage(), "it is a choice, and no failure"
    assert finish(search(engine, [5, 2], DecodeConfig(method="greedy"), max_length=3)).ids


@pytest.mark.parametrize("part", ["step", "encode"])
def test_where_the_machine_code_errs_pytorch_does_the_work(
    make_model: Callable[..., Transformer], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part: str
) -> None:
    right = getattr(kernel, part)

    def wrong(*arguments: np.ndarray) -> float | None:
        total = right(*arguments)
        arguments[-2][:] += 1  # the queue is last
        return total

    monkeypatch.setattr(kernel, part, wrong)
    engine = CpuEngine(make_model())
    engine.compile(wait=True)
    assert not is_ready(engine)
    (record,) = caplog.records
    assert record.levelname == "WARNING" and "RuntimeError: it would differ by 1" in record.getMessage()


@torch.inference_mode()
def test_what_is_not_there_is_not_read(make_model: Callable[..., Transformer]) -> None:
    engine, encoded = ready(make_model()), Encoded.without_maps(torch.ones(1, 2, 16))
    session = engine.start(encoded, max_length=2)
    for ids, why in (([19], "below 19 are wanted"), ([-1], "below 19 are wanted"), ([5, 5], "1 ids are wanted")):
        with pytest.raises(IndexError, match=why):
            session.step(torch.tensor(ids))
    assert session.length == 0
    with pytest.raises(ValueError, match="the model has 32 positions, not 33"):
        engine.start(encoded, max_length=33)


def test_machine_code_is_not_used_for_weights_that_moved_or_outside_of_inference(
    make_model: Callable[..., Transformer],
) -> None:
    engine = ready(make_model())
    assert engine.compiled is None, "gradients would be lost"
    engine.model.double()
    assert not is_ready(engine)
    assert finish(search(engine, [5, 2], DecodeConfig(method="greedy"), max_length=3)).ids


@pytest.mark.slow
@torch.inference_mode()
def test_bytes_give_what_the_rounded_weights_give(make_model: Callable[..., Transformer], batch: Batch) -> None:
    """`rounded` goes to the nearest half, one part in 2,048."""
    model = make_model(d_model=64, d_ff=128)
    src_ids, tgt_ids = batch[0][:1], batch[2][:1]
    encoded = model.encode(src_ids, None).memory
    plain = model.decode(tgt_ids, encoded, None)
    for layer in model.decoder:
        for linear in (layer.feed_forward.up, layer.feed_forward.down, layer.attention.out, layer.cross.out):
            linear.weight.copy_(rounded(linear.weight))
    output = Linear(64, 19, bias=False)
    output.weight = torch.nn.Parameter(rounded(model.output.weight))
    exact = make_model(d_model=64, d_ff=128)
    model.output = output
    want = model.decode(tgt_ids, encoded, None)
    session = ready(exact, "int8").start(Encoded.without_maps(encoded), max_length=6)
    for t in range(6):
        step = session.step(tgt_ids[:, t])
        torch.testing.assert_close(step.logits, want.logits[:, t], atol=5e-3, rtol=0)
        torch.testing.assert_close(step.cross, want.cross[..., t, :], atol=5e-4, rtol=0)
        assert not torch.allclose(step.logits, plain.logits[:, t], atol=1e-3), "nothing was rounded"


@pytest.mark.slow
def test_where_nothing_may_be_written_it_compiles_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def njit(*, cache: bool = False, **settings: object) -> Callable[..., object]:
        if cache:
            raise RuntimeError("cannot cache function 'double': no locator available")
        return numba.njit(**settings)

    def double(x: np.ndarray) -> None:
        x *= 2

    monkeypatch.setattr(jit, "njit", njit)
    x = np.ones(3)
    jit.jit(double)(x)
    assert x.tolist() == [2, 2, 2]


@pytest.mark.parametrize(("width", "halves", "each"), [(64, True, 2), (64, False, 3), (16, False, 4)])
def test_memory_counts_the_packed_weights(
    make_model: Callable[..., Transformer], width: int, halves: bool, each: int
) -> None:
    model = make_model(d_model=width, d_ff=2 * width)
    plain = EagerEngine(model).nbytes
    if halves:
        halve(model)
    engine = best(model)
    parts = (value for part in Compiled(engine.model)._weights() for value in part)
    matrices = [part for part in parts if isinstance(part, matmul.Matrix)]
    shares = (each.bias.shape[1] / (each.weight.shape[1] * matmul.PANEL) for each in matrices)  # the last is filled up
    packed = sum(round(each.weight.nbytes * share) for each, share in zip(matrices, shares, strict=True))
    linear = [m for m in model.modules() if isinstance(m, PackedLinear)]
    assert packed == each * sum(m.weight.numel() for m in linear)
    assert engine.nbytes == plain + sum(m.packed_nbytes for m in linear) + packed


@pytest.mark.slow
@pytest.mark.parametrize("changes", [*HABITS[:-1], pytest.param(HABITS[-1], marks=pytest.mark.slow)])
@pytest.mark.parametrize("stored", ["float", "half"])
@pytest.mark.parametrize("read", ["whole", "padded", "nothing"])
@pytest.mark.parametrize("gated", [False, True], ids=["open", "gated"])
@torch.inference_mode()
def test_a_source_is_read_as_pytorch_reads_it(
    make_model: Callable[..., Transformer],
    batch: Batch,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, object],
    stored: str,
    read: str,
    gated: bool,
) -> None:
    model = make_model(**changes)
    if stored == "half":
        halve(model)
    src_ids, padded = batch[0][2:], batch[1][2:]
    src_keep = {"whole": None, "padded": padded, "nothing": torch.zeros_like(padded)}[read]
    gates = Gates(encoder=torch.rand(3, 4)) if gated else None
    want = model.encode(src_ids, src_keep, gates)
    start = model.start(want.memory, src_keep, max_length=1)
    engine = ready(model)
    monkeypatch.delattr(Transformer, "embed")  # PyTorch's way would fail
    found = engine.encode(src_ids, src_keep, gates)
    for name in ("memory", "weights", "states"):
        torch.testing.assert_close(getattr(found, name), getattr(want, name), **CLOSE)
    cache = engine.start(want, max_length=1).cache
    torch.testing.assert_close(cache.cross_keys, start.cross_keys, **CLOSE)
    torch.testing.assert_close(cache.cross_values, start.cross_values, **CLOSE)


@pytest.mark.slow
@torch.inference_mode()
def test_pytorch_reads_several_sources_and_long_ones(
    make_model: Callable[..., Transformer], batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ready(make_model(max_positions=80))
    long, three = torch.randint(3, 19, (1, 65)), batch[0]
    plain = make_model(max_positions=80)
    for name in ("encode", "read"):
        monkeypatch.delattr(Compiled, name)  # machine code would fail
    for src_ids in (long, three):
        found = engine.encode(src_ids, None)
        torch.testing.assert_close(found.memory, plain.encode(src_ids, None).memory, **CLOSE)
        assert engine.start(found, max_length=1).length == 0


@torch.inference_mode()
def test_a_source_that_is_not_there_is_not_read(make_model: Callable[..., Transformer]) -> None:
    engine = ready(make_model(max_positions=8))
    for id_ in (23, -1):
        with pytest.raises(IndexError, match="ids below 23 are wanted"):
            engine.encode(torch.tensor([[5, id_]]), None)
    with pytest.raises(IndexError, match="the model has 8 positions, not 9"):
        engine.encode(torch.ones(1, 9, dtype=torch.long), None)


@pytest.mark.slow
@torch.inference_mode()
def test_a_shallow_copy_is_another_model(make_model: Callable[..., Transformer], batch: Batch) -> None:
    """`translator.analysis.positions` gives one other tables."""
    engine = ready(make_model())
    model = engine.model
    changed = copy.copy(model)
    changed._buffers = {name: torch.zeros_like(table) for name, table in model._buffers.items()}
    want = EagerEngine(copy.deepcopy(changed))
    src_ids = batch[0][:1]
    for other in (EagerEngine(changed), ready(changed)):
        found, expected = other.encode(src_ids, None), want.encode(src_ids, None)
        torch.testing.assert_close(found.memory, expected.memory, **CLOSE)
        steps = [each.start(expected, max_length=1).step(torch.tensor([5])).logits for each in (other, want)]
        torch.testing.assert_close(*steps, **CLOSE)
        assert not torch.allclose(found.memory, engine.encode(src_ids, None).memory)


@pytest.mark.slow
def test_exp_is_within_rounding() -> None:
    @numba.njit
    def of_each(x: np.ndarray) -> np.ndarray:
        return np.array([attention.exp(each) for each in x])

    x = np.concatenate([np.linspace(-87, 88, 100_001), [0.0]]).astype(np.float32)
    found = of_each(x)
    assert found.dtype == np.float32 and found[-1] == 1
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)), rtol=4e-7)
    ends = of_each(np.array([-np.inf, -200, 200, np.inf], np.float32))
    assert (ends[:2] < 2e-38).all() and (ends[2:] > 1e38).all() and np.isfinite(ends).all()
