"""Packed linear layers against PyTorch's own: whatever their habits, one row or many, float32 or eight bits."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from translator.engine import best
from translator.engine.cpu import engine as cpu_engine
from translator.engine.cpu import linear
from translator.engine.cpu.linear import PackedLinear, pack
from translator.errors import InputError
from translator.model import Linear, Transformer

ROOT = Path(__file__).parents[2]
CLOSE = {"atol": 1e-5, "rtol": 1e-5}
Batch = tuple[Tensor, Tensor, Tensor]
HABITS: list[dict[str, object]] = [
    {},
    {"norm": "post", "activation": "gelu", "embedding_norm": True},
    {"norm_variant": "unbiased", "final_norm": False, "activation": "none", "d_head": 5},
    {"norm_bias": False, "qkv_bias": False, "out_bias": False, "ff_bias": False, "output_bias": True},
]


def halved(model: torch.nn.Module) -> None:
    """Round every weight to what 16 bits hold, a few of them to the smallest there are."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.view(-1)[:2] *= 1e-6
            parameter.copy_(parameter.half().float())


@pytest.fixture(params=["float", "half", "without oneDNN", "without FBGEMM"])
def weights(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "without oneDNN":
        monkeypatch.setattr(linear, "has_onednn", lambda: False)
    if request.param == "without FBGEMM":
        monkeypatch.setattr(linear, "has_fbgemm", lambda: False)
    return str(request.param)


@pytest.mark.parametrize("changes", HABITS)
@torch.inference_mode()
def test_a_packed_model_gives_what_it_gave(
    make_model: Callable[..., Transformer], batch: Batch, changes: dict[str, object], weights: str
) -> None:
    model = make_model(**changes)
    if weights in ("half", "without FBGEMM"):
        halved(model)
    src_ids, src_keep, tgt_ids = batch
    plain = model.encode(src_ids, src_keep)
    want = model.decode(tgt_ids, plain.memory, src_keep)
    pack(model)
    encoded = model.encode(src_ids, src_keep)
    torch.testing.assert_close(encoded.memory, plain.memory, **CLOSE)
    torch.testing.assert_close(encoded.weights, plain.weights, **CLOSE)
    decoded = model.decode(tgt_ids, plain.memory, src_keep)
    for name in ("logits", "decoder", "cross", "states"):
        torch.testing.assert_close(getattr(decoded, name), getattr(want, name), **CLOSE)


def test_a_changed_weight_is_laid_out_anew_and_a_copy_has_its_own() -> None:
    torch.manual_seed(0)
    layer, x = PackedLinear.of(Linear(12, 7)), torch.randn(3, 12)
    with torch.inference_mode():
        before = layer(x)
    copied = copy.deepcopy(layer)
    with torch.no_grad():
        layer.weight.mul_(2)
        layer.bias.add_(1)
    for each, weight, bias in ((layer, layer.weight, layer.bias), (copied, copied.weight, copied.bias)):
        want = F.linear(x, weight, bias)
        with torch.inference_mode():
            torch.testing.assert_close(each(x), want, **CLOSE)
            torch.testing.assert_close(each.product(2, 5)(x), want[:, 2:5], **CLOSE)
    torch.testing.assert_close(F.linear(x, copied.weight, copied.bias), before, **CLOSE)


@pytest.mark.skipif(not linear.has_fbgemm(), reason="this build of PyTorch has no FBGEMM")
def test_only_weights_that_are_halves_are_kept_as_halves() -> None:
    torch.manual_seed(0)
    layer = PackedLinear.of(Linear(40, 30))
    with torch.inference_mode():
        assert isinstance(layer.product(0, 30), linear.Float32Product)
        halved(layer)
        kept = layer.product(0, 30)
        assert isinstance(kept, linear.Float16Product)
        x = torch.randn(3, 40)
        want = x.double() @ layer.weight.double().T + layer.bias.double()
        torch.testing.assert_close(kept(x).double(), want, atol=1e-6, rtol=1e-6)
        torch.testing.assert_close(kept(x[1:2]).double(), want[1:2], atol=1e-6, rtol=1e-6)


def test_a_packed_layer_may_become_double() -> None:
    layer = PackedLinear.of(Linear(8, 4))
    x = torch.randn(3, 8, dtype=torch.float64)
    with torch.inference_mode():
        layer(x.float())
        layer.double()
        torch.testing.assert_close(layer(x), x @ layer.weight.T + layer.bias)


def test_gradients_still_flow_through_a_packed_layer() -> None:
    layer, x = PackedLinear.of(Linear(4, 3)), torch.ones(1, 4, requires_grad=True)
    layer(x).sum().backward()
    torch.testing.assert_close(x.grad, layer.weight.sum(0, keepdim=True).detach())


@torch.inference_mode()
def test_bytes_are_for_what_makes_no_maps(make_model: Callable[..., Transformer], batch: Batch) -> None:
    model = make_model()
    src_ids, src_keep, tgt_ids = batch
    plain = model.encode(src_ids, src_keep)
    want = model.decode(tgt_ids, plain.memory, src_keep)
    pack(model, "int8")
    assert torch.allclose(model.encode(src_ids, src_keep).memory, plain.memory, **CLOSE)
    found = model.decode(tgt_ids, plain.memory, src_keep)
    torch.testing.assert_close(found.decoder[:, 0], want.decoder[:, 0], **CLOSE)
    assert not torch.allclose(found.logits, want.logits, **CLOSE)
    assert float((found.cross - want.cross).abs().max()) < 0.02


def test_a_precision_that_is_not_to_be_had_is_refused(
    make_model: Callable[..., Transformer], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model()
    with pytest.raises(InputError, match="precision is 'int4'; it must be one of fp32, int8"):
        best(model, "int4")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="precision is 'int8', which is for the CPU"):
        best(make_model().to("meta"), "int8")
    monkeypatch.setattr(cpu_engine, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="precision is 'int8', which needs one package more: pip install numba"):
        best(model, "int8")


USED = """
import ctypes, gc, sys
from pathlib import Path
import torch
from translator.config import DecodeConfig, ModelConfig
from translator.decode import finish, search, search_batch
from translator.engine import best
from translator.model import Transformer

def resident():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed, but not yet given back
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

def use(engine):
    for method in ("greedy", "beam"):
        config = DecodeConfig(method=method, beam=2)
        with torch.inference_mode():
            finish(search(engine, [5, 6, 2], config, max_length=3))
            search_batch(engine, [[5, 6, 2]] * 2, config, max_lengths=[3, 3])
    engine.compile(wait=True)

torch.set_num_threads(1)
shape = dict(encoder_layers=1, decoder_layers=1, encoder_heads=2, decoder_heads=2, max_positions=16)
def make(config):
    model = Transformer(config).eval().requires_grad_(False)
    if sys.argv[1] == "half":
        for weight in model.parameters():
            weight.copy_(weight.half().float())
    return best(model, "int8" if sys.argv[1] == "int8" else "fp32")

use(make(ModelConfig(src_vocab=9, tgt_vocab=9, d_model=16, d_ff=32, embeddings="separate", **shape)))
before = resident()  # with what PyTorch takes for itself, and with what was compiled
engine = make(ModelConfig(src_vocab=9, tgt_vocab=40_000, d_model=512, d_ff=8192, embeddings="tied", **shape))
use(engine)
print(engine.nbytes, resident() - before)
"""


@pytest.mark.soak  # a process of its own each, which nothing else should crowd
@pytest.mark.parametrize("kind", ["float", "half", "int8"])
def test_memory_is_what_the_process_grows_by(kind: str) -> None:
    done = subprocess.run([sys.executable, "-c", USED, kind], capture_output=True, text=True, cwd=ROOT, check=True)
    said, grown = map(int, done.stdout.split())
    assert 0.8 * said < grown < 1.2 * said, f"{said / 2**20:.0f} MiB said, {grown / 2**20:.0f} MiB grown"
