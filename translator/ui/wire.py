"""Gradio's wire protocol: messages to the page, and events of the named endpoints.

A page's message is what Gradio 6 (protocol `sse_v3`) would send; its steps after the first are differences.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import orjson

from translator.ui.post import Letter

Tell = Callable[[Letter, bool], bytes]
"""A letter, and whether it is the first step of its event → the bytes to send."""

ALIVE = b'data: {"msg":"heartbeat"}\n\n'
CLOSE = b'data: {"msg":"close_stream","event_id":null}\n\n'
UNKNOWN = (
    b'data: {"msg":"unexpected_error","event_id":null,"message":"404: Not Found","session_not_found":true,'
    b'"success":false}\n\n'
)
CALL_ALIVE = b"event: heartbeat\ndata: null\n\n"
CALL_UNKNOWN = b'event: error\ndata: {"error":"there is no such answer any more; ask again"}\n\n'
_BEYOND = re.compile(rb"[\x80-\xff]+")
_REST = b',"duration":null,"average_duration":null,"render_config":null,"changed_state_ids":[],"used_cache":null}'


def to_page(letter: Letter, first: bool) -> bytes:
    """A message of the page's stream."""
    event = b'"event_id":%s' % orjson.dumps(letter.event)
    if letter.kind == "waiting":
        place = letter.parts[0]
        return b'data: {"msg":"estimation",%s,"rank":%s,"queue_size":%s,"rank_eta":null}\n\n' % (event, place, place)
    if letter.kind == "failed":
        output = b'{"error":%s,"duration":10,"visible":true,"title":"Error"}' % letter.parts[0]
        return b'data: {"msg":"process_completed",%s,"output":%s,"success":false,"title":"Error"}\n\n' % (event, output)
    if letter.kind == "done":
        output = b'{"data":[%s],"is_generating":false%s' % (b",".join(letter.parts), _REST) if letter.parts else b"{}"
        return b'data: {"msg":"process_completed",%s,"output":%s,"success":true,"title":null}\n\n' % (event, output)
    parts = letter.parts if first else [b'[["replace",[],%s]]' % part for part in letter.parts]
    output = b'{"data":[%s],"is_generating":true%s' % (b",".join(parts), _REST)
    return b'data: {"msg":"process_generating",%s,"output":%s,"success":true,"time_limit":null}\n\n' % (event, output)


def to_call(letter: Letter, first: bool) -> bytes:
    """An event of a named endpoint's stream, in ASCII as Gradio sends it; nothing where there is none."""
    if letter.kind == "failed":
        return b'event: error\ndata: {"error":%s,"duration":10,"visible":true,"title":"Error"}\n\n' % _ascii(
            letter.parts[0]
        )
    if letter.kind == "done":
        return b"event: complete\ndata: [%s]\n\n" % _ascii(b",".join(letter.parts))
    return b""


def _ascii(text: bytes) -> bytes:
    """JSON in ASCII: what lies beyond it can only stand within a string."""
    return text if text.isascii() else _BEYOND.sub(_escaped, text)


def _escaped(found: re.Match[bytes]) -> bytes:
    pairs = found[0].decode().encode("utf-16-be")
    return b"".join(b"\\u%s" % pairs[at : at + 2].hex().encode() for at in range(0, len(pairs), 2))
