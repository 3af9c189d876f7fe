"""Corpus work by one Ray worker against two, on this machine: `python -m benchmarks.cluster`.

Workers start one after another, so the rate is taken from where the last one has finished its first shard.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import translator
from benchmarks.served import sentences
from benchmarks.timing import BUSY, Watch
from translator.cluster.parts import Parts
from translator.cluster.records import Corpus, Shard, cut
from translator.cluster.run import Cluster, connected, work_through
from translator.cluster.work import Translating
from translator.cluster.worker import Model


@dataclass(frozen=True)
class Rate:
    """Lines a second; processor seconds of a thousand lines, the workers' and the driver's; how busy workers were.

    `working`: the share of the time that workers had a shard; a little more than 1 where shards had been begun before.
    """

    lines: float
    cpu: float
    driver: float
    working: float


def measure(workers: int, model: Model, corpus: Corpus, shards: list[Shard]) -> Rate:
    """Translate every shard by so many workers."""
    marks: list[float] = []
    before = time.process_time()
    with tempfile.TemporaryDirectory() as folder, Parts(Path(folder), {"workers": workers}) as parts:
        cluster = Cluster(workers=workers, device="cpu")
        work = Translating({"method": "beam", "beam": 4})
        work_through(cluster, model, corpus, work, shards, parts, lambda *_: marks.append(time.monotonic()))
        order = sorted(Path(folder).glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        notes = [json.loads(path.read_bytes()) for path in order if path.name.startswith("part")]
    driver = time.process_time() - before
    begun = {note["values"]["worker"]: n for n, note in reversed(list(enumerate(notes)))}
    first = max(begun.values())  # where the last worker has done its first shard
    after = notes[first + 1 :]
    took, lines = marks[-1] - marks[first + 1], sum(note["rows"] for note in after)
    total = {name: sum(note["values"][name] for note in after) for name in ("cpu", "seconds")}
    return Rate(
        lines / took,
        1000 * total["cpu"] / lines,
        1000 * driver / sum(shard.rows for shard in shards),
        total["seconds"] / took / workers,
    )


@contextmanager
def text(count: int) -> Iterator[Path]:
    """A file of so many of the page's test sentences."""
    with tempfile.TemporaryDirectory() as folder:
        path, known = Path(folder) / "text.txt", sentences()
        path.write_text("".join(f"{known[n % len(known)]}\n" for n in range(count)), encoding="utf-8")
        yield path


def main() -> None:
    """By turns, three times, and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=4000)
    parser.add_argument("--shard", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    engine = translator.load("de-en", device="cpu")
    model = Model("de-en", None, engine.bundle.info.sha256, "cpu", 1)
    rows = ["| workers | lines/s | workers' processor s / 1,000 lines | driver's | working | others' share |"]
    rows.append("|---|---|---|---|---|---|")
    with text(chosen.lines) as path, connected(Cluster(workers=2)):
        corpus = Corpus(str(path))
        shards = cut(corpus, chosen.shard)
        for _ in range(chosen.runs):
            for workers in (1, 2):
                with Watch() as watch:
                    rate = measure(workers, model, corpus, shards)
                loud = " (not quiet)" if watch.others > BUSY else ""
                told = f"{rate.lines:.1f} | {rate.cpu:.2f} | {rate.driver:.2f} | {rate.working:.0%}"
                rows.append(f"| {workers} | {told} | {watch.others:.0%}{loud} |")
    print(*rows, sep="\n")


if __name__ == "__main__":
    main()
