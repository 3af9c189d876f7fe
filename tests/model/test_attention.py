"""Attention against torch.nn.MultiheadAttention."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from translator.model import Attention
from translator.model.attention import VECTOR, causal_keep, mix

CLOSE = {"atol": 1e-5, "rtol": 1e-5}


def both(*, bias: bool = True) -> tuple[Attention, nn.MultiheadAttention]:
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(12, 3, bias=bias, batch_first=True).eval()
    ours = Attention(12, 3, 4, qkv_bias=bias, out_bias=bias).eval()
    with torch.no_grad():
        ours.qkv.weight.copy_(theirs.in_proj_weight)
        ours.out.weight.copy_(theirs.out_proj.weight)
        if bias:
            for mine, other in ((ours.qkv.bias, theirs.in_proj_bias), (ours.out.bias, theirs.out_proj.bias)):
                other.normal_()
                mine.copy_(other)
    return ours, theirs


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("mask", ["none", "causal", "padding", "both"])
def test_it_equals_torch_with_its_masks_and_every_heads_weights(bias: bool, mask: str) -> None:
    ours, theirs = both(bias=bias)
    x = torch.randn(2, 5, 12)
    padded = torch.arange(5) < torch.tensor([5, 3])[:, None]
    keep = torch.ones(2, 1, 5, 5, dtype=torch.bool)
    if mask in ("causal", "both"):
        keep = keep & causal_keep(5)
    if mask in ("padding", "both"):
        keep = keep & padded[:, None, None]
    mixed, weights = ours.attend(*ours.project(x), None if mask == "none" else keep)
    want, want_weights = theirs(
        x,
        x,
        x,
        attn_mask=~causal_keep(5) if mask in ("causal", "both") else None,
        key_padding_mask=~padded if mask in ("padding", "both") else None,
        average_attn_weights=False,
    )
    torch.testing.assert_close(mixed, want, **CLOSE)
    torch.testing.assert_close(weights, want_weights, **CLOSE)


def test_cross_attention_equals_torch() -> None:
    ours, theirs = both()
    x, memory = torch.randn(2, 4, 12), torch.randn(2, 7, 12)
    mixed, weights = ours.attend(ours.query(x), *ours.key_value(memory), None)
    want, want_weights = theirs(x, memory, memory, average_attn_weights=False)
    torch.testing.assert_close(mixed, want, **CLOSE)
    torch.testing.assert_close(weights, want_weights, **CLOSE)


def test_a_free_head_size_follows_the_formula() -> None:
    """d_head 5 with d_model 12: softmax(QKᵀ/√5)V, head by head, by hand."""
    torch.manual_seed(0)
    ours = Attention(12, 3, 5)
    x = torch.randn(1, 4, 12)
    q, k, v = (x[0] @ w.T + b for w, b in zip(ours.qkv.weight.split(15), ours.qkv.bias.split(15), strict=True))
    heads = [((q[:, h] @ k[:, h].T) / 5**0.5).softmax(-1) @ v[:, h] for h in (slice(i, i + 5) for i in (0, 5, 10))]
    want = torch.cat(heads, dim=1) @ ours.out.weight.T + ours.out.bias
    torch.testing.assert_close(ours.attend(*ours.project(x), None)[0][0], want, **CLOSE)


@pytest.mark.parametrize("causal", [True, False])
def test_the_kernel_and_the_plain_products_agree(causal: bool) -> None:
    ours, _ = both()
    parts = ours.project(torch.randn(2, 5, 12))
    keep = None if causal else (torch.arange(5) < torch.tensor([5, 3])[:, None])[:, None, None]
    want, _ = ours.attend(*parts, causal_keep(5) if causal else keep)
    torch.testing.assert_close(ours.by_kernel(*parts, keep, causal=causal), want, **CLOSE)
    torch.testing.assert_close(ours.fused(*parts, keep, causal=causal), want, **CLOSE)
    with torch.inference_mode():
        torch.testing.assert_close(ours.fused(*parts, keep, causal=causal), want, **CLOSE)


@pytest.mark.parametrize("queries", [1, 4])
@pytest.mark.parametrize("keys", [1, 2, VECTOR - 1, VECTOR, 40])
@pytest.mark.parametrize("mask", ["none", "padding", "nothing to read"])
def test_the_mix_of_inference_is_what_attend_gives(queries: int, keys: int, mask: str) -> None:
    ours, _ = both()
    query, key, value = 3 * torch.randn(2, 3, queries, 4), torch.randn(2, 3, keys, 4), torch.randn(2, 3, keys, 4)
    keep = None if mask == "none" else (torch.arange(keys) < torch.tensor([keys, keys // 2])[:, None])[:, None, None]
    if mask == "nothing to read":
        keep = keep & False
    want, weights = ours.attend(query, key, value, keep)
    mixed, found = mix(query, key, value, None if keep is None else ~keep)
    torch.testing.assert_close(found, weights, **CLOSE)
    torch.testing.assert_close(ours.merge(mixed), want, **CLOSE)


def test_a_row_with_nothing_to_attend_to_is_all_0_and_has_a_finite_gradient() -> None:
    ours, _ = both()
    x = torch.randn(1, 3, 12, requires_grad=True)
    keep = torch.tensor([[True, False, True], [False] * 3, [True] * 3])
    mixed, weights = ours.attend(*ours.project(x), keep)
    assert (weights[0, :, 1] == 0).all()
    torch.testing.assert_close(mixed[0, 1], ours.out.bias)
    mixed.sum().backward()
    assert x.grad is not None and x.grad.isfinite().all()


def test_weights_are_those_before_dropout() -> None:
    torch.manual_seed(0)
    ours = Attention(12, 3, 4, dropout=0.5)
    parts = ours.project(torch.randn(2, 5, 12))
    _, weights = ours.train().attend(*parts, None)
    _, want = ours.eval().attend(*parts, None)
    torch.testing.assert_close(weights, want)


def test_a_mask_of_another_length_is_refused() -> None:
    ours, _ = both()
    with pytest.raises(ValueError, match="keep covers 4 keys, but there are 5"):
        ours.attend(*ours.project(torch.randn(1, 5, 12)), torch.ones(4, dtype=torch.bool))
