"""The cases of `benchmarks.copying`: what they ask, and what counts as come through."""

from __future__ import annotations

import pytest

from benchmarks.copying import Case, cases


@pytest.mark.parametrize("language", ["de", "en"])
def test_five_hundred_cases_hold_their_span_once(language: str) -> None:
    found = cases(language)
    assert len(found) == 500 and sum(case.kind == "name" for case in found) == 250
    assert all(case.source.count(case.span) >= 1 and case.survives(case.source) for case in found)
    assert len({case.span for case in found}) > 250 and found == cases(language)
    assert found != cases(language, seed=1)


@pytest.mark.parametrize(
    ("span", "kind", "translation", "survives"),
    [
        ("1250", "number", "It costs 1,250 euros.", True),
        ("1250", "number", "要1250欧元。", True),
        ("125", "number", "It costs 1250 euros.", False),
        ("25", "number", "It costs 125 euros.", False),
        ("Karen", "name", "我叫Karen。", True),
        ("Karen", "name", "I am Karenin.", False),
        ("Karen", "name", "我叫卡伦。", False),
    ],
)
def test_a_span_comes_through_whole_or_not(span: str, kind: str, translation: str, survives: bool) -> None:
    assert Case("", span, kind).survives(translation) is survives
