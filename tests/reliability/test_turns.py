"""Addresses take turns: who is given a place, who waits, who has to go, and what others notice of one that floods."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from translator.errors import BusyError
from translator.ui.gate import Gate, Place
from translator.ui.job import Caller
from translator.ui.turns import Turns


class Asked:
    def __init__(self, address: str) -> None:
        self.address = address


def asked(turns: Turns[Any], *addresses: str) -> list[Asked]:
    made = [Asked(address) for address in addresses]
    for each in made:
        turns.add(each)
    return made


def test_a_place_goes_to_the_address_that_has_fewest_and_waited_longest() -> None:
    turns: Turns[Asked] = Turns(places=2, waiting=9, crowd=30, threads=9)
    first, *_ = asked(turns, "a", "a", "a", "b", "c")
    given = [turns.next() for _ in range(3)]
    assert [each and each[0].address for each in given] == ["a", "b", None]
    turns.leave(first)
    found = turns.next()
    assert found and found[0].address == "c", "it waited longer than the address that was served"


def test_one_address_alone_has_every_place() -> None:
    turns: Turns[Asked] = Turns(places=2, waiting=9, crowd=30, threads=9)
    asked(turns, "a", "a", "a")
    assert [bool(turns.next()) for _ in range(3)] == [True, True, False]


def test_an_address_has_its_bound_and_others_still_come_in() -> None:
    turns: Turns[Asked] = Turns(places=1, waiting=3, crowd=30, threads=9)
    asked(turns, *"aaaa")
    with pytest.raises(BusyError, match="try again"):
        turns.add(Asked("a"))
    asked(turns, "b")


def test_where_all_is_full_the_newest_of_the_longest_line_makes_room() -> None:
    turns: Turns[Asked] = Turns(places=1, waiting=9, crowd=5, threads=9)
    *_, newest, _ = asked(turns, *"aaaaa", "b")
    assert turns.add(Asked("c")) is newest
    with pytest.raises(BusyError):
        turns.add(Asked("a"))


def test_who_waits_is_told_how_many_come_before() -> None:
    turns: Turns[Asked] = Turns(places=1, waiting=9, crowd=30, threads=9)
    *_, last = asked(turns, "a", "a", "a", "b", "b", "c")
    turns.next()
    assert turns.before(last) == 2  # one of each other address


def flood(gate: Gate, stop: threading.Event) -> Callable[[int], None]:
    """Requests of one address that never end by themselves, each asked again as soon as it ends."""

    def ask(_: int) -> None:
        while not stop.is_set():
            try:
                job = gate.submit(endless, caller=Caller("stranger"))
                list(job.messages())
            except Exception:  # noqa: S112 refused, or late: it asks again
                continue

    return ask


def endless(stop: Callable[[], bool]) -> Iterator[int]:
    while not stop():
        time.sleep(0.01)
        yield 0


@pytest.mark.slow
@pytest.mark.parametrize("strangers", [4, 40])
def test_another_address_waits_at_most_for_a_turn(strangers: int) -> None:
    """However many calls an address keeps open, another's of 0.2 seconds takes little more than that."""
    gate, stop = Gate(deadline=4), threading.Event()
    with ThreadPoolExecutor(strangers) as pool:
        pool.map(flood(gate, stop), range(strangers))
        time.sleep(0.5)
        took = []
        for _ in range(5):
            began = time.monotonic()
            job = gate.submit(lambda stop: iter([time.sleep(0.2)]), caller=Caller("visitor"))
            assert list(job.messages()) == [None]
            took.append(time.monotonic() - began)
        stop.set()
        gate.close()
    assert max(took) < 2, took


def test_never_more_compute_than_workers_however_often_they_take_turns() -> None:
    gate, lock, most, now = Gate(workers=2, turn=0.02), threading.Lock(), 0, 0

    def work(stop: Callable[[], bool]) -> Iterator[int]:
        nonlocal most, now
        for step in range(30):
            if stop():
                return
            with lock:
                now += 1
                most = max(most, now)
            time.sleep(0.003)
            with lock:
                now -= 1
            yield step

    jobs = [gate.submit(work, caller=Caller(f"address{number % 6}")) for number in range(12)]
    assert [list(job.messages())[-1] for job in jobs] == [29] * 12 and most == 2
    gate.close()


def test_the_deadline_counts_from_arrival() -> None:
    gate, came = Gate(deadline=0.5), time.monotonic() - 0.4
    job = gate.submit(endless, caller=Caller("a", arrived=came))
    with pytest.raises(BusyError, match=r"within 0\.5 seconds"):
        list(job.messages())
    assert time.monotonic() - came < 1.2
    gate.close()


@pytest.mark.slow
def test_a_reader_that_waits_is_told_its_place_and_then_its_answer() -> None:
    gate = Gate(workers=1, deadline=9)
    released = threading.Event()

    async def run() -> list[Any]:
        held = gate.submit(lambda stop: iter([released.wait(5)]), caller=Caller("a"))
        job = gate.submit(lambda stop: iter([7]), caller=Caller("b"))
        asyncio.get_running_loop().call_later(1.2, released.set)
        found = [each async for each in gate.follow(job)]
        held.cancel()
        return found

    assert asyncio.run(run()) == [Place(0), 7]
    gate.close()
