"""`python -m benchmarks.growth`: how the cost of a translation grows with source, target, layers and beam.

Our decoding with every map, at the shipped width, on one thread; docs/performance.md shows the picture.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import plotly.graph_objects as go
import torch
from playwright.sync_api import sync_playwright
from plotly.subplots import make_subplots
from threadpoolctl import threadpool_limits

from benchmarks.decoding import Run, source, trace
from benchmarks.models import SHIPPED, make
from benchmarks.page import OPTIONS
from benchmarks.timing import BUSY, Watch, alternate
from translator.engine import Engine

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "growth.png"
LENGTHS, LAYERS, BEAMS = (5, 10, 20, 40, 80, 120), (1, 2, 3, 4, 6, 8), (1, 2, 4, 8, 12)
AXES = {
    "source": "source tokens",
    "target": "target tokens",
    "layers": "layers (encoder and decoder)",
    "beam": "beams",
}


def contestants(models: dict[int, Engine]) -> dict[str, dict[int, Run]]:
    """For each axis the runs that differ in it alone; else 20 source and 30 target tokens, 6 + 6 layers, greedy."""
    model = models[SHIPPED.layers]
    return {
        "source": {n: trace(model, source(model, n)) for n in LENGTHS},
        "target": {n: trace(model, source(model), n) for n in LENGTHS},
        "layers": {n: trace(models[n], source(models[n])) for n in LAYERS},
        "beam": {n: trace(model, source(model), method="beam", beam=n) for n in BEAMS},
    }


def measure(runs: int) -> dict[str, dict[int, float]]:
    """Median milliseconds by axis and value."""
    found: dict[str, dict[int, float]] = {}
    with TemporaryDirectory() as folder, threadpool_limits(1):
        torch.set_num_threads(1)
        models = {n: make(replace(SHIPPED, layers=n), Path(folder) / str(n)).ours for n in LAYERS}
        for axis, chosen in contestants(models).items():
            times = alternate({str(n): run for n, run in chosen.items()}, runs=runs)
            found[axis] = {n: round(1000 * times[str(n)].median, 2) for n in chosen}
    return found


def figure(found: dict[str, dict[int, float]]) -> go.Figure:
    """One small plot an axis, from 0 so that proportion can be seen."""
    drawn = make_subplots(rows=1, cols=4, horizontal_spacing=0.05)
    for column, (axis, times) in enumerate(found.items(), start=1):
        line: dict[str, Any] = {"color": "#c2410c", "width": 2}
        drawn.add_scatter(x=list(times), y=list(times.values()), mode="lines+markers", line=line, row=1, col=column)
        drawn.update_xaxes(title=AXES[axis], rangemode="tozero", row=1, col=column)
    drawn.update_yaxes(rangemode="tozero")
    drawn.update_yaxes(title="milliseconds", col=1)
    return drawn.update_layout(
        width=1200, height=320, showlegend=False, template="plotly_white", margin={"l": 60, "r": 20, "t": 20, "b": 50}
    )


def main() -> None:
    """Measure, print the figures, draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("google-chrome"))
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    with Watch() as watch:
        found = measure(args.runs)
    print(json.dumps(found, indent=1))
    print(f"other programs took {watch.others:.0%} of the machine" + (": busy, doubt it" * (watch.others > BUSY)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=args.chromium, args=OPTIONS)
        page = browser.new_page(viewport={"width": 1200, "height": 320})
        page.set_content(figure(found).to_html(include_plotlyjs=True))
        page.wait_for_selector(".xtick text")
        page.locator(".plotly-graph-div").screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
