"""Work that threads of machine code share through a board of integers in memory, without a lock and without Python.

One thread, the owner, posts a job in chunks, does the first itself and takes what then is left from the front; helpers
that watch the board take from the back. A chunk is taken by one atomic exchange of the ticket, which counts what is
left. So a helper that sleeps or comes late costs the owner nothing: it waits for chunks that were taken, never for a
helper. As few lines of memory as can be go from core to core: between two sockets each takes half a microsecond.
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

from translator.model.jit import jit

TICKET, DONE, AWAKE, CORE, JOB = 0, 16, 32, 48, 64
"""Places on the board, each in lines of its own: the job's number · 2^32 + chunks taken by helpers · 2^16 + chunks
left; chunks that helpers have done; helpers that watch the board; the core that its owner is on; what the job is."""
BOARD = JOB + 16
YIELD_AFTER = 256
"""Looks at the board after which another thread may have the core."""
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
_board = types.Array(types.int64, 1, "C")


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """The address of board[index]."""
    board = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(board.data, [args[1]])


def _read_of(typing: Any, board: Any, index: Any) -> Any:
    """board[index], and with it all that its writer wrote before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_place(context, builder, signature, args), "acquire", 8)

    return types.int64(_board, types.intp), generate


def _write_of(typing: Any, board: Any, index: Any, value: Any) -> Any:
    """board[index] = value, after all that was written before."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[2], _place(context, builder, signature, args), "release", 8)
        return context.get_dummy_value()

    return types.void(_board, types.intp, types.int64), generate


def _add_of(typing: Any, board: Any, index: Any, value: Any) -> Any:
    """board[index] += value, as one."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _place(context, builder, signature, args), args[2], "acq_rel")

    return types.int64(_board, types.intp, types.int64), generate


def _swap_of(typing: Any, board: Any, index: Any, old: Any, new: Any) -> Any:
    """board[index] = new if it is `old`, as one; whether it was."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = builder.cmpxchg(_place(context, builder, signature, args), args[2], args[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(_board, types.intp, types.int64, types.int64), generate


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
def post(board: np.ndarray, chunks: int) -> None:
    """Offer the job that is described on the board [BOARD], all chunks of the one before being done."""
    write(board, DONE, 0)
    if _core is not None:
        write(board, CORE, _core())
    number = (read(board, TICKET) >> 32) + 1
    write(board, TICKET, ((number & 0x7FFFFFFF) << 32) | chunks)


@jit
def take(board: np.ndarray) -> bool:
    """Take the owner's next chunk from the board [BOARD]; False if none is left."""
    while True:
        ticket = read(board, TICKET)
        if ticket & _LEFT == 0:
            return False
        if _swap(board, TICKET, ticket, ticket - 1):
            return True


@jit
def take_last(board: np.ndarray) -> int:
    """Take a helper's next chunk from the board [BOARD]: which, from the last on; -1 if none or another was faster."""
    ticket = read(board, TICKET)
    if ticket & _LEFT == 0 or not _swap(board, TICKET, ticket, ticket - 1 + _BACK):
        return -1
    return (ticket >> 16) & _LEFT


@jit
def crowded(board: np.ndarray) -> bool:
    """Whether the caller, a helper, is on the core of the owner of board [BOARD]: there each holds up the other."""
    return _core is not None and _core() == read(board, CORE)


@jit
def rest(looks: int) -> None:
    """Spend the time between two looks at the board; now and then another thread may have the core."""
    if _yield is not None and looks % YIELD_AFTER == 0:
        _yield()
    else:
        _pause()


@jit
def wait(board: np.ndarray, chunks: int) -> None:
    """Wait until helpers have done the chunks of the job on board [BOARD] that they took."""
    looks = 0
    while read(board, DONE) < chunks:
        looks += 1
        rest(looks)
