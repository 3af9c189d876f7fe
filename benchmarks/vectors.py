"""Rows 2, 8b and 9 by all that this processor has and by AVX2 alone: `python -m benchmarks.vectors`.

A process for each computes all contestants, turn by turn, so that both have the same machine. Every library is told
by its own variable what it may use; what each says that it uses is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
AVX2 = {
    "ATEN_CPU_CAPABILITY": "avx2",  # PyTorch's own operators
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",  # of PyTorch and of CTranslate2
    "DNNL_MAX_CPU_ISA": "AVX2",
    "FBGEMM_ENABLE_INSTRUCTIONS": "AVX2",
    "CT2_FORCE_CPU_ISA": "AVX2",
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+f16c",
}
MODES: dict[str, dict[str, str]] = {"all": {}, "AVX2": AVX2}
ROWS = {"2": ("ours", "ct2", 1.7), "8b": ("ours int8", "ct2 int8", 1.8), "9": ("batches", "transformers", 2.0)}
SENTENCES = 400
Run = Callable[[], object]


def contestants(rows: list[str], threads: int, folder: Path, count: int) -> dict[str, Run]:
    """What each row compares, by name."""
    from benchmarks.decoding import batches, ct2, everyday, source, trace, variant
    from benchmarks.models import MARIAN, SHIPPED, make

    found: dict[str, Run] = {}
    if "2" in rows or "8b" in rows:
        two = make(MARIAN, folder / "marian")
        ids = source(two.ours)
        made: dict[str, Callable[[], Run]] = {
            "ours": lambda: trace(two.ours, ids),
            "ct2": lambda: ct2(two, ids, "float32", threads),
            "ours int8": lambda: trace(variant(two.ours, "int8"), ids),
            "ct2 int8": lambda: ct2(two, ids, "int8", threads),
        }
        found |= {name: make_() for name, make_ in made.items() if any(name in ROWS[row][:2] for row in rows)}
    if "9" in rows:
        shipped = make(SHIPPED, folder / "shipped")
        run = batches(shipped, *everyday(shipped.ours, count))
        found |= {"batches": run["ours"], "transformers": run["transformers"]}
    return found


def compute(rows: list[str], threads: int, count: int) -> None:
    """Be one of the processes: run every contestant once for each line that is read, and print the seconds."""
    import torch
    from threadpoolctl import threadpool_info, threadpool_limits

    from translator.engine.cpu import matmul

    torch.set_num_threads(threads)
    with TemporaryDirectory() as folder, threadpool_limits(threads), torch.inference_mode():
        made = contestants(rows, threads, Path(folder), count)
        for run in made.values():
            run()
        used = {"PyTorch": torch.backends.cpu.get_cpu_capability(), "ours": f"vectors of {matmul.LANES}"}
        used |= {each["internal_api"]: each["architecture"] for each in threadpool_info() if "architecture" in each}
        print(json.dumps(used), flush=True)
        for _ in sys.stdin:
            print(json.dumps({name: _timed(run) for name, run in made.items()}), flush=True)


def _timed(run: Run) -> tuple[float, float]:
    """Seconds of the clock and of the processor."""
    clock, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - clock, time.process_time() - cpu


@contextmanager
def computing(environment: Mapping[str, str], *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process that computes with these variables."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.vectors", "--compute", *arguments], cwd=ROOT, text=True,
        env={**os.environ, **environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def said(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The next line of a process."""
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise RuntimeError(f"a process ended with code {process.wait()}")
    answer: dict[str, Any] = json.loads(line)
    return answer


def measure(rows: list[str], runs: int, arguments: list[str]) -> dict[str, list[dict[str, list[float]]]]:
    """Of each mode the seconds of each contestant, turn by turn."""
    with computing(MODES["all"], *arguments) as whole, computing(MODES["AVX2"], *arguments) as part:
        processes = dict(zip(MODES, (whole, part), strict=True))
        for mode, process in processes.items():
            print(f"{mode}: {said(process)}", flush=True)
        turns: dict[str, list[dict[str, list[float]]]] = {mode: [] for mode in MODES}
        for _ in range(runs):
            for mode, process in processes.items():
                print(file=process.stdin, flush=True)
                turns[mode].append(said(process))
    return turns


def main() -> None:
    """Measure by turns and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", nargs="+", default=[*ROWS], choices=[*ROWS])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--sentences", type=int, default=SENTENCES, help=f"of row 9 ({SENTENCES})")
    parser.add_argument("--compute", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.compute:
        compute(args.rows, args.threads, args.sentences)
        return
    arguments = ["--rows", *args.rows, "--threads", str(args.threads), "--sentences", str(args.sentences)]
    turns = measure(args.rows, args.runs, arguments)
    print("| row | mode | times as fast | min – max | by processor time | ours, theirs | processor | target |")
    print("|---|---|---|---|---|---|---|---|")
    for row in args.rows:
        for mode, each in turns.items():
            print(f"| {row} | {mode} | {' | '.join(_columns(each, *ROWS[row]))} |")


def _columns(turns: list[dict[str, list[float]]], ours: str, theirs: str, target: float) -> list[str]:
    """What one row says of one mode; ratios are medians of the turns' own."""
    ratios = [[turn[theirs][n] / turn[ours][n] for turn in turns] for n in (0, 1)]
    seconds = [[statistics.median(turn[who][n] for turn in turns) for who in (ours, theirs)] for n in (0, 1)]
    clock, cpu = (", ".join(f"{1000 * each:.0f}" for each in pair) + " ms" for pair in seconds)
    spread = f"{min(ratios[0]):.2f} – {max(ratios[0]):.2f}"
    return [
        f"{statistics.median(ratios[0]):.2f}",
        spread,
        f"{statistics.median(ratios[1]):.2f}",
        clock,
        cpu,
        f"{target}",
    ]


if __name__ == "__main__":
    main()
