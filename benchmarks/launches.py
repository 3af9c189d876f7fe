"""`python -m benchmarks.launches`: how many kernels a decoding step makes a GPU run, and what asking for them costs.

A GPU should run the small kernels of a step faster than PyTorch asks for them. So they are counted, and a step is timed
on the CPU at a size at which nearly all of it is the asking. Ours by PyTorch, without graphs
(`translator.engine.cuda`).
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from threadpoolctl import threadpool_limits
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.decoding import Run, generate, plain, source, trace
from benchmarks.models import Size, make
from benchmarks.timing import alternate

TINY = Size("6 + 6 layers, d 16", 6, 16, 32, vocab=400)
SHORT, LONG = 20, 30
NO_KERNEL = {"empty", "new_empty", "empty_like", "empty_strided", "_unsafe_view", "lift_fresh"}


class Kernels(TorchDispatchMode):
    """Counts PyTorch's operators that are more than another view of the same memory."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        with self:
            parts = op.decompose(*args, **kwargs)
        if parts is not NotImplemented:
            return parts
        self.count += not op.is_view and op.overloadpacket.__name__ not in NO_KERNEL
        return op(*args, **kwargs)


def kernels(run: Run) -> int:
    """How many `run` asks for."""
    with Kernels() as found:
        run()
    return found.count


@torch.inference_mode()
def main() -> None:
    """Count, measure and print the table."""
    with TemporaryDirectory() as folder, threadpool_limits(1):
        two = make(TINY, Path(folder))
        ours, ids = plain(two.ours), source(two.ours)
        runs = {
            (who, beam): [
                trace(ours, ids, length, method="beam", beam=beam)
                if who == "ours"
                else generate(two, ids, length, beams=beam)
                for length in (SHORT, LONG)
            ]
            for beam in (1, 4)
            for who in ("ours", "transformers")
        }
        times = alternate({f"{who} {beam}": long for (who, beam), (_, long) in runs.items()}, runs=15)
        print("| | beam | kernels a step | milliseconds a token |\n|---|---|---|---|")
        for (who, beam), (short, long) in runs.items():
            each = (kernels(long) - kernels(short)) / (LONG - SHORT)
            print(f"| {who} | {beam} | {each:.0f} | {1000 * times[f'{who} {beam}'].median / LONG:.2f} |")


if __name__ == "__main__":
    main()
