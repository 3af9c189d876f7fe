"""Layers, heads, steps and counts: whole numbers of Python's or NumPy's, and nothing that only looks like one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from translator import InputError, Trace, Translator
from translator.analysis.beams import beam_tree
from translator.analysis.bench import Aligner, word_map
from translator.analysis.cell import cell
from translator.analysis.edit import continue_from
from translator.analysis.faithfulness import faithfulness
from translator.analysis.lens import lens
from translator.analysis.links import head_csv, strongest
from translator.analysis.passes import pair_of
from translator.analysis.stations import cross_attention, encoder_layer

ASKED: dict[str, Callable[[Translator, Trace, Any], object]] = {
    "layer of a cell": lambda tiny, trace, n: cell(tiny, trace, "cross", n, 0, 0, 0).weights.tolist(),
    "key of a cell": lambda tiny, trace, n: cell(tiny, trace, "cross", 0, 0, 0, n).weight,
    "layer of a walk": lambda tiny, trace, n: encoder_layer(tiny, trace.source, n).after.tolist(),
    "layer of a station": lambda tiny, trace, n: cross_attention(tiny, trace, n).output.tolist(),
    "step": lambda tiny, trace, n: continue_from(tiny, trace, n, 5).translation,
    "head of a table": lambda tiny, trace, n: head_csv(trace, "cross", 0, n),
    "row": lambda tiny, trace, n: strongest(trace.cross[0, 0], ["a"] * len(trace.tgt), ["b"] * len(trace.src), row=n),
    "count of links": lambda tiny, trace, n: strongest(np.eye(2), ["a", "b"], ["c", "d"], count=n),
    "layer of an aligner": lambda tiny, trace, n: word_map(tiny, trace, Aligner(layer=n), (20, 20)).tolist(),
    "head of an aligner": lambda tiny, trace, n: word_map(tiny, trace, Aligner(head=n), (20, 20)).tolist(),
    "count of candidates": lambda tiny, trace, n: lens(tiny, trace, count=n).best,
    "seed": lambda tiny, trace, n: faithfulness(tiny, trace, seed=n).chance,
    "beam": lambda tiny, trace, n: beam_tree(tiny, trace.source, beam=n + 1, max_length=3).trace.translation,
}


@pytest.mark.parametrize("name", ASKED)
def test_a_number_is_a_whole_number(tiny: Translator, trace: Trace, name: str) -> None:
    ask = ASKED[name]
    want = ask(tiny, trace, 1)
    for one in (np.int64(1), np.uint8(1)):
        assert ask(tiny, trace, one) == want
    for wrong in (1.0, np.float32(1), float("nan"), -1):
        with pytest.raises(InputError, match="is "):
            ask(tiny, trace, wrong)
    if name != "beam":  # which adds one to it here
        for wrong in (True, np.True_, "1", [1]):
            with pytest.raises(InputError, match="is "):
                ask(tiny, trace, wrong)


def test_a_token_that_the_model_does_not_know_is_named(tiny: Translator, trace: Trace) -> None:
    unknown = replace(trace.tgt[3], id=10**6)
    with pytest.raises(InputError, match="the trace's target holds id 1000000"):
        pair_of(tiny, replace(trace, tgt=(*trace.tgt[:3], unknown, *trace.tgt[4:])))
