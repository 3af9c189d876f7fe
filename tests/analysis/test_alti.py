"""ALTI+ against the paper's equations written out vector by vector, in every layout of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from translator import InputError, Trace, Translator
from translator.analysis.alti import Alti, alti, through
from translator.model import Transformer

LAYOUTS = [
    {},
    {"norm": "post", "final_norm": False},
    {"norm": "post", "norm_variant": "unbiased", "final_norm": False, "norm_eps": 1e-3},
    {"norm": "post", "norm_bias": False, "qkv_bias": False, "out_bias": False},
    {"norm_variant": "unbiased", "positions": "learned", "embedding_norm": True, "encoder_layers": 3},
    {"d_head": 5, "encoder_heads": 3, "activation": "gelu", "output_bias": True},
]


@pytest.fixture
def remade(tiny: Translator, checkpoint_maker: ModuleType) -> Callable[..., tuple[Translator, Trace]]:
    """The tiny translator in another layout, biases and norms drawn at random, and a translation by it."""

    def make(**changes: Any) -> tuple[Translator, Trace]:
        model = checkpoint_maker.tiny_model(len(tiny.bundle.src), len(tiny.bundle.tgt), **changes)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 1:
                    parameter.add_(0.3 * torch.randn_like(parameter))
        made = Translator(replace(tiny.bundle, model=model))
        return made, made.translate("Das Haus ist groß, aber alt.", method="greedy", max_length=9)

    return make


def numpy_of(module: Any, name: str) -> Any:
    value = getattr(module, name)
    return 0.0 if value is None else value.detach().double().numpy()


class Reading:
    """Inputs and outputs of every sublayer, taken by hooks while the model runs."""

    def __init__(self, model: Transformer, trace: Trace) -> None:
        self.given: dict[Any, np.ndarray] = {}
        hooks = []
        for layer in (*model.encoder, *model.decoder):
            for module in (layer.attention, getattr(layer, "cross", None)):
                if module is not None:
                    residual = layer.attention_residual if module is layer.attention else layer.cross_residual
                    hooks.append(self._spy(residual, "enter"))
                    hooks.append(self._spy(residual, "leave"))
        src, tgt = ([token.id for token in tokens] for tokens in (trace.src, trace.tgt))
        with torch.no_grad():
            self.memory = model.encode(torch.tensor([src]), None).memory[0].double().numpy()
            model.decode(torch.tensor([[1, *tgt[:-1]]]), torch.tensor(self.memory[None]).float(), None)
        for undo in hooks:
            undo()

    def _spy(self, residual: Any, name: str) -> Callable[[], None]:
        usual = getattr(residual, name)

        def spied(*arguments: Any) -> Any:
            result = usual(*arguments)
            self.given[residual, name] = (arguments[0][0].double().numpy(), result[0].double().numpy())
            return result

        setattr(residual, name, spied)
        return lambda: delattr(residual, name)


def contributions(
    residual: Any, attention: Any, weights: np.ndarray, keys: np.ndarray, reading: Reading, own: bool
) -> np.ndarray:
    """Equations 4 to 8 of the paper for one sublayer: weights [H, Q, K], keys [K, D]; the stream is the last column."""
    stream, after = reading.given[residual, "leave"]
    heads, queries, count = weights.shape
    size, inner = attention.d_head, attention.inner
    w_v = attention.qkv.weight[2 * inner :].double().numpy()
    b_v = np.zeros(inner) if attention.qkv.bias is None else attention.qkv.bias[2 * inner :].double().numpy()
    w_o, b_o = attention.out.weight.double().numpy(), numpy_of(attention.out, "bias")
    found = np.zeros((queries, count + 1))
    for q in range(queries):
        vectors = []
        for k in range(count):
            vector = np.zeros(len(w_o))
            for h in range(heads):
                rows = slice(h * size, (h + 1) * size)
                vector += weights[h, q, k] * (w_o[:, rows] @ (w_v[rows] @ keys[k] + b_v[rows]))
            vectors.append(vector + stream[q] if own and k == q else vector)
        vectors.append(np.zeros(len(w_o)) if own else stream[q])
        output = np.sum(vectors, axis=0) + b_o
        if not residual.pre:
            norm = residual.norm
            ddof = 1 if type(norm).__name__ == "UnbiasedLayerNorm" else 0
            deviation = np.sqrt(output.var(ddof=ddof) + norm.eps)
            gain = numpy_of(norm, "weight")
            vectors = [(vector - vector.mean()) / deviation * gain for vector in vectors]
            output = (output - output.mean()) / deviation * gain + numpy_of(norm, "bias")
        np.testing.assert_allclose(output, after[q], atol=1e-4)
        nearer = [max(0.0, np.abs(output).sum() - np.abs(output - vector).sum()) for vector in vectors]
        if sum(nearer) == 0:
            nearer = [np.abs(vector).sum() for vector in vectors]
        found[q] = np.array(nearer) / sum(nearer)
    return found[:, :-1] if own else found


@pytest.mark.slow
@pytest.mark.parametrize("changes", LAYOUTS)
def test_every_layer_is_what_the_paper_says(remade: Callable[..., tuple[Translator, Trace]], changes: dict) -> None:
    made, trace = remade(**changes)
    found, model = alti(made, trace), made.bundle.model
    reading = Reading(model, trace)
    for i, layer in enumerate(model.encoder):
        keys = reading.given[layer.attention_residual, "enter"][1]
        want = contributions(layer.attention_residual, layer.attention, trace.encoder[i], keys, reading, True)
        np.testing.assert_allclose(found.encoder[i], want, atol=1e-4)
    for i, block in enumerate(model.decoder):
        keys = reading.given[block.attention_residual, "enter"][1]
        want = contributions(block.attention_residual, block.attention, trace.decoder[i], keys, reading, True)
        np.testing.assert_allclose(found.decoder[i], want, atol=1e-4)
        want = contributions(block.cross_residual, block.cross, trace.cross[i], reading.memory, reading, False)
        np.testing.assert_allclose(found.cross[i], want, atol=1e-4)
    check_sums(found)


def check_sums(found: Alti) -> None:
    for layers in (found.encoder, found.decoder, found.cross):
        np.testing.assert_allclose(layers.sum(-1), 1, atol=1e-6)
    np.testing.assert_allclose(found.total.source.sum(-1) + found.total.target.sum(-1), 1, atol=1e-6)


@pytest.mark.slow
def test_the_layers_are_joined_as_one_walk_back_through_the_model(tiny: Translator, trace: Trace) -> None:
    """Every path by itself: from a prediction down through the decoder, at some layer over to the encoder, and down."""
    found = alti(tiny, trace)
    source, target = np.zeros_like(found.total.source), np.zeros_like(found.total.target)

    def into_encoder(row: int, token: int, layer: int, share: float) -> None:
        if layer < 0:
            source[row, token] += share
            return
        for below, part in enumerate(found.encoder[layer][token]):
            into_encoder(row, below, layer - 1, share * part)

    def into_decoder(row: int, token: int, layer: int, share: float) -> None:
        if layer < 0:
            target[row, token] += share
            return
        *read, kept = found.cross[layer][token]
        for key, part in enumerate(read):
            into_encoder(row, key, len(found.encoder) - 1, share * part)
        for below, part in enumerate(found.decoder[layer][token]):
            into_decoder(row, below, layer - 1, share * kept * part)

    for row in range(4):
        into_decoder(row, row, len(found.decoder) - 1, 1.0)
    np.testing.assert_allclose(found.total.source[:4], source[:4], atol=1e-9)
    np.testing.assert_allclose(found.total.target[:4], target[:4], atol=1e-9)


def test_with_pre_norm_the_totals_are_those_of_the_authors_program(
    remade: Callable[..., tuple[Translator, Trace]],
) -> None:
    """Their way of joining: source and prefix side by side in one matrix, rows scaled to sum to 1 in every layer."""
    made, trace = remade()
    found, model = alti(made, trace), made.bundle.model
    reading = Reading(model, trace)

    def shares(residual: Any, attention: Any, weights: np.ndarray, keys: np.ndarray, own: bool) -> np.ndarray:
        stream = reading.given[residual, "leave"][0]
        w_v, b_v = (each[2 * attention.inner :].double().numpy() for each in (attention.qkv.weight, attention.qkv.bias))
        values = (keys @ w_v.T + b_v).reshape(len(keys), attention.heads, attention.d_head)
        w_o = attention.out.weight.double().numpy().reshape(-1, attention.heads, attention.d_head)
        vectors = np.einsum("hqk,khe,dhe->qkd", weights, values, w_o)
        round_it = np.eye(len(stream))[..., None] * stream if own else stream[:, None]
        vectors = vectors + round_it if own else np.concatenate([vectors, round_it], axis=1)
        output = vectors.sum(1) + numpy_of(attention.out, "bias")
        distances = np.abs(vectors - output[:, None]).sum(-1)
        raised = np.clip(np.abs(output).sum(-1, keepdims=True) - distances, 0, None)
        raised_shares: np.ndarray = raised / raised.sum(-1, keepdims=True)
        return raised_shares

    memory = np.eye(len(trace.src))
    for layer, weights in zip(model.encoder, trace.encoder, strict=True):
        keys = reading.given[layer.attention_residual, "enter"][1]
        memory = shares(layer.attention_residual, layer.attention, weights, keys, True) @ memory
    rolled = np.zeros((0, 0))
    for block, own, across in zip(model.decoder, trace.decoder, trace.cross, strict=True):
        keys = reading.given[block.attention_residual, "enter"][1]
        self_shares = shares(block.attention_residual, block.attention, own, keys, True)
        cross = shares(block.cross_residual, block.cross, across, reading.memory, False)
        read, self_shares = cross[:, :-1] @ memory, self_shares * cross[:, -1:]
        rolled = (
            self_shares @ rolled + np.pad(read, ((0, 0), (0, len(read))))
            if rolled.size
            else np.hstack([read, self_shares])
        )
        rolled = rolled / rolled.sum(-1, keepdims=True)
    np.testing.assert_allclose(np.hstack([found.total.source, found.total.target]), rolled, atol=1e-4)


@pytest.mark.slow
def test_nothing_comes_from_what_is_masked_or_later(tiny: Translator, trace: Trace) -> None:
    found = alti(tiny, trace)
    assert (found.decoder[:, ~np.tri(len(trace.tgt), dtype=bool)] == 0).all()
    assert (found.total.target[~np.tri(len(trace.tgt), dtype=bool)] == 0).all()
    masked = replace(tiny.bundle.model.config, masked_ids=(trace.src[1].id,))
    model = Transformer(masked).eval()
    model.load_state_dict(tiny.bundle.model.state_dict())
    blind = Translator(replace(tiny.bundle, model=model))
    found = alti(blind, blind.translate(trace.source, method="greedy", max_length=5))
    assert (found.cross[..., 1] == 0).all() and (found.total.source[:, 1] == 0).all()
    check_sums(found)


def test_a_sublayer_that_adds_nothing_leaves_the_stream_its_own(tiny: Translator, trace: Trace) -> None:
    eye = np.eye(3)
    silent = np.stack([np.concatenate([np.zeros((3, 4)), np.ones((3, 1))], axis=1)] * 2)
    found = through(np.stack([np.eye(4)]), np.stack([eye, eye]), silent)
    np.testing.assert_array_equal(found.target, eye)
    assert found.source_share.tolist() == [0, 0, 0]


def test_another_checkpoints_trace_is_refused(tiny: Translator, trace: Trace) -> None:
    with pytest.raises(InputError, match="not by these weights"):
        alti(tiny, replace(trace, checkpoint=replace(trace.checkpoint, sha256="0" * 64)))
