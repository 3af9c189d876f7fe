"""The engine of a live page against the model in PyTorch, option by option."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import translator
from translator.analysis.interventions import head_importance
from translator.checkpoints.weights import to_safetensors
from translator.config import ModelConfig
from translator.decode import encode, replay
from translator.decode.steps import entropy
from translator.engine import EagerEngine
from translator.model import Gates, Transformer

ROOT = Path(__file__).parents[2]
SRC, TGT = [5, 9, 7, 31, 8, 9, 2], [6, 40, 11, 11, 2]
OPTIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "post-norm": {"norm": "post", "final_norm": False},
    "post-norm with a final norm": {"norm": "post"},
    "gelu": {"activation": "gelu"},
    "silu": {"activation": "silu"},
    "no activation": {"activation": "none"},
    "concatenated positions": {"positions": "concatenated"},
    "learned positions": {"positions": "learned"},
    "positions from 2": {"first_position": 2},
    "tied": {"embeddings": "tied"},
    "shared": {"embeddings": "shared", "src_vocab": 41},
    "unscaled embeddings": {"scale_embeddings": False},
    "normed embeddings": {"embedding_norm": True},
    "no biases": {"qkv_bias": False, "out_bias": False, "ff_bias": False, "norm_bias": False},
    "output bias": {"output_bias": True},
    "free head size": {"d_head": 5},
    "odd sizes": {"d_model": 15, "d_ff": 31, "d_head": 7, "encoder_heads": 3},
    "unequal depth, heads and width": {
        "encoder_layers": 3, "decoder_layers": 1, "encoder_heads": 2, "decoder_heads": 4, "decoder_d_ff": 20,
    },
    "unbiased norm": {"norm_variant": "unbiased", "norm_eps": 1e-3},
    "padded sources": {"padded_length": 12},
    "unread tokens": {"masked_ids": (5, 9)},
    "nothing to read": {"masked_ids": (5, 9, 7, 2, 31, 8)},
}  # fmt: skip


def random_model(changes: dict[str, Any], dtype: str) -> Transformer:
    """A random model, 2 layers of 2 heads unless `changes` says otherwise; every weight differs from its neighbours."""
    torch.manual_seed(3)
    sizes = {"src_vocab": 37, "tgt_vocab": 41, "d_model": 16, "d_ff": 32, "max_positions": 30}
    layers = {"encoder_layers": 2, "decoder_layers": 2, "encoder_heads": 2, "decoder_heads": 2}
    model = Transformer(ModelConfig(**{**sizes, **layers, "embeddings": "separate", **changes}))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
            if dtype == "float16":
                parameter.copy_(parameter.half())
    return model.eval().requires_grad_(False)


def random_gates(config: ModelConfig) -> Gates:
    return Gates(**{kind: torch.rand(shape) for kind, shape in config.head_counts.items()})


def replayed(model: Transformer, gates: Gates | None = None) -> tuple[Any, np.ndarray]:
    """TGT forced after SRC, and its log-probabilities [T, V]."""
    expected = replay(
        EagerEngine(model), SRC, TGT, encoded=encode(EagerEngine(model), SRC, gates), gates=gates, candidates=41
    )
    order = np.argsort(expected.candidate_ids, axis=-1)
    return expected, np.take_along_axis(expected.candidate_log_probs, order, -1)


@pytest.fixture
def both(run_node: Any, floats: Any, tmp_path: Path) -> Any:
    """`both(changes, dtype, gated, engine)`: what Node's engine and PyTorch say of SRC and TGT."""

    def run(
        changes: dict[str, Any], dtype: str = "float16", *, gated: bool = False, engine: str = "engine.wasm"
    ) -> tuple[dict, Any]:
        model = random_model(changes, dtype)
        path = tmp_path / "model.safetensors"
        path.write_bytes(to_safetensors(model, dtype))
        gates = random_gates(model.config) if gated else None
        task = {
            "engine": engine,
            "config": asdict(model.config),
            "weights": str(path),
            "src": SRC,
            "tgt": TGT,
            "rows": 3,
            "gates": {
                kind: getattr(gates, kind).flatten().tolist() for kind in ("encoder", "decoder", "cross") if gates
            },
        }
        found = run_node("engine.mjs", task)
        return found, replayed(model, gates)

    return run


def check(both: tuple[dict, Any], floats: Any) -> None:
    found, (expected, log_probs) = both
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(floats(found[kind]), getattr(expected, kind), atol=2e-6, rtol=0)
    np.testing.assert_allclose(floats(found["logProbs"]), log_probs, atol=2e-5, rtol=0)
    for t, step in enumerate(found["steps"]):
        np.testing.assert_allclose(floats(step["logProbs"]), log_probs[t], atol=2e-5, rtol=0)
        np.testing.assert_allclose(floats(step["own"]), expected.decoder[:, :, t, : t + 1], atol=2e-6, rtol=0)
        np.testing.assert_allclose(floats(step["cross"]), expected.cross[:, :, t], atol=2e-6, rtol=0)
        assert step["entropy"] == pytest.approx(float(entropy(torch.from_numpy(log_probs[t]))), abs=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_gives_pytorchs_maps_and_probabilities(name: str, both: Any, floats: Any) -> None:
    check(both(OPTIONS[name]), floats)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["as it is", "odd sizes", "unequal depth, heads and width", "post-norm", "gelu"])
