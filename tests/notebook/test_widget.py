"""Widgets without a notebook: what they accept, what they are told by a page, and what is left without the extra."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import translator
from translator.errors import InputError
from translator.notebook import doors
from translator.trace import Trace
from translator.ui.payload import unpack

MakeTrace = Callable[..., Trace]


@pytest.mark.slow
def test_a_page_gets_what_it_asks_for(make_trace: MakeTrace, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = make_trace(3)
    widget: Any = translator.explore(trace)
    sent: list[tuple[dict, list[bytes]]] = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append((content, buffers)))
    for number, name in enumerate(("bundle", "exact", "npz", "nothing")):
        widget._handle_custom_msg({"ask": name, "number": str(number)}, [])
    assert [content["answer"] for content, _ in sent] == ["0", "1", "2"]
    script, plotly, words = (zlib.decompress(each) for each in sent[0][1])
    assert b"mountComparison" in script and b"Plotly" in plotly and json.loads(words)["de"]["Head"] == "Kopf"
    exact = json.loads(zlib.decompress(sent[1][1][0]))
    assert np.array_equal(unpack(exact["weights"]["cross"], "f32").reshape(trace.cross.shape), trace.cross)


def test_what_cannot_be_shown_is_refused(make_trace: MakeTrace) -> None:
    widget: Any = translator.explore(make_trace(0))
    for name, value, said in (
        ("head", 99, "heads 0 to 3"),
        ("layer", -1, "layers 0 to 2"),
        ("kind", "self", "must be encoder, decoder or cross"),
        ("cell", (0, 99), "columns 0 to 8"),
        ("theme", "pink", "auto, light, dark"),
    ):
        with pytest.raises(InputError, match=said):
            setattr(widget, name, value)
    widget.cell = (1, 2)
    widget.kind = "encoder"
    assert widget.cell is None and widget.weights.shape == (9, 9)


@pytest.mark.slow
def test_self_attention_alone_has_one_kind() -> None:
    maps = [np.full((1, 2, 3, 3), 1 / 3)]
    widget: Any = translator.head_view(maps, ["[CLS]", "a", "b"], layer=0, heads=[1])
    assert (widget.kind, widget.head, widget.trace.kinds) == ("encoder", 1, ("encoder",))
    with pytest.raises(InputError, match="must be one of encoder"):
        widget.kind = "cross"
    page = translator.head_view(maps, ["[CLS]", "a", "b"], html_action="return").data
    assert page.startswith("<!doctype html>")


def test_what_is_chosen_stays_within_the_kind_that_is_shown() -> None:
    def even(*shape: int) -> np.ndarray:
        return np.full(shape, 1 / shape[-1])

    widget: Any = translator.explore(
        encoder_attention=even(3, 4, 6, 6), cross_attention=even(1, 2, 2, 6),
        encoder_tokens=list("abcdef"), decoder_tokens=["<s>", "x"],
    )  # fmt: skip
    widget.kind = "encoder"
    widget.layer, widget.head, widget.step = 2, 3, 5
    widget.kind = "cross"
    assert (widget.layer, widget.head, widget.step) == (0, 1, 1)
    assert widget.weights.shape == (2, 6)


def test_the_picture_that_a_notebook_stores_is_of_the_head_that_is_shown(make_trace: MakeTrace) -> None:
    widget: Any = translator.explore(make_trace(0))
    widget.kind, widget.layer, widget.head = "decoder", 2, 1
    data, _ = widget._repr_mimebundle_()
    assert "decoder attention, layer 3, head 2<" in data["image/svg+xml"]
    assert np.array_equal(widget.weights, widget.trace.decoder[2, 1])
    texts = [node.text or "" for node in ET.fromstring(data["image/svg+xml"]).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314
    numbers = sorted(text for text in texts if re.fullmatch(r"1?\.\d\d", text))
    assert numbers == sorted(f"{w:.2f}".removeprefix("0") for w in widget.weights.ravel() if w >= 0.005)


def test_without_the_extra_there_is_a_picture(make_trace: MakeTrace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "find_spec", lambda name: None)
    trace = make_trace(0, source=(("<b>&", 0), ("x", 1)))
    bundle = translator.explore(trace)._repr_mimebundle_()
    assert set(bundle) == {"image/svg+xml", "text/plain"}
    texts = [node.text for node in ET.fromstring(bundle["image/svg+xml"]).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314
    assert "<b>&" in texts and any(text and text.startswith(".") for text in texts)
    pair = translator.compare(trace, make_trace(1))._repr_mimebundle_()
    assert ET.fromstring(pair["image/svg+xml"]) is not None  # noqa: S314


def test_a_terminal_shows_text(make_trace: MakeTrace) -> None:
    trace = make_trace(0)
    assert trace._repr_mimebundle_() == {"text/plain": repr(trace)}


def test_a_trace_is_written_as_a_page(make_trace: MakeTrace, tmp_path: Path) -> None:
    trace = make_trace(0)
    trace.save_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "die Bücher, die ich habe." in text


def test_compare_takes_traces_alone(make_trace: MakeTrace) -> None:
    with pytest.raises(InputError, match="second is 'x'"):
        translator.compare(make_trace(0), "x")
