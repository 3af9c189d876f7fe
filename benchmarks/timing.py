"""Alternating runs, medians, and whether the machine was quiet meanwhile."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

BUSY = 0.1
"""A share of all cores' time that others may take before a result is marked."""


@dataclass(frozen=True)
class Times:
    """Seconds of each run of one contestant."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median run."""
        return statistics.median(self.seconds)


def alternate(
    contestants: Mapping[str, Callable[[], object]], *, runs: int = 7, device: torch.device | str = "cpu"
) -> dict[str, Times]:
    """Time each contestant `runs` times, taking turns, after one run each to warm up.

    A run ends when `device` has done what it was given.
    """
    for run in contestants.values():
        run()
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(runs):
        for name, run in contestants.items():
            settle(device)
            started = time.perf_counter()
            run()
            settle(device)
            taken[name].append(time.perf_counter() - started)
    return {name: Times(tuple(seconds)) for name, seconds in taken.items()}


def settle(device: torch.device | str) -> None:
    """Wait for what a GPU still has to do."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


class Watch:
    """How much of the machine others used between `__enter__` and `__exit__`: `others`, a share of all cores."""

    others = 0.0

    def __enter__(self) -> Watch:
        self._before = self._read()
        return self

    def __exit__(self, *_: object) -> None:
        busy, own, wall = (b - a for a, b in zip(self._before, self._read(), strict=True))
        self.others = max(0.0, busy - own) / max(wall * (os.cpu_count() or 1), 1e-9)

    @staticmethod
    def _read() -> tuple[float, float, float]:
        """Seconds that all cores were busy, that this process and what it started took, and of the wall clock."""
        own = sum(os.times()[:4]) + _living_children()
        try:
            fields = [int(x) for x in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]]
        except OSError:
            return own, own, time.perf_counter()
        idle = fields[3] + fields[4]
        return (sum(fields[:8]) - idle) / os.sysconf("SC_CLK_TCK"), own, time.perf_counter()


def _living_children() -> float:
    """Processor time so far, in seconds, of every process that this one started, or they did, and that still runs."""
    parents, seconds = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        process = int(stat.parent.name)
        parents[process] = int(fields[1])
        seconds[process] = sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")
    family, found = {os.getpid()}, 0.0
    while family:
        family = {child for child, parent in parents.items() if parent in family}
        found += sum(seconds[child] for child in family)
    return found
