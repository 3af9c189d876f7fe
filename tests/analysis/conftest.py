"""What the tests of the lab share: a tiny translator and one translation of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import translator
from translator import Trace, Translator

TEXT = "Das Haus ist groß, aber alt."


@pytest.fixture(scope="session")
def tiny(tiny_checkpoint: Path) -> Translator:
    """A tiny German-English translator of random weights."""
    return translator.load(tiny_checkpoint, device="cpu")


@pytest.fixture(scope="session")
def trace(tiny: Translator) -> Trace:
    """One greedy translation of it, 12 tokens at most."""
    return tiny.translate(TEXT, method="greedy", max_length=12)
