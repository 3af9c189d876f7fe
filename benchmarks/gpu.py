"""Row 14: trace, batch and training beside `transformers` and PyTorch on the same GPU.

Everything runs on a CPU just as well, which is how it is tried where there is no GPU.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from benchmarks import training
from benchmarks.decoding import Table, batches, everyday, generate, source, trace
from benchmarks.models import MARIAN, SHIPPED, Contestants, Size, make
from benchmarks.report import Row
from benchmarks.timing import Watch, alternate
from translator.engine import EagerEngine, best

SENTENCES = 2000


def rows(threads: int, runs: int, device: torch.device | str = "cuda") -> list[Row]:
    """The same ratios as rows 1, 3, 6, 9 and 10."""
    with TemporaryDirectory() as folder, torch.inference_mode():
        marian, shipped = (_made(size, Path(folder) / str(size.d_model), device) for size in (MARIAN, SHIPPED))
        measured = [
            *_one_sentence(marian, threads, runs, device, greedy=1.6),
            *_one_sentence(shipped, threads, runs, device, greedy=2.5),
            *_many(shipped, threads, runs, device),
        ]
    return [*measured, *training.rows(threads, runs, number="14", device=device)]


def _made(size: Size, folder: Path, device: torch.device | str) -> Contestants:
    two = make(size, folder)
    ours = best(two.ours.model.to(device))
    ours.compile(wait=True)
    return replace(two, ours=ours, theirs=two.theirs.to(device))


def _one_sentence(two: Contestants, threads: int, runs: int, device: torch.device | str, *, greedy: float) -> list[Row]:
    ids, name = source(two.ours), two.size.name
    contestants = {
        "ours": trace(two.ours, ids),
        "ours, kernel by kernel": trace(EagerEngine(two.ours.model), ids),
        "transformers": generate(two, ids),
        "beam": trace(two.ours, ids, method="beam", beam=4),
        "transformers beam": generate(two, ids, beams=4),
    }
    with Watch() as watch:
        times = alternate(contestants, runs=runs, device=device)
    table, detail = Table(threads, watch.others), {key: round(value.median, 4) for key, value in times.items()}
    pair = times["ours"], times["transformers"]
    table.ratio("14", f"{device}: greedy with all maps, {name}", "transformers, eager", pair, greedy, **detail)
    pair = times["beam"], times["transformers beam"]
    table.ratio("14", f"{device}: beam 4 with all maps, {name}", "transformers beam 4", pair, 1.6)
    return table.rows


def _many(two: Contestants, threads: int, runs: int, device: torch.device | str) -> list[Row]:
    with Watch() as watch:
        times = alternate(batches(two, *everyday(two.ours, SENTENCES)), runs=runs, device=device)
    table = Table(threads, watch.others)
    pair = times["ours"], times["transformers"]
    table.ratio("14", f"{device}: {SENTENCES} sentences in batches", "transformers, batches of 64", pair, 2.0)
    return table.rows
