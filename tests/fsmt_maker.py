"""FSMT checkpoints made at random by `transformers`, with vocabularies trained here; for reading only."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import sacremoses
import tokenizers
import torch
from tokenizers import models, pre_tokenizers, trainers
from transformers import FSMTConfig, FSMTForConditionalGeneration, FSMTTokenizer, GenerationConfig

SMALL: dict[str, Any] = {
    "d_model": 32,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "max_position_embeddings": 200,
}
SHAPES: dict[str, dict[str, Any]] = {
    "plain": {},
    "unequal": {"encoder_layers": 3, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_ffn_dim": 80},
    "unscaled": {"scale_embedding": False, "d_model": 24, "activation_function": "gelu"},
    "tied": {"tie_word_embeddings": True, "encoder_attention_heads": 8},
}
HABITS: dict[str, dict[str, Any]] = {
    "plain": {"num_beams": 5, "length_penalty": 1.1},
    "unequal": {"num_beams": 3, "length_penalty": 0.6, "early_stopping": True, "min_length": 7},
    "unscaled": {"num_beams": 1},
    "tied": {"num_beams": 2},
}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


def _trained(texts: list[str], size: int) -> tuple[list[str], list[str]]:
    """Pieces and merges of the Moses words of `texts`."""
    moses = sacremoses.MosesTokenizer(lang="de")
    model = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))  # noqa: S106 - no password
    model.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=size, end_of_word_suffix="</w>", show_progress=False)
    model.train_from_iterator((moses.tokenize(text, return_str=True) for text in texts), trainer)
    learnt = json.loads(model.to_str())["model"]
    return sorted(learnt["vocab"]), [" ".join(pair) for pair in learnt["merges"]]


def make_tokenizer(folder: Path, texts: list[str], *, shared: bool = False, lowercase: bool = False) -> Any:
    """Write the tokenizer's files, and return what `transformers` reads from them.

    Some pieces that merges make are in no vocabulary, as with fairseq's, which leaves out what is rare.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pieces, merges = _trained(texts, 500)
    draw, files = random.Random(3), {}
    for name, kept in (("vocab-src.json", 0.93), ("vocab-tgt.json", 0.85)):
        if not shared or not files:
            chosen = [piece for piece in pieces if draw.random() < kept]
            draw.shuffle(chosen)
        files[name] = {piece: id for id, piece in enumerate([*SPECIAL, *chosen, "madeupword0000"])}
        (folder / name).write_text(json.dumps(files[name]), encoding="utf-8")
    (folder / "merges.txt").write_text("".join(f"{merge} 7\n" for merge in merges), encoding="utf-8")
    tokenizer = FSMTTokenizer(
        langs=["de", "en"],
        src_vocab_file=folder / "vocab-src.json",
        tgt_vocab_file=folder / "vocab-tgt.json",
        merges_file=folder / "merges.txt",
        do_lower_case=lowercase,
    )
    tokenizer_config = {"langs": ["de", "en"], "do_lower_case": lowercase, "tokenizer_class": "FSMTTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer_config), encoding="utf-8")
    return tokenizer


def make_model(folder: Path, shape: str, tokenizer: Any, *, seed: int = 1) -> Any:
    """Write a random model of one of `SHAPES` beside its tokenizer and return it, attention made visible."""
    config = FSMTConfig(
        langs=["de", "en"],
        src_vocab_size=tokenizer.src_vocab_size,
        tgt_vocab_size=tokenizer.tgt_vocab_size,
        attn_implementation="eager",
        **{**SMALL, **SHAPES[shape]},
    )
    torch.manual_seed(seed)
    net = FSMTForConditionalGeneration(config).eval()
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if "embed_positions" not in name:
                spread = 0.3 if parameter.dim() > 1 else 0.1
                parameter.copy_(torch.randn_like(parameter) * spread + ("norm.weight" in name))
        decoder = net.model.decoder
        last = decoder.layers[-1].final_layer_norm.bias
        last += 1.0
        decoder.output_projection.weight[2] *= 4.0  # some sentences shall end by themselves,
        decoder.output_projection.weight[1] -= 1.0  # and none hold padding, whose position transformers skips
        net.tie_weights()
    net.generation_config = GenerationConfig(
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
        max_length=128,
        **HABITS[shape],
    )
    net.save_pretrained(folder)
    return net
