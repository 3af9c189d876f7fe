"""The page under load, on loopback and for a bounded time: `python -m benchmarks.load`.

Prints rows 14-18 of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections import Counter

from benchmarks.served import App, Visitor, crowd, percentile, sentences
from translator.ui.store import LIMIT

LONG = "Ich renne in den Park, und das Haus ist groß, aber alt. " * 4


def load_rows(app: App, users: list[int], seconds: float) -> list[str]:
    """Row 14: requests a second, and how long the admitted and the refused waited."""
    rows = []
    for count in users:
        before = app.cpu_seconds
        answers, took = asyncio.run(crowd(app.url, count, seconds, sentences()))
        cpu = app.cpu_seconds - before
        kinds = Counter(answer.kind for answer in answers)
        done = [answer.seconds for answer in answers if answer.kind == "trace"]
        faults = sum(answer.status >= 500 and answer.status != 503 for answer in answers) + kinds["lost"]
        result = (
            f"{len(done) / took:.1f} requests/s, {cpu / max(len(done), 1):.3f} processor seconds each, "
            f"{cpu / took:.2f} cores; p50 {percentile(done, 0.5):.2f} s, p95 {percentile(done, 0.95):.2f} s; "
            f"{kinds['busy']} busy, {kinds['error']} refused, {faults} faults of {len(answers)}"
        )
        rows.append(f"| 14 | {count} users for {seconds:g} s | {result} |")
    return rows


async def storm(app: App) -> str:
    """Row 15: forty long translations joined and cancelled; how much the machine still computes afterwards."""
    visitors = await Visitor.at(app.url, 8)

    async def once(visitor: Visitor) -> None:
        for _ in range(5):
            joined = await visitor.join(LONG, method="beam", beam=12)
            await asyncio.sleep(0.1)
            if joined.status_code == 200:
                await visitor.cancel(joined.json()["event_id"])

    before, started = app.cpu_seconds, time.monotonic()
    await asyncio.gather(*(once(visitor) for visitor in visitors))
    cores = (app.cpu_seconds - before) / (time.monotonic() - started)
    return f"| 15 | 40 × join and cancel | {cores:.2f} cores busy meanwhile; {await idle(app)} |"


async def leave(app: App, way: str) -> str:
    """Row 16: a reader who goes away in the middle, or never comes."""
    (visitor,) = await Visitor.at(app.url, 1)
    joined = await visitor.join(LONG, method="beam", beam=12)
    if way != "join without reading":
        params = {"session_hash": visitor.session}
        async with visitor.http.stream("GET", "/gradio_api/queue/data", params=params) as stream:
            async for line in stream.aiter_lines():
                if "process_generating" in line[:80]:
                    break
            if way == "Stop":
                await visitor.cancel(joined.json()["event_id"])
    await visitor.http.aclose()
    return f"| 16 | {way} | {await idle(app)} |"


async def idle(app: App) -> str:
    await asyncio.sleep(1)
    before = app.cpu_seconds
    await asyncio.sleep(1)
    return f"one second later {app.cpu_seconds - before:.2f} cores"


async def plateau(app: App, requests: int) -> str:
    """Row 17: resident memory after the first fifth and after all, a new session each, one in ten never read."""
    texts, marks = sentences(), []
    (visitor,) = await Visitor.at(app.url, 1)
    for number in range(requests):
        visitor.session = f"plateau{number}"
        if number % 10:
            await visitor.ask(texts[number % len(texts)])
        else:
            await visitor.join(texts[number % len(texts)])
        if number == requests // 5:
            marks.append(app.megabytes)
    await visitor.http.aclose()
    grown = app.megabytes - marks[0]
    return f"| 17 | {requests} requests | {app.megabytes:.0f} MiB, {grown:+.0f} MiB since request {requests // 5} |"


def further_rows(app: App, requests: int) -> list[str]:
    """Rows 15 to 18."""
    rows = [asyncio.run(storm(app))]
    rows += [asyncio.run(leave(app, way)) for way in ("socket closed", "Stop", "join without reading")]
    rows.append(asyncio.run(plateau(app, requests)))
    rows.append(f"| 18 | trace store | bounded to {LIMIT / 2**20:.0f} MiB (tests/reliability/test_store.py) |")
    return rows


def main() -> None:
    """Start the app, load it, print the table, stop the app."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, nargs="+", default=[1, 10, 50])
    parser.add_argument("--seconds", type=float, default=20, help="of each load, at most 120")
    parser.add_argument("--requests", type=int, default=1000, help="of the memory row, at most 2000")
    parser.add_argument("--workers", type=int, default=1, help="processes that serve the page")
    parser.add_argument("--brief", action="store_true", help="row 14 only")
    chosen = parser.parse_args()
    busy = os.getloadavg()[0]
    app = App(workers=chosen.workers)
    try:
        asyncio.run(crowd(app.url, 1, 3, sentences()))  # the model loads, caches fill
        rows = load_rows(app, [min(users, 200) for users in chosen.users], min(chosen.seconds, 120))
        if not chosen.brief:
            rows += further_rows(app, min(chosen.requests, 2000))
        ready, cost = app.ready, app.cpu_seconds
    finally:
        ended = app.close()
    rows.append(f"| 23 | start and stop | ready after {ready:.1f} s, ended {ended:.1f} s after SIGTERM |")
    print("| row | load | measured |", "|---|---|---|", *rows, sep="\n")
    print(f"\n{os.cpu_count()} cores, load average {busy:.1f} before the app was started; it used {cost:.0f} s.")


if __name__ == "__main__":
    main()
