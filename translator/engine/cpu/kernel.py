"""A source read, and one cached step of the decoder, as machine code, compiled by Numba where it runs.

A step over one sentence reads every weight of the decoder once and does little else: between matrix products that are
as fast as memory, hundreds of calls from Python took as long as the products. Here is no call. Importing this module
brings Numba and LLVM, which takes most of a second: `CpuEngine.compile` does it when it is asked to.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from translator.engine.cpu.attention import exp, mix
from translator.engine.cpu.jit import jit
from translator.engine.cpu.matmul import Matrix, padded, product

RELU, GELU, SILU, NONE = range(4)

Array = np.ndarray


class Norm(NamedTuple):
    """Layer norms [L, D], the variance of `unbiased` over D - 1."""

    weight: Array
    bias: Array
    eps: float
    unbiased: bool


class Encoder(NamedTuple):
    """All that is read of an encoder of L layers; a norm that it lacks has no rows."""

    embedding: Array
    positions: Array
    embedding_scale: float
    embedding_norm: Norm
    pre: bool
    activation: int
    norms: Norm
    qkv: Matrix
    out: Matrix
    up: Matrix
    down: Matrix
    final_norm: Norm


class Decoder(NamedTuple):
    """All that a step reads of a decoder of L layers, and what makes `key_value` of a source; norms as above."""

    embedding: Array
    positions: Array
    embedding_scale: float
    embedding_norm: Norm
    pre: bool
    activation: int
    norms: Norm
    qkv: Matrix
    out: Matrix
    query: Matrix
    key_value: Matrix
    cross_out: Matrix
    up: Matrix
    down: Matrix
    final_norm: Norm
    output: Matrix


class KVCache(NamedTuple):
    """Keys and values of one source and its R hypotheses, and the gates of their heads.

    `keys`, `values` [L, R, H, M, E], of which `time` steps are filled; `places` [R, M] says in which row the keys of a
    hypothesis stand, step by step; `cross_keys`, `cross_values` [L, H, S, E]; `hidden` [S], or empty where all is read;
    `own_gates`, `cross_gates` [L, R, H].
    """

    keys: Array
    values: Array
    places: Array
    cross_keys: Array
    cross_values: Array
    hidden: Array
    own_gates: Array
    cross_gates: Array


@jit
def layer_norm(x: Array, norm: Norm, index: int, rows: int, out: Array) -> None:
    """Norm `index` of `norm` over x [P, D] into out, which may be x itself."""
    size = x.shape[1]
    for r in range(rows):
        mean = np.float32(0)
        for j in range(size):
            mean += x[r, j]
        mean /= np.float32(size)
        variance = np.float32(0)
        for j in range(size):
            variance += (x[r, j] - mean) * (x[r, j] - mean)
        variance /= np.float32(size - 1 if norm.unbiased else size)
        factor = np.float32(1) / np.sqrt(variance + np.float32(norm.eps))
        for j in range(size):
            out[r, j] = (x[r, j] - mean) * factor * norm.weight[index, j] + norm.bias[index, j]


@jit
def activate(x: Array, kind: int, rows: int) -> None:
    """The activation of the feed-forward layer over x [P, F], in place."""
    for r in range(rows):
        if kind == RELU:
            for j in range(x.shape[1]):
                x[r, j] = max(x[r, j], np.float32(0))
        elif kind == GELU:
            for j in range(x.shape[1]):
                x[r, j] *= np.float32(0.5) * (np.float32(1) + math.erf(x[r, j] * np.float32(math.sqrt(0.5))))
        elif kind == SILU:
            for j in range(x.shape[1]):
                x[r, j] /= np.float32(1) + exp(-x[r, j])


@jit
def embed(table: Array, scale: float, id_: int, position: Array, norm: Norm, x: Array) -> None:
    """An id at a position [D] as a vector x [1, D] of the stream."""
    for j in range(x.shape[1]):
        x[0, j] = table[id_, j] * np.float32(scale) + position[j]
    if len(norm.weight):
        layer_norm(x, norm, 0, 1, x)


@jit
def enter(x: Array, norms: Norm, index: int, pre: bool, rows: int, out: Array) -> None:
    """What a sublayer reads of the stream: its norm where that comes first."""
    if pre:
        layer_norm(x, norms, index, rows, out)
    else:
        out[:rows] = x[:rows]


@jit
def leave(x: Array, update: Array, norms: Norm, index: int, pre: bool, rows: int) -> None:
    """The stream after a sublayer's update, in place."""
    for r in range(rows):
        for j in range(x.shape[1]):
            x[r, j] += update[r, j]
    if not pre:
        layer_norm(x, norms, index, rows, x)


@jit
def split(x: Array, first: int, heads: Array) -> None:
    """Columns of x [P, ...] from `first` on into heads [H, S, E]."""
    for h in range(heads.shape[0]):
        for s in range(heads.shape[1]):
            for e in range(heads.shape[2]):
                heads[h, s, e] = x[s, first + h * heads.shape[2] + e]


