"""A source read, and one cached step of the decoder, as machine code, compiled by Numba where it runs.

A step over one sentence reads every weight of the decoder once and does little else: between matrix products that are
as fast as memory, hundreds of calls from Python took as long as the products. Here is no call. Weights come as halves,
bytes or float32 and are widened in the processor; all sums are float32. Importing this module brings Numba and LLVM,
which takes most of a second: `translator.model.compiled` does it when it is asked to.
"""

from __future__ import annotations

import itertools
import math
import platform
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

FAST = ("reassoc", "contract", "nsz", "arcp")
"""What sums may assume: order and rounding are free, while infinities and NaN keep their meaning."""
BLOCK = 4
"""Rows that share one reading of the weights; see `padded`."""
MANY = 12
"""Rows above which the weights of a few outputs serve them all, before the next weights are read."""
AHEAD, LINE = 8192, 64
"""Bytes: how far ahead of a product its weights are called for, and in what pieces; a processor's own guess ends with a
page of 4,096."""
LANES = 16 if binding.get_host_cpu_features().get("avx512f") else 8
"""Weights that are multiplied at once, so that all sums of `_tile` stay in registers: of AVX-512, AVX2 or NEON."""
_INTEGERS, _HALVES, _FLOATS = (ir.VectorType(kind, LANES) for kind in (ir.IntType(32), ir.HalfType(), ir.FloatType()))
EXP = tuple(
    map(np.float32, (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5, 1, 1))
)
RELU, GELU, SILU, NONE = range(4)

Array = np.ndarray
F = TypeVar("F", bound=Callable[..., Any])


class Matrix(NamedTuple):
    """Linear layers of one kind: `weight` [L, N, G, K / G] as float32, the bits of halves (uint16) or int8.

    `scale` [L, N, G] is what bytes are multiplied with, by groups of inputs, and 1 for others; `bias` [L, N].
    """

    weight: Array
    scale: Array
    bias: Array


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


class Memory(NamedTuple):
    """What a step remembers of one source and its R hypotheses.

    `keys`, `values` [L, R, H, M, E], of which `time` steps are filled; `cross_keys`, `cross_values` [L, H, S, E];
    `hidden` [S], or empty where all is read; `own_gates`, `cross_gates` [L, R, H].
    """

    keys: Array
    values: Array
    cross_keys: Array
    cross_values: Array
    hidden: Array
    own_gates: Array
    cross_gates: Array


def _jit(function: F) -> F:
    """Compile `function` when it is first called, and keep what comes of it where a folder may be written."""
    compiled: Any
    try:
        compiled = njit(cache=True, nogil=True, fastmath=set(FAST), error_model="numpy")(function)
    except RuntimeError:
        compiled = njit(nogil=True, fastmath=set(FAST), error_model="numpy")(function)
    return compiled


@_jit
def padded(rows: int) -> int:
    """How many rows a product takes for `rows`: one, or whole blocks."""
    return 1 if rows == 1 else -(-rows // BLOCK) * BLOCK


def has_halves() -> bool:
    """Whether the processor widens halves by itself."""
    return platform.machine() in ("aarch64", "arm64") or bool(binding.get_host_cpu_features().get("f16c"))


def _number_of(typing: Any, stored: Any) -> Any:
    """One weight as float32, whatever it is stored as."""

    def widen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if stored == types.uint16:
            return builder.fpext(builder.bitcast(args[0], ir.HalfType()), ir.FloatType())
        return context.cast(builder, args[0], stored, types.float32)

    return types.float32(stored), widen


_number: Any = intrinsic(_number_of)


def _widen(builder: Any, weights: Any) -> Any:
    """A vector of weights as float32."""
    if weights.type.element == ir.IntType(8):
        return builder.sitofp(builder.sext(weights, _INTEGERS), _FLOATS)
    if weights.type.element == ir.IntType(16):
        return builder.fpext(builder.bitcast(weights, _HALVES), _FLOATS)
    return weights


def _call_for(builder: Any, address: Any) -> None:
    """Call for what lies at an address; one that is nobody's does no harm."""
    pointer, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer, whole, whole, whole])
    function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    builder.call(function, [builder.bitcast(address, pointer), whole(0), whole(3), whole(1)])  # read, keep, data


