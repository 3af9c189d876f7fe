"""What nobody reads is bounded by bytes, of one address and of all, and let go after seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import orjson
import pytest

from translator.ui import exchange, wire
from translator.ui.gate import Place
from translator.ui.handlers import Handler
from translator.ui.message import read
from translator.ui.post import BOXES, GONE, Box, Letter, Post

SIZE = 1000


def run(check: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(check())  # type: ignore[arg-type]


def answered(post: Post, address: str, name: str, size: int = SIZE) -> Box:
    box = post.box(name, address)
    assert box is not None
    box.pending["event"] = lambda: None
    post.put(box, Letter("event", "done", [b"x" * size]))
    return box


def test_an_address_holds_so_many_bytes_and_its_oldest_answer_goes_first() -> None:
    async def check() -> None:
        post = Post(total=100 * SIZE, each=3 * SIZE)
        boxes = [answered(post, "a", f"box{number}") for number in range(9)]
        assert post.bytes <= 3 * SIZE
        assert [box.letters[0].kind for box in boxes] == ["failed"] * 7 + ["done"] * 2
        assert GONE.encode() in wire.to_call(boxes[0].letters[0], True)

    run(check)


def test_all_addresses_together_hold_so_many_and_who_holds_most_pays() -> None:
    async def check() -> None:
        post = Post(total=6 * SIZE, each=5 * SIZE)
        for number in range(4):
            answered(post, "stranger", f"stranger{number}")
        visitors = [answered(post, f"visitor{number}", f"box{number}") for number in range(4)]
        assert post.bytes <= 6 * SIZE + 4 * len(GONE)
        assert [box.letters[0].kind for box in visitors] == ["done"] * 4

    run(check)


def test_an_answer_larger_than_all_room_is_said_to_be_gone() -> None:
    async def check() -> None:
        box = answered(Post(total=SIZE, each=SIZE), "a", "box", size=2 * SIZE)
        assert box.letters[0].kind == "failed"

    run(check)


def test_what_was_sent_is_held_no_longer() -> None:
    async def check() -> None:
        post = Post()
        box = answered(post, "a", "box")
        letter = post.take(box)
        assert letter is not None and post.bytes == SIZE
        post.sent(box, letter)
        assert post.bytes == 0

    run(check)


@pytest.mark.slow
def test_what_nobody_fetches_is_let_go_after_seconds() -> None:
    async def check() -> None:
        post = Post(unread=0.5)
        answered(post, "a", "box")
        await asyncio.sleep(2.2)
        assert len(post) == 0 and post.bytes == 0

    run(check)


def test_a_step_takes_the_place_of_one_that_was_not_read() -> None:
    async def check() -> None:
        post = Post()
        box = post.box("box", "a")
        assert box is not None
        for number in range(50):
            post.put(box, Letter("event", "step", [str(number).encode() * 10]))
        assert [letter.parts[0][:2] for letter in box.letters] == [b"49"]
        assert post.bytes == 20

    run(check)


def test_an_address_has_so_many_boxes() -> None:
    async def check() -> None:
        post = Post()
        assert all(post.box(f"box{number}", "a") for number in range(BOXES))
        assert post.box("one more", "a") is None and post.box("another's", "b") is not None

    run(check)


@pytest.mark.parametrize("text", ["I am", 'x"\\', "我跑\u2028", "\U0001f600 und ä"])
def test_a_program_reads_what_was_said_in_ascii(text: str) -> None:
    import json

    import orjson

    told = wire.to_call(Letter("event", "done", [orjson.dumps(text)]), True)
    assert told.isascii() and json.loads(told.split(b"data: ")[1]) == [text]


@pytest.mark.parametrize(
    ("sent", "carried"),
    [(7, 7), (2**53, None), pytest.param(-(10**400), None, id="400 digits"), (1.5, None), (None, None)],
)
def test_one_who_waits_is_told_so_whatever_number_his_run_has(sent: object, carried: object) -> None:
    letter = exchange._waiting("event", Handler(print, (), tells_place=True), [sent], Place(3))
    said = read(orjson.loads(letter.parts[0]))
    assert said["kind"] == "waiting" and said["run"] == carried and "3" in said["text"]