def test_the_relaxed_engine_gives_the_same(name: str, both: Any, floats: Any) -> None:
    check(both(OPTIONS[name], engine="relaxed.wasm"), floats)
    check(both(OPTIONS[name], gated=True, engine="relaxed.wasm"), floats)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["as it is", "odd sizes", "unequal depth, heads and width", "post-norm"])
def test_gates_of_every_kind(name: str, both: Any, floats: Any) -> None:
    check(both(OPTIONS[name], gated=True), floats)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_each_head_is_worth_what_a_whole_pass_without_it_says(name: str, both: Any) -> None:
    model, (found, (_, usual)) = random_model(OPTIONS[name], "float16"), both(OPTIONS[name])
    counts = model.config.head_counts
    for kind, (layers, heads) in counts.items():
        for layer in range(layers):
            for head in range(heads):
                values = {each: torch.ones(shape) for each, shape in counts.items()}
                values[kind][layer, head] = 0
                change = (replayed(model, Gates(**values))[1] - usual)[range(len(TGT)), TGT].sum()
                assert found["worth"][kind][layer][head] == pytest.approx(change, abs=1e-4)


@pytest.mark.slow
def test_what_was_read_of_one_target_is_not_taken_for_another(run_node: Any, tmp_path: Path) -> None:
    model = random_model({}, "float16")
    path = tmp_path / "model.safetensors"
    path.write_bytes(to_safetensors(model, "float16"))
    task = {"config": asdict(model.config), "weights": str(path), "src": SRC, "targets": [TGT, TGT[1:], TGT]}
    found = run_node("kept.mjs", task)
    assert found["kept"] == found["fresh"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["engine.wasm", "relaxed.wasm"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("de-en", "Gestern habe ich in der Stadt ein gutes Buch gekauft."),
        ("en-zh", "Yesterday I bought a good book in the city near my house."),
    ],
)
def test_heads_of_a_trained_model(name: str, text: str, engine: str, run_node: Any) -> None:
    """What cannot fire is left out and what is unlikely is rounded: too much of either shows in no random model."""
    model = translator.load(name, device="cpu")
    trace = model.translate(text, method="greedy")
    expected = head_importance(model, trace)
    folder, config = model.bundle.folder, asdict(model.bundle.model.config)
    src, tgt = ([token.id for token in side] for side in (trace.src, trace.tgt))
    task = {"config": config, "weights": str(folder / "model.safetensors"), "src": src, "tgt": tgt, "rows": 1}
    found = run_node("engine.mjs", {**task, "gates": {}, "engine": engine})["worth"]
    for kind, values in expected.items():
        np.testing.assert_allclose(found[kind], values, atol=5e-5, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["as it is", "odd sizes", "learned positions"])
def test_float32_weights(name: str, both: Any, floats: Any) -> None:
    check(both(OPTIONS[name], "float32"), floats)


@pytest.mark.slow
def test_float16_is_widened_exactly(run_node: Any, floats: Any) -> None:
    """Every finite half there is, denormals among them."""
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    bits = halves[np.isfinite(halves)].view(np.uint16)
    found = floats(run_node("halves.mjs", {"bits": bits.tolist()}))
    np.testing.assert_array_equal(found, bits.view(np.float16).astype(np.float32))


def refusal(run_node: Any, tmp_path: Path, changes: dict[str, Any], damage: Any = None) -> str:
    model = random_model({}, "float16")
    path = tmp_path / "model.safetensors"
    path.write_bytes(to_safetensors(model, "float16"))
    if damage:
        damage(path)
    config = {**asdict(model.config), **changes}
    return run_node("refusal.mjs", {"config": config, "weights": str(path)})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"activation": "swiglu"}, "activation is 'swiglu'"),
        ({"positions": "rotary"}, "positions is 'rotary'"),
        ({"d_ff": 40_000}, "d_ff is 40000"),
        ({"output_bias": True}, "lack output.bias"),
        ({"qkv_bias": False}, "hold decoder.0.attention.qkv.bias"),
        ({"tgt_vocab": 40}, "have the shape [41, 16]"),
    ],
)
def test_what_the_engine_does_not_compute_is_refused_by_name(
    changes: dict[str, Any], said: str, run_node: Any, tmp_path: Path
) -> None:
    assert said in refusal(run_node, tmp_path, changes)


@pytest.mark.slow
def test_weights_that_are_cut_off_are_refused(run_node: Any, tmp_path: Path) -> None:
    def cut(path: Path) -> None:
        path.write_bytes(path.read_bytes()[:-100])

    assert "outside their file" in refusal(run_node, tmp_path, {}, cut)


def test_the_built_engine_is_what_its_sources_give(tmp_path: Path) -> None:
    path = ROOT / "web" / "engine" / "build.py"
    spec = importlib.util.spec_from_file_location("build_engine", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    subprocess.run([sys.executable, str(path), str(tmp_path)], check=True)
    for name in module.FILES:
        assert (tmp_path / name).read_bytes() == (module.BUILT / name).read_bytes(), name
