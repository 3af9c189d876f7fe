"""Matrix products as fast as memory gives the weights, alone or shared with workers.

Weights come as int8, float16, integers of 24 bits or float32 and are widened in the processor; all sums are
float32.
"""

from __future__ import annotations

import itertools
import platform
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba import carray, types
from numba.core import cgutils, config
from numba.core.errors import TypingError
from numba.extending import intrinsic

from translator.engine.cpu import work_queue
from translator.engine.cpu.jit import FAST, jit

BLOCK = 4
"""Rows that share one widening of the weights; see `padded`."""
AHEAD, LINE = 8192, 64
"""Bytes: how far ahead of a product its weights are prefetched, and in what pieces; the processor's own prefetcher
stops at a page of 4,096."""


def features() -> Mapping[str, bool]:
    """What the processor can do, or what `NUMBA_CPU_FEATURES` says that machine code may use of it."""
    told: str | None = config.CPU_FEATURES  # type: ignore[attr-defined]  # made of the environment
    if told is None:
        return dict(binding.get_host_cpu_features())
    return {each[1:]: each.startswith("+") for each in told.split(",")}


LANES = 16 if features().get("avx512f") else 8
"""Weights that are multiplied at once: of AVX-512, AVX2 or NEON."""
VECTORS = 2
PANEL = VECTORS * LANES
"""Outputs whose weights lie together, so that their sums stay in registers and no vector is ever added up."""
UNROLL = 4
"""Inputs that a tile takes at once."""
_INTEGERS, _FLOATS = (ir.VectorType(kind, LANES) for kind in (ir.IntType(32), ir.FloatType()))

Array = np.ndarray


class Matrix(NamedTuple):
    """Linear layers of one kind, by panels of outputs as `in_panels` makes them: P = ceil(N / `PANEL`) of these.

    `weight` [L, P, K, PANEL] as float32, the bits of float16 (uint16) or int8; or [L, P, K, 3 · PANEL] as uint8: whole
    numbers of 24 bits as `in_three_bytes` lays them out. `scale` [L, P, G, PANEL] is what whole numbers are multiplied
    with, by groups of inputs, and 1 for others; `bias` [L, N].
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
    return platform.machine() in ("aarch64", "arm64") or bool(features().get("f16c"))


def in_panels(rows: Array) -> Array:
    """What belongs to each output, rows [L, N, K], as [L, ceil(N / PANEL), K, PANEL]; outputs beyond N are 0."""
    layers, outputs, size = rows.shape
    count = -(-outputs // PANEL)
    filled = np.zeros((layers, count * PANEL, size), rows.dtype)
    filled[:, :outputs] = rows
    return np.ascontiguousarray(filled.reshape(layers, count, PANEL, size).swapaxes(2, 3))


def in_three_bytes(whole: Array) -> Array:
    """Whole numbers [..., PANEL] (int32) of 24 bits as uint8 [..., 3 · PANEL].

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


