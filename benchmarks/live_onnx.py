"""A checkpoint's encoder and one step of its decoder as ONNX, for onnxruntime-web beside the live page's engine.

Needs the packages onnx and onnxscript; npm's onnxruntime-web runs what is written (`live_onnx.mjs`).
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from translator.model import Transformer

OPSET = 18


def export(model: Transformer, folder: Path) -> None:
    """Write encode.onnx and step.onnx, float32, batch 1."""
    layers, heads = model.config.decoder_layers, model.config.decoder_heads
    size = model.config.head_size(heads)
    source, past = torch.export.Dim("S", max=250), torch.export.Dim("T", max=250)
    _write(
        _Encode(model),
        (torch.full((1, 5), 7),),
        folder / "encode.onnx",
        names=(["ids"], ["keys", "values", "weights"]),
        shapes=({1: source},),
    )
    read, own = torch.zeros(layers, 1, heads, 5, size), torch.zeros(layers, 1, heads, 3, size)
    given = (torch.full((1, 1), 7), torch.tensor([3]), own, own.clone(), read, read.clone())
    _write(
        _Step(model),
        given,
        folder / "step.onnx",
        names=(
            ["id", "position", "keys", "values", "source_keys", "source_values"],
            ["logits", "new_keys", "new_values", "own", "cross"],
        ),
        shapes=({}, {}, {3: past}, {3: past}, {3: source}, {3: source}),
    )


def _write(
    module: nn.Module,
    given: tuple[Tensor, ...],
    path: Path,
    *,
    names: tuple[list[str], list[str]],
    shapes: tuple[dict, ...],
) -> None:
    program = torch.onnx.export(
        module.eval(),
        given,
        dynamo=True,
        opset_version=OPSET,
        input_names=names[0],
        output_names=names[1],
        dynamic_shapes=shapes,
        verbose=False,
    )
    if program is None:
        raise RuntimeError("PyTorch made no ONNX program")
    program.save(str(path), external_data=False)


def _attend(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    weights = (query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5).softmax(-1)
    return weights @ value, weights


class _Encode(nn.Module):
    """ids [1, S] to keys and values of every layer's cross-attention [L, 1, H, S, E], and maps [L, H, S, S]."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        model = self.model
        scale = model.config.d_model**0.5 if model.config.scale_embeddings else 1.0
        x = model.src_embedding(ids) * scale + model.src_positions[: ids.shape[1]]
        maps = []
        for layer in model.encoder:
            mixed, weights = _attend(*layer.attention.project(layer.attention_residual.enter(x)))
            x = layer.finish(layer.attention_residual.leave(x, layer.attention.merge(mixed)))
            maps.append(weights[0])
        memory = model.encoder_norm(x)
        keys, values = zip(*(layer.cross.key_value(memory) for layer in model.decoder), strict=True)
        return torch.stack(keys), torch.stack(values), torch.stack(maps)


class _Step(nn.Module):
    """One id [1, 1] at a position [1] after T others: logits [1, V], the longer cache, and the rows read by."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, id_: Tensor, position: Tensor, keys: Tensor, values: Tensor, source_keys: Tensor, source_values: Tensor
    ) -> tuple[Tensor, ...]:
        model = self.model
        scale = model.config.d_model**0.5 if model.config.scale_embeddings else 1.0
        x = model.tgt_embedding(id_) * scale + model.tgt_positions[position]
        kept: list[tuple[Tensor, Tensor]] = []
        own, cross = [], []
        for index, layer in enumerate(model.decoder):
            query, key, value = layer.attention.project(layer.attention_residual.enter(x))
            kept.append((torch.cat([keys[index], key], 2), torch.cat([values[index], value], 2)))
            mixed, read = _attend(query, *kept[-1])
            x = layer.attention_residual.leave(x, layer.attention.merge(mixed))
            query = layer.cross.query(layer.cross_residual.enter(x))
            mixed, weights = _attend(query, source_keys[index], source_values[index])
            x = layer.finish(layer.cross_residual.leave(x, layer.cross.merge(mixed)))
            own.append(read[0])
            cross.append(weights[0])
        logits = model.output(model.decoder_norm(x))[:, 0]
        new = (torch.stack(each) for each in zip(*kept, strict=True))
        return (logits, *new, torch.stack(own), torch.stack(cross))
