"""A trace keeps everything in its file, and refuses one that says something else."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import tracemalloc
import zipfile
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


@pytest.mark.slow
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
    with pytest.raises(InputError, match="is not a trace file"):
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


@pytest.mark.slow
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


def bomb(path: Path, name: str, header: bytes, size: int) -> Path:
    """An archive of little that unpacks to `size` zeros, behind the header of an array."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for each in ("meta", "encoder", "decoder", "cross"):
            with archive.open(f"{each}.npy", "w", force_zip64=True) as file:
                file.write(header)
                for _ in range(size // 2**20 if each == name else 0):
                    file.write(bytes(2**20))
    return path


def header(shape: tuple[int, ...], dtype: str = "<f4") -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "head", "mebibytes"),
    [
        ("meta", header((2**20,), "|u1"), 300),
        ("encoder", header((1, 1, 2**13, 2**13)), 300),
        ("meta", header((2**40,), "|u1"), 1),
        ("meta", header((2**62, 4), "|u1"), 1),
        ("meta", header((3,), "|O"), 1),
        ("meta", header((3,), "|V8"), 1),
    ],
)
def test_a_small_file_that_unpacks_to_very_much_is_refused_unread(
    tmp_path: Path, name: str, head: bytes, mebibytes: int
) -> None:
    path = bomb(tmp_path / "x.npz", name, head, mebibytes * 2**20)
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"x\.npz"):
            Trace.load(path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


@pytest.mark.timeout(30)  # whoever opens a pipe waits for its other end, for ever
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")
def test_a_pipe_is_no_trace_file_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    with pytest.raises(InputError, match="no such file"):
        Trace.load(tmp_path / "pipe.npz")


def test_a_full_disk_leaves_the_former_trace(tiny: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, link = tmp_path / "x.npz", tmp_path / "link.npz"
    tiny.translate(TEXT, max_length=2).save(path)
    link.symlink_to(path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            tiny.translate(TEXT, max_length=3).save(link)
    assert path.read_bytes() == before and sorted(each.name for each in tmp_path.iterdir()) == ["link.npz", "x.npz"]
    tiny.translate(TEXT, max_length=3).save(link)
    assert link.is_symlink() and len(Trace.load(path).tgt) == 3


def test_what_is_shown_of_large_things_is_short(tiny: Translator) -> None:
    """A warning or a debugger that shows one would else print a model and its weights."""
    trace = tiny.translate(TEXT, max_length=4)
    for each in (trace, tiny, tiny.bundle):
        assert len(repr(each)) < 700 and tiny.name in repr(each) and "\n" not in repr(each)
    assert repr(tiny) == "Translator('tiny', de to en, on cpu)"
    assert "4 target tokens" in repr(trace)
