"""Translating on from a candidate: the page's own function, and the text that two hypotheses share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from translator import Translator
from translator.trace import Beam
from translator.ui.models import Models
from translator.ui.payload import _beams
from translator.ui.translate_tab import server_functions


@pytest.fixture
def functions(tiny_checkpoint: Path) -> dict[str, Callable[[dict], dict]]:
    return {each.__name__: each for each in server_functions(Models({"tiny": tiny_checkpoint}))}


def asked(trace: Any, prefix: object) -> dict[str, Any]:
    return {"text": trace.source, "direction": "tiny", "settings": asdict(trace.settings), "prefix": prefix}


@pytest.mark.slow
def test_it_begins_with_the_given_tokens_and_is_what_a_forced_search_gives(
    functions: dict[str, Callable[[dict], dict]], tiny: Translator
) -> None:
    trace = tiny.translate("Ich renne.", method="greedy", max_length=6)
    other = trace.steps[1].candidates[2].token.id
    prefix = [trace.tgt[0].id, other]
    found = functions["resume"](asked(trace, prefix))
    wanted = tiny.translate("Ich renne.", method="greedy", max_length=6, prefix=prefix)
    assert [each["i"] for each in found["tgt"]] == [token.id for token in wanted.tgt]
    assert [each["i"] for each in found["tgt"]][:2] == prefix == found["prefix"]
    again = functions["exact"]({**asked(trace, prefix), "id": found["id"]})
    assert again["tgt"] == found["tgt"]
    lost = functions["exact"](asked(trace, prefix))  # not kept any more: it is decoded again, with its beginning
    assert lost["tgt"] == found["tgt"]


@pytest.mark.parametrize("prefix", ["abc", [1.5], [-1], [10**9], [True], [0] * 1001, {"a": 1}])
def test_what_is_no_beginning_is_refused(
    functions: dict[str, Callable[[dict], dict]], tiny: Translator, prefix: object
) -> None:
    trace = tiny.translate("Ich renne.", method="greedy", max_length=6)
    assert "error" in functions["resume"](asked(trace, prefix))


def test_hypotheses_of_one_text_are_told_apart_by_the_whole_of_it() -> None:
    texts = {(1,): "ab", (2, 3): "ab", (4,): "x" * 70 + "end", (5,): "y" + "x" * 69 + "end", (6,): "ab"}
    beams = [Beam(ids, -1.0, -1.0, 0, ids == (6,)) for ids in texts]
    found = _beams(beams, lambda ids: texts[tuple(ids)], ())
    assert ["x" in each for each in found] == [False, True, False, False, False]
