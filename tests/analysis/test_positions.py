"""Positions shifted, scaled and removed: against tables made by hand."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
import torch

from translator import InputError, Trace, Translator
from translator.analysis.positions import Side, move, with_positions
from translator.model.positions import sinusoids


def test_no_shift_changes_nothing(tiny: Translator, trace: Trace) -> None:
    found = move(tiny, trace)
    assert found.translation == trace.translation
    np.testing.assert_array_equal(found.cross, trace.cross)


@pytest.mark.slow
def test_the_model_itself_stays_as_it_was(tiny: Translator, trace: Trace) -> None:
    move(tiny, trace, shift=5, scale=0.5)
    np.testing.assert_array_equal(tiny.translate(trace.source, method="greedy", max_length=12).cross, trace.cross)


@pytest.mark.parametrize("side", ["source", "target", "both"])
def test_a_shift_is_the_table_from_there(tiny: Translator, side: str) -> None:
    changed = with_positions(tiny.bundle.model, side=side, shift=7, scale=2)  # type: ignore[arg-type]
    usual = sinusoids(200, 16, layout="interleaved")
    for name in ("src_positions", "tgt_positions"):
        moved = side == "both" or side[0] == name[0]
        want = 2 * sinusoids(207, 16, layout="interleaved")[7:] if moved else usual
        torch.testing.assert_close(getattr(changed, name), want)


@pytest.mark.slow
@pytest.mark.parametrize("side", ["source", "target"])
def test_compiled_or_not_the_positions_are_the_changed_ones(
    tiny: Translator, compiled: Translator, trace: Trace, side: Side
) -> None:
    want = move(tiny, trace, side=side, scale=0)
    assert not np.allclose(want.cross, trace.cross[:, :, : want.cross.shape[2]], atol=1e-3)
    np.testing.assert_allclose(move(compiled, trace, side=side, scale=0).cross, want.cross, atol=1e-5)


def test_without_positions_a_bag_of_words_is_read(tiny: Translator, trace: Trace) -> None:
    """Self-attention cannot tell two orders apart once no position says them."""
    model = with_positions(tiny.bundle.model, scale=0)
    ids = torch.tensor([[5, 9, 23, 2]])
    with torch.inference_mode():
        one, other = model.encode(ids, None).memory, model.encode(ids.flip(1), None).memory
    torch.testing.assert_close(one, other.flip(1))


@pytest.mark.parametrize("shift", [0, 0.5, 3, 1000])
def test_sinusoids_tell_distances_only(shift: float) -> None:
    table = sinusoids(60, 32, layout="concatenated", first=shift).double()
    products = table @ table.T
    for distance in (0, 1, 7, 30):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-5, rtol=1e-5)


def test_a_learned_table_has_an_end(tiny: Translator, trace: Trace, checkpoint_maker: ModuleType) -> None:
    sizes = len(tiny.bundle.src), len(tiny.bundle.tgt)
    model = checkpoint_maker.tiny_model(*sizes, positions="learned", max_positions=40)
    learned = Translator(replace(tiny.bundle, model=model))
    base = learned.translate(trace.source, max_length=10)
    changed = with_positions(model, shift=3)
    torch.testing.assert_close(changed.src_positions[:37], model.src_positions[3:])
    assert move(learned, base, shift=3, max_length=10).src == base.src
    with pytest.raises(InputError, match="at most 9"):
        move(learned, base, shift=31)
    for shift in (0.5, 40, -1):
        with pytest.raises(InputError, match="shift is"):
            move(learned, base, shift=shift)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"shift": float("nan")}, "shift is nan"),
        ({"shift": 10**400}, "shift is 1000"),
        ({"scale": -1}, "scale is -1"),
        ({"shift": True}, "shift is True"),
        ({"side": "left"}, "side is 'left'"),
        ({"side": ["both"]}, r"side is \['both'\]"),
    ],
)
def test_what_cannot_be_is_named(tiny: Translator, trace: Trace, values: dict, named: str) -> None:
    with pytest.raises(InputError, match=named):
        move(tiny, trace, **values)


def test_the_trace_of_other_weights_is_refused(tiny: Translator, trace: Trace) -> None:
    other = replace(trace, checkpoint=replace(trace.checkpoint, sha256="1" * 64))
    with pytest.raises(InputError, match="not by these weights"):
        move(tiny, other)


@pytest.mark.slow
@pytest.mark.parametrize(("change", "altered"), [({}, False), ({"shift": 2}, True), ({"scale": 0.5}, True)])
def test_the_trace_of_moved_positions_says_so(tiny: Translator, trace: Trace, change: dict, altered: bool) -> None:
    assert move(tiny, trace, **change).altered is altered
    assert move(tiny, trace, **{name: np.float64(value) for name, value in change.items()}).altered is altered
