"""Matrix products as fast as memory gives the weights, alone or shared with workers.

Weights come as int8, float16, integers of 24 bits or float32 and are widened in the processor; all sums are
float32.
"""

from __future__ import annotations

import itertools
import platform
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba import carray, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from translator.engine.cpu import work_queue
from translator.engine.cpu.jit import FAST, jit

BLOCK = 4
"""Rows that share one reading of the weights; see `padded`."""
MANY = 12
"""Rows above which the weights of a few outputs serve them all, before the next weights are read."""
AHEAD, LINE = 8192, 64
"""Bytes: how far ahead of a product its weights are prefetched, and in what pieces; the processor's own prefetcher
stops at a page of 4,096."""
LANES = 16 if binding.get_host_cpu_features().get("avx512f") else 8
"""Weights that are multiplied at once, so that all sums of `_tile` stay in registers: of AVX-512, AVX2 or NEON."""
_INTEGERS, _FLOATS = (ir.VectorType(kind, LANES) for kind in (ir.IntType(32), ir.FloatType()))

Array = np.ndarray


class Matrix(NamedTuple):
    """Linear layers of one kind: `weight` [L, N, G, K / G] as float32, the bits of float16 (uint16) or int8.

    Or [L, N, G, 3 · K / G] as uint8: whole numbers of 24 bits as `in_three_bytes` lays them out. `scale` [L, N, G] is
    what whole numbers are multiplied with, by groups of inputs, and 1 for others; `bias` [L, N].
    """

    weight: Array
    scale: Array
    bias: Array


