"""The whole model against torch.nn.Transformer, and each of its settings against its formula."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from translator.config import ModelConfig
from translator.model import Attention, Gates, Transformer
from translator.model.attention import causal_keep
from translator.model.layers import layer_norm

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
Batch = tuple[Tensor, Tensor, Tensor]
Make = Callable[..., Transformer]


def torch_twin(model: Transformer) -> nn.Transformer:
    """PyTorch's own Transformer with the weights of `model`."""
    shape = model.config
    common = {
        "dim_feedforward": shape.d_ff,
        "dropout": 0.0,
        "activation": shape.activation,
        "batch_first": True,
        "norm_first": shape.norm == "pre",
        "bias": shape.qkv_bias,
        "layer_norm_eps": shape.norm_eps,
    }
    norms = [layer_norm(shape) if shape.final_norm else None for _ in range(2)]
    encoder_layer = nn.TransformerEncoderLayer(shape.d_model, shape.encoder_heads, **common)
    decoder_layer = nn.TransformerDecoderLayer(shape.d_model, shape.decoder_heads, **common)
    encoder = nn.TransformerEncoder(encoder_layer, shape.encoder_layers, norms[0], enable_nested_tensor=False)
    decoder = nn.TransformerDecoder(decoder_layer, shape.decoder_layers, norms[1])
    twin = nn.Transformer(shape.d_model, shape.encoder_heads, custom_encoder=encoder, custom_decoder=decoder)
    twin.batch_first = True
    copy_weights(model, twin)
    return twin.train()  # in evaluation mode it would leave the plain path; there is no dropout


@torch.no_grad()
def copy_weights(model: Transformer, twin: nn.Transformer) -> None:
    def copy(ours: nn.Module, theirs: nn.Module) -> None:
        for (_, mine), (_, other) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
            other.copy_(mine)

    def copy_attention(ours: Attention, theirs: nn.MultiheadAttention) -> None:
        theirs.in_proj_weight.copy_(ours.qkv.weight)
        if ours.qkv.bias is not None:
            theirs.in_proj_bias.copy_(ours.qkv.bias)
        copy(ours.out, theirs.out_proj)

    for ours, theirs in zip(
        [*model.encoder, *model.decoder], [*twin.encoder.layers, *twin.decoder.layers], strict=True
    ):
        copy_attention(ours.attention, theirs.self_attn)
        pairs = [(ours.attention_residual, theirs.norm1), (ours.feed_forward.up, theirs.linear1)]
        pairs.append((ours.feed_forward.down, theirs.linear2))
        if hasattr(ours, "cross"):
            copy_attention(ours.cross, theirs.multihead_attn)
            pairs += [(ours.cross_residual, theirs.norm2), (ours.feed_forward_residual, theirs.norm3)]
        else:
            pairs.append((ours.feed_forward_residual, theirs.norm2))
        for mine, other in pairs:
            copy(mine, other)
    if model.config.final_norm:
        copy(model.encoder_norm, twin.encoder.norm)
        copy(model.decoder_norm, twin.decoder.norm)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("final_norm", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_it_equals_torchs_transformer(
    make_model: Make, batch: Batch, norm: str, activation: str, final_norm: bool, bias: bool
) -> None:
    parts = dict.fromkeys(("qkv_bias", "out_bias", "ff_bias", "norm_bias"), bias)
    model = make_model(norm=norm, activation=activation, final_norm=final_norm, **parts)
    src_ids, src_keep, tgt_ids = batch
    twin = torch_twin(model)
    encoded = model.encode(src_ids, src_keep)
    memory = twin.encoder(model.embed(src_ids, target=False), src_key_padding_mask=~src_keep)
    torch.testing.assert_close(encoded.memory, memory, **CLOSE)
    hidden = twin.decoder(
        model.embed(tgt_ids, target=True), memory, tgt_mask=~causal_keep(6), memory_key_padding_mask=~src_keep
    )
    decoded = model.decode(tgt_ids, encoded.memory, src_keep)
    torch.testing.assert_close(decoded.logits, hidden @ model.output.weight.T, **CLOSE)


VARIANTS = (
    {},
    {"norm": "post", "activation": "gelu", "final_norm": False},
    {"positions": "learned", "embedding_norm": True, "embeddings": "separate", "output_bias": True},
    {"norm_variant": "unbiased", "d_head": 5, "activation": "none", "qkv_bias": False},
    {"activation": "silu", "embeddings": "shared", "src_vocab": 19, "norm_bias": False, "ff_bias": False},
)


@pytest.mark.parametrize("changes", VARIANTS)
@pytest.mark.parametrize("path", ["plain", "kernel"])
def test_the_fast_path_equals_the_explicit_one(
    make_model: Make, batch: Batch, changes: dict[str, object], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path == "kernel":
        monkeypatch.setattr(Attention, "fused", Attention.by_kernel)
    model = make_model(**changes)
    src_ids, src_keep, tgt_ids = batch
    want = model.decode(tgt_ids, model.encode(src_ids, src_keep).memory, src_keep).logits
    torch.testing.assert_close(model(src_ids, tgt_ids, src_keep), want, **CLOSE)
    torch.testing.assert_close(
        model.encode(src_ids, src_keep, maps=False).memory, model.encode(src_ids, src_keep).memory, **CLOSE
    )
    tgt_keep = torch.arange(6) < torch.tensor([6, 2, 4])[:, None]
    rows = tgt_keep.flatten().nonzero().squeeze(1)
    torch.testing.assert_close(model(src_ids, tgt_ids, src_keep, rows), want[tgt_keep], **CLOSE)


@pytest.mark.parametrize("changes", VARIANTS)
def test_attention_is_a_probability_and_never_looks_ahead_or_at_padding(
    make_model: Make, batch: Batch, changes: dict[str, object]
) -> None:
    model = make_model(**changes)
    src_ids, src_keep, tgt_ids = batch
    encoded = model.encode(src_ids, src_keep)
    decoded = model.decode(tgt_ids, encoded.memory, src_keep)
    for weights in (encoded.weights, decoded.decoder, decoded.cross):
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]), **CLOSE)
        assert (weights >= 0).all()
    assert (decoded.decoder[..., ~causal_keep(6)] == 0).all()
    for b, keep in enumerate(src_keep):
        assert (encoded.weights[b][..., ~keep] == 0).all()
        assert (decoded.cross[b][..., ~keep] == 0).all()


