"""The cached step equals the rows of the whole decoder pass, however hypotheses change places."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from translator.model import Gates, Transformer

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
Batch = tuple[Tensor, Tensor, Tensor]


@pytest.mark.parametrize("changes", [{}, {"norm": "post", "positions": "learned"}, {"d_head": 5, "first_position": 2}])
@pytest.mark.parametrize("rows", [1, 3])
@torch.inference_mode()
def test_steps_equal_the_rows_of_decode(
    make_model: Callable[..., Transformer], batch: Batch, changes: dict[str, object], rows: int
) -> None:
    model = make_model(**changes)
    src_ids, src_keep, _ = batch
    tgt_ids = torch.randint(3, 19, (3 * rows, 6))
    memory = model.encode(src_ids, src_keep).memory
    want = model.decode(tgt_ids, memory.repeat_interleave(rows, 0), src_keep.repeat_interleave(rows, 0))
    cache = model.start(memory, src_keep, max_length=6, rows=rows)
    for t in range(6):
        step = model.step(tgt_ids[:, t], cache)
        torch.testing.assert_close(step.logits, want.logits[:, t], **CLOSE)
        torch.testing.assert_close(step.cross, want.cross[..., t, :], **CLOSE)


@torch.inference_mode()
def test_reordered_hypotheses_go_on_as_if_they_had_always_been_so(
    make_model: Callable[..., Transformer], batch: Batch
) -> None:
    """Two hypotheses a source become three; the source in the middle drops out."""
    model = make_model()
    src_ids, src_keep, _ = batch
    memory = model.encode(src_ids, src_keep).memory
    first, later = torch.randint(3, 19, (6, 3)), torch.randint(3, 19, (6, 2))
    cache = model.start(memory, src_keep, max_length=5, rows=2)
    for t in range(3):
        model.step(first[:, t], cache)
    rows, sources = torch.tensor([1, 1, 0, 4, 5, 5]), torch.tensor([0, 2])
    cache.reorder(rows, sources=sources)
    whole = torch.cat([first[rows], later], dim=1)
    kept = sources.repeat_interleave(3)
    want = model.decode(whole, memory[kept], src_keep[kept])
    for t in (3, 4):
        step = model.step(whole[:, t], cache)
        torch.testing.assert_close(step.logits, want.logits[:, t], **CLOSE)
        torch.testing.assert_close(step.cross, want.cross[..., t, :], **CLOSE)


@torch.inference_mode()
def test_gates_act_in_steps_as_in_decode(make_model: Callable[..., Transformer], batch: Batch) -> None:
    model = make_model()
    src_ids, src_keep, tgt_ids = batch
    gates = Gates(decoder=torch.rand(2, 2), cross=torch.rand(2, 3, 2))
    memory = model.encode(src_ids, src_keep).memory
    want = model.decode(tgt_ids, memory, src_keep, gates).logits
    cache = model.start(memory, src_keep, max_length=6)
    for t in range(6):
        torch.testing.assert_close(model.step(tgt_ids[:, t], cache, gates).logits, want[:, t], **CLOSE)


@torch.inference_mode()
def test_a_full_cache_and_uneven_rows_are_refused(make_model: Callable[..., Transformer], batch: Batch) -> None:
    model = make_model()
    src_ids, src_keep, tgt_ids = batch
    cache = model.start(model.encode(src_ids, src_keep).memory, src_keep, max_length=1)
    model.step(tgt_ids[:, 0], cache)
    with pytest.raises(ValueError, match="holds 1 steps and is full"):
        model.step(tgt_ids[:, 1], cache)
    with pytest.raises(ValueError, match="4 hypotheses cannot be shared out over 3 sources"):
        cache.reorder(torch.tensor([0, 1, 2, 2]))
