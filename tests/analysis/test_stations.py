"""The stations' tensors against torch's own modules, the model's own pass, and each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from translator import Translator, load
from translator.analysis import stations
from translator.config import ModelConfig
from translator.errors import InputError
from translator.model.layers import FeedForward

TEXT = "Ich renne in den Park."


@pytest.fixture(scope="module")
def model(tiny_checkpoint: Path) -> Translator:
    return load(tiny_checkpoint, device="cpu")


@pytest.fixture(scope="module")
def walk(model: Translator) -> stations.EncoderLayerWalk:
    return stations.encoder_layer(model, TEXT, 1)


def test_the_embedding_is_row_times_root_d_plus_position(model: Translator) -> None:
    found = stations.embedded(model, TEXT)
    table = model.bundle.model.src_embedding.weight.numpy()
    assert found.ids == model.source_ids(TEXT) and len(found.tokens) == len(found.ids)
    np.testing.assert_array_equal(found.rows, table[list(found.ids)])
    np.testing.assert_allclose(found.summed, found.rows * 16**0.5 + found.positions, atol=1e-6)
    assert found.scale == 4.0 and found.tokens[-1].special


def test_attention_equals_torchs_multi_head_attention(model: Translator, walk: stations.EncoderLayerWalk) -> None:
    ours = model.bundle.model.encoder[1].attention
    theirs = nn.MultiheadAttention(16, 2, batch_first=True).eval()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(ours.qkv.weight)
        theirs.in_proj_bias.copy_(ours.qkv.bias)
        theirs.out_proj.weight.copy_(ours.out.weight)
        theirs.out_proj.bias.copy_(ours.out.bias)
        x = torch.as_tensor(walk.norm_after)[None]
        want, weights = theirs(x, x, x, average_attn_weights=False)
    np.testing.assert_allclose(walk.attention.output, want[0].numpy(), atol=1e-5)
    np.testing.assert_allclose(walk.attention.weights, weights[0].numpy(), atol=1e-5)


def test_products_scale_and_softmax_give_the_weights(walk: stations.EncoderLayerWalk) -> None:
    a = walk.attention
    want = np.einsum("hte,hse->hts", a.query, a.key)
    np.testing.assert_allclose(a.products, want, atol=1e-5)
    np.testing.assert_allclose(stations.softmax(want / 8**0.5), a.weights, atol=1e-5)
    np.testing.assert_allclose(a.weights_without_scale(), stations.softmax(want), atol=1e-5)


def test_the_heads_parts_add_up_to_the_output(model: Translator, walk: stations.EncoderLayerWalk) -> None:
    a, out = walk.attention, model.bundle.model.encoder[1].attention.out
    np.testing.assert_allclose(a.parts.sum(axis=0) + out.bias.numpy(), a.output, atol=1e-5)
    np.testing.assert_allclose(a.joined @ out.weight.numpy().T + out.bias.numpy(), a.output, atol=1e-5)
    np.testing.assert_array_equal(a.joined[:, 8:], a.mixed[1])


def test_norm_and_residual_lead_to_the_models_next_state(walk: stations.EncoderLayerWalk) -> None:
    want = (walk.before - walk.before.mean(-1, keepdims=True)) / np.sqrt(walk.before.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(walk.norm_after, want, atol=1e-4)
    np.testing.assert_allclose(walk.middle, walk.before + walk.attention.output, atol=1e-5)
    np.testing.assert_allclose(walk.after, walk.middle + walk.ff_out, atol=1e-4)


def test_post_norm_reads_the_sum(checkpoint_maker, model: Translator) -> None:
    from dataclasses import replace

    bundle = model.bundle
    post = checkpoint_maker.tiny_model(len(bundle.src), len(bundle.tgt), norm="post")
    found = stations.encoder_layer(Translator(replace(bundle, model=post)), TEXT, 0)
    np.testing.assert_allclose(found.norm_before, found.before + found.attention.output, atol=1e-5)
    np.testing.assert_array_equal(found.norm_after, found.middle)
    np.testing.assert_array_equal(found.ff_in, found.middle)


@pytest.mark.parametrize(("activation", "bias"), [("relu", True), ("gelu", False)])
def test_linear_layers_are_convolutions_of_width_one(activation: str, bias: bool) -> None:
    torch.manual_seed(3)
    shape = {"d_model": 16, "d_ff": 40, "encoder_heads": 2, "decoder_heads": 2}
    config = ModelConfig(src_vocab=9, tgt_vocab=9, activation=activation, ff_bias=bias, **shape)  # type: ignore[arg-type]
    linear, x = FeedForward(config).double(), torch.randn(2, 5, 16, dtype=torch.float64)
    with torch.no_grad():
        torch.testing.assert_close(stations.as_convolution(linear, x), linear(x), rtol=0, atol=1e-12)


def test_the_live_convolution_agrees_far_below_a_millionth(walk: stations.EncoderLayerWalk) -> None:
    np.testing.assert_allclose(walk.convolved, walk.ff_out, rtol=0, atol=1e-12)
    np.testing.assert_allclose(walk.middle + walk.ff_out, walk.after, atol=1e-5)
    assert walk.hidden.shape == (len(walk.tokens), 32) and (walk.hidden >= 0).all()


@pytest.mark.parametrize("layer", [0, 1])
def test_cross_attention_is_the_traces(model: Translator, layer: int) -> None:
    trace = model.translate(TEXT, max_length=6)
    found = stations.cross_attention(model, trace, layer)
    np.testing.assert_allclose(found.weights, trace.cross[layer], atol=1e-5)
    assert found.value.shape == (2, len(trace.src), 8)


def test_logits_give_the_traces_log_probabilities(model: Translator) -> None:
    trace = model.translate(TEXT, max_length=6)
    probs = stations.softmax(stations.next_token_logits(model, trace))
    chosen = probs[np.arange(len(trace.tgt)), [token.id for token in trace.tgt]]
    np.testing.assert_allclose(np.log(chosen), trace.log_probs, atol=1e-4)


def test_layouts_are_three_tables_of_one_shape(model: Translator) -> None:
    tables = stations.position_layouts(model, 12, 8)
    assert {name: table.shape for name, table in tables.items()} == dict.fromkeys(
        ("interleaved", "concatenated", "learned"), (12, 8)
    )
    np.testing.assert_array_equal(tables["concatenated"][:, :4], tables["interleaved"][:, ::2])
    assert tables["learned"].std() == pytest.approx(0.02, rel=0.3)
    np.testing.assert_array_equal(stations.position_layouts(model, 12, 8)["learned"], tables["learned"])


@pytest.mark.slow
def test_without_the_scale_the_variance_grows_with_the_width() -> None:
    widths = (4, 64, 256)
    found = stations.dot_product_variances(widths, samples=20_000)
    np.testing.assert_allclose(found[:, 0], widths, rtol=0.05)
    np.testing.assert_allclose(found[:, 1], 1.0, rtol=0.05)


def test_temperature_divides_the_logits() -> None:
    logits = np.log([0.5, 0.3, 0.2])
    np.testing.assert_allclose(stations.softmax(logits), [0.5, 0.3, 0.2])
    squared = np.array([0.25, 0.09, 0.04])
    np.testing.assert_allclose(stations.softmax(logits, 0.5), squared / squared.sum())


def test_what_does_not_exist_is_named(model: Translator) -> None:
    with pytest.raises(InputError, match="from 0 to 1"):
        stations.encoder_layer(model, TEXT, 2)
    with pytest.raises(InputError, match="from 0 to 1"):
        stations.cross_attention(model, model.translate(TEXT, max_length=3), -1)
    with pytest.raises(InputError, match="blank"):
        stations.embedded(model, "  ")