@jit
def step(
    decoder: Decoder, cache: KVCache, ids: Array, time: int, own: Array, cross: Array, logits: Array, queue: Array
) -> np.float32:
    """Read ids [R] at index `time`; fills logits [P, V], own [R, L, H, time + 1] and cross [R, L, H, S].

    Gives the sum of the R rows of logits.
    """
    rows, padded_rows = len(ids), len(logits)
    layers, _, heads, _, size = cache.keys.shape
    inner = heads * size
    nothing, first = np.zeros(0, np.bool_), np.zeros(cache.cross_keys.shape[2], np.int64)
    for r in range(rows):
        cache.places[r, time] = r
    x = np.zeros((padded_rows, decoder.embedding.shape[1]), np.float32)
    read, update = np.zeros_like(x), np.zeros_like(x)
    qkv = np.zeros((padded_rows, 3 * inner), np.float32)
    query, mixed = np.zeros((padded_rows, inner), np.float32), np.zeros((padded_rows, inner), np.float32)
    wide = np.zeros((padded_rows, decoder.up.bias.shape[1]), np.float32)
    for r in range(rows):
        position = decoder.positions[time]
        embed(decoder.embedding, decoder.embedding_scale, ids[r], position, decoder.embedding_norm, x[r : r + 1])
    for n in range(layers):
        enter(x, decoder.norms, 3 * n, decoder.pre, rows, read)
        product(decoder.qkv, n, read, qkv, queue)
        for r in range(rows):
            for h in range(heads):
                for e in range(size):
                    cache.keys[n, r, h, time, e] = qkv[r, inner + h * size + e]
                    cache.values[n, r, h, time, e] = qkv[r, 2 * inner + h * size + e]
            gates = cache.own_gates[n, r]
            mix(qkv[r], cache.keys[n], cache.values[n], cache.places[r], nothing, gates, own[r, n], mixed[r])
        product(decoder.out, n, mixed, update, queue)
        leave(x, update, decoder.norms, 3 * n, decoder.pre, rows)

        enter(x, decoder.norms, 3 * n + 1, decoder.pre, rows, read)
        product(decoder.query, n, read, query, queue)
        for r in range(rows):
            gates = cache.cross_gates[n, r]
            keys, values = cache.cross_keys[n : n + 1], cache.cross_values[n : n + 1]
            mix(query[r], keys, values, first, cache.hidden, gates, cross[r, n], mixed[r])
        product(decoder.cross_out, n, mixed, update, queue)
        leave(x, update, decoder.norms, 3 * n + 1, decoder.pre, rows)

        enter(x, decoder.norms, 3 * n + 2, decoder.pre, rows, read)
        product(decoder.up, n, read, wide, queue)
        activate(wide, decoder.activation, rows)
        product(decoder.down, n, wide, update, queue)
        leave(x, update, decoder.norms, 3 * n + 2, decoder.pre, rows)
    if len(decoder.final_norm.weight):
        layer_norm(x, decoder.final_norm, 0, rows, x)
    product(decoder.output, 0, x, logits, queue)
    total = np.float32(0)
    for r in range(rows):
        for j in range(logits.shape[1]):
            total += logits[r, j]
    return total


@jit
def encode(
    encoder: Encoder,
    ids: Array,
    hidden: Array,
    gates: Array,
    weights: Array,
    states: Array,
    memory: Array,
    queue: Array,
) -> None:
    """Read a source ids [S], of which `hidden` [S] says what is not read (empty: all is), by gates [L, H].

    Fills weights [L, H, S, S], states [L + 1, S, D] and memory [S, D].
    """
    rows, padded_rows = len(ids), padded(len(ids))
    layers, heads = gates.shape
    inner = encoder.qkv.bias.shape[1] // 3
    x = np.zeros((padded_rows, memory.shape[1]), np.float32)
    read, update = np.zeros_like(x), np.zeros_like(x)
    qkv, mixed = np.zeros((padded_rows, 3 * inner), np.float32), np.zeros((padded_rows, inner), np.float32)
    wide = np.zeros((padded_rows, encoder.up.bias.shape[1]), np.float32)
    keys = np.empty((1, heads, rows, inner // heads), np.float32)
    values, first = np.empty_like(keys), np.zeros(rows, np.int64)
    for r in range(rows):
        position = encoder.positions[r]
        embed(encoder.embedding, encoder.embedding_scale, ids[r], position, encoder.embedding_norm, x[r : r + 1])
    states[0] = x[:rows]
    for n in range(layers):
        enter(x, encoder.norms, 2 * n, encoder.pre, rows, read)
        product(encoder.qkv, n, read, qkv, queue)
        split(qkv, inner, keys[0])
        split(qkv, 2 * inner, values[0])
        for r in range(rows):
            mix(qkv[r], keys, values, first, hidden, gates[n], weights[n, :, r], mixed[r])
        product(encoder.out, n, mixed, update, queue)
        leave(x, update, encoder.norms, 2 * n, encoder.pre, rows)

        enter(x, encoder.norms, 2 * n + 1, encoder.pre, rows, read)
        product(encoder.up, n, read, wide, queue)
        activate(wide, encoder.activation, rows)
        product(encoder.down, n, wide, update, queue)
        leave(x, update, encoder.norms, 2 * n + 1, encoder.pre, rows)
        states[n + 1] = x[:rows]
    if len(encoder.final_norm.weight):
        layer_norm(x, encoder.final_norm, 0, rows, x)
    memory[:] = x[:rows]


@jit
def read_source(decoder: Decoder, memory: Array, keys: Array, values: Array, queue: Array) -> None:
    """The keys and values [L, H, S, E] of cross-attention to memory [S, D]."""
    rows, padded_rows = len(memory), padded(len(memory))
    x = np.zeros((padded_rows, memory.shape[1]), np.float32)
    x[:rows] = memory
    both = np.empty((padded_rows, decoder.key_value.bias.shape[1]), np.float32)
    for n in range(len(keys)):
        product(decoder.key_value, n, x, both, queue)
        split(both, 0, keys[n])
        split(both, both.shape[1] // 2, values[n])
