"""The handler of every call from the page and from programs: queued, computed, and delivered to its reader."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import orjson

from translator.errors import BusyError, CancelledError, TranslatorError
from translator.ui import wire
from translator.ui.gate import BUSY, Caller, Gate, Place, refused
from translator.ui.handlers import Handler
from translator.ui.job import Job, Stop
from translator.ui.message import answer, run_number
from translator.ui.post import Box, Letter, Post
from translator.ui.readers import Readers

log = logging.getLogger(__name__)
Values = Sequence[Any] | Mapping[str, Any]
WRONG = "something went wrong; please try again"
HEARTBEAT = 15.0
"""Seconds of silence after which a stream says that it is alive."""
CLOSING = 2.0
"""Seconds at most that a page is given to hang up a stream that it was told to close."""


@dataclass(frozen=True)
class _Said:
    """One answer of a handler as JSON, output by output; `error` where it refused."""

    parts: list[bytes]
    last: bool = False
    error: str = ""


class Exchange:
    """Runs handlers and functions behind `gate`, what is quick behind `desk`, and keeps answers for their readers."""

    def __init__(self, gate: Gate, desk: Gate, readers: Readers, post: Post | None = None) -> None:
        self.gate, self.desk, self.readers = gate, desk, readers
        self.post = post or Post()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing: dict[str, asyncio.Event] = {}

    def join(self, handler: Handler, values: Values, caller: Caller, *, session: str = "") -> str:
        """Let `handler` answer `values`; `read` gives the answers.

        Args:
            session: of the page that reads them; without one they are read by the event's id.
        Returns:
            The event's id.
        Raises:
            BusyError: too many wait. (A page is told so where it reads.)
        """
        event = secrets.token_hex(16)
        key = session or event
        box = self.post.box(key, caller.address)
        if box is None:
            raise BusyError(BUSY)
        try:
            job = self.gate.submit(
                lambda stop: _said(handler, key, values), caller=caller, read=lambda: key in self.readers, name=event
            )
        except BusyError as error:
            if not session:
                self.post.drop(box)
                raise
            box.pending[event] = lambda: None
            self._refuse(box, event, handler, values, error)
            return event
        box.pending[event] = job.cancel
        task = asyncio.get_running_loop().create_task(self._carry(handler, values, box, event, job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return event

    def cancel(self, session: str, event: str) -> None:
        """Stop one event of a page's session; its stream is told that it ended."""
        box = self.post.get(session)
        stop = box.pending.get(event) if box else None
        if box and stop:
            stop()
            self.post.put(box, Letter(event, "done"))

    async def read(self, key: str, *, page: bool, gone: asyncio.Event) -> AsyncIterator[bytes]:
        """What a stream sends until all events of its reader have ended, or until he has `gone`."""
        tell, alive = (wire.to_page, wire.ALIVE) if page else (wire.to_call, wire.CALL_ALIVE)
        box = self.post.get(key)
        if box is None:
            yield wire.UNKNOWN if page else wire.CALL_UNKNOWN
        else:
            async with aclosing(self._letters(box, tell, alive, gone)) as letters:
                async for letter in letters:
                    yield letter
        if not page:
            return
        closing = self._closing[key] = asyncio.Event()
        try:
            yield wire.CLOSE
            await asyncio.sleep(CLOSING)  # the page hangs up as it reads that, which cuts the wait short
        finally:
            closing.set()
            if self._closing.get(key) is closing:
                del self._closing[key]

    async def closed(self, session: str) -> None:
        """Wait until a page has read that its stream closes.

        Told of an event before that, it opens no new stream, and waits for the answer for ever.
        """
        closing = self._closing.get(session)
        if closing:
            await closing.wait()

    async def _letters(self, box: Box, tell: wire.Tell, alive: bytes, gone: asyncio.Event) -> AsyncGenerator[bytes]:
        begun: set[str] = set()
        box.readers += 1
        self.readers.enter(box.key)
        try:
            while not gone.is_set():
                letter = self.post.take(box)
                if letter is not None:
                    try:
                        yield tell(letter, letter.event not in begun)
                    finally:
                        self.post.sent(box, letter)
                    if letter.kind == "step":
                        begun.add(letter.event)
                elif not box.pending:
                    self.post.drop(box)  # what is asked while the stream closes is read by the next one
                    return
                elif not await _woken(box.wake, HEARTBEAT):
                    yield alive
        finally:
            self.readers.leave(box.key)
            box.readers -= 1
            if not box.readers:
                self.post.drop(box)  # whatever he did not take; what is computed for him ends at its next step

    async def ask(self, function: Callable[[Any], Any], data: Any, caller: Caller) -> bytes:
        """What a component's function answers, as JSON; the errors that it does not tell itself are told here."""
        where = getattr(function, "where", "gate")
        if where == "at once":
            return orjson.dumps(function(data))
        gate = self.desk if where == "desk" else self.gate
        name = data.get("run") if isinstance(data, dict) else None

        def work(stop: Stop) -> Iterator[bytes]:
            yield orjson.dumps(function(data))

        try:
            job = gate.submit(work, caller=caller, name=name if isinstance(name, str) else None)
            async for found in gate.follow(job):
                if not isinstance(found, Place):
                    return found
        except TranslatorError as error:
            return orjson.dumps({"error": str(error), "again": True})
        raise RuntimeError("the function ended without an answer")

    async def answer(self, handler: Handler, values: Values, caller: Caller) -> bytes:
        """The last answer of an endpoint as JSON, for a caller who waits for it.

        Raises:
            TranslatorError: it was refused.
        """
        job = self.gate.submit(lambda stop: _said(handler, "", values), caller=caller)
        async for found in self.gate.follow(job):
            if isinstance(found, _Said) and found.last:
                if found.error:
                    raise TranslatorError(found.error)
                return found.parts[0]
        raise RuntimeError("the endpoint ended without an answer")

    async def _carry(self, handler: Handler, values: Values, box: Box, event: str, job: Job[_Said]) -> None:
        """Lay into the box whatever becomes of a job."""
        page = box.key != event
        try:
            async for found in self.gate.follow(job):
                if isinstance(found, Place):
                    if page:
                        self.post.put(box, _waiting(event, handler, values, found))
                elif found.error:
                    self.post.put(box, Letter(event, "failed", [orjson.dumps(found.error)]))
                elif found.last or page:
                    self.post.put(box, Letter(event, "done" if found.last else "step", found.parts))
        except CancelledError:
            self.post.put(box, Letter(event, "done"))
        except TranslatorError as error:
            self._refuse(box, event, handler, values, error)
        except Exception as error:
            log_kind(error)
            self.post.put(box, Letter(event, "failed", [orjson.dumps(WRONG)]))

    def _refuse(self, box: Box, event: str, handler: Handler, values: Values, error: TranslatorError) -> None:
        """Tell a page in its handler's own way that it was refused; a program in plain words."""
        if box.key == event:
            self.post.put(box, Letter(event, "failed", [orjson.dumps(str(error))]))
            return
        *_, said = refused(error, lambda: list(_said(handler, box.key, values)))
        self.post.put(box, Letter(event, "done", said.parts))


