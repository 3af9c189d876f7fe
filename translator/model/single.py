"""The cached step of one hypothesis on a CPU, in NumPy.

A step of one sentence makes some thirty calls a layer over a few hundred numbers each, between matrix products that
are as fast as memory: what a call costs decides. Additions, slices and small products cost less in NumPy than in
PyTorch; norms, softmax and activations do not, and stay there. `Transformer.step` comes here when it may.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from translator.model.attention import Attention
from translator.model.cache import Cache, LayerCache
from translator.model.layers import ACTIVATIONS, DecoderLayer, FeedForward, Residual
from translator.model.linear import FloatProduct

if TYPE_CHECKING:
    from translator.model.transformer import Gates, Transformer

Array = np.ndarray
Function = Callable[[Array], Array]


class Single:
    """The decoder with all that its steps over one hypothesis need, at hand.

    Made for one `cache` and one set of `gates`; it is of no use once the cache was reordered.
    """

    def __init__(self, model: Transformer, cache: Cache, gates: Gates | None) -> None:
        self.model, self.cache, self.gates = model, cache, gates
        hidden = None if cache.hidden is None else cache.hidden.numpy().reshape(-1)

        def gate(kind: str, layer: int) -> Tensor | None:
            return None if gates is None else gates.row(kind, layer)

        self.layers = [
            _Layer(layer, kept, hidden, gate("decoder", index), gate("cross", index))
            for index, (layer, kept) in enumerate(zip(model.decoder, cache.layers, strict=True))
        ]
        self.norm = _of_torch(model.decoder_norm)
        self.output = model.output.product(0, model.output.out_features).one

    def step(self, ids: Tensor) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """Read ids [1]: logits [1, V], and each layer's weights [1, H, T] over the target and [1, H, S] the source.

        Raises:
            ValueError: the cache is full.
        """
        time = self.cache.length
        if time >= self.layers[0].keys.shape[1]:
            raise ValueError(f"the cache holds {time} steps and is full")
        x = self.model.embed(ids[None], target=True, first=time).numpy()[0]
        own, cross = [], []
        for layer in self.layers:
            x, a, b = layer(x, time)
            own.append(torch.from_numpy(a))
            cross.append(torch.from_numpy(b))
        return torch.from_numpy(self.output(self.norm(x))), own, cross


class _Layer:
    """One decoder layer, its cache as arrays without a batch axis."""

    def __init__(
        self, layer: DecoderLayer, kept: LayerCache, hidden: Array | None, own_gate: Tensor | None, gate: Tensor | None
    ) -> None:
        self.keys, self.values = kept.key[0].numpy(), kept.value[0].numpy()
        self.cross_keys, self.cross_values = kept.cross_key[0].numpy().transpose(0, 2, 1), kept.cross_value[0].numpy()
        self.hidden = hidden
        own, cross = layer.attention, layer.cross
        self.qkv = own.qkv.product(0, 3 * own.inner).one
        self.query = cross.qkv.product(0, cross.inner).one
        self.parts = (3, own.heads, own.d_head)
        self.own, self.cross = _Mix(own, own_gate), _Mix(cross, gate)
        self.residuals = [_Residual(r) for r in (layer.attention_residual, layer.cross_residual)]
        self.feed_forward, self.last = _feed_forward(layer.feed_forward), _Residual(layer.feed_forward_residual)

    def __call__(self, x: Array, time: int) -> tuple[Array, Array, Array]:
        """x [1, D] at index `time`: the next x, and the rows [1, H, time + 1] and [1, H, S] it read by."""
        first, second = self.residuals
        query, key, value = self.qkv(first.enter(x)).reshape(self.parts)
        self.keys[:, time], self.values[:, time] = key, value
        end = time + 1
        update, own = self.own(query, self.keys[:, :end].transpose(0, 2, 1), self.values[:, :end], None)
        x = first.leave(x, update)
        query = self.query(second.enter(x)).reshape(self.parts[1:])
        update, cross = self.cross(query, self.cross_keys, self.cross_values, self.hidden)
        x = second.leave(x, update)
        return self.last.leave(x, self.feed_forward(self.last.enter(x))), own, cross


class _Mix:
    """`Attention.attend` for one query, after its projections."""

    def __init__(self, attention: Attention, gate: Tensor | None) -> None:
        self.scale = np.float32(attention.d_head**-0.5)
        self.out = attention.out.product(0, attention.out.out_features).one
        self.gate = None if gate is None else gate.numpy().reshape(-1, 1, 1)

    def __call__(self, query: Array, keys: Array, values: Array, hidden: Array | None) -> tuple[Array, Array]:
        """query [H, d_head], keys [H, d_head, S], values [H, S, d_head]; hidden [S] must not be read."""
        scores = np.matmul((query * self.scale)[:, None], keys)
        if hidden is not None:
            scores[..., hidden] = -np.inf
        weights = torch.softmax(torch.from_numpy(scores), -1).numpy()
        if hidden is not None:
            weights[..., hidden] = 0.0  # a row with nothing to read would be NaN
        mixed = np.matmul(weights, values)
        if self.gate is not None:
            mixed = mixed * self.gate
        return self.out(mixed.reshape(1, -1)), weights.transpose(1, 0, 2)


class _Residual:
    """`Residual` over arrays."""

    def __init__(self, residual: Residual) -> None:
        norm = _of_torch(residual.norm)
        self.enter: Function = norm if residual.pre else _same
        self._end: Function = _same if residual.pre else norm

    def leave(self, x: Array, update: Array) -> Array:
        return self._end(x + update)


def _feed_forward(layer: FeedForward) -> Function:
    up, down = (linear.product(0, linear.out_features) for linear in (layer.up, layer.down))
    if isinstance(up, FloatProduct) or isinstance(down, FloatProduct):
        activation = _of_torch(layer.activation)
        return lambda x: down.one(activation(up.one(x)))
    return lambda x: down.many(layer.activation(up.many(torch.from_numpy(x)))).numpy()


def _of_torch(function: Callable[[Tensor], Tensor]) -> Function:
    """A function of tensors as one of arrays, which share their memory."""
    if isinstance(function, nn.Identity) or function is ACTIVATIONS["none"]:
        return _same
    if isinstance(function, nn.LayerNorm):
        shape, weight, bias, eps = function.normalized_shape, function.weight, function.bias, function.eps
        return lambda x: torch.layer_norm(torch.from_numpy(x), shape, weight, bias, eps).numpy()
    return lambda x: function(torch.from_numpy(x)).numpy()


def _same(x: Array) -> Array:
    return x