def _load(builder: Any, start: Any, index: Any, bits: int) -> Any:
    """A vector of numbers from an index on."""
    vector = ir.VectorType(start.type.pointee, LANES)
    return builder.load(builder.bitcast(builder.gep(start, [index]), vector.as_pointer()), align=bits // 8)


def _spread(builder: Any, number: Any) -> Any:
    """A vector of one number."""
    first = builder.insert_element(ir.Constant(_FLOATS, ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, _INTEGERS(None))


def _total(builder: Any, vectors: Sequence[Any]) -> Any:
    """The sum of all numbers of some vectors."""
    vector, width = vectors[0], LANES
    for other in vectors[1:]:
        vector = builder.fadd(vector, other)
    while width > 1:
        width //= 2
        halves = [ir.VectorType(ir.IntType(32), width)(list(range(n, n + width))) for n in (0, width)]
        vector = builder.fadd(*(builder.shuffle_vector(vector, vector, half) for half in halves))
    return builder.extract_element(vector, ir.IntType(32)(0))


def _tile(outputs: int, rows: int, chains: int) -> Any:
    """A function that fills out[r : r + rows, i : i + outputs] of a product, but for inputs beyond whole vectors.

    Each weight is widened once for all rows, each input read once for all outputs; `chains` sums of a vector each
    hide how long an addition takes. A loop that Numba makes adds up a vector's numbers after every group of inputs.
    """

    def fill(typing: Any, weight: Any, scale: Any, bias: Any, i: Any, x: Any, r: Any, out: Any) -> Any:
        kinds, bits = (weight, scale, bias, x, out), weight.dtype.bitwidth
        if any(kind.layout != "C" for kind in kinds):
            raise TypingError("products are of arrays without gaps")

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            first_output, first_row = args[3], args[5]
            values = (args[0], args[1], args[2], args[4], args[6])
            arrays = [
                context.make_array(kind)(context, builder, value) for kind, value in zip(kinds, values, strict=True)
            ]
            weights, scales, biases, inputs, results = (array.data for array in arrays)
            whole = context.get_value_type(types.intp)
            count, groups, width = cgutils.unpack_tuple(builder, arrays[0].shape, 3)
            length = builder.mul(groups, width)
            at_output = [builder.add(first_output, whole(n)) for n in range(outputs)]
            at_row = [builder.add(first_row, whole(n)) for n in range(rows)]
            weights = [builder.gep(weights, [builder.mul(n, length)]) for n in at_output]
            scales = [builder.gep(scales, [builder.mul(n, groups)]) for n in at_output]
            inputs = [builder.gep(inputs, [builder.mul(n, length)]) for n in at_row]
            pairs = list(itertools.product(range(outputs), range(rows)))
            sums = {p: [cgutils.alloca_once_value(builder, _FLOATS(None)) for _ in range(chains)] for p in pairs}

            def multiply(index: Any, chain: int, factors: Sequence[Any]) -> None:
                read = [_load(builder, start, index, 32) for start in inputs]
                for output, start in enumerate(weights):
                    numbers = _widen(builder, _load(builder, start, index, bits))
                    if bits == 8:
                        numbers = builder.fmul(numbers, factors[output])
                    for row in range(rows):
                        place = sums[output, row][chain]
                        part = builder.fmul(numbers, read[row], flags=FAST)
                        builder.store(builder.fadd(builder.load(place), part, flags=FAST), place)

            def multiples(of: int) -> Any:
                return builder.mul(builder.sdiv(width, whole(of)), whole(of))

            step = LANES * chains
            with cgutils.for_range(builder, groups) as group:
                begin = builder.mul(group.index, width)
                factors = [_spread(builder, builder.load(builder.gep(start, [group.index]))) for start in scales]
                with cgutils.for_range_slice(builder, whole(0), multiples(step), whole(step), whole) as (index, _):
                    index = builder.add(begin, index)
                    for start, far in itertools.product(weights, range(0, step, LINE * 8 // bits)):
                        _call_for(builder, builder.gep(start, [builder.add(index, whole(AHEAD * 8 // bits + far))]))
                    for chain in range(chains):
                        multiply(builder.add(index, whole(LANES * chain)), chain, factors)
                rest = multiples(step), multiples(LANES), whole(LANES)
                with cgutils.for_range_slice(builder, *rest, whole) as (index, _):
                    multiply(builder.add(begin, index), 0, factors)
            for output, row in pairs:
                total = _total(builder, [builder.load(place) for place in sums[output, row]])
                total = builder.fadd(total, builder.load(builder.gep(biases, [at_output[output]])))
                where = builder.add(builder.mul(at_row[row], count), at_output[output])
                builder.store(total, builder.gep(results, [where]))
            return context.get_dummy_value()

        return types.void(weight, scale, bias, i, x, r, out), generate

    return intrinsic(fill)


WIDE = LANES // 4
"""Outputs of a tile over many rows."""
_one, _block, _blocks, _wide = _tile(1, 1, 4), _tile(1, BLOCK, 2), _tile(2, BLOCK, 1), _tile(WIDE, BLOCK, 1)


@_jit
def product(matrix: Matrix, index: int, x: Array, out: Array) -> None:
    """Rows x [P, K] through linear layer `index` into out [P, N]; P is what `padded` says."""
    weight, scale, bias = matrix.weight[index], matrix.scale[index], matrix.bias[index]
    outputs, groups, width = weight.shape
    if len(x) == 1:
        for i in range(outputs):
            _one(weight, scale, bias, i, x, 0, out)
    elif len(x) <= MANY:
        for r in range(0, len(x), BLOCK):
            for i in range(0, outputs - 1, 2):
                _blocks(weight, scale, bias, i, x, r, out)
            if outputs % 2:
                _block(weight, scale, bias, outputs - 1, x, r, out)
    else:
        for i in range(0, outputs - WIDE + 1, WIDE):
            for r in range(0, len(x), BLOCK):
                _wide(weight, scale, bias, i, x, r, out)
        for i in range(outputs - outputs % WIDE, outputs):
            for r in range(0, len(x), BLOCK):
                _block(weight, scale, bias, i, x, r, out)
    if width % LANES == 0:
        return
    for r in range(len(x)):
        for i in range(outputs):
            for g in range(groups):
                for j in range(width - width % LANES, width):
                    out[r, i] += _number(weight[i, g, j]) * scale[i, g] * x[r, g * width + j]


@_jit
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


@_jit
def exp(x: np.float32) -> np.float32:
    """e to the power of a float32, within 3e-7 of itself, in operations that a processor has for whole vectors.

    Source: `expf` of the Cephes library. What would leave the range of a float32 is 2e-38 or 2e38.
    """
    x = min(max(x, np.float32(-87)), np.float32(88))
    power = np.floor(x * np.float32(1 / math.log(2)) + np.float32(0.5))
    rest = x - power * np.float32(math.log(2))
    sum_ = np.float32(0)
    for factor in EXP:
        sum_ = sum_ * rest + factor
    return sum_ * np.int32((np.int32(power) + np.int32(127)) << np.int32(23)).view(np.float32)


@_jit
def mix(query: Array, keys: Array, values: Array, hidden: Array, gates: Array, weights: Array, out: Array) -> None:
    """Attention of one query [H · E] over keys and values [H, S, E], into weights [H, S] and out [H · E].

    A row that has nothing to attend to is all 0.
    """
    heads, length = weights.shape
    size = keys.shape[2]
    scale = np.float32(1 / math.sqrt(size))
    for h in range(heads):
        start = h * size
        best = np.float32(-np.inf)
        for s in range(length):
            score = np.float32(0)
            for e in range(size):
                score += query[start + e] * keys[h, s, e]
            weights[h, s] = score * scale
            if len(hidden) == 0 or not hidden[s]:
                best = max(best, weights[h, s])
        total = np.float32(0)
        for s in range(length):
            if len(hidden) > 0 and hidden[s]:
                weights[h, s] = np.float32(0)
            else:
                weights[h, s] = exp(weights[h, s] - best)
                total += weights[h, s]
        for e in range(size):
            out[start + e] = np.float32(0)
        if total > 0:
            for s in range(length):
                weights[h, s] /= total
                share = weights[h, s]
                for e in range(size):
                    out[start + e] += share * values[h, s, e]
        for e in range(size):
            out[start + e] *= gates[h]


@_jit
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


@_jit
def embed(table: Array, scale: float, id_: int, position: Array, norm: Norm, x: Array) -> None:
    """An id at a position [D] as a vector x [1, D] of the stream."""
    for j in range(x.shape[1]):
        x[0, j] = table[id_, j] * np.float32(scale) + position[j]
    if len(norm.weight):
        layer_norm(x, norm, 0, 1, x)


@_jit
def enter(x: Array, norms: Norm, index: int, pre: bool, rows: int, out: Array) -> None:
    """What a sublayer reads of the stream: its norm where that comes first."""
    if pre:
        layer_norm(x, norms, index, rows, out)
    else:
        out[:rows] = x[:rows]


@_jit
def leave(x: Array, update: Array, norms: Norm, index: int, pre: bool, rows: int) -> None:
    """The stream after a sublayer's update, in place."""
    for r in range(rows):
        for j in range(x.shape[1]):
            x[r, j] += update[r, j]
    if not pre:
        layer_norm(x, norms, index, rows, x)


@_jit
def split(x: Array, first: int, heads: Array) -> None:
    """Columns of x [P, ...] from `first` on into heads [H, S, E]."""
    for h in range(heads.shape[0]):
        for s in range(heads.shape[1]):
            for e in range(heads.shape[2]):
                heads[h, s, e] = x[s, first + h * heads.shape[2] + e]


@_jit
def step(decoder: Decoder, memory: Memory, ids: Array, time: int, own: Array, cross: Array, logits: Array) -> None:
    """Read ids [R] at index `time`; fills logits [P, V], own [R, L, H, time + 1] and cross [R, L, H, S]."""
    rows, padded_rows = len(ids), len(logits)
    layers, _, heads, _, size = memory.keys.shape
    inner = heads * size
    nothing = np.zeros(0, np.bool_)
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
        product(decoder.qkv, n, read, qkv)
        for r in range(rows):
            for h in range(heads):
                for e in range(size):
                    memory.keys[n, r, h, time, e] = qkv[r, inner + h * size + e]
                    memory.values[n, r, h, time, e] = qkv[r, 2 * inner + h * size + e]
            gates = memory.own_gates[n, r]
            mix(qkv[r], memory.keys[n, r], memory.values[n, r], nothing, gates, own[r, n], mixed[r])
        product(decoder.out, n, mixed, update)
        leave(x, update, decoder.norms, 3 * n, decoder.pre, rows)

        enter(x, decoder.norms, 3 * n + 1, decoder.pre, rows, read)
        product(decoder.query, n, read, query)
        for r in range(rows):
            gates = memory.cross_gates[n, r]
            keys, values = memory.cross_keys[n], memory.cross_values[n]
            mix(query[r], keys, values, memory.hidden, gates, cross[r, n], mixed[r])
        product(decoder.cross_out, n, mixed, update)
        leave(x, update, decoder.norms, 3 * n + 1, decoder.pre, rows)

        enter(x, decoder.norms, 3 * n + 2, decoder.pre, rows, read)
        product(decoder.up, n, read, wide)
        activate(wide, decoder.activation, rows)
        product(decoder.down, n, wide, update)
        leave(x, update, decoder.norms, 3 * n + 2, decoder.pre, rows)
    if len(decoder.final_norm.weight):
        layer_norm(x, decoder.final_norm, 0, rows, x)
    product(decoder.output, 0, x, logits)


@_jit
def encode(
    encoder: Encoder, ids: Array, hidden: Array, gates: Array, weights: Array, states: Array, memory: Array
) -> None:
    """Read a source ids [S], of which `hidden` [S] says what is not read (empty: all is), by gates [L, H].

    Fills weights [L, H, S, S], states [L + 1, S, D] and memory [S, D].
    """
    rows, padded_rows = len(ids), padded(len(ids))
    layers, heads = gates.shape
    inner = encoder.out.weight.shape[2] * encoder.out.weight.shape[3]
    x = np.zeros((padded_rows, memory.shape[1]), np.float32)
    read, update = np.zeros_like(x), np.zeros_like(x)
    qkv, mixed = np.zeros((padded_rows, 3 * inner), np.float32), np.zeros((padded_rows, inner), np.float32)
    wide = np.zeros((padded_rows, encoder.up.bias.shape[1]), np.float32)
    keys = np.empty((heads, rows, inner // heads), np.float32)
    values = np.empty_like(keys)
    for r in range(rows):
        position = encoder.positions[r]
        embed(encoder.embedding, encoder.embedding_scale, ids[r], position, encoder.embedding_norm, x[r : r + 1])
    states[0] = x[:rows]
    for n in range(layers):
        enter(x, encoder.norms, 2 * n, encoder.pre, rows, read)
        product(encoder.qkv, n, read, qkv)
        split(qkv, inner, keys)
        split(qkv, 2 * inner, values)
        for r in range(rows):
            mix(qkv[r], keys, values, hidden, gates[n], weights[n, :, r], mixed[r])
        product(encoder.out, n, mixed, update)
        leave(x, update, encoder.norms, 2 * n, encoder.pre, rows)

        enter(x, encoder.norms, 2 * n + 1, encoder.pre, rows, read)
        product(encoder.up, n, read, wide)
        activate(wide, encoder.activation, rows)
        product(encoder.down, n, wide, update)
        leave(x, update, encoder.norms, 2 * n + 1, encoder.pre, rows)
        states[n + 1] = x[:rows]
    if len(encoder.final_norm.weight):
        layer_norm(x, encoder.final_norm, 0, rows, x)
    memory[:] = x[:rows]


@_jit
def read_source(decoder: Decoder, memory: Array, keys: Array, values: Array) -> None:
    """The keys and values [L, H, S, E] of cross-attention to memory [S, D]."""
    rows, padded_rows = len(memory), padded(len(memory))
    x = np.zeros((padded_rows, memory.shape[1]), np.float32)
    x[:rows] = memory
    both = np.empty((padded_rows, decoder.key_value.bias.shape[1]), np.float32)
    for n in range(len(keys)):
        product(decoder.key_value, n, x, both)
        split(both, 0, keys[n])
        split(both, both.shape[1] // 2, values[n])
