"""Messages to the page: JSON, or base64 zlib where it is long."""

from __future__ import annotations

import base64
import itertools
import json
import zlib
from typing import Any

import orjson

from translator.ui.deflate import deflated

LONG = 16_384
"""Bytes of JSON from which a message is compressed: a whole trace, never a step that is waited for."""

_numbers = itertools.count(1)


def answer(message: dict[str, Any]) -> str | None:
    """`send`, as a value that no answer had before.

    The page takes what it holds already for no news, and would wait on where the same text is refused twice.
    """
    return send({**message, "number": next(_numbers)})


def run_number(value: object) -> int | None:
    """The page's own number of a run, as it is carried back; None for what no page counts to."""
    return value if type(value) is int and abs(value) < 2**53 else None


def send(message: dict[str, Any] | None) -> str | None:
    """The value that the page's `messageOf` reads; None stays None."""
    if message is None:
        return None
    text = orjson.dumps(message)
    return text.decode() if len(text) < LONG else base64.b64encode(deflated(text)).decode("ascii")


def read(value: str) -> dict[str, Any]:
    """The message that `send` made `value` of."""
    message: dict[str, Any] = json.loads(value if value.startswith("{") else zlib.decompress(base64.b64decode(value)))
    return message
