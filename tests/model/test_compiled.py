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
from translator.model import Gates, Transformer, jit, kernel, memory, prepare, product
from translator.model.linear import Linear, rounded

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


def ready(model: Transformer, precision: str = "fp32") -> Transformer:
    """The same model with its steps compiled."""
    prepare(model, precision)  # type: ignore[arg-type]
    with torch.inference_mode():
        model.compiled.start(model, wait=True)
    assert model.compiled.ready
    return model


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
    ready(model)
    cache = model.start(encoded, src_keep, max_length=6, rows=rows)
    for t in range(6):
        step = model.step(tgt_ids[:, t], cache, gates)
        assert isinstance(step.own, Tensor), "PyTorch took the step"
        torch.testing.assert_close(step.logits, want.logits[:, t], **CLOSE)
        torch.testing.assert_close(step.decoder, want.decoder[..., t, : t + 1], **CLOSE)
        torch.testing.assert_close(step.cross, want.cross[..., t, :], **CLOSE)
    with pytest.raises(ValueError, match="holds 6 steps and is full"):
        model.step(tgt_ids[:, 0], cache, gates)


@torch.inference_mode()
def test_a_source_of_which_nothing_may_be_read_has_maps_of_zeros(make_model: Callable[..., Transformer]) -> None:
    model = ready(make_model())
    cache = model.start(torch.randn(1, 3, 16), torch.zeros(1, 3, dtype=torch.bool), max_length=1)
    step = model.step(torch.tensor([5]), cache)
    assert not step.cross.any() and bool(step.logits.isfinite().all())


@torch.inference_mode()
def test_one_hypothesis_becomes_three_and_one_again(make_model: Callable[..., Transformer], batch: Batch) -> None:
    model = make_model()
    src_ids, tgt_ids = batch[0][:1], batch[2]
    encoded = model.encode(src_ids, None).memory
    three = torch.cat([tgt_ids[:1, :2].expand(3, -1), tgt_ids[:, 2:]], 1)
    want = model.decode(three, encoded.expand(3, -1, -1), None).logits
    ready(model)
    cache = model.start(encoded, None, max_length=6)
    for t in range(2):
        torch.testing.assert_close(model.step(three[:1, t], cache).logits, want[:1, t], **CLOSE)
    cache.reorder(torch.tensor([0, 0, 0]))
    for t in (2, 3):
        torch.testing.assert_close(model.step(three[:, t], cache).logits, want[:, t], **CLOSE)
    cache.reorder(torch.tensor([2]))
    for t in (4, 5):
        torch.testing.assert_close(model.step(three[2:, t], cache).logits, want[2:, t], **CLOSE)


@torch.inference_mode()
def test_gates_may_change_between_two_steps(make_model: Callable[..., Transformer], batch: Batch) -> None:
    model = ready(make_model())
    cache = model.start(model.encode(batch[0][:1], None).memory, None, max_length=2)
    model.step(torch.tensor([5]), cache)
    shut = model.step(torch.tensor([6]), cache, Gates(cross=torch.zeros(2, 2)))
    cache.length = 1
    assert not torch.allclose(shut.logits, model.step(torch.tensor([6]), cache).logits)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_search_finds_what_it_found_before(make_model: Callable[..., Transformer], method: str) -> None:
    model = make_model()
    prepare(model)
    config = DecodeConfig(method=method, beam=4)  # type: ignore[arg-type]
    before = finish(search(model, [5, 9, 7, 2], config, max_length=12))
    found = finish(search(ready(model), [5, 9, 7, 2], config, max_length=12))
    assert found.ids == before.ids and found.score == pytest.approx(before.score, abs=1e-4)


def test_a_changed_weight_is_packed_anew_and_a_copy_begins_without(make_model: Callable[..., Transformer]) -> None:
    model = ready(make_model())
    copied, pickled = copy.deepcopy(model), pickle.loads(pickle.dumps(model))  # noqa: S301
    assert not copied.compiled.ready and not pickled.compiled.ready

    def logits(each: Transformer) -> Tensor:
        with torch.inference_mode():
            cache = each.start(torch.ones(1, 2, 16), None, max_length=1)
            return each.step(torch.tensor([5]), cache).logits

    before = logits(model)
    torch.testing.assert_close(logits(copied), before, **CLOSE)
    with torch.no_grad():
        model.decoder[1].feed_forward.up.weight.mul_(2)
    after = logits(model)
    with torch.no_grad():
        copied.decoder[1].feed_forward.up.weight.mul_(2)
    torch.testing.assert_close(after, logits(copied), **CLOSE)
    assert not torch.allclose(after, before)


@torch.inference_mode()
def test_pytorch_takes_the_steps_of_several_sources_and_of_many_hypotheses(
    make_model: Callable[..., Transformer], batch: Batch
) -> None:
    model = ready(make_model())
    for sources, rows in ((3, 1), (1, 13)):
        src_ids = batch[0][:sources]
        cache = model.start(model.encode(src_ids, None).memory, None, max_length=1, rows=rows)
        assert not isinstance(model.step(torch.full((sources * rows,), 5), cache).own, Tensor)


def test_without_numba_pytorch_takes_the_steps(
    make_model: Callable[..., Transformer], monkeypatch: pytest.MonkeyPatch
) -> None:
    import translator.model

    monkeypatch.delattr(translator.model, "kernel")
    monkeypatch.setitem(sys.modules, "translator.model.kernel", None)
    model = make_model()
    prepare(model)
    model.compiled.start(model, wait=True)
    assert not model.compiled.ready
    assert finish(search(model, [5, 2], DecodeConfig(method="greedy"), max_length=3)).ids