def _tile(rows: int, chains: int) -> Any:
    """A function that fills out[r : r + rows, column : column + PANEL] of a product by one panel of its weights.

    Each weight is widened once for all rows, each input read once for all outputs; `chains` sums of each vector hide
    how long an addition takes. Whole numbers are scaled as they are widened; over one row a group's sums are.
    """

    def fill(typing: Any, weight: Any, scale: Any, panel: Any, bias: Any, x: Any, r: Any, out: Any, column: Any) -> Any:
        kinds, stored, size = (weight, scale, bias, x, out), weight.dtype, _bytes_of(weight.dtype)
        if any(kind.layout != "C" for kind in kinds):
            raise TypingError("arrays must be contiguous")
        scaled, late = stored in (types.int8, types.uint8), rows == 1

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            arrays = zip(kinds, (args[0], args[1], args[3], args[4], args[6]), strict=True)
            weights, scales, biases, inputs, results = (context.make_array(k)(context, builder, v) for k, v in arrays)
            whole, chars = context.get_value_type(types.intp), ir.IntType(8).as_pointer()
            _, length, _ = cgutils.unpack_tuple(builder, weights.shape, 3)
            _, groups, _ = cgutils.unpack_tuple(builder, scales.shape, 3)
            width, stride = builder.udiv(length, groups), cgutils.unpack_tuple(builder, results.shape, 2)[1]

            def start(array: Any, index: Any, scale: int = 1) -> Any:
                """Where a number of an array lies, of `scale` bytes each."""
                return builder.gep(builder.bitcast(array.data, chars), [builder.mul(index, whole(scale))])

            begin = start(weights, builder.mul(args[2], length), PANEL * size)
            factors_at = start(scales, builder.mul(args[2], groups), PANEL * 4)
            rows_at = [start(inputs, builder.mul(builder.add(args[5], whole(n)), length), 4) for n in range(rows)]
            places = list(itertools.product(range(rows), range(VECTORS)))
            zero = _FLOATS(None)
            sums = {p: [cgutils.alloca_once_value(builder, zero) for _ in range(chains)] for p in places}
            totals = {p: cgutils.alloca_once_value(builder, zero) for p in places} if scaled and late else {}

            def vector(start: Any, number: Any, vector: int, stored: Any = types.float32) -> Any:
                index = builder.add(builder.mul(number, whole(PANEL)), whole(LANES * vector))
                return _weights(builder, start, index, stored)

            def add(to: Any, numbers: Any, factor: Any) -> None:
                product = builder.fmul(numbers, factor, flags=FAST)
                builder.store(builder.fadd(builder.load(to), product, flags=FAST), to)

            def multiply(k: Any, chain: int, factors: Sequence[Any]) -> None:
                numbers = [vector(begin, k, n, stored) for n in range(VECTORS)]
                if scaled and not late:
                    numbers = [builder.fmul(*each) for each in zip(numbers, factors, strict=True)]
                for row, at in enumerate(rows_at):
                    address = builder.bitcast(builder.gep(at, [builder.mul(k, whole(4))]), ir.FloatType().as_pointer())
                    read = _spread(builder, builder.load(address))
                    for n in range(VECTORS):
                        add(sums[row, n][chain], numbers[n], read)

            def summed(place: tuple[int, int]) -> Any:
                total, *others = map(builder.load, sums[place])
                for other in others:
                    total = builder.fadd(total, other)
                return total

            with cgutils.for_range(builder, groups) as group:
                first = builder.mul(group.index, width)
                last = builder.add(first, width)
                even = builder.sub(last, builder.urem(width, whole(UNROLL)))
                factors = [vector(factors_at, group.index, n) for n in range(VECTORS)]
                with cgutils.for_range_slice(builder, first, even, whole(UNROLL), whole) as (k, _):
                    here = builder.mul(k, whole(PANEL * size))
                    for far in range(0, UNROLL * PANEL * size, LINE):
                        _prefetch(builder, builder.gep(begin, [builder.add(here, whole(AHEAD + far))]))
                    for n in range(UNROLL):
                        multiply(builder.add(k, whole(n)), n % chains, factors)
                with cgutils.for_range_slice(builder, even, last, whole(1), whole) as (k, _):
                    multiply(k, 0, factors)
                for place, total in totals.items():
                    add(total, summed(place), factors[place[1]])
                    for each in sums[place]:
                        builder.store(zero, each)
            for row, n in places:
                total = builder.load(totals[row, n]) if totals else summed((row, n))
                lane = builder.add(args[7], whole(LANES * n))
                total = builder.fadd(total, _weights(builder, start(biases, lane, 4), whole(0), types.float32))
                at = builder.add(builder.mul(builder.add(args[5], whole(row)), stride), lane)
                builder.store(total, builder.bitcast(start(results, at, 4), _FLOATS.as_pointer()), align=4)
            return context.get_dummy_value()

        return types.void(weight, scale, panel, bias, x, r, out, column), generate

    return intrinsic(fill)


