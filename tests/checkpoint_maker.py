"""A tiny checkpoint, whole: a random model of a few thousand weights and real subword vocabularies."""

from __future__ import annotations

from pathlib import Path

import torch

from translator.checkpoints import save_bundle
from translator.config import DecodeConfig, ModelConfig, TextConfig
from translator.model import Transformer
from translator.text import SubwordTokenizer

GERMAN = (
    "Ich renne in den Park.",
    "Ich renne in dem Park.",
    "Das Haus ist groß, aber alt.",
    "Guten Morgen, Frau Müller!",
)
ENGLISH = ("I run into the park.", "I run in the park.", "The house is big but old.", "Good morning, Mrs Miller!")


def tiny_model(src_vocab: int, tgt_vocab: int, *, seed: int = 1, **changes: object) -> Transformer:
    """A random model, 2 layers of 2 heads; its distributions are peaked enough to tell tokens apart."""
    torch.manual_seed(seed)
    heads = {"encoder_layers": 2, "decoder_layers": 2, "encoder_heads": 2, "decoder_heads": 2}
    settings = {"d_model": 16, "d_ff": 32, "max_positions": 200, "embeddings": "separate", **heads, **changes}
    config = ModelConfig(src_vocab=src_vocab, tgt_vocab=tgt_vocab, **settings)  # type: ignore[arg-type]
    model = Transformer(config).eval().requires_grad_(False)
    with torch.no_grad():
        model.output.weight.mul_(8)
    return model


def tokenizers() -> tuple[SubwordTokenizer, SubwordTokenizer]:
    """A German and an English vocabulary, trained on the few sentences above."""
    german = SubwordTokenizer.train(GERMAN * 5, TextConfig("de"), 320)
    english = SubwordTokenizer.train(ENGLISH * 5, TextConfig("en"), 330)
    return german, english


def make_checkpoint(folder: Path, *, name: str = "tiny", seed: int = 1, dtype: str = "float16") -> Path:
    """Save a tiny German-English checkpoint in `folder` (`folder` is the checkpoint) and return it."""
    src, tgt = tokenizers()
    return save_bundle(
        folder,
        model=tiny_model(len(src), len(tgt), seed=seed),
        src=src,
        tgt=tgt,
        name=name,
        card="# Tiny\n\nRandom weights, for tests.\n",
        decode=DecodeConfig(length_penalty=0.6),
        dtype=dtype,
    )