def test_shapes_with_unequal_depths_and_heads(make_model: Make, batch: Batch) -> None:
    model = make_model()
    src_ids, src_keep, tgt_ids = batch
    encoded = model.encode(src_ids, src_keep)
    decoded = model.decode(tgt_ids, encoded.memory, src_keep)
    assert encoded.weights.shape == (3, 3, 4, 7, 7) and encoded.states.shape == (3, 4, 7, 16)
    assert decoded.decoder.shape == (3, 2, 2, 6, 6) and decoded.cross.shape == (3, 2, 2, 6, 7)
    assert decoded.logits.shape == (3, 6, 19) and decoded.states.shape == (3, 3, 6, 16)


def test_what_stands_in_padding_changes_nothing(make_model: Make, batch: Batch) -> None:
    model = make_model()
    src_ids, src_keep, tgt_ids = batch
    want = model(src_ids, tgt_ids, src_keep)
    torch.testing.assert_close(model(src_ids.masked_fill(~src_keep, 11), tgt_ids, src_keep), want)
    alone = model(src_ids[2:, :2], tgt_ids[2:], None)
    torch.testing.assert_close(alone[0], want[2], **CLOSE)


def test_a_source_of_padding_alone_gives_no_nan(make_model: Make, batch: Batch) -> None:
    model = make_model()
    src_ids, src_keep, tgt_ids = batch
    src_keep = src_keep.clone()
    src_keep[1] = False
    assert model(src_ids, tgt_ids, src_keep).isfinite().all()
    assert model.decode(tgt_ids, model.encode(src_ids, src_keep).memory, src_keep).logits.isfinite().all()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("eps", [1e-6, 0.1])
def test_the_unbiased_layer_norm_is_its_formula(make_model: Make, bias: bool, eps: float) -> None:
    norm = make_model(norm_variant="unbiased", norm_bias=bias, norm_eps=eps).encoder_norm
    x = torch.randn(5, 16)
    variance = ((x - x.mean(1, keepdim=True)) ** 2).sum(1, keepdim=True) / 15
    want = (x - x.mean(1, keepdim=True)) / (variance + eps) ** 0.5 * norm.weight
    assert (norm.bias is not None) == bias
    torch.testing.assert_close(norm(x), want + norm.bias if bias else want, **CLOSE)


def test_layer_norm_takes_its_epsilon(make_model: Make) -> None:
    norm = make_model(norm_eps=0.5).encoder_norm
    x = torch.randn(5, 16)
    want = (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True, unbiased=False) + 0.5) ** 0.5
    torch.testing.assert_close(norm(x), want * norm.weight + norm.bias, **CLOSE)


@pytest.mark.parametrize(
    ("activation", "formula"),
    [
        ("relu", lambda x: x.clamp(min=0)),
        ("gelu", lambda x: x * 0.5 * (1 + torch.erf(x / 2**0.5))),
        ("silu", lambda x: x / (1 + torch.exp(-x))),
        ("none", lambda x: x),
    ],
)
def test_the_activation_stands_between_two_linear_layers(
    make_model: Make, activation: str, formula: Callable[[Tensor], Tensor]
) -> None:
    layer = make_model(activation=activation).encoder[0].feed_forward
    x = torch.randn(5, 16)
    want = formula(x @ layer.up.weight.T + layer.up.bias) @ layer.down.weight.T + layer.down.bias
    torch.testing.assert_close(layer(x), want, **CLOSE)


