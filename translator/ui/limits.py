"""Server-side limits on a visitor's request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from translator.errors import InputError
from translator.registry.decoding import SEED, SETTINGS
from translator.registry.field import CHARACTERS
from translator.ui import fields
from translator.ui.fields import Field

_SURROGATE = re.compile("[\ud800-\udfff]")
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")


def text(value: object, what: str = "the text") -> str:
    """`value`, if it is a string that is short enough; nothing else has looked at it before.

    Raises:
        InputError: it is not; the message states the limit and the size.
    """
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string")
    if len(value) > CHARACTERS:
        size = f"{len(value):,} characters; at most {CHARACTERS:,} are allowed"
        raise InputError(f"{what} has {size}, so shorten it")
    return _SURROGATE.sub("\ufffd", value)


def settings(values: object) -> dict[str, Any]:
    """Decoding settings that a public page grants; their types and their own ranges are `DecodeConfig`'s to judge.

    Whole numbers come from a browser as 4 or as 4.0.

    Raises:
        InputError: a value costs more than a visitor may spend, or `values` is no mapping.
    """
    if not isinstance(values, Mapping):
        raise InputError("the settings must be names with values")
    out = {name: int(value) if _whole(value) else value for name, value in values.items()}
    for each in SETTINGS:
        value = out.get(each.name)
        if each.granted is not None and isinstance(value, int) and value > each.granted:
            raise InputError(f"{each.name} is {value}; at most {each.granted} is allowed here")
    return out


def _whole(value: object) -> bool:
    return isinstance(value, float) and value.is_integer() and abs(value) <= SEED


@dataclass(frozen=True)
class Doors:
    """What of the page may be called from outside, by the shape of the call.

    `events`: index of every handler → the fields that it takes. `functions`: (component, name) of what a component may
    ask the server. `rpc`: whether the Model Context Protocol is spoken. `endpoints`: names of the public API → its
    parameters.
    """

    events: Mapping[int, Sequence[Field]] = field(default_factory=dict)
    functions: Collection[tuple[int, str]] = frozenset()
    rpc: bool = False
    endpoints: Mapping[str, Sequence[Field]] = field(default_factory=dict)

    def check(self, call: str, body: bytes) -> dict[str, Any]:
        """The body of a call: known keys, sound Unicode, no NaN, and every value of the kind of its field.

        Args:
            call: "join", "cancel", "reset", "function", "rpc", "endpoint:<name>" or "named:<name>".
        Raises:
            InputError: anything else; its message repeats nothing of the body.
        """
        values = _object(body)
        name, _, endpoint = call.partition(":")
        keys = _CALLS[name](self, values, endpoint)
        kept = {key: values[key] for key in keys if key in values}
        try:
            clean = json.dumps(kept, ensure_ascii=False, allow_nan=False)
        except (ValueError, RecursionError) as error:
            raise InputError("the body holds a number beyond all bounds, or is nested too deeply") from error
        found: dict[str, Any] = json.loads(_SURROGATE.sub("\ufffd", clean)) if _SURROGATE.search(clean) else kept
        return found

    def _join(self, values: dict[str, Any], _: str) -> tuple[str, ...]:
        index = _int(values, "fn_index")
        if index not in self.events:
            raise InputError("fn_index names no event of this page; reload it")
        _listed(values, self.events[index])
        _session(values)
        if values.get("trigger_id") is not None:
            _int(values, "trigger_id")
        return "data", "fn_index", "session_hash"

    def _cancel(self, values: dict[str, Any], _: str) -> tuple[str, ...]:
        _int(values, "fn_index")
        _session(values)
        _session(values, "event_id")
        return "session_hash", "fn_index", "event_id"

    def _reset(self, values: dict[str, Any], _: str) -> tuple[str, ...]:
        _session(values, "event_id")
        return ("event_id",)

    def _function(self, values: dict[str, Any], _: str) -> tuple[str, ...]:
        _session(values)
        place, name = _int(values, "component_id"), values.get("fn_name")
        if not isinstance(name, str) or (place, name) not in self.functions or "data" not in values:
            raise InputError("there is no such function; reload the page")
        return "data", "component_id", "fn_name", "session_hash"

    def _rpc(self, values: dict[str, Any], _: str) -> tuple[str, ...]:
        if values.get("jsonrpc") != "2.0":
            raise InputError("the body is no JSON-RPC 2.0 message")
        return "jsonrpc", "id", "method", "params", "result", "error"

    def _endpoint(self, values: dict[str, Any], name: str) -> tuple[str, ...]:
        _listed(values, self._parameters(name))
        return ("data",)  # and no session: it is read by the event's id

    def _named(self, values: dict[str, Any], name: str) -> tuple[str, ...]:
        parameters = self._parameters(name)
        named(values, parameters)
        return tuple(each.name for each in parameters)

    def _parameters(self, name: str) -> Sequence[Field]:
        if name not in self.endpoints:
            raise InputError(f"there is no such endpoint; there are {', '.join(sorted(self.endpoints)) or 'none'}")
        return self.endpoints[name]


def named(values: Mapping[str, Any], parameters: Sequence[Field]) -> None:
    """Check the arguments of an endpoint.

    Raises:
        InputError: one is unknown, missing, or of another kind.
    """
    known = {each.name: each for each in parameters}
    for key, value in values.items():
        if key not in known:
            raise InputError(f"this endpoint takes {', '.join(known)}, and nothing else")
        fields.check(value, known[key].kind, key, empty=known[key].empty)
    for key, parameter in known.items():
        if parameter.needed and key not in values:
            raise InputError(f"{key} is missing")


_CALLS: dict[str, Callable[[Doors, dict[str, Any], str], tuple[str, ...]]] = {
    "join": Doors._join,
    "cancel": Doors._cancel,
    "reset": Doors._reset,
    "function": Doors._function,
    "rpc": Doors._rpc,
    "endpoint": Doors._endpoint,
    "named": Doors._named,
}


def _object(body: bytes) -> dict[str, Any]:
    try:
        values = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError("the body is no JSON") from error
    if not isinstance(values, dict):
        raise InputError("the body is no JSON object")
    return values


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _int(values: dict[str, Any], key: str) -> int:
    value = values.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{key} must be a whole number")
    return value


def _listed(values: dict[str, Any], parameters: Sequence[Field]) -> None:
    data = values.get("data")
    if not isinstance(data, list) or len(data) != len(parameters):
        raise InputError(f"data must be a list of {len(parameters)} values")
    for value, parameter in zip(data, parameters, strict=True):
        fields.check(value, parameter.kind, parameter.name, empty=parameter.empty)


def _session(values: dict[str, Any], key: str = "session_hash") -> None:
    value = values.get(key)
    if not isinstance(value, str) or not _SESSION.fullmatch(value):
        raise InputError(f"{key} must be 1 to 64 letters and digits")
