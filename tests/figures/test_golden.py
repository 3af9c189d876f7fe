"""Python's figures draw what `tests/protocol/figures.json` says; `web/src/plot/golden.test.ts` holds the page to it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from plotly.colors import sequential

from translator.figures.style import weight_scale

TESTS = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_figures_are_those_that_the_page_draws() -> None:
    """Else, if they were meant to change: python tests/golden_maker.py"""
    found = runpy.run_path(str(TESTS / "golden_maker.py"))["figures"]()
    assert json.loads(json.dumps(found)) == json.loads((TESTS / "protocol" / "figures.json").read_text("utf-8"))


def test_the_scales_of_others_are_as_published() -> None:
    for name in ("Viridis", "Cividis"):
        published = getattr(sequential, name)
        places, colours = zip(*weight_scale("light", name), strict=True)
        assert list(colours) == published
        assert [round(place * 9, 2) for place in places] == list(range(10))