def _said(handler: Handler, session: str, values: Values) -> Iterator[_Said]:
    """What a handler says on its way, and then its answer, as JSON."""
    found = handler.answers(session, values)
    try:
        while True:
            try:
                yield _Said([orjson.dumps(each) for each in next(found)])
            except StopIteration as end:
                yield _Said([orjson.dumps(each) for each in end.value], last=True)
                return
    except gr.Error as error:
        yield _Said([], last=True, error=str(error.message))


def _waiting(event: str, handler: Handler, values: Values, place: Place) -> Letter:
    """How many are before it: by the page's own message where the page shows that, else as Gradio tells it."""
    if not handler.tells_place or not isinstance(values, Sequence):
        return Letter(event, "waiting", [orjson.dumps(place.before)])
    text = f"waiting in the queue: {place.before} ahead"
    return Letter(
        event, "step", [orjson.dumps(answer({"kind": "waiting", "text": text, "run": run_number(values[0])}))]
    )


async def _woken(wake: asyncio.Event, seconds: float) -> bool:
    """Whether `wake` was set within so long; it is cleared."""
    try:
        await asyncio.wait_for(wake.wait(), seconds)
    except asyncio.TimeoutError:
        return False
    wake.clear()
    return True


def log_kind(error: BaseException) -> None:
    """Log what kind of error it was and where it came from: its message may hold what was typed."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place else "?"
    log.error("an event failed: %s at %s", type(error).__name__, where)
