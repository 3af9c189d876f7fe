"""`python -m benchmarks`: this package beside its peers, in one run, one table and one JSON file."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

PARTS = ["decoding", "training", "gpu", "page", "start"]


def main() -> None:
    """Measure, print the table, write the JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="thread counts to measure at (1 2)")
    parser.add_argument("--runs", type=int, default=7, help="alternating runs of each contestant (7)")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    parser.add_argument("--out", type=Path, default=Path("runs/benchmarks.json"), help="the JSON file")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(max(args.threads))
    import torch

    from benchmarks import bertviz, decoding, gpu, page, report, start, training

    threaded = {"decoding": decoding.rows, "training": training.rows}
    rows = []
    for threads in args.threads:
        torch.set_num_threads(threads)
        for part in (part for part in args.parts if part in threaded):
            print(f"measuring {part} at {threads} thread(s)", file=sys.stderr)
            rows += threaded[part](threads, args.runs)
    if "gpu" in args.parts:
        there = torch.cuda.is_available()
        print("measuring the GPU" if there else "there is no GPU: row 14 is left out", file=sys.stderr)
        rows += gpu.rows(args.threads[-1], args.runs) if there else []
    if "page" in args.parts:
        there = bertviz.ModelView.can_be_had()
        print("measuring the explorer" if there else "there is no BertViz: row 12 is left out", file=sys.stderr)
        rows += page.rows(args.runs) if there else []
    if "start" in args.parts:
        print("measuring the app", file=sys.stderr)
        rows += start.rows()
    print(report.table(rows))
    report.write(rows, args.out)


if __name__ == "__main__":
    main()
