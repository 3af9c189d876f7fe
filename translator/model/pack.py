"""A model's weights as the compiled functions read them (`translator.model.kernel`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from translator.config import ModelConfig
from translator.model.layers import ACTIVATIONS, FeedForward
from translator.model.linear import GROUP, Linear, are_halves, in_whole_numbers

if TYPE_CHECKING:
    from translator.model import kernel, product
    from translator.model.transformer import Transformer

Rows = tuple[Linear, int, int]
"""A linear layer, and from which of its rows up to which."""


def memory(model: Transformer) -> int:
    """Bytes that a model holds once it has been used in every way: its weights, each once, and all their layouts."""
    own = sum(each.numel() * each.element_size() for each in (*model.parameters(), *model.buffers()))
    laid_out = sum(layer.laid_out for layer in model.modules() if isinstance(layer, Linear))
    kinds = (*_of_encoder(model).values(), *_of_decoder(model).values()) if laid_out else ()
    packed = ((_bytes(kind), layer, last - first) for kind in kinds for layer, first, last in kind)
    return own + laid_out + sum(each * layer.in_features * rows for each, layer, rows in packed)


def encoder(code: Any, model: Transformer) -> kernel.Encoder:
    """All that `code.encode` reads of the model."""
    sublayers = [(layer.attention_residual, layer.feed_forward_residual) for layer in model.encoder]
    return code.Encoder(
        embedding=model.src_embedding.weight.detach().numpy(),
        positions=model.src_positions.detach().numpy(),
        embedding_norm=_norms(code, model.config, list(model.embedding_norms)[:1]),
        norms=_norms(code, model.config, [residual.norm for sublayer in sublayers for residual in sublayer]),
        final_norm=_norms(code, model.config, [model.encoder_norm] if model.config.final_norm else []),
        **_habits(model, model.encoder[0].feed_forward),
        **{name: matrix(kind) for name, kind in _of_encoder(model).items()},
    )


def decoder(code: Any, model: Transformer) -> kernel.Decoder:
    """All that `code.step` and `code.read_source` read of the model."""
    sublayers = [
        (layer.attention_residual, layer.cross_residual, layer.feed_forward_residual) for layer in model.decoder
    ]
    return code.Decoder(
        embedding=model.tgt_embedding.weight.detach().numpy(),
        positions=model.tgt_positions.detach().numpy(),
        embedding_norm=_norms(code, model.config, list(model.embedding_norms)[1:]),
        norms=_norms(code, model.config, [residual.norm for sublayer in sublayers for residual in sublayer]),
        final_norm=_norms(code, model.config, [model.decoder_norm] if model.config.final_norm else []),
        **_habits(model, model.decoder[0].feed_forward),
        **{name: matrix(kind) for name, kind in _of_decoder(model).items()},
    )


def _habits(model: Transformer, feed_forward: FeedForward) -> dict[str, Any]:
    """What encoder and decoder have in common."""
    activations = [ACTIVATIONS[name] for name in ("relu", "gelu", "silu", "none")]
    return {
        "embedding_scale": model.config.d_model**0.5 if model.config.scale_embeddings else 1.0,
        "pre": model.config.norm == "pre",
        "activation": activations.index(feed_forward.activation),
    }


def _rows(layers: Iterable[Linear], first: int = 0, last: int | None = None) -> list[Rows]:
    return [(layer, first, last or layer.out_features) for layer in layers]


def _of_encoder(model: Transformer) -> dict[str, list[Rows]]:
    """What reading a source multiplies with: of each kind the rows of every layer."""
    return {
        "qkv": _rows(layer.attention.qkv for layer in model.encoder),
        "out": _rows(layer.attention.out for layer in model.encoder),
        "up": _rows(layer.feed_forward.up for layer in model.encoder),
        "down": _rows(layer.feed_forward.down for layer in model.encoder),
    }


def of_step(model: Transformer) -> dict[str, list[Rows]]:
    """What a step multiplies with."""
    cross = [layer.cross for layer in model.decoder]
    return {
        "qkv": _rows(layer.attention.qkv for layer in model.decoder),
        "out": _rows(layer.attention.out for layer in model.decoder),
        "query": _rows((each.qkv for each in cross), last=cross[0].inner),
        "cross_out": _rows(each.out for each in cross),
        "up": _rows(layer.feed_forward.up for layer in model.decoder),
        "down": _rows(layer.feed_forward.down for layer in model.decoder),
        "output": _rows([model.output]),
    }


def _of_decoder(model: Transformer) -> dict[str, list[Rows]]:
    """What a step multiplies with, and what makes the keys and values of a source, once."""
    cross = [layer.cross for layer in model.decoder]
    return {**of_step(model), "key_value": _rows((each.qkv for each in cross), first=cross[0].inner)}


def _bytes(kind: Sequence[Rows]) -> int:
    """How many the kernel reads of each of these weights.

    One where bytes are wanted, two where halves hold them exactly, else three: whole numbers of 24 bits, a scale to 64
    of them, are off by no more than float32's own rounding of the largest of these. Four where they cannot be cut so.
    """
    if kind[0][0].precision == "int8":
        return 1
    if all(are_halves(layer.weight.detach()) for layer, _, _ in kind):
        return 2
    return 3 if kind[0][0].in_features % GROUP == 0 else 4


def _norms(code: Any, config: ModelConfig, norms: Sequence[Any]) -> kernel.Norm:
    weights = [norm.weight.detach().numpy() for norm in norms]
    biases = [norm.bias.detach().numpy() for norm in norms if config.norm_bias]
    shape = (len(norms), config.d_model)
    return code.Norm(
        np.array(weights, np.float32).reshape(shape),
        np.array(biases, np.float32).reshape(shape) if biases else np.zeros(shape, np.float32),
        config.norm_eps,
        config.norm_variant == "unbiased",
    )


def matrix(kind: Sequence[Rows]) -> product.Matrix:
    """Linear layers of one kind, each weight in as many bytes as `_bytes` says."""
    from translator.model import product  # brings Numba

    weights = [layer.weight[first:last].detach() for layer, first, last in kind]
    biases = [torch.zeros(layer.out_features) if layer.bias is None else layer.bias.detach() for layer, _, _ in kind]
    bias = torch.stack([each[first:last] for each, (_, first, last) in zip(biases, kind, strict=True)])
    bytes_ = _bytes(kind)
    if bytes_ in (1, 3):
        pairs = [in_whole_numbers(weight, 8 * bytes_) for weight in weights]
        whole, scale = (torch.stack(each) for each in zip(*pairs, strict=True))
    else:
        whole, scale = torch.stack(weights), torch.ones(*bias.shape, 1)
    stored = whole.view(*scale.shape, -1).numpy()
    if bytes_ == 1:
        stored = stored.astype(np.int8)
    elif bytes_ == 2 and product.has_halves():
        stored = stored.astype(np.float16).view(np.uint16)
    elif bytes_ == 3:
        stored = product.in_three_bytes(stored)
    return product.Matrix(stored, scale.numpy(), bias.numpy())
