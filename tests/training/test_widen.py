"""Widening: the function is kept, and what is new learns and differs."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from translator.config import ModelConfig
from translator.errors import InputError
from translator.model import Transformer
from translator.training.config import TrainConfig
from translator.training.run import train
from translator.training.widen import widen

NARROW = ModelConfig(
    50, 60, d_model=16, d_ff=32, encoder_layers=2, decoder_layers=3, encoder_heads=2, decoder_heads=4, d_head=8
)  # fmt: skip
WIDE = {"d_model": 24, "d_ff": 40, "encoder_heads": 3, "decoder_heads": 6, "positions": "learned"}


def narrow(**changes: object) -> Transformer:
    """A model none of whose weights, biases and gains has a special value, and whose stream has no mean of 0."""
    torch.manual_seed(1)
    model = Transformer(replace(NARROW, **changes)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.3 + 0.1)
    return model


def asked() -> tuple[Tensor, Tensor, Tensor]:
    keep = torch.ones(3, 7, dtype=torch.bool)
    keep[0, 4:] = False
    return torch.randint(4, 50, (3, 7)), torch.randint(4, 50, (3, 5)), keep


@pytest.mark.parametrize(
    "changes",
    [{"d_model": 24}, {"d_ff": 40}, {"encoder_heads": 3}, {"decoder_heads": 6}, {}, WIDE],
    ids=["stream", "units", "encoder's heads", "decoder's heads", "positions", "all"],
)
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"embeddings": "separate", "scale_embeddings": False, "activation": "gelu", "positions": "concatenated"},
        {"embeddings": "shared", "tgt_vocab": 50, "positions": "learned", "output_bias": True},
        {"qkv_bias": False, "out_bias": False, "ff_bias": False, "norm_bias": False},
    ],
    ids=["shipped", "separate", "shared", "no biases"],
)
def test_the_widened_model_computes_the_same(kind: dict[str, object], changes: dict[str, object]) -> None:
    old = narrow(**kind).double()
    shape = replace(old.config, **{"positions": "learned", **changes})
    # Where a deviation shrinks, what is added to it must shrink too for the function to be the very same.
    shape = replace(shape, norm_eps=shape.norm_eps * old.config.d_model / shape.d_model)
    wide = Transformer(shape).eval().double()
    widen(wide, old)
    given = asked()
    assert torch.allclose(wide(*given), old(*given), rtol=0, atol=1e-9)


def test_what_is_new_learns_and_no_two_of_it_are_alike() -> None:
    torch.manual_seed(2)
    old = narrow()
    wide = Transformer(replace(NARROW, **WIDE))
    widen(wide, old)
    for rate in (0.01, 0.0):  # what reads the new dimensions moves only once something is written there
        wide.zero_grad()
        wide(*asked()).logsumexp(-1).mean().backward()
        with torch.no_grad():
            for weight in wide.parameters():
                weight -= rate * weight.grad
    layer = wide.decoder[1]
    changes = {
        "stream, written": layer.feed_forward.down.weight.grad[16:],
        "stream, read": layer.feed_forward.up.weight.grad[:, 16:].T,
        "units": layer.feed_forward.up.weight.grad[32:],
        "values": layer.cross.qkv.weight.grad[-2 * 8 :],
        "heads, written": layer.cross.out.weight.grad[:, 4 * 8 :].T,
    }
    for name, rows in changes.items():
        assert rows.abs().sum(1).gt(0).float().mean() > 0.5, name  # a ReLU may be shut for these few tokens
        alive = rows[rows.abs().sum(1) > 0]
        assert torch.cdist(alive, alive).fill_diagonal_(math.inf).min() > 0, name


def test_new_heads_look_where_old_ones_do_and_take_other_things() -> None:
    old = narrow()
    wide = Transformer(replace(NARROW, **WIDE)).eval()
    widen(wide, old)
    source, _, keep = asked()
    maps, before = (model.encode(source, keep).weights[:, 0] for model in (wide, old))
    assert torch.allclose(maps[:, :2], before, atol=1e-5)
    assert min((maps[:, 2] - before[:, head]).abs().max() for head in range(2)) < 1e-5
    values = wide.encoder[0].attention.qkv.weight.chunk(3)[2].unflatten(0, (3, 8))
    assert min((values[2] - values[head]).abs().max() for head in range(2)) > 0.1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"d_model": 8}, "d_model cannot be widened from 16 to 8"),
        ({"d_ff": 16}, "d_ff cannot"),
        ({"d_head": 16}, "a head has 16 dimensions and had 8"),
        ({"positions": "interleaved"}, "positions must be 'learned'"),
        ({"d_model": 16, "positions": "concatenated"}, "positions are 'concatenated' and were 'interleaved'"),
        ({"encoder_layers": 3}, "encoder_layers is 3 and was 2"),
        ({"qkv_bias": False}, "qkv_bias is False and was True"),
        ({"norm": "post"}, "pre-norm"),
        ({"norm_variant": "unbiased"}, "pre-norm"),
    ],
)
def test_what_would_not_compute_the_same_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        widen(Transformer(replace(NARROW, **{**WIDE, **changes})), Transformer(NARROW))


@pytest.mark.slow
def test_a_config_may_widen_what_it_begins_with(toy_data: Path, toy_model: dict[str, Any], tmp_path: Path) -> None:
    wide = {**toy_model, "d_model": 24, "d_ff": 48, "encoder_heads": 3, "decoder_heads": 3, "positions": "learned"}
    config = TrainConfig(
        "toy", "de", "en", steps=1, lr=1e-12, warmup=1, batch_tokens=200, vocab=320, eval_every=1, eval_sentences=4,
        model=wide, base={"steps": 6, "lr": 0.01, "average": 1, "model": toy_model}, begin="selected",
    )  # fmt: skip
    trainer, _ = train(config, toy_data, tmp_path)
    first, _ = train(config.first(), toy_data, tmp_path / "base")
    assert trainer.model.config.d_model == 24
    ids, keep = torch.randint(4, 300, (2, 5)), torch.ones(2, 5, dtype=torch.bool)
    assert torch.allclose(trainer.model.eval()(ids, ids, keep), first.model.eval()(ids, ids, keep), atol=1e-5)
