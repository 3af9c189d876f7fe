"""Multilingual checkpoints made at random by `transformers`, with tokenizers trained here; for reading only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import sentencepiece
import tokenizers
import torch
from tokenizers import models, pre_tokenizers, trainers
from transformers import (
    GenerationConfig,
    M2M100Config,
    M2M100ForConditionalGeneration,
    M2M100Tokenizer,
    MBart50Tokenizer,
    MBartConfig,
    MBartForConditionalGeneration,
    MBartTokenizer,
    NllbTokenizer,
)

SMALL: dict[str, Any] = {
    "d_model": 32,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "max_position_embeddings": 128,
    "scale_embedding": True,
}
SHAPES: dict[str, dict[str, Any]] = {
    "plain": {},
    "unequal": {"encoder_layers": 3, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_ffn_dim": 80},
    "unscaled": {"scale_embedding": False, "d_model": 24, "activation_function": "silu"},
}
HABITS: dict[str, dict[str, Any]] = {
    "plain": {"num_beams": 4},
    "unequal": {"num_beams": 3, "length_penalty": 0.6, "early_stopping": True},
    "unscaled": {"num_beams": 1},
}
FAMILIES = ("m2m100", "nllb", "mbart50", "mbart")
# Source and target of each family's random checkpoint, as it names them.
PAIRS = {
    "m2m100": ("de", "zh"),
    "nllb": ("deu_Latn", "zho_Hans"),
    "mbart50": ("de_DE", "zh_CN"),
    "mbart": ("en_XX", "ro_RO"),
}


def make_tokenizer(family: str, folder: Path, texts: list[str], spm: bytes) -> Any:
    """A tokenizer of `family`, saved into `folder` as `transformers` saves it."""
    folder.mkdir(parents=True, exist_ok=True)
    src, tgt = PAIRS[family]
    if family == "nllb":
        tokenizer = _nllb(texts, src, tgt)
    else:
        known = sentencepiece.SentencePieceProcessor(model_proto=spm)
        pieces = [(known.id_to_piece(id_), known.get_score(id_)) for id_ in range(3, len(known))]
        opening = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
        if family == "m2m100":
            (folder / "sentencepiece.bpe.model").write_bytes(spm)
            ids = {piece: id_ for id_, (piece, _) in enumerate([*opening, *pieces])}
            (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
            tokenizer = M2M100Tokenizer(
                folder / "vocab.json", folder / "sentencepiece.bpe.model", src_lang=src, tgt_lang=tgt
            )
        elif family == "mbart50":
            tokenizer = MBart50Tokenizer(
                vocab=[("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *pieces], src_lang=src, tgt_lang=tgt
            )
        else:
            tokenizer = MBartTokenizer(vocab=[*opening, *pieces], src_lang=src, tgt_lang=tgt)
    tokenizer.save_pretrained(folder)
    return tokenizer


def _nllb(texts: list[str], src: str, tgt: str) -> Any:
    trained = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))  # noqa: S106 - no password
    trained.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=True)
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trained.train_from_iterator(texts[:900], trainers.BpeTrainer(vocab_size=400, special_tokens=special))
    model = json.loads(trained.to_str())["model"]
    return NllbTokenizer(
        vocab=model["vocab"], merges=[tuple(pair) for pair in model["merges"]], src_lang=src, tgt_lang=tgt
    )


def make_model(family: str, folder: Path, shape: str, tokenizer: Any, *, seed: int = 1) -> Any:
    """Write a random model of one of `SHAPES` beside its tokenizer and return it, attention made visible."""
    kind, network = (
        (M2M100Config, M2M100ForConditionalGeneration)
        if family in ("m2m100", "nllb")
        else (MBartConfig, MBartForConditionalGeneration)
    )
    last = tokenizer.get_lang_id("zu") if family == "m2m100" else len(tokenizer) - 1
    start = tokenizer.convert_tokens_to_ids(PAIRS[family][1]) if family == "mbart" else 2
    config = kind(
        vocab_size=last + 1 + (8 if family == "m2m100" else 0),
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=start,
        forced_eos_token_id=None,
        attn_implementation="eager",
        **{**SMALL, **SHAPES[shape]},
    )
    torch.manual_seed(seed)
    net = network(config).eval()
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            spread = 0.3 if parameter.dim() > 1 else 0.1
            parameter.copy_(torch.randn_like(parameter) * spread + ("norm" in name and "weight" in name))
        if hasattr(net, "final_logits_bias"):
            net.final_logits_bias.copy_(torch.randn_like(net.final_logits_bias))
            net.final_logits_bias[0, 2] += 6.0  # some sentences shall end by themselves
        net.tie_weights()
    net.generation_config = GenerationConfig(
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=start,
        forced_eos_token_id=2,
        max_length=128,
        **HABITS[shape],
    )
    net.save_pretrained(folder)
    return net
