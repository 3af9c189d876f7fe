"""What the tests of the lab share: one translation by the tiny translator."""

from __future__ import annotations

import pytest

from translator import Trace, Translator

TEXT = "Das Haus ist groß, aber alt."


@pytest.fixture(scope="session")
def trace(tiny: Translator) -> Trace:
    """One greedy translation of it, 12 tokens at most."""
    return tiny.translate(TEXT, method="greedy", max_length=12)