def test_embeddings_are_separate_tied_or_shared(make_model: Make) -> None:
    separate, tied = make_model(embeddings="separate"), make_model(embeddings="tied")
    shared = make_model(embeddings="shared", src_vocab=19)
    for model, same_output, same_source in ((separate, False, False), (tied, True, False), (shared, True, True)):
        assert (model.output.weight is model.tgt_embedding.weight) == same_output
        assert (model.src_embedding.weight is model.tgt_embedding.weight) == same_source


def test_embeddings_are_scaled_and_normed_as_asked(make_model: Make) -> None:
    ids = torch.tensor([[3, 4]])
    plain = make_model(scale_embeddings=False)
    torch.testing.assert_close(
        plain.embed(ids, target=True)[0], plain.tgt_embedding.weight[[3, 4]] + plain.tgt_positions[:2]
    )
    normed = make_model(embedding_norm=True)
    for target, table in ((False, normed.src_embedding), (True, normed.tgt_embedding)):
        x = table.weight[ids] * 4 + normed.src_positions[:2]
        torch.testing.assert_close(normed.embed(ids, target=target), normed.embedding_norms[int(target)](x), **CLOSE)
    assert normed.embedding_norms[0] is not normed.embedding_norms[1]


@pytest.mark.slow
def test_every_bias_can_be_left_out_alone(make_model: Make) -> None:
    def biases(**changes: object) -> set[str]:
        return {name for name, _ in make_model(**changes).named_parameters() if name.endswith("bias")}

    every = biases(output_bias=True)
    for setting, part in (
        ("qkv_bias", "qkv.bias"),
        ("out_bias", "out.bias"),
        ("ff_bias", "feed_forward."),
        ("norm_bias", "norm.bias"),
        ("output_bias", "output.bias"),
    ):
        gone = every - biases(**{"output_bias": True, setting: False})
        assert gone and gone == {name for name in every if part in name}


def test_final_norms_can_be_left_out(make_model: Make) -> None:
    names = {name for name, _ in make_model(final_norm=False).named_parameters()}
    assert not [name for name in names if name.startswith(("encoder_norm", "decoder_norm"))]


@torch.no_grad()
def test_matrices_start_within_xaviers_bounds() -> None:
    torch.manual_seed(0)
    start = Transformer(ModelConfig(src_vocab=900, tgt_vocab=900, d_model=64, d_ff=128, embeddings="separate"))
    plain = Transformer(ModelConfig(src_vocab=900, tgt_vocab=900, d_model=64, d_ff=128, xavier=False))
    for name, parameter in start.named_parameters():
        if "embedding" in name:
            assert abs(float(parameter.std()) * 8 - 1) < 0.05
        elif parameter.dim() == 2:
            bound = (6 / sum(parameter.shape)) ** 0.5
            assert 0.97 * bound < float(parameter.abs().max()) <= bound, name
        elif name.endswith("bias"):
            assert (parameter == 0).all()
    up = plain.encoder[0].feed_forward.up.weight  # PyTorch's own start: 1/√d_model
    assert 0.97 / 8 < float(up.abs().max()) <= 1 / 8


@pytest.mark.slow
def test_dropout_is_on_in_training_alone(make_model: Make, batch: Batch) -> None:
    src_ids, src_keep, tgt_ids = batch
    for setting in ("dropout", "attention_dropout"):
        model = make_model(**{"dropout": 0.0, "attention_dropout": 0.0, setting: 0.5})
        torch.testing.assert_close(model(src_ids, tgt_ids, src_keep), model(src_ids, tgt_ids, src_keep), rtol=0, atol=0)
        model.train()
        assert not torch.equal(model(src_ids, tgt_ids, src_keep), model(src_ids, tgt_ids, src_keep))


@pytest.mark.parametrize("gated", [False, True], ids=["open", "gated"])
@torch.inference_mode()
def test_encoding_without_maps_gives_the_same_output(
    make_model: Callable[..., Transformer], batch: tuple[Tensor, Tensor, Tensor], gated: bool
) -> None:
    model, (src_ids, src_keep, _) = make_model(), batch
    gates = Gates(encoder=torch.rand(3, 4)) if gated else None
    found, want = (model.encode(src_ids, src_keep, gates, maps=maps) for maps in (False, True))
    torch.testing.assert_close(found.memory, want.memory, **CLOSE)
    assert found.src_keep is src_keep
    if not gated:
        assert found.weights.shape == (3, 0, 0, 7, 7) and found.states.shape == (3, 0, 7, 16)
