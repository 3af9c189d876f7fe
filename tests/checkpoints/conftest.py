"""Marian checkpoints, which the tests of what loads and of what is refused share."""

from __future__ import annotations

from typing import Any

import pytest

from translator.checkpoints import load_bundle


@pytest.fixture(scope="session")
def marian_texts() -> list[str]:
    """Sentences, English for the most part."""
    from tests import marian_maker as maker  # brings transformers, which not every test here needs

    return maker.sentences(5000)


@pytest.fixture(scope="session")
def made_marian(marian_texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A checkpoint of a shape, made once: (folder, transformers' model, our bundle); for reading only."""
    from tests import marian_maker as maker

    models = maker.spm_model(marian_texts[:900], 400), maker.spm_model(marian_texts[600:1500], 350)
    found: dict[str, Any] = {}

    def make(shape: str) -> Any:
        if shape not in found:
            folder = tmp_path_factory.mktemp("marian") / f"opus-mt-en-zh-{shape}"
            folder, net = maker.make_marian(folder, shape, models)
            found[shape] = (folder, net, load_bundle(folder))
        return found[shape]

    return make
