"""The stored messages of `tests/protocol` are what the server says; the front end's tests read the same files."""

from __future__ import annotations

import base64
import importlib.util
import json
import math
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import orjson
import pytest

from translator.ui.message import read, send
from translator.ui.payload import lower_triangles, pack, unpack

FOLDER = Path(__file__).parents[1] / "protocol"
STORED = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.json"))
    if path.stem != "figures"
}
CHANGING = {"id", "seconds", "sha256"}
"""What no two runs, or no two builds, have in common."""


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("protocol_maker", FOLDER.with_name("protocol_maker.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("protocol")


@pytest.fixture(scope="module")
def said(maker: ModuleType, folder: Path) -> dict[str, Any]:
    models = maker.fixed_models(folder)
    return json.loads(json.dumps(maker.messages(models)))


def differences(found: Any, want: Any, place: str = "") -> list[str]:
    """Where two messages differ: in their shape anywhere, in numbers by more than two parts in ten thousand."""
    if place.rsplit(".", 1)[-1] in CHANGING:
        return [] if type(found) is type(want) else [f"{place}: {found!r}, not {want!r}"]
    if isinstance(want, dict) and isinstance(found, dict):
        if "bdata" in want:
            found, want = (np.frombuffer(base64.b64decode(x["bdata"]), x["dtype"]).tolist() for x in (found, want))
            return differences(found, want, place)
        lost = [f"{place}.{name} is only in one" for name in want.keys() ^ found.keys()]
        both = sorted(want.keys() & found)
        return lost + [d for name in both for d in differences(found[name], want[name], f"{place}.{name}")]
    if isinstance(want, list) and isinstance(found, list) and len(want) == len(found):
        pairs = enumerate(zip(found, want, strict=True))
        return [d for i, pair in pairs for d in differences(*pair, f"{place}.{i}")]
    if isinstance(want, str) and isinstance(found, str) and want.startswith('{"'):
        return differences(json.loads(found), json.loads(want), place)
    if {type(found), type(want)} <= {int, float}:
        same = math.isclose(found, want, rel_tol=2e-4, abs_tol=2e-4)
        return [] if same else [f"{place}: {found}, not {want}"]
    return [] if found == want else [f"{place}: {found!r:.80}, not {want!r:.80}"]


def opened(message: dict[str, Any]) -> dict[str, Any]:
    """A message with its packed weights as numbers."""
    packed = {"weights", "rollout", "cross"} & message.keys() if message.get("kind") in ("trace", "step") else set()
    opened_ = {name: message[name] for name in packed}
    weights = {
        name: {kind: unpack(each, "u16").tolist() for kind, each in value.items()}
        if isinstance(value, dict)
        else unpack(value, "u16").tolist()
        for name, value in opened_.items()
    }
    return {**message, **weights}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(STORED))
def test_the_server_says_what_is_stored(said: dict[str, Any], name: str) -> None:
    """Else, if the protocol was meant to change: python tests/protocol_maker.py"""
    assert differences(opened(said[name]), opened(STORED[name])) == []


@pytest.mark.usefixtures("said")
def test_the_checkpoint_behind_them_is_stored(maker: ModuleType, folder: Path) -> None:
    for name in maker.CHECKPOINT:
        assert (FOLDER / "fixed" / name).read_bytes() == (folder / "fixed" / name).read_bytes(), name


def test_every_kind_of_message_is_stored(said: dict[str, Any]) -> None:
    assert said.keys() == STORED.keys()


def test_the_numbers_are_those_of_the_packed_maps() -> None:
    trace, numbers = STORED["trace"], STORED["numbers"]
    for kind, sent in trace["weights"].items():
        assert numbers[kind]["shape"] == trace["shapes"][kind]
        whole = np.array(numbers[kind]["values"]).reshape(numbers[kind]["shape"])
        kept = lower_triangles(whole) if kind == "decoder" else whole
        np.testing.assert_allclose(unpack(sent, trace["encoding"]), kept.ravel(), atol=1e-5)


@pytest.mark.parametrize("name", sorted(STORED))
def test_a_message_comes_back_from_its_journey(name: str) -> None:
    assert read(send(STORED[name]) or "") == STORED[name]


def test_a_long_message_is_one_zlib_stream_no_larger_than_a_plain_one() -> None:
    weights = np.random.default_rng(1).dirichlet(np.full(20, 0.1), 5000)
    message = {**STORED["trace"], "weights": {"encoder": pack(weights, "u16"), "cross": pack(weights[:1000], "u16")}}
    sent = base64.b64decode(send(message) or "")
    assert json.loads(zlib.decompress(sent)) == message
    assert len(sent) <= len(zlib.compress(orjson.dumps(message)))


@pytest.mark.parametrize(
    ("found", "want"),
    [
        ({"a": 1}, {"a": 1, "b": 2}), ({"a": 1, "b": 2}, {"a": 1}), ([1], [1, 2]),
        ({"a": 0.5}, {"a": 0.501}), ("x", "y"), ('{"a":1}', '{"a":2}'), ({"id": None}, {"id": "x"}),
    ],
)  # fmt: skip
def test_a_difference_is_found(found: Any, want: Any) -> None:
    assert differences(found, want)
