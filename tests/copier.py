"""A model whose workings are known: step t copies source token t, by one head that looks at its place."""

from __future__ import annotations

import torch

from translator.checkpoints import Bundle
from translator.config import ModelConfig, TextConfig
from translator.model import Transformer
from translator.pipeline import Translator
from translator.text import VocabularyTokenizer
from translator.trace import CheckpointId

WORDS = ("tea", "milk", "bread", "salt", "rice", "egg", "soup", "fish")
PLACES = 12
SHARP, LOUD = 1.2, 1.0


def copier() -> Translator:
    """Every weight set by hand: tokens and places have dimensions of their own, and nothing else adds to the stream."""
    text = TextConfig("en", level="word")
    tokenizer = VocabularyTokenizer.train([" ".join(WORDS)] * 2, text, 64)
    size = len(tokenizer)
    width = size + PLACES
    config = ModelConfig(
        src_vocab=size,
        tgt_vocab=size,
        d_model=width,
        d_head=width,
        d_ff=4,
        encoder_layers=1,
        decoder_layers=1,
        encoder_heads=1,
        decoder_heads=1,
        positions="learned",
        max_positions=PLACES,
        embeddings="separate",
        scale_embeddings=False,
    )
    model = Transformer(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.zero_()
    tokens, places = torch.eye(width)[:size], torch.eye(width)[size:]
    model.src_embedding.weight.copy_(tokens)
    model.src_positions.copy_(places)
    model.tgt_positions.copy_(places)
    cross = model.decoder[0].cross
    at_place, of_token = places.T @ places, tokens.T @ tokens
    cross.qkv.weight.copy_(torch.cat([SHARP * at_place, SHARP * at_place, of_token]))
    cross.out.weight.copy_(of_token)
    model.output.weight.copy_(LOUD * tokens)
    return Translator(Bundle(model, tokenizer, tokenizer, CheckpointId("copier", "0" * 64, "en", "en")))