@jit
def padded(rows: int) -> int:
    """How many rows a product takes for `rows`: one, or whole blocks."""
    return 1 if rows == 1 else -(-rows // BLOCK) * BLOCK


def has_float16() -> bool:
    """Whether the processor widens float16 by itself."""
    return platform.machine() in ("aarch64", "arm64") or bool(binding.get_host_cpu_features().get("f16c"))


def _number_of(typing: Any, stored: Any) -> Any:
    """One weight as float32, whatever it is stored as."""

    def widen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if stored == types.uint16:
            return builder.fpext(builder.bitcast(args[0], ir.HalfType()), ir.FloatType())
        return context.cast(builder, args[0], stored, types.float32)

    return types.float32(stored), widen


_number: Any = intrinsic(_number_of)


def in_three_bytes(whole: Array) -> Array:
    """Whole numbers [..., K] (int32) of 24 bits as uint8 [..., 3 · K]; K is a multiple of `LANES`.

    Of each `LANES` numbers first the upper two bytes, then the lowest: what a processor widens in two steps.
    """
    vectors = whole.reshape(-1, LANES)
    upper = (vectors >> 8).astype(np.int16).view(np.uint8)
    return np.concatenate([upper, (vectors & 0xFF).astype(np.uint8)], 1).reshape(*whole.shape[:-1], -1)


def _bytes_of(stored: Any) -> int:
    """How many bytes a weight takes in an array of this type."""
    return 3 if stored == types.uint8 else int(stored.bitwidth) // 8


def _weights(builder: Any, start: Any, index: Any, stored: Any) -> Any:
    """A vector of weights as float32, from an index on, from where (a pointer to bytes) the first of all lies."""
    whole = ir.IntType(64)

    def load(kind: Any, offset: int = 0) -> Any:
        at = builder.add(builder.mul(index, whole(_bytes_of(stored))), whole(offset))
        vector = ir.VectorType(kind, LANES)
        return builder.load(builder.bitcast(builder.gep(start, [at]), vector.as_pointer()), align=1)

    if stored == types.float32:
        return load(ir.FloatType())
    if stored == types.uint16:
        return builder.fpext(load(ir.HalfType()), _FLOATS)
    if stored == types.int8:
        return builder.sitofp(builder.sext(load(ir.IntType(8)), _INTEGERS), _FLOATS)
    upper = builder.shl(builder.sext(load(ir.IntType(16)), _INTEGERS), _INTEGERS([8] * LANES))
    lowest = builder.zext(load(ir.IntType(8), 2 * LANES), _INTEGERS)
    return builder.sitofp(builder.or_(upper, lowest), _FLOATS)


def _prefetch(builder: Any, address: Any) -> None:
    """Prefetch the cache line at an address, which need not be mapped."""
    pointer, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer, whole, whole, whole])
    function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    builder.call(function, [address, whole(0), whole(3), whole(1)])  # read, keep, data


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
        kinds, stored, size = (weight, scale, bias, x, out), weight.dtype, _bytes_of(weight.dtype)
        if any(kind.layout != "C" for kind in kinds):
            raise TypingError("arrays must be contiguous")

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            first_output, first_row = args[3], args[5]
            values = (args[0], args[1], args[2], args[4], args[6])
            arrays = [
                context.make_array(kind)(context, builder, value) for kind, value in zip(kinds, values, strict=True)
            ]
            weights, scales, biases, inputs, results = (array.data for array in arrays)
            whole = context.get_value_type(types.intp)
            count, groups, width = cgutils.unpack_tuple(builder, arrays[0].shape, 3)
            width = builder.udiv(builder.mul(width, whole(stored.bitwidth // 8)), whole(size))
            length = builder.mul(groups, width)
            at_output = [builder.add(first_output, whole(n)) for n in range(outputs)]
            at_row = [builder.add(first_row, whole(n)) for n in range(rows)]
            weights = builder.bitcast(weights, ir.IntType(8).as_pointer())
            weights = [builder.gep(weights, [builder.mul(n, builder.mul(length, whole(size)))]) for n in at_output]
            scales = [builder.gep(scales, [builder.mul(n, groups)]) for n in at_output]
            inputs = [builder.gep(inputs, [builder.mul(n, length)]) for n in at_row]
            inputs = [builder.bitcast(start, ir.IntType(8).as_pointer()) for start in inputs]
            pairs = list(itertools.product(range(outputs), range(rows)))
            sums = {p: [cgutils.alloca_once_value(builder, _FLOATS(None)) for _ in range(chains)] for p in pairs}

            def multiply(index: Any, chain: int, factors: Sequence[Any]) -> None:
                read = [_weights(builder, start, index, types.float32) for start in inputs]
                for output, start in enumerate(weights):
                    numbers = _weights(builder, start, index, stored)
                    if stored in (types.int8, types.uint8):
                        numbers = builder.fmul(numbers, factors[output])
                    for row in range(rows):
                        at = sums[output, row][chain]
                        part = builder.fmul(numbers, read[row], flags=FAST)
                        builder.store(builder.fadd(builder.load(at), part, flags=FAST), at)

            def multiples(of: int) -> Any:
                return builder.mul(builder.sdiv(width, whole(of)), whole(of))

            step = LANES * chains
            with cgutils.for_range(builder, groups) as group:
                begin = builder.mul(group.index, width)
                factors = [_spread(builder, builder.load(builder.gep(start, [group.index]))) for start in scales]
                with cgutils.for_range_slice(builder, whole(0), multiples(step), whole(step), whole) as (index, _):
                    index = builder.add(begin, index)
                    here = builder.mul(index, whole(size))
                    for start, far in itertools.product(weights, range(0, step * size, LINE)):
                        _prefetch(builder, builder.gep(start, [builder.add(here, whole(AHEAD + far))]))
                    for chain in range(chains):
                        multiply(builder.add(index, whole(LANES * chain)), chain, factors)
                rest = multiples(step), multiples(LANES), whole(LANES)
                with cgutils.for_range_slice(builder, *rest, whole) as (index, _):
                    multiply(builder.add(begin, index), 0, factors)
            for output, row in pairs:
                total = _total(builder, [builder.load(at) for at in sums[output, row]])
                total = builder.fadd(total, builder.load(builder.gep(biases, [at_output[output]])))
                where = builder.add(builder.mul(at_row[row], count), at_output[output])
                builder.store(total, builder.gep(results, [where]))
            return context.get_dummy_value()

        return types.void(weight, scale, bias, i, x, r, out), generate

    return intrinsic(fill)


WIDE = LANES // 4
"""Outputs of a tile over several rows: 16 sums of AVX-512's 32 registers, 8 of the 16 that others have."""
CHUNK = 16
"""Outputs of which the chunks of a shared product are multiples."""
_one, _block, _wide = _tile(1, 1, 4), _tile(1, BLOCK, 2), _tile(WIDE, BLOCK, 1)


@jit
def part(weight: Array, scale: Array, bias: Array, x: Array, out: Array, first: int, last: int) -> None:
    """Outputs `first` to `last` of rows x [P, K] through a linear layer into out [P, N]."""
    _, groups, width = weight.shape
    if len(x) == 1:
        for i in range(first, last):
            _one(weight, scale, bias, i, x, 0, out)
    elif len(x) <= MANY:
        for r in range(0, len(x), BLOCK):
            for i in range(first, last - WIDE + 1, WIDE):
                _wide(weight, scale, bias, i, x, r, out)
            for i in range(last - (last - first) % WIDE, last):
                _block(weight, scale, bias, i, x, r, out)
    else:
        for i in range(first, last - WIDE + 1, WIDE):
            for r in range(0, len(x), BLOCK):
                _wide(weight, scale, bias, i, x, r, out)
        for i in range(last - (last - first) % WIDE, last):
            for r in range(0, len(x), BLOCK):
                _block(weight, scale, bias, i, x, r, out)
    if width % LANES == 0:
        return
    for r in range(len(x)):
        for i in range(first, last):
            for g in range(groups):
                for j in range(width - width % LANES, width):
                    out[r, i] += _number(weight[i, g, j]) * scale[i, g] * x[r, g * width + j]


@jit
def product(matrix: Matrix, index: int, x: Array, out: Array, queue: Array) -> None:
    """Rows x [P, K] through linear layer `index` into out [P, N]; P is what `padded` says.

    Workers that watch the queue (`serve`) do their share of it; an empty queue says that there are none.
    """
    weight, scale, bias = matrix.weight[index], matrix.scale[index], matrix.bias[index]
    outputs, groups, width = weight.shape
    workers = work_queue.read(queue, work_queue.AWAKE) if len(queue) > 0 else 0
    chunk = -(-outputs // ((workers + 1) * CHUNK)) * CHUNK
    chunks = -(-outputs // chunk)
    if chunks == 1:
        part(weight, scale, bias, x, out, 0, outputs)
        return
    job = queue[work_queue.JOB :]
    job[0], job[1], job[2], job[3] = weight.ctypes.data, scale.ctypes.data, bias.ctypes.data, x.ctypes.data
    job[4], job[5], job[6], job[7] = out.ctypes.data, outputs, groups, width
    job[8], job[9], job[10], job[11] = len(x), x.shape[1], chunk, chunks
    job[12] = groups * width * weight.itemsize // x.shape[1]
    work_queue.post(queue, chunks - 1)
    part(weight, scale, bias, x, out, 0, chunk)
    own = 1
    while work_queue.take(queue):
        part(weight, scale, bias, x, out, own * chunk, min((own + 1) * chunk, outputs))
        own += 1
    work_queue.wait(queue, chunks - own)


@jit
def serve(queue: Array, patience: int) -> bool:
    """Do chunks of whatever product is posted on the queue, until none was for `patience` looks at it.

    True: the caller left early, since the system runs it on the core that it should help.
    """
    job = queue[work_queue.JOB :]
    work_queue.add(queue, work_queue.AWAKE, 1)
    looks = 0
    while looks < patience:
        taken = work_queue.take_last(queue)
        if taken < 0:
            looks += 1
            work_queue.rest(looks)
            continue
        outputs, groups, width, rows, inputs, chunk = job[5], job[6], job[7], job[8], job[9], job[10]
        shape, address = (outputs, groups, width), work_queue.pointer(job[0])
        scale = carray(work_queue.pointer(job[1]), (outputs, groups), np.float32)
        bias = carray(work_queue.pointer(job[2]), outputs, np.float32)
        x = carray(work_queue.pointer(job[3]), (rows, inputs), np.float32)
        out = carray(work_queue.pointer(job[4]), (rows, outputs), np.float32)
        first = (job[11] - 1 - taken) * chunk
        last = min(first + chunk, outputs)
        if job[12] == 4:
            part(carray(address, shape, np.float32), scale, bias, x, out, first, last)
        elif job[12] == 3:
            part(carray(address, shape, np.uint8), scale, bias, x, out, first, last)
        elif job[12] == 2:
            part(carray(address, shape, np.uint16), scale, bias, x, out, first, last)
        else:
            part(carray(address, shape, np.int8), scale, bias, x, out, first, last)
        work_queue.add(queue, work_queue.DONE, 1)
        if work_queue.crowded(queue):
            break
        looks = 0
    work_queue.add(queue, work_queue.AWAKE, -1)
    return looks < patience