_one, _block, _pair = _tile(1, 4), _tile(BLOCK, LANES // 8), _tile(2 * BLOCK, 1)
PAIRS = LANES > 8
"""Whether two blocks of rows may share one widening: their sums are 16 registers, as many as AVX2 has."""


@jit
def fill(weight: Array, scale: Array, panel: int, bias: Array, x: Array, out: Array, column: int) -> None:
    """Columns of out [R, N] from `column` on: rows x [R, K] times a panel of weights, and a bias from there on."""
    rows, r = len(x), 0
    if rows == 1:
        _one(weight, scale, panel, bias, x, 0, out, column)
        return
    while PAIRS and r + 2 * BLOCK <= rows:
        _pair(weight, scale, panel, bias, x, r, out, column)
        r += 2 * BLOCK
    while r < rows:
        _block(weight, scale, panel, bias, x, r, out, column)
        r += BLOCK


@jit
def part(weight: Array, scale: Array, bias: Array, x: Array, out: Array, first: int, last: int) -> None:
    """Outputs `first`, that of a panel, to `last` of rows x [R, K] through a linear layer into out [R, N]."""
    whole = last // PANEL * PANEL
    for column in range(first, whole, PANEL):
        fill(weight, scale, column // PANEL, bias, x, out, column)
    if whole < last:
        own, rest = np.zeros(PANEL, np.float32), np.empty((len(x), PANEL), np.float32)
        own[: last - whole] = bias[whole:last]
        fill(weight, scale, whole // PANEL, own, x, rest, 0)
        out[:, whole:last] = rest[:, : last - whole]


@jit
def product(matrix: Matrix, index: int, x: Array, out: Array, queue: Array) -> None:
    """Rows x [R, K] through linear layer `index` into out [R, N]; R is what `padded` says.

    Workers that watch the queue (`serve`) do their share of it; an empty queue says that there are none.
    """
    weight, scale, bias = matrix.weight[index], matrix.scale[index], matrix.bias[index]
    outputs, groups = len(bias), scale.shape[1]
    workers = work_queue.read(queue, work_queue.AWAKE) if len(queue) > 0 else 0
    chunk = -(-outputs // ((workers + 1) * PANEL)) * PANEL
    chunks = -(-outputs // chunk)
    if chunks == 1:
        part(weight, scale, bias, x, out, 0, outputs)
        return
    job = queue[work_queue.JOB :]
    job[0], job[1], job[2], job[3] = weight.ctypes.data, scale.ctypes.data, bias.ctypes.data, x.ctypes.data
    job[4], job[5], job[6], job[7] = out.ctypes.data, outputs, groups, weight.shape[2] * weight.itemsize // PANEL
    job[8], job[9], job[10], job[11] = len(x), x.shape[1], chunk, chunks
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
        outputs, groups, size, rows, inputs, chunk = job[5], job[6], job[7], job[8], job[9], job[10]
        panels, address = -(-outputs // PANEL), work_queue.pointer(job[0])
        shape = (panels, inputs, PANEL)
        scale = carray(work_queue.pointer(job[1]), (panels, groups, PANEL), np.float32)
        bias = carray(work_queue.pointer(job[2]), outputs, np.float32)
        x = carray(work_queue.pointer(job[3]), (rows, inputs), np.float32)
        out = carray(work_queue.pointer(job[4]), (rows, outputs), np.float32)
        first = (job[11] - 1 - taken) * chunk
        last = min(first + chunk, outputs)
        if size == 4:
            part(carray(address, shape, np.float32), scale, bias, x, out, first, last)
        elif size == 3:
            part(carray(address, (panels, inputs, 3 * PANEL), np.uint8), scale, bias, x, out, first, last)
        elif size == 2:
            part(carray(address, shape, np.uint16), scale, bias, x, out, first, last)
        else:
            part(carray(address, shape, np.int8), scale, bias, x, out, first, last)
        work_queue.add(queue, work_queue.DONE, 1)
        if work_queue.crowded(queue):
            break
        looks = 0
    work_queue.add(queue, work_queue.AWAKE, -1)
    return looks < patience
