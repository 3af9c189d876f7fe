"""Another token at a step: what stands before it stays, and the chosen token gives the same again."""

from __future__ import annotations

import pytest

from translator import InputError, Trace, Translator
from translator.analysis.edit import continue_from


def ids(trace: Trace) -> list[int]:
    return [token.id for token in trace.tgt]


@pytest.mark.parametrize("step", [0, 3, 11])
def test_picking_the_chosen_token_reproduces_the_rest(tiny: Translator, trace: Trace, step: int) -> None:
    found = continue_from(tiny, trace, step, ids(trace)[step])
    assert ids(found) == ids(trace)
    assert found.score == pytest.approx(trace.score, abs=1e-5)


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_the_prefix_is_unchanged_and_the_choice_stands_there(tiny: Translator, trace: Trace, method: str) -> None:
    other = trace.steps[4].candidates[2].token.id
    found = continue_from(tiny, trace, 4, other, method=method)
    assert ids(found)[:5] == [*ids(trace)[:4], other]


@pytest.mark.slow
def test_a_typed_word_stands_there(tiny: Translator, trace: Trace) -> None:
    found = continue_from(tiny, trace, 2, "house", max_length=20)
    before = tiny.bundle.tgt.decode(ids(trace)[:2])
    assert found.translation.startswith(before)
    assert found.translation[len(before) :].lstrip().startswith("house")


@pytest.mark.parametrize(
    ("step", "choice", "named"),
    [(12, 5, "step is 12"), (0, " ", "blank"), (0, 10**6, "1000000"), (-1, 5, "step is -1")],
)
def test_what_cannot_be_is_refused(tiny: Translator, trace: Trace, step: int, choice: int | str, named: str) -> None:
    with pytest.raises(InputError, match=named):
        continue_from(tiny, trace, step, choice)
