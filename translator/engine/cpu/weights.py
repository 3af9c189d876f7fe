"""A model's weights as the compiled functions read them (`translator.engine.cpu.kernel`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from translator.config import ModelConfig
from translator.engine.cpu import matmul
from translator.engine.cpu.formats import in_whole_numbers
from translator.engine.cpu.kernel import Decoder, Encoder, Norm
from translator.engine.cpu.layout import Rows, bytes_per_weight, of_decoder, of_encoder
from translator.model import Transformer
from translator.model.layers import ACTIVATIONS, FeedForward


def encoder(model: Transformer) -> Encoder:
    """All that `kernel.encode` reads of the model."""
    sublayers = [(layer.attention_residual, layer.feed_forward_residual) for layer in model.encoder]
    return Encoder(
        embedding=model.src_embedding.weight.detach().numpy(),
        positions=model.src_positions.detach().numpy(),
        embedding_norm=_norms(model.config, list(model.embedding_norms)[:1]),
        norms=_norms(model.config, [residual.norm for sublayer in sublayers for residual in sublayer]),
        final_norm=_norms(model.config, [model.encoder_norm] if model.config.final_norm else []),
        **_common(model, model.encoder[0].feed_forward, of_encoder(model)),
    )


def decoder(model: Transformer) -> Decoder:
    """All that `kernel.step` and `kernel.read_source` read of the model."""
    sublayers = [
        (layer.attention_residual, layer.cross_residual, layer.feed_forward_residual) for layer in model.decoder
    ]
    return Decoder(
        embedding=model.tgt_embedding.weight.detach().numpy(),
        positions=model.tgt_positions.detach().numpy(),
        embedding_norm=_norms(model.config, list(model.embedding_norms)[1:]),
        norms=_norms(model.config, [residual.norm for sublayer in sublayers for residual in sublayer]),
        final_norm=_norms(model.config, [model.decoder_norm] if model.config.final_norm else []),
        **_common(model, model.decoder[0].feed_forward, of_decoder(model)),
    )


def _common(model: Transformer, feed_forward: FeedForward, kinds: Mapping[str, Sequence[Rows]]) -> dict[str, Any]:
    """What encoder and decoder have in common, and the matrices of every kind."""
    activations = [ACTIVATIONS[name] for name in ("relu", "gelu", "silu", "none")]
    return {
        "embedding_scale": model.config.d_model**0.5 if model.config.scale_embeddings else 1.0,
        "pre": model.config.norm == "pre",
        "activation": activations.index(feed_forward.activation),
        **{name: matrix(kind) for name, kind in kinds.items()},
    }


def _norms(config: ModelConfig, norms: Sequence[Any]) -> Norm:
    weights = [norm.weight.detach().numpy() for norm in norms]
    biases = [norm.bias.detach().numpy() for norm in norms if config.norm_bias]
    shape = (len(norms), config.d_model)
    return Norm(
        np.array(weights, np.float32).reshape(shape),
        np.array(biases, np.float32).reshape(shape) if biases else np.zeros(shape, np.float32),
        config.norm_eps,
        config.norm_variant == "unbiased",
    )


def matrix(kind: Sequence[Rows]) -> matmul.Matrix:
    """Linear layers of one kind, each weight in as many bytes as `bytes_per_weight` says."""
    weights = [layer.weight[first:last].detach() for layer, first, last in kind]
    biases = [torch.zeros(layer.out_features) if layer.bias is None else layer.bias.detach() for layer, _, _ in kind]
    bias = torch.stack([each[first:last] for each, (_, first, last) in zip(biases, kind, strict=True)])
    bytes_ = bytes_per_weight(kind)
    if bytes_ in (1, 3):
        pairs = [in_whole_numbers(weight, 8 * bytes_) for weight in weights]
        stacked, scale = (torch.stack(each) for each in zip(*pairs, strict=True))
    else:
        stacked, scale = torch.stack(weights), torch.ones(*bias.shape, 1)
    stored = stacked.numpy()
    if bytes_ == 1:
        stored = stored.astype(np.int8)
    elif bytes_ == 2 and matmul.has_float16():
        stored = stored.astype(np.float16).view(np.uint16)
    panels = matmul.in_panels(stored)
    if bytes_ == 3:
        panels = matmul.in_three_bytes(panels)
    return matmul.Matrix(panels, matmul.in_panels(scale.numpy()), bias.numpy())
