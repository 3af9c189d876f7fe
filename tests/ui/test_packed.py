"""The page is made once for each name and packing that it is asked for by, however many ask."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import brotli
import pytest

from translator.errors import BusyError
from translator.ui.addresses import Rate
from translator.ui.packed import KEPT, KeptPage, PackedPage

PAGE = b"<html>" + 400 * b"the same for all "


class Maker:
    """An application that makes a page which names the host, and counts how often."""

    def __init__(self, status: int = 200) -> None:
        self.status, self.made, self.at_once, self.most = status, 0, 0, 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.made += 1
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        body = PAGE + dict(scope["headers"]).get(b"host", b"") + scope["path"].encode()
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": body})


async def answer(
    app: Any, path: str = "/", method: str = "GET", address: str = "", **headers: str
) -> tuple[dict[bytes, bytes], bytes]:
    """What a call is answered."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": given, "query_string": b""}
    scope["client"] = (address, 1)
    await app(scope, None, send)
    return dict(sent[0]["headers"]), b"".join(each.get("body", b"") for each in sent[1:])


def asked(app: Any, *calls: dict[str, Any]) -> list[tuple[dict[bytes, bytes], bytes]]:
    """What as many calls at the same time are answered."""

    async def all_of_them() -> Any:
        return await asyncio.gather(*(answer(app, **call) for call in calls))

    found: list[tuple[dict[bytes, bytes], bytes]] = asyncio.run(all_of_them())
    return found


def test_sixty_at_once_have_it_made_once() -> None:
    maker = Maker()
    page = KeptPage(PackedPage(maker))
    answers = asked(page, *([{"host": "here", "accept_encoding": "br"}] * 60))
    assert (maker.made, maker.most) == (1, 1)
    assert {brotli.decompress(body) for _, body in answers} == {PAGE + b"here/"}
    asked(page, {"host": "here", "accept_encoding": "gzip, br"})
    assert maker.made == 1


@pytest.mark.parametrize("other", ["host", "x_forwarded_host", "x_forwarded_proto", "path", "accept_encoding"])
def test_nobody_gets_the_page_of_another_name_or_packing(other: str) -> None:
    maker = Maker()
    page = KeptPage(PackedPage(maker))
    first: dict[str, Any] = {"host": "here", "accept_encoding": "br"}
    second = {**first, other: {"path": "/config", "accept_encoding": "gzip"}.get(other, "there")}
    for call in (first, second, first, second):
        ((headers, body),) = asked(page, call)
        plain = brotli.decompress(body) if headers[b"content-encoding"] == b"br" else gzip.decompress(body)
        assert plain == PAGE + call["host"].encode() + call.get("path", "/").encode()
        assert headers[b"content-encoding"].decode() == call["accept_encoding"]
    assert maker.made == 2


@pytest.mark.slow
def test_names_that_a_stranger_makes_up_take_bounded_memory() -> None:
    maker = Maker()
    page = KeptPage(maker, makes=Rate(1e9, 1e9))
    for number in range(3 * KEPT):
        asked(page, {"host": f"a{number}"}, {"host": "here"})
    assert len(page._kept) == KEPT
    assert maker.made == 3 * KEPT + 1  # what is asked for again and again stays


@pytest.mark.slow
def test_of_ten_thousand_names_a_few_are_made_and_others_find_their_page() -> None:
    """Each costs 60 ms of the loop that serves all."""
    maker = Maker()
    page = KeptPage(maker, makes=Rate(0, 10))
    asked(page, {"host": "here", "address": "visitor"})

    async def refusals() -> int:
        refused = 0
        for number in range(10_000):
            try:
                await answer(page, host=f"a{number}", address="stranger")
            except BusyError:
                refused += 1
        return refused

    assert asyncio.run(refusals()) == 9_990
    assert maker.made == 11
    asked(page, {"host": "here", "address": "stranger"}, {"host": "there", "address": "visitor"})
    assert maker.made == 12


def test_a_head_request_is_answered_from_the_same_page() -> None:
    maker = Maker()
    page = KeptPage(PackedPage(maker))
    for _ in range(3):
        ((headers, _),) = asked(page, {"host": "here", "method": "HEAD", "accept_encoding": "br"})
        assert b"content-encoding" not in headers
    asked(page, {"host": "here"})
    assert maker.made == 1


def test_a_failure_is_not_kept() -> None:
    maker = Maker(status=500)
    page = KeptPage(maker)
    asked(page, {})
    maker.status = 200
    asked(page, {}, {})
    assert maker.made == 2
