"""One table of ratios, and the same as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.timing import BUSY, Times


@dataclass(frozen=True)
class Row:
    """One measured comparison: `ratio` is the peer's median over ours, unless `unit` says what else it is."""

    number: str
    what: str
    peer: str
    ratio: float
    target: str
    met: bool
    threads: int
    low: float
    high: float
    others: float
    unit: str = "× faster"
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def busy(self) -> bool:
        """Whether other programs took enough of the machine to doubt the figure."""
        return self.others > BUSY


def compare(ours: Times, peer: Times) -> tuple[float, float, float]:
    """Peer's time over ours: of the medians, and the least and the most favourable pairing of neighbours."""
    pairs = [b / a for a, b in zip(ours.seconds, peer.seconds, strict=True)]
    return peer.median / ours.median, min(pairs), max(pairs)


def table(rows: Sequence[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| # | measured | peer | threads | result | min – max | target | |", "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        mark = ("met" if row.met else "**short**") + (f", machine busy ({row.others:.0%})" if row.busy else "")
        lines.append(
            f"| {row.number} | {row.what} | {row.peer} | {row.threads} | {row.ratio:.2f} {row.unit} "
            f"| {row.low:.2f} – {row.high:.2f} | {row.target} | {mark} |"
        )
    return "\n".join(lines)


def write(rows: Sequence[Row], path: Path) -> None:
    """Everything measured, and the machine it was measured on, as JSON."""
    machine = {
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": machine, "rows": [{**asdict(row), "busy": row.busy} for row in rows]}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n"):
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()
