"""What the tests of the lab share: a translation by the tiny translator, one of each layout, and a Marian beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import translator
from translator import Trace, Translator

TEXT = "Das Haus ist groß, aber alt."


@pytest.fixture(scope="session")
def trace(tiny: Translator) -> Trace:
    """One greedy translation of it, 12 tokens at most."""
    return tiny.translate(TEXT, method="greedy", max_length=12)


LAYOUTS: dict[str, dict[str, Any]] = {
    "pre": {},
    "post": {"norm": "post", "final_norm": False},
    "post with a last norm": {"norm": "post"},
    "unbiased": {"norm_variant": "unbiased", "activation": "gelu"},
    "embedding norm": {"embedding_norm": True, "output_bias": True, "positions": "learned"},
    "no biases": {
        "norm_bias": False,
        "qkv_bias": False,
        "out_bias": False,
        "ff_bias": False,
        "scale_embeddings": False,
    },
    "unequal": {"encoder_layers": 3, "decoder_layers": 1, "encoder_heads": 4, "d_head": 6, "decoder_d_ff": 20},
    "padded": {"padded_length": 40},
}


@pytest.fixture(scope="session")
def laid_out(tiny: Translator, checkpoint_maker: ModuleType) -> Callable[[str], Translator]:
    """A tiny translator of each layout, biases and norms drawn too, so that a forgotten one shows."""

    def make(layout: str) -> Translator:
        sizes = len(tiny.bundle.src), len(tiny.bundle.tgt)
        model = checkpoint_maker.tiny_model(*sizes, **LAYOUTS[layout])
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 1:
                    parameter.add_(0.3 * torch.randn_like(parameter))
        return Translator(replace(tiny.bundle, model=model))

    return make


@pytest.fixture(params=LAYOUTS)
def engine(request: pytest.FixtureRequest, laid_out: Callable[[str], Translator]) -> Translator:
    return laid_out(request.param)


@pytest.fixture(scope="session")
def marian(tiny_marian: Path) -> tuple[Translator, Any]:
    """One random Marian checkpoint, in our model and in `transformers`' own."""
    from transformers import MarianMTModel

    net = MarianMTModel.from_pretrained(tiny_marian, attn_implementation="eager").eval().requires_grad_(False)
    return translator.load(tiny_marian, device="cpu"), net
