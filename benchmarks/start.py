"""Rows 11 and 13: how soon `app.py` answers and translates, and how much memory it takes and keeps."""

from __future__ import annotations

import asyncio
import statistics
import time

from benchmarks.report import Row
from benchmarks.served import App, Visitor, sentences
from benchmarks.timing import Watch
from translator.ui.models import DIRECTIONS

STARTS, EARLY, SETTLED, TRANSLATIONS = 7, 1000, 2500, 5000
WATCHED = 250
"""Translations up to a mark whose peak is taken: some fifteen seconds, within which free memory is given back."""
PORT, FIRST, MOST, GROWTH, SETTLED_GROWTH = 8.0, 1.0, 1200.0, 32.0, 16.0
"""Seconds until the port answers, and to the first translation then; MiB at any time, and MiB added later."""


def rows() -> list[Row]:
    """Several starts, and thousands of translations by the last of them; with the app's own threads.

    The store of recent traces is full before the thousandth; after that nothing should grow any more. Memory is the
    peak of the last translations before a mark, not what happens to be held at its end.
    """
    ready, first = [], []
    with Watch() as watch:
        for start in range(STARTS):
            app = App()
            try:
                ready.append(app.ready)
                began = time.monotonic()
                asyncio.run(_ask(app, 1, DIRECTIONS[:1]))
                first.append(time.monotonic() - began)
                if start == STARTS - 1:
                    marks = asyncio.run(_marks(app))
            finally:
                app.close()
    idle, early, settled, late = marks

    def row(number: str, what: str, values: list[float], most: float, unit: str) -> Row:
        value = statistics.median(values)
        met = value <= most
        return Row(
            number, what, "–", value, f"≤ {most:g}", met, 1, min(values), max(values), watch.others, unit
        )  # fmt: skip

    return [
        row("11", "python app.py until the port answers", ready, PORT, "s"),
        row("11b", "the first translation after that", first, FIRST, "s"),
        row("13", "peak memory until both models are loaded and used", [idle], MOST, "MiB"),
        row("13a", f"peak memory at {EARLY} translations", [early], MOST, "MiB"),
        row("13a", f"peak memory at {TRANSLATIONS} translations", [late], MOST, "MiB"),
        row("13b", f"peak memory: more at {TRANSLATIONS} than at {EARLY}", [late - early], GROWTH, "MiB"),
        row("13c", f"peak memory: more at {TRANSLATIONS} than at {SETTLED}", [late - settled], SETTLED_GROWTH, "MiB"),
    ]


async def _ask(app: App, count: int, directions: tuple[str, ...]) -> None:
    """So many translations in turn, each of a session of its own; every one has to arrive."""
    (visitor,) = await Visitor.at(app.url, 1)
    texts = {way: sentences(way) for way in directions}
    for number in range(count):
        visitor.session = f"start{number}"
        way = directions[number % len(directions)]
        answer = await visitor.ask(texts[way][number // len(directions) % len(texts[way])], way)
        if answer.kind != "trace":
            raise RuntimeError(f"translation {number} of {count} ended as {answer.kind!r}")
    await visitor.http.aclose()


async def _marks(app: App) -> tuple[float, ...]:
    """Peaks in MiB: until both directions have translated, and at so many translations more as are marked above."""
    await _ask(app, 2, DIRECTIONS)
    marks = [app.peak_megabytes]
    for part in (EARLY, SETTLED - EARLY, TRANSLATIONS - SETTLED):
        await _ask(app, part - WATCHED, DIRECTIONS)
        app.forget_peak()
        await _ask(app, WATCHED, DIRECTIONS)
        marks.append(app.peak_megabytes)
    return tuple(marks)
