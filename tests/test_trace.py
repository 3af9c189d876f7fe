"""A trace keeps everything in its file, and refuses one that says something else."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from translator import (
    InputError,
    Trace,
    Translator,
)

TEXT = "Guten Morgen, ich renne!"


def test_a_trace_survives_a_file(tiny: Translator, tmp_path: Path) -> None:
    trace = tiny.translate(TEXT, method="beam", max_length=12)
    trace.save(tmp_path / "x.npz")
    again = Trace.load(tmp_path / "x.npz")
    assert again._meta() == trace._meta()
    for name in ("encoder", "decoder", "cross", "log_probs"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trace, name))
    for a, b in zip(again.steps, trace.steps, strict=True):
        np.testing.assert_array_equal(a.cross, b.cross)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("change", [lambda maps: maps.astype(int), lambda maps: maps[..., :-1], lambda maps: maps[0]])
def test_a_trace_file_with_other_maps_is_refused(
    tiny: Translator, tmp_path: Path, kind: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    tiny.translate(TEXT, max_length=4).save(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as data:
        arrays = dict(data)
    np.savez(tmp_path / "x.npz", **{**arrays, kind: change(arrays[kind])})
    with pytest.raises(InputError, match="is no trace file"):
        Trace.load(tmp_path / "x.npz")


@pytest.mark.parametrize(
    "change",
    [
        lambda meta: meta.update(truncated="no"),
        lambda meta: meta.update(source=5),
        lambda meta: meta["src"][0].update(id="5"),
        lambda meta: meta["src"][0].update(span=[0]),
        lambda meta: meta["src"][0].update(special=None),
        lambda meta: meta["checkpoint"].update(name=None),
        lambda meta: meta["steps"][0].update(log_prob="-1"),
        lambda meta: meta["steps"][0]["candidates"][0].update(log_prob=None),
        lambda meta: meta["steps"][0]["beams"][0].update(ids=[1.5]),
        lambda meta: meta["settings"].update(beam=0),
        lambda meta: meta.update(colour="red"),
    ],
)
def test_a_trace_file_that_says_something_else_is_refused(
    tiny: Translator, tmp_path: Path, change: Callable[[dict], None]
) -> None:
    tiny.translate(TEXT, method="beam", max_length=4).save(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as data:
        arrays = dict(data)
    meta = json.loads(arrays["meta"].tobytes())
    change(meta)
    np.savez(tmp_path / "x.npz", **{**arrays, "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)})
    with pytest.raises(InputError):
        Trace.load(tmp_path / "x.npz")


def test_decoder_and_cross_maps_are_of_the_same_heads(tiny: Translator) -> None:
    trace = tiny.translate(TEXT, max_length=4)
    with pytest.raises(ValueError, match="of the same heads"):
        dataclasses.replace(trace, cross=trace.cross[:, :1].copy())


def test_another_kind_of_attention_is_named(tiny: Translator) -> None:
    trace = tiny.translate(TEXT, max_length=2)
    for ask in (trace.weights, trace.queries, trace.keys):
        with pytest.raises(InputError, match="attention kind is 'self'"):
            ask("self")


def test_a_trace_file_that_was_damaged_is_refused(tiny: Translator, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    tiny.translate(TEXT, max_length=4).save(path)
    whole = path.read_bytes()
    damaged = [whole[: len(whole) * part // 20] for part in range(20)]
    for at in range(0, len(whole), 29):
        damaged.append(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
    np.save(tmp_path / "x.npy", np.zeros(3))
    survived = 0  # some bytes of an archive say nothing
    for content in [*damaged, (tmp_path / "x.npy").read_bytes()]:
        path.write_bytes(content)
        with suppress(InputError):
            Trace.load(path)
            survived += 1
    assert survived < len(damaged) / 2