@pytest.mark.parametrize("part", ["step", "encode"])
def test_where_the_machine_code_errs_pytorch_does_the_work(
    make_model: Callable[..., Transformer], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part: str
) -> None:
    right = getattr(kernel, part)

    def wrong(*arguments: np.ndarray) -> None:
        right(*arguments)
        arguments[-2][:] += 1  # the board is last

    monkeypatch.setattr(kernel, part, wrong)
    model = make_model()
    prepare(model)
    model.compiled.start(model, wait=True)
    assert not model.compiled.ready and "would differ by 1" in caplog.text


@torch.inference_mode()
def test_what_is_not_there_is_not_read(make_model: Callable[..., Transformer]) -> None:
    model = ready(make_model())
    cache = model.start(torch.ones(1, 2, 16), None, max_length=2)
    for ids, why in (([19], "below 19 are wanted"), ([-1], "below 19 are wanted"), ([5, 5], "1 ids are wanted")):
        with pytest.raises(IndexError, match=why):
            model.step(torch.tensor(ids), cache)
    assert cache.length == 0
    with pytest.raises(ValueError, match="the model has 32 positions, not 33"):
        model.start(torch.ones(1, 2, 16), None, max_length=33)


def test_a_model_that_was_not_prepared_is_not_compiled(make_model: Callable[..., Transformer]) -> None:
    model = make_model()
    model.compiled.start(model, wait=True)
    assert not model.compiled.ready
    ready(model)  # nothing was decided by the first time


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
    ready(exact, "int8")
    cache = exact.start(encoded, None, max_length=6)
    for t in range(6):
        step = exact.step(tgt_ids[:, t], cache)
        torch.testing.assert_close(step.logits, want.logits[:, t], atol=5e-3, rtol=0)
        torch.testing.assert_close(step.cross, want.cross[..., t, :], atol=5e-4, rtol=0)
        assert not torch.allclose(step.logits, plain.logits[:, t], atol=1e-3), "nothing was rounded"


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
    plain = memory(model)
    if halves:
        halve(model)
    ready(model)
    parts = (value for part in model.compiled._weights(kernel, model) for value in part)
    packed = sum(part.weight.nbytes for part in parts if isinstance(part, product.Matrix))
    linear = [m for m in model.modules() if isinstance(m, Linear)]
    assert packed == each * sum(m.weight.numel() for m in linear)
    assert memory(model) == plain + sum(m.laid_out for m in linear) + packed


@pytest.mark.parametrize("changes", HABITS)
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
    ready(model)
    monkeypatch.delattr(Transformer, "embed")  # PyTorch's way would fail
    found = model.encode(src_ids, src_keep, gates)
    for name in ("memory", "weights", "states"):
        torch.testing.assert_close(getattr(found, name), getattr(want, name), **CLOSE)
    cache = model.start(want.memory, src_keep, max_length=1)
    torch.testing.assert_close(cache.cross_keys, start.cross_keys, **CLOSE)
    torch.testing.assert_close(cache.cross_values, start.cross_values, **CLOSE)


@torch.inference_mode()
def test_pytorch_reads_several_sources_and_long_ones(make_model: Callable[..., Transformer], batch: Batch) -> None:
    model = ready(make_model(max_positions=80))
    long, three = torch.randint(3, 19, (1, 65)), batch[0]
    plain = make_model(max_positions=80)
    for src_ids in (long, three):
        torch.testing.assert_close(model.encode(src_ids, None).memory, plain.encode(src_ids, None).memory, **CLOSE)
        assert model.compiled.encode(model, src_ids, None, None) is None
        assert model.compiled.read(model, torch.ones(*src_ids.shape, 16)) is None


@torch.inference_mode()
def test_a_source_that_is_not_there_is_not_read(make_model: Callable[..., Transformer]) -> None:
    model = ready(make_model(max_positions=8))
    for id_ in (23, -1):
        with pytest.raises(IndexError, match="ids below 23 are wanted"):
            model.encode(torch.tensor([[5, id_]]), None)
    with pytest.raises(IndexError, match="the model has 8 positions, not 9"):
        model.encode(torch.ones(1, 9, dtype=torch.long), None)


@torch.inference_mode()
def test_a_shallow_copy_is_another_model(make_model: Callable[..., Transformer], batch: Batch) -> None:
    """`translator.analysis.positions` gives one other tables."""
    model = ready(make_model())
    changed = copy.copy(model)
    changed._buffers = {name: torch.zeros_like(table) for name, table in model._buffers.items()}
    want = copy.deepcopy(changed)
    src_ids = batch[0][:1]
    found, expected = changed.encode(src_ids, None).memory, want.encode(src_ids, None).memory
    torch.testing.assert_close(found, expected, **CLOSE)
    steps = [each.step(torch.tensor([5]), each.start(expected, None, max_length=1)).logits for each in (changed, want)]
    torch.testing.assert_close(*steps, **CLOSE)
    assert not torch.allclose(found, model.encode(src_ids, None).memory)


def test_exp_is_within_rounding() -> None:
    @numba.njit
    def of_each(x: np.ndarray) -> np.ndarray:
        return np.array([kernel.exp(each) for each in x])

    x = np.concatenate([np.linspace(-87, 88, 100_001), [0.0]]).astype(np.float32)
    found = of_each(x)
    assert found.dtype == np.float32 and found[-1] == 1
    np.testing.assert_allclose(found, np.exp(x.astype(np.float64)), rtol=4e-7)
    ends = of_each(np.array([-np.inf, -200, 200, np.inf], np.float32))
    assert (ends[:2] < 2e-38).all() and (ends[2:] > 1e38).all() and np.isfinite(ends).all()
