"""What is said of a text before it is translated is what its translation will say."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from translator.errors import InputError
from translator.pipeline import Limits, Translator
from translator.ui.session import health

TEXTS = ["ein Hund", "…" * 9, "x" * 9, "x " * 12, "x" * 31, "\u200b", "\x00"]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("padded", [None, 8])
def test_the_problem_of_a_text_is_its_refusal(
    tiny: Translator, checkpoint_maker: ModuleType, text: str, padded: int | None
) -> None:
    bundle = tiny.bundle
    model = checkpoint_maker.tiny_model(len(bundle.src), len(bundle.tgt), padded_length=padded)
    short = Translator(replace(bundle, model=model), limits=Limits(characters=20, source_tokens=10))
    said = health(short, text)
    if said["problem"]:
        with pytest.raises(InputError) as refused:
            short.source_ids(text)
        assert said["problem"] == str(refused.value)
    else:
        assert said["tokens"] == len(short.source_ids(text)) <= said["limit"]
    assert said["limit"] == (padded or 10)


def test_no_text_is_no_problem(tiny: Translator) -> None:
    assert health(tiny, " \n")["problem"] == ""
