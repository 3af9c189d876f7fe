"""Work asks whether it is still wanted in bounded pieces, so that one visitor's sentence never holds up another."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from translator import Trace, Translator
from translator.analysis import contrast as contrasts
from translator.analysis import faithfulness as meter
from translator.analysis import patching
from translator.analysis.alti import alti
from translator.analysis.attribution import source_maps
from translator.analysis.flow import flow
from translator.analysis.minimal import Runs, minimal_pair
from translator.analysis.stopping import Stop
from translator.analysis.value_zeroing import value_zeroing
from translator.errors import CancelledError

Work = Callable[[Translator, Trace, Stop], Any]
TEXT = "Das Haus ist groß, aber alt."


def layers(model: Translator) -> int:
    config = model.bundle.model.config
    return config.encoder_layers + config.decoder_layers


def runs(model: Translator, trace: Trace) -> Runs:
    return minimal_pair(model, trace, "Das Haus ist groß, aber schön.", max_length=8, step=1, word=30, against=52)


def words_hidden(model: Translator, trace: Trace, stop: Stop) -> Any:
    return contrasts.contrast(model, trace, 1, points=1, stop=stop)


def board(model: Translator, trace: Trace, stop: Stop) -> Any:
    return patching.grid(runs(model, trace), "residual", stop=stop)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "least"),
    [
        (lambda model, trace, stop: alti(model, trace, stop=stop), lambda model, trace: layers(model)),
        (lambda model, trace, stop: value_zeroing(model, trace, stop=stop), lambda model, trace: layers(model)),
        (
            lambda model, trace, stop: source_maps(model, trace, methods=["alti", "value-zeroing"], stop=stop),
            lambda model, trace: 2 * layers(model),
        ),
        (
            lambda model, trace, stop: flow(trace.encoder, trace.decoder, trace.cross, stop=stop),
            lambda model, trace: len(trace.tgt) * (len(trace.src) + len(trace.tgt)),
        ),
    ],
    ids=["alti", "value zeroing", "methods of the comparison", "flow"],
)
def test_it_asks_before_every_layer_or_cell(
    tiny: Translator, work: Work, least: Callable[[Translator, Trace], int]
) -> None:
    trace = tiny.translate(TEXT, method="greedy", max_length=8)
    asked: list[int] = []
    work(tiny, trace, lambda: bool(asked.append(0)))
    assert len(asked) >= least(tiny, trace)
    for count in (0, len(asked) // 2, len(asked) - 1):
        answers = iter([False] * count + [True])
        with pytest.raises(CancelledError):
            work(tiny, trace, lambda: next(answers))  # noqa: B023 - called at once


@pytest.mark.slow
@pytest.mark.parametrize(("module", "work"), [(contrasts, words_hidden), (patching, board)], ids=["contrast", "board"])
def test_a_long_sentence_asks_more_often_and_gives_the_same(
    tiny: Translator, monkeypatch: pytest.MonkeyPatch, module: ModuleType, work: Work
) -> None:
    trace = tiny.translate(TEXT, method="greedy", max_length=8)

    def pieces() -> tuple[int, Any]:
        asked: list[int] = []
        found = work(tiny, trace, lambda: bool(asked.append(0)))
        return len(asked), found.source["occlusion"] if module is contrasts else found.restored

    few, whole = pieces()
    monkeypatch.setattr(module, "POSITIONS", 2 * len(trace.src))
    many, parts = pieces()
    assert many > few
    np.testing.assert_allclose(parts, whole, atol=1e-4)


def test_random_orders_are_ranked_in_pieces_and_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    loss = np.random.default_rng(1).normal(size=(5, 7))
    whole, asked = meter.chance_level(loss, seed=3), []
    monkeypatch.setattr(meter, "CELLS", 3 * loss.size)
    assert meter.chance_level(loss, seed=3, stop=lambda: bool(asked.append(0))) == whole
    assert len(asked) == -(-meter.DRAWS // 3)
    with pytest.raises(CancelledError):
        meter.chance_level(loss, stop=lambda: True)
