"""A work queue for threads of machine code: integers in memory, without a lock and without Python.

One thread, the owner, posts a job in chunks, does the first itself and takes what then is left from the front; workers
that watch the queue take from the back. A chunk is taken by one atomic exchange of the ticket, which counts what is
left. So a worker that sleeps or comes late costs the owner nothing: it waits for chunks that were taken, never for a
worker. As few lines of memory as can be go from core to core: between two sockets each takes half a microsecond.
"""

from __future__ import annotations

import ctypes
import os
import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from translator.engine.cpu.jit import jit

TICKET, DONE, AWAKE, CORE, JOB = 0, 16, 32, 48, 64
"""Places on the queue, each in lines of its own: the job's number · 2^32 + chunks taken by workers · 2^16 + chunks
left; chunks that workers have done; workers that watch the queue; the core that its owner is on; what the job is."""
QUEUE = JOB + 16
YIELD_AFTER = 256
"""Looks at the queue after which another thread may have the core."""
_LEFT, _BACK = 0xFFFF, 1 << 16
_PAUSES: dict[str, tuple[str, tuple[int, ...]]] = {
    "x86_64": ("llvm.x86.sse2.pause", ()),
    "aarch64": ("llvm.aarch64.hint", (1,)),
}
_PAUSE = _PAUSES.get({"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine()))


def _system(name: str) -> Any:
    """A function of the system that takes nothing and gives a number; None where there is no such function."""
    known = os.name == "posix" and hasattr(ctypes.CDLL(None), name)
    return types.ExternalFunction(name, types.int32()) if known else None


_yield, _core = _system("sched_yield"), _system("sched_getcpu")
_queue = types.Array(types.int64, 1, "C")


def _address(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The address of queue[index]."""
    queue = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(queue.data, [args[1]])


def _read_of(typing: Any, queue: Any, index: Any) -> Any:
    """queue[index], and with it all that its writer wrote before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_address(context, builder, signature, args), "acquire", 8)

    return types.int64(_queue, types.intp), generate


def _write_of(typing: Any, queue: Any, index: Any, value: Any) -> Any:
    """queue[index] = value, after all that was written before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[2], _address(context, builder, signature, args), "release", 8)
        return context.get_dummy_value()

    return types.void(_queue, types.intp, types.int64), generate


def _add_of(typing: Any, queue: Any, index: Any, value: Any) -> Any:
    """queue[index] += value, as one."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _address(context, builder, signature, args), args[2], "acq_rel")

    return types.int64(_queue, types.intp, types.int64), generate


def _swap_of(typing: Any, queue: Any, index: Any, old: Any, new: Any) -> Any:
    """queue[index] = new if it is `old`, as one; whether it was."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.cmpxchg(_address(context, builder, signature, args), args[2], args[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(_queue, types.intp, types.int64, types.int64), generate


def _pause_of(typing: Any) -> Any:
    """Let the processor's other thread have the core for some cycles."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if _PAUSE is not None:
            name, hints = _PAUSE
            kind = ir.FunctionType(ir.VoidType(), [ir.IntType(32) for _ in hints])
            function = cgutils.get_or_insert_function(builder.module, kind, name)
            builder.call(function, [ir.IntType(32)(hint) for hint in hints])
        return context.get_dummy_value()

    return types.void(), generate


def _pointer_of(typing: Any, address: Any) -> Any:
    """An address as a pointer, for `numba.carray`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.intp), generate


read: Any = intrinsic(_read_of)
write: Any = intrinsic(_write_of)
add: Any = intrinsic(_add_of)
_swap: Any = intrinsic(_swap_of)
_pause: Any = intrinsic(_pause_of)
pointer: Any = intrinsic(_pointer_of)


@jit
def post(queue: np.ndarray, chunks: int) -> None:
    """Offer the job that is described on the queue [QUEUE], all chunks of the one before being done."""
    write(queue, DONE, 0)
    if _core is not None:
        write(queue, CORE, _core())
    number = (read(queue, TICKET) >> 32) + 1
    write(queue, TICKET, ((number & 0x7FFFFFFF) << 32) | chunks)


@jit
def take(queue: np.ndarray) -> bool:
    """Take the owner's next chunk from the queue [QUEUE]; False if none is left."""
    while True:
        ticket = read(queue, TICKET)
        if ticket & _LEFT == 0:
            return False
        if _swap(queue, TICKET, ticket, ticket - 1):
            return True


@jit
def take_last(queue: np.ndarray) -> int:
    """Take a worker's next chunk from the queue [QUEUE]: which, from the last on; -1 if none or another was faster."""
    ticket = read(queue, TICKET)
    if ticket & _LEFT == 0 or not _swap(queue, TICKET, ticket, ticket - 1 + _BACK):
        return -1
    return (ticket >> 16) & _LEFT


@jit
def crowded(queue: np.ndarray) -> bool:
    """Whether the caller, a worker, is on the core of the owner of queue [QUEUE]: there each holds up the other."""
    return _core is not None and _core() == read(queue, CORE)


@jit
def rest(looks: int) -> None:
    """Spend the time between two looks at the queue; now and then another thread may have the core."""
    if _yield is not None and looks % YIELD_AFTER == 0:
        _yield()
    else:
        _pause()


@jit
def wait(queue: np.ndarray, chunks: int) -> None:
    """Wait until workers have done the chunks of the job on queue [QUEUE] that they took."""
    looks = 0
    while read(queue, DONE) < chunks:
        looks += 1
        rest(looks)
