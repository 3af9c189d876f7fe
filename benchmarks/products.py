"""`python -m benchmarks.products`: what the linear layers of one decoding step cost, by every product that we use.

All of Marian size, one thread, milliseconds; the weights are 26 million, read once a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor
from torch.nn import functional as F

from benchmarks.decoding import memory_speed, variant
from benchmarks.models import MARIAN, make
from benchmarks.timing import alternate
from translator.config import Weights
from translator.engine import Engine
from translator.engine.cpu import layout, matmul, weights
from translator.engine.cpu.linear import Float16Product, Float32Product, Product

ROWS = (1, 4, 8)
Run = Callable[[], object]


def compiled_products(engine: Engine, rows: int, precision: Weights, *, float16: bool) -> Run:
    """Every product of a compiled step over `rows` hypotheses."""
    copied = variant(engine, precision, float16=float16)
    kinds = [weights.matrix(kind) for kind in layout.of_step(copied.model).values()]
    jobs = []
    for matrix in kinds:
        layers, outputs = matrix.bias.shape
        x = torch.randn(matmul.padded(rows), matrix.weight.shape[2]).numpy()
        jobs += [(matrix, index, x, torch.empty(len(x), outputs).numpy()) for index in range(layers)]
    alone = np.zeros(0, np.int64)
    return lambda: [matmul.product(*job, alone) for job in jobs]


def plain_products(engine: Engine, rows: int) -> Iterator[tuple[str, Run]]:
    """The same layers by PyTorch's products."""
    layers = [rows_ for kind in layout.of_step(engine.model).values() for rows_ in kind]
    matrices = [layer.weight[first:last].contiguous() for layer, first, last in layers]
    inputs = [torch.randn(rows, weight.shape[1]) for weight in matrices]
    yield "`F.linear` (MKL)", lambda: [F.linear(x, w) for x, w in zip(inputs, matrices, strict=True)]
    for name, kind in (("oneDNN, blocks", Float32Product), ("FBGEMM, float16", Float16Product)):
        yield name, partial(_all, [kind(weight, None) for weight in matrices], inputs)


def _all(products: Sequence[Product], inputs: Sequence[Tensor]) -> None:
    for multiply, x in zip(products, inputs, strict=True):
        multiply(x)


@torch.inference_mode()
def main() -> None:
    """Measure and print the table."""
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder, threadpool_limits(1):
        engine = make(MARIAN, Path(folder)).ours
        columns = []
        for rows in ROWS:
            runs = dict(plain_products(engine, rows))
            runs["compiled, 24 bits"] = compiled_products(engine, rows, "fp32", float16=False)
            runs["compiled, float16"] = compiled_products(engine, rows, "fp32", float16=True)
            runs['compiled, what "int8" reads'] = compiled_products(engine, rows, "int8", float16=True)
            columns.append({name: 1000 * t.median for name, t in alternate(runs, runs=41).items()})
        print(f"memory: {memory_speed() / 1e9:.1f} GB/s")
        print("| | " + " | ".join(f"{rows} rows" for rows in ROWS) + " |")
        for name in columns[0]:
            print(f"| {name} | " + " | ".join(f"{column[name]:.1f}" for column in columns) + " |")


if __name__ == "__main__":
    main()
