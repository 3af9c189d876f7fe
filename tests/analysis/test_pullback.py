"""Gradients pulled back by hand against PyTorch's own, in every layout."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest
import torch
from torch import Tensor

from translator import Trace, Translator
from translator.analysis import pullback
from translator.analysis.gradients import embeddings, read_embedded
from translator.analysis.passes import Pair, pair_of
from translator.analysis.pullback import DecoderPass, EncoderPass
from translator.engine import EagerEngine
from translator.model.positions import rows_at

LAYOUTS = [
    {},
    {"norm": "post", "final_norm": False},
    {"norm_variant": "unbiased", "norm_bias": False, "activation": "gelu"},
    {"positions": "learned", "scale_embeddings": False, "embedding_norm": True, "activation": "silu"},
    {"encoder_layers": 3, "d_head": 5, "qkv_bias": False, "out_bias": False},
    {"d_head": 24},  # wider than the sentences are long, which turns the products' order
]
ALL = tuple(range(12))


@pytest.fixture(params=LAYOUTS, ids=str)
def pair(request: pytest.FixtureRequest, tiny: Translator, trace: Trace, checkpoint_maker: ModuleType) -> Pair:
    """A pair in float64, of whose source one token must not be read."""
    model = checkpoint_maker.tiny_model(len(tiny.bundle.src), len(tiny.bundle.tgt), **request.param).double()
    keep = torch.ones(1, len(trace.src), dtype=torch.bool)
    keep[0, 4] = False
    return replace(pair_of(tiny, trace), engine=EagerEngine(model), src_keep=keep)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [ALL, (7, 2, 7), (0,), (11,)])
def test_gradients_are_pytorchs(pair: Pair, steps: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    source, target = (side.detach() * torch.tensor([1.0, 0.3])[:, None, None] for side in embeddings(pair))
    slopes = torch.randn(2, len(steps), source.shape[-1], dtype=torch.float64)
    want = _by_pytorch(pair, source, target, steps, slopes)
    with torch.no_grad():
        model, keep = pair.model, None if pair.src_keep is None else pair.src_keep[:, None, None, :]
        encoder = EncoderPass(model, source + rows_at(model.src_positions, 0, source.shape[1]), keep)
        decoder = DecoderPass(model, target + rows_at(model.tgt_positions, 0, target.shape[1]), encoder.out, keep)
        for points, many in ((slice(0, 2), 1), (slice(1, 2), 1000)):
            monkeypatch.setattr(pullback, "MANY", many)  # a product for each row, and one for all
            by_memory, by_target = decoder.back(slopes[points], points, steps, whole=True)
            torch.testing.assert_close(encoder.back(by_memory, points), want[0][points], rtol=1e-9, atol=1e-9)
            torch.testing.assert_close(by_target, want[1][points], rtol=1e-9, atol=1e-9)
            alone, nothing = decoder.back(slopes[points], points, steps, whole=False)
            torch.testing.assert_close(alone, by_memory, rtol=1e-12, atol=1e-12)
            assert nothing is None


def _by_pytorch(
    pair: Pair, source: Tensor, target: Tensor, steps: tuple[int, ...], slopes: Tensor
) -> tuple[Tensor, Tensor]:
    source.requires_grad_(), target.requires_grad_()
    read = read_embedded(pair, source, target)
    found = [
        torch.autograd.grad(read[:, step], (source, target), slopes[:, n], retain_graph=True)
        for n, step in enumerate(steps)
    ]
    by_source, by_target = (torch.stack(side, dim=1) for side in zip(*found, strict=True))
    source.requires_grad_(False), target.requires_grad_(False)
    return by_source, by_target
