"""Processor time of one translation on the page, over the network and of the model alone: `python -m benchmarks.cost`.

One visitor on loopback asks, reads every message, and asks again: beam 4, sentences of 8 to 20 words. The model alone
makes the same traces in a process of its own, from the text to the finished `Trace`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.served import ROOT, App, Visitor

SHIPPED = ROOT / "assets" / "sentences" / "de-en.txt"
LEAST, MOST = 8, 20


def sentences(path: Path, count: int) -> list[str]:
    """The first `count` lines of `path` that have from `LEAST` to `MOST` words."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if LEAST <= len(line.split()) <= MOST][:count]


def over_network(texts: list[str], direction: str) -> tuple[float, float, float]:
    """Seconds of the server's processor, seconds waited, and bytes read, each for one translation."""
    app = App()
    try:
        asyncio.run(_asked(app, texts, direction))  # code compiles, caches fill
        cpu, began = app.cpu_seconds, time.perf_counter()
        read = asyncio.run(_asked(app, texts, direction))
        took = time.perf_counter() - began
        return (app.cpu_seconds - cpu) / len(texts), took / len(texts), read / len(texts)
    finally:
        app.close()


async def _asked(app: App, texts: list[str], direction: str) -> int:
    (visitor,) = await Visitor.at(app.url, 1)
    async with visitor.http:
        for text in texts:
            answer = await visitor.ask(text, direction)
            if answer.kind != "trace":
                raise RuntimeError(f"a translation ended as {answer.kind}")
        return visitor.read


def alone(path: Path, count: int, direction: str) -> float:
    """Seconds of the processor for one trace, in a process of its own on one thread."""
    command = [sys.executable, "-m", "benchmarks.cost", "--alone", "--file", str(path), "--count", str(count)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        [*command, "--direction", direction], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    return float(found.stdout)


def _alone(texts: list[str], direction: str) -> float:
    from translator.pipeline import load

    model = load(direction)
    model.compile(wait=True)
    for text in texts:
        model.translate(text)
    began = time.process_time()
    for text in texts:
        model.translate(text)
    return (time.process_time() - began) / len(texts)


def main() -> None:
    """Measure, and print one row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=SHIPPED, help="sentences, one a line")
    parser.add_argument("--count", type=int, default=100, help="of them")
    parser.add_argument("--direction", default="de-en")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    texts = sentences(chosen.file, chosen.count)
    if chosen.alone:
        print(_alone(texts, chosen.direction))
        return
    busy = os.getloadavg()[0]
    model = alone(chosen.file, chosen.count, chosen.direction)
    cpu, took, size = over_network(texts, chosen.direction)
    words = sum(len(text.split()) for text in texts) / len(texts)
    print(
        "| sentences | page, processor | page, waited | model alone, processor | bytes |",
        "|---|---|---|---|---|",
        sep="\n",
    )
    print(
        f"| {len(texts)} of {words:.1f} words | {1000 * cpu:.1f} ms | {1000 * took:.1f} ms | {1000 * model:.1f} ms "
        f"| {size / 1000:.0f} KB |"
    )
    print(f"\n{os.cpu_count()} cores, load average {busy:.1f} before.")


if __name__ == "__main__":
    main()
