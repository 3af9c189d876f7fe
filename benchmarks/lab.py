"""How long the lab's answers take on a 12-word sentence: `python -m benchmarks.lab [--models FOLDER_OR_NAME ...]`.

Measured where the page waits: in the functions that answer it, figures included, one thread as the app has it. The
translation itself is made once and kept, so it stands in a row of its own.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.timing import BUSY, Watch

SENTENCES = {
    "de": "Ich habe die alten Bücher gestern Abend in die große Bibliothek zurückgebracht.",
    "en": "The old man walked slowly to the bridge and looked at the river.",
}
OTHERS = {
    "de": "Ich habe die neuen Bücher gestern Abend in die große Bibliothek zurückgebracht.",
    "en": "The young man walked slowly to the bridge and looked at the river.",
}
TARGETS = {"en": "I took the old books back to the library last night.", "zh": "那个老人慢慢走到桥边，看着河。"}
MAP_LIMIT, VIEW_LIMIT = 2.0, 0.5
OPTIONS: dict[str, Any] = {
    "step": 2, "choice": "", "beam": 4, "penalty": 0.6, "kind": "cross", "layer": None, "head": None, "method": "flow",
    "map": None, "reading": None, "way": "argmax", "threshold": 0.3, "gold": "", "measure": "confidence",
    "side": "both", "shift": 5, "scale": 1, "query": 1, "key": 1, "what": "residual and heads",
    "patches": [["encoder", "residual", 3, None, 2]],
}  # fmt: skip


def main() -> None:
    """Measure each model and print a table; the exit status is 1 if a limit is passed on a quiet machine."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lab", description=__doc__)
    parser.add_argument("--models", nargs="+", default=["de-en", "en-zh"], help="names or folders (de-en en-zh)")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, after one to warm up (5)")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    slow = False
    for name in args.models:
        with Watch() as watch:
            rows = measured(name, args.runs)
        note = f", {watch.others:.0%} of the machine used by others" if watch.others > BUSY else ""
        print(f"{name}, medians of {args.runs} runs, 1 thread{note}\n\n| answer | seconds | limit |\n|---|---|---|")
        for what, seconds, limit in rows:
            print(f"| {what} | {seconds:.2f} | {'' if limit is None else f'{limit:g}'} |")
            slow = slow or (watch.others <= BUSY and limit is not None and seconds > limit)
        print()
    sys.exit(slow)


def measured(name: str, runs: int) -> list[tuple[str, float, float | None]]:
    """What was asked, its median seconds, and the limit that it should keep."""
    import torch

    torch.set_num_threads(1)
    from translator.pipeline import load
    from translator.ui import lab, lab_belief, lab_views

    model = load(name, device="cpu")
    text = SENTENCES[model.languages[0]]
    trace = model.translate(text, method="greedy")
    options = {**OPTIONS, "target": TARGETS[model.languages[1]], "other": OTHERS[model.languages[0]]}

    def never() -> bool:
        return False

    def every_map() -> None:
        for kind in ("encoder", "decoder", "cross"):
            lab.board(model, trace, kind, never)

    rows: list[tuple[str, float, float | None]] = [
        ("translate", _median(lambda: model.translate(text, method="greedy"), runs), None),
        ("importance of every head, three attentions", _median(every_map, runs), MAP_LIMIT),
    ]
    rows.append(("translate again", _median(lambda: lab.switched(model, trace, {}, never), runs), VIEW_LIMIT))
    for view in lab_views.VIEWS:

        def answer(view: str = view) -> None:
            lab_belief.forget()  # what a first visitor waits for
            lab_views.view(model, view, trace, options, never)

        taken = _median(answer, runs)
        rows.append((f"view: {view}", taken, MAP_LIMIT if view == "patch" else VIEW_LIMIT))
    return rows


def _median(work: Callable[[], object], runs: int) -> float:
    taken = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken[1:])


if __name__ == "__main__":
    main()
