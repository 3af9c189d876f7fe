"""Rows 14, 15 and 16 at the gate itself: how many compute, who waits, who is refused, and when work ends."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from translator.errors import BusyError, CancelledError
from translator.ui import job as job_module
from translator.ui.gate import CALLER, Caller, Gate, tell


class Work:
    """Steps of 10 ms; counts how many compute at once, and when the last step was."""

    def __init__(self, steps: int = 100) -> None:
        self.steps = steps
        self.computing = self.most = self.made = 0
        self.last = 0.0
        self._lock = threading.Lock()

    def __call__(self, stop: Callable[[], bool]) -> Iterator[int]:
        for step in range(self.steps):
            if stop():
                raise CancelledError("stopped")
            with self._lock:
                self.computing += 1
                self.most = max(self.most, self.computing)
            time.sleep(0.01)
            with self._lock:
                self.computing -= 1
                self.made += 1
                self.last = time.monotonic()
            yield step


def wait_for(condition: Callable[[], bool], seconds: float = 3.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate(workers=2, waiting=3, deadline=5)
    yield made
    made.close()


def test_the_last_message_arrives_and_the_order_is_kept(gate: Gate) -> None:
    seen = list(gate.stream(Work(steps=20)))
    assert seen[-1] == 19 and seen == sorted(set(seen))


def test_a_slow_reader_gets_the_newest_message(gate: Gate) -> None:
    reading = gate.stream(Work(steps=20))
    first = next(reading)
    time.sleep(0.5)
    assert first == 0 and list(reading) == [19]


def test_an_error_in_the_work_reaches_the_reader(gate: Gate) -> None:
    def fail(stop: Callable[[], bool]) -> int:
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError):
        gate.run(fail)
    assert gate.run(lambda stop: 7) == 7
    assert wait_for(lambda: len(gate) == 0)


def test_a_storm_of_joins_and_cancels_never_has_more_than_two_computing(gate: Gate) -> None:
    work = Work()

    def storm(_: int) -> None:
        reading = gate.stream(work)
        list(_one(reading))
        reading.close()  # type: ignore[attr-defined]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(storm, range(40)))
    assert work.most == 2
    assert wait_for(lambda: len(gate) == 0), "a cancelled request kept its place"
    assert time.monotonic() - work.last < 1 or work.computing == 0


def _one(reading: Iterator[int]) -> Iterator[int]:
    try:
        yield next(reading)
    except BusyError:
        return


def test_a_place_is_held_until_the_thread_is_done_with_its_step() -> None:
    """A step that does not look up for half a second still counts: a third request must wait for it."""
    gate, order, lock = Gate(workers=1, waiting=1, deadline=5), [], threading.Lock()

    def slow(stop: Callable[[], bool]) -> Iterator[int]:
        yield 0
        time.sleep(0.5)
        with lock:
            order.append("slow is done")
        yield 1

    def quick(stop: Callable[[], bool]) -> int:
        with lock:
            order.append("quick")
        return 1

    reading = gate.stream(slow)
    next(reading)
    reading.close()  # type: ignore[attr-defined]
    gate.run(quick)
    gate.close()
    assert order == ["slow is done", "quick"]


def test_who_comes_when_the_queue_is_full_is_told_so_at_once(gate: Gate) -> None:
    readers = [gate.stream(Work(steps=300)) for _ in range(5)]

    def read(reader: Iterator[int]) -> None:
        with contextlib.suppress(CancelledError):
            next(reader)

    threads = [threading.Thread(target=read, args=(each,), daemon=True) for each in readers]
    for thread in threads:
        thread.start()
    assert wait_for(lambda: len(gate) == 5)
    started = time.monotonic()
    with pytest.raises(BusyError, match="try again"):
        gate.run(lambda stop: 1)
    assert time.monotonic() - started < 0.1
    gate.close()


def test_who_waits_is_told_when_the_gate_closes() -> None:
    gate = Gate(workers=1, waiting=1, deadline=20)
    held, waiting = gate.stream(Work(steps=1000)), gate.stream(Work(steps=1))
    next(held)
    ends: list[BaseException] = []

    def wait() -> None:
        try:
            next(waiting)
        except CancelledError as error:
            ends.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    assert wait_for(lambda: len(gate) == 2)
    gate.close()
    thread.join(2)
    assert ends, "it would have waited for its deadline"


def test_the_deadline_counts_from_admission_and_ends_the_work() -> None:
    gate, work = Gate(workers=1, waiting=2, deadline=0.3), Work(steps=1000)
    with pytest.raises(BusyError, match=r"within 0\.3 seconds"):
        list(gate.stream(work))
    assert wait_for(lambda: len(gate) == 0, 1)
    made = work.made
    time.sleep(0.1)
    assert work.made == made, "the work went on after its deadline"
    gate.close()


def test_the_deadline_ends_work_whose_reader_only_waits() -> None:
    gate, work = Gate(workers=1, waiting=2, deadline=0.3), Work(steps=500)
    reading = gate.stream(work)
    next(reading)
    assert wait_for(lambda: len(gate) == 0, 2), "only the reader looked at the clock"
    del reading
    gate.close()


def test_a_step_that_hangs_does_not_hold_the_reader() -> None:
    gate = Gate(workers=1, waiting=1, deadline=0.2)
    release = threading.Event()
    started = time.monotonic()
    with pytest.raises(BusyError):
        gate.run(lambda stop: release.wait(10))
    assert time.monotonic() - started < 1.5
    release.set()
    gate.close()


def test_closing_the_reader_stops_the_work_within_a_step(gate: Gate) -> None:
    work = Work(steps=1000)
    reading = gate.stream(work)
    next(reading)
    reading.close()  # type: ignore[attr-defined]
    assert wait_for(lambda: len(gate) == 0, 1)


def test_a_reader_that_is_forgotten_stops_the_work(gate: Gate) -> None:
    work = Work(steps=1000)
    reading = gate.stream(work)
    next(reading)
    del reading
    assert wait_for(lambda: len(gate) == 0, 1)


def test_a_request_is_stopped_by_its_name_and_no_other_is() -> None:
    gate, work, other = Gate(workers=2, waiting=1, deadline=5), Work(steps=400), Work(steps=20)
    ends: list[object] = []

    def ask() -> None:
        try:
            gate.run(lambda stop: list(work(stop)), name="mine")
        except CancelledError as error:
            ends.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert wait_for(lambda: work.made > 0)
    theirs = gate.stream(other, name="theirs")
    next(theirs)
    gate.stop("mine")
    thread.join(1)
    assert ends and work.made < 100, "it ran on"
    assert list(theirs)[-1] == 19
    gate.close()


def test_how_far_a_request_is_can_be_asked_by_its_name(gate: Gate) -> None:
    """Each says it of itself; outside of a request nobody is told, and what has ended is not known."""
    tell(9, 9)

    def work(stop: Callable[[], bool]) -> list[tuple[float, float] | None]:
        before = gate.progress("a")
        tell(1, 4)
        return [before, gate.progress("a"), gate.progress("b"), gate.run(lambda _: gate.progress("a"))]

    assert gate.run(work, name="a") == [None, (1, 4), None, (1, 4)]
    assert gate.progress("a") is None


def test_who_hangs_up_stops_what_computes_and_what_waits_for_him() -> None:
    gate, works, caller = Gate(workers=1, waiting=1, deadline=5), [Work(steps=400), Work(steps=400)], Caller()

    def ask(work: Work) -> None:
        CALLER.set(caller)  # a thread has a context of its own
        with contextlib.suppress(CancelledError):
            gate.run(lambda stop: list(work(stop)))

    threads = [threading.Thread(target=ask, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    assert wait_for(lambda: len(gate) == 2 and any(work.made for work in works))
    caller.leave()
    assert wait_for(lambda: len(gate) == 0, 1), "a place is held for nobody"
    assert min(work.made for work in works) == 0
    gate.run(lambda stop: None)  # who is here is served
    threads[0].join(1)
    thread = threading.Thread(target=ask, args=(late := Work(steps=400),))
    thread.start()
    thread.join(1)
    assert late.made <= 1, "he had hung up before it began"
    gate.close()


def test_what_nobody_reads_pauses_and_is_given_up(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "TRUST", 0.2)
    monkeypatch.setattr(job_module, "PATIENCE", 0.4)
    work = Work(steps=1000)
    reading = gate.stream(work, read=lambda: False)
    threading.Thread(target=lambda: list(_one(reading)), daemon=True).start()
    assert wait_for(lambda: work.made > 0)
    time.sleep(0.35)
    made = work.made
    time.sleep(0.1)
    assert work.made == made, "it computes for nobody"
    assert wait_for(lambda: len(gate) == 0, 1)


def test_a_reader_who_comes_during_the_pause_gets_his_answer(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_module, "TRUST", 0.05)
    here = threading.Event()
    threading.Timer(0.4, here.set).start()
    assert list(gate.stream(Work(steps=20), read=here.is_set))[-1] == 19


def test_the_last_message_is_not_lost_that_comes_just_as_its_reader_looks(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, take = threading.Event(), job_module.Job.take

    def work(stop: Callable[[], bool]) -> Iterator[str]:
        yield "step"
        go.wait(10)
        yield "last"

    def look(job: job_module.Job[str]) -> list[str]:
        found = take(job)
        if not found and not go.is_set():  # the step was taken: now it ends, behind the reader's back
            go.set()
            assert wait_for(lambda: job.ended)
        return found

    async def read() -> list[object]:
        return [each async for each in gate.follow(gate.submit(work)) if each != "step"]

    monkeypatch.setattr(job_module.Job, "take", look)
    assert asyncio.run(read()) == ["last"]


def test_a_closed_gate_admits_nobody(gate: Gate) -> None:
    gate.close()
    with pytest.raises(BusyError):
        gate.run(lambda stop: 1)
