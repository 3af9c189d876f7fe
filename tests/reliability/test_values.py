"""Values that no page sends, in the page's events and in its components' functions: each is answered."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reliability.conftest import DEFAULTS, RUN
from translator.ui.message import read

pytestmark = pytest.mark.slow
CANARY = "Kanarienvogel4711"


@pytest.mark.parametrize(
    "data",
    [
        [CANARY, "de-en", "beam", 13, 0.6, 1, 0, 1, 0, 0],
        [CANARY, "de-en", "beam", 1.5, 0.6, 1, 0, 1, 0, 0],
        [CANARY, "de-en", "sample", 4, 0.6, 1, 10**30, 1, 0, 0],
        [CANARY, "de-en", "sample", 4, 0.6, 1, 0, 1, 2**60, 0],
        [CANARY, "de-en", CANARY, 4, 0.6, 1, 0, 1, 0, 0],
        [CANARY, CANARY, "greedy", 4, 0.6, 1, 0, 1, 0, 0],
        [CANARY, "de-en", "greedy", 4, 0.6, 1, 0, 1, 0, 161],
        [CANARY, "de-en", "greedy", 4, 0.6, 1, 0, 1, 0, -1],
        [None, None, None, None, None, None, None, None, None, None],
        ["\u200b\u3000\ufeff", "de-en", "greedy", 4, 0.6, 1, 0, 1, 0, 0],
    ],
)
def test_a_bad_value_is_answered_with_a_sentence(live: Any, data: list[Any]) -> None:
    visitor = live.visitor()
    assert visitor.join(None, data=[RUN, *data]).status_code == 200
    done = next(m for m in visitor.read() if m["msg"] == "process_completed")
    said = read(done["output"]["data"][0])
    assert said["kind"] == "error" and said["run"] == RUN and len(said["text"]) > 10 and "Traceback" not in said["text"]


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ([RUN, CANARY, "de-en", "beam", [1], 0.6, 1, 0, 1, 0, 0], "Beams (0: automatic)"),
        ([RUN, CANARY, "de-en", "beam", 4, {"a": CANARY}, 1, 0, 1, 0, 0], "Length penalty (empty: automatic)"),
        ([RUN, CANARY, ["de-en"], "greedy", 4, 0.6, 1, 0, 1, 0, 0], "Direction"),
        ([RUN, [CANARY], "de-en", "greedy", 4, 0.6, 1, 0, 1, 0, 0], "Sentence to translate"),
        ([RUN, CANARY, "de-en", "greedy", True, 0.6, 1, 0, 1, 0, 0], "Beams (0: automatic)"),
        *(([run, "Ich renne.", "de-en", *DEFAULTS], "Number") for run in ("\ud800", CANARY, {"a": [CANARY]}, True)),
    ],
)
def test_a_value_of_another_kind_is_refused_before_anything_looks_at_it(live: Any, data: list[Any], field: str) -> None:
    answer = live.visitor().join(None, data=data)
    assert answer.status_code == 422 and answer.json()["error"].startswith(f"{field} must be")
    assert CANARY not in answer.text


@pytest.mark.parametrize("run", [1.5, None, 2**53, -(2**63) - 1, 10**400])
def test_a_run_that_no_page_counts_to_is_carried_back_as_none(live: Any, run: object) -> None:
    visitor = live.visitor()
    visitor.join(None, data=[run, "Ich renne.", "de-en", *DEFAULTS])
    done = next(m for m in visitor.read() if m["msg"] == "process_completed")
    said = read(done["output"]["data"][0])
    assert (said["kind"], said["run"]) == ("trace", None)


TEXTS, NUMBERS = st.none() | st.text(max_size=30), st.none() | st.integers() | st.floats(allow_nan=False)
KINDS = st.tuples(
    NUMBERS,
    TEXTS,
    TEXTS | st.just("de-en"),
    TEXTS | st.sampled_from(["greedy", "beam", "sample"]),
    NUMBERS,
    TEXTS | NUMBERS,
    *[NUMBERS] * 5,
)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=()), max_size=30), st.lists(st.integers(), max_size=2),
    st.sampled_from(["greedy", "beam", "sample", "de-en", 1, 4, 0.5]),
)  # fmt: skip


KEYS = st.sampled_from(["text", "direction", "settings", "id", "kind", "gates", "view", "options", "run", "station"])
REQUESTS = st.dictionaries(KEYS, VALUES | st.dictionaries(st.text(max_size=9), VALUES))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(VALUES, min_size=11, max_size=11))
def test_any_eleven_values_are_answered(live: Any, data: list[Any]) -> None:
    visitor = live.visitor()
    joined = visitor.join(None, data=data)
    if joined.status_code == 422:
        assert " must be " in joined.json()["error"]
        return
    assert joined.status_code == 200
    done = next(m for m in visitor.read() if m["msg"] == "process_completed")
    assert done["success"] and read(done["output"]["data"][0])["kind"] in ("trace", "error")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    KINDS.filter(lambda values: all(value != value or abs(value) < 1e300 for value in values if type(value) is float))
)
def test_any_values_of_the_right_kinds_are_answered(live: Any, data: tuple[Any, ...]) -> None:
    visitor = live.visitor()
    assert visitor.join(None, data=list(data)).status_code == 200
    done = next(m for m in visitor.read() if m["msg"] == "process_completed")
    assert done["success"] and read(done["output"]["data"][0])["kind"] in ("trace", "error")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_request_of_a_component_is_answered(live: Any, data: st.DataObject) -> None:
    visitor = live.visitor()
    answer = visitor.function(data.draw(st.sampled_from(sorted(visitor.components))), data.draw(VALUES | REQUESTS))
    assert answer.status_code == 200 and isinstance(answer.json(), dict)
