"""A page that has warmed its models need not lay out their weights for its first visitor."""

from __future__ import annotations

from pathlib import Path

from translator.ui.models import Models


def test_a_warm_model_has_laid_out_its_weights(tiny_checkpoint: Path) -> None:
    models = Models({"a": tiny_checkpoint}, device="cpu")
    models.warm().join()
    assert models.get("a").bundle.model.output._products
