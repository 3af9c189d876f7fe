"""Marian checkpoints made at random by `transformers`, with sentencepiece models of their own; for reading only."""

from __future__ import annotations

import importlib.util
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from transformers import GenerationConfig, MarianConfig, MarianMTModel

CODES = [">>cmn_Hans<<", ">>deu<<"]
SMALL: dict[str, Any] = {
    "d_model": 32,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "max_position_embeddings": 128,
    "activation_function": "swish",
    "scale_embedding": True,
    "static_position_embeddings": True,
}
SHAPES: dict[str, dict[str, Any]] = {
    "opus": {},
    "unequal": {"encoder_layers": 3, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_ffn_dim": 80},
    "separate": {"share_encoder_decoder_embeddings": False},
    "untied": {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False, "activation_function": "relu"},
    "unscaled": {"scale_embedding": False, "activation_function": "gelu", "d_model": 24},
}
HABITS: dict[str, dict[str, Any]] = {
    "opus": {"num_beams": 6, "bad": True, "forced": True},
    "unequal": {"num_beams": 4, "bad": False, "forced": True, "length_penalty": 0.6},
    "separate": {"num_beams": 3, "bad": True, "forced": False, "early_stopping": True},
    "untied": {"num_beams": 2, "bad": True, "forced": True, "early_stopping": "never", "length_penalty": 1.5},
    "unscaled": {"num_beams": 1, "bad": False, "forced": False},
}


def usable(text: str) -> bool:
    """Of a sentence's length, and without what `transformers` takes for a special token wherever it is typed."""
    return 10 < len(text) < 200 and not re.search(r"</s>|<unk>|<pad>", text)


def sentences(count: int, seed: int = 0) -> list[str]:
    """Prose of an installed package's own documentation, with some Chinese, German and odd spacing mixed in."""
    pattern = re.compile(r'"""(.*?)"""', re.DOTALL)
    found: list[str] = []
    package = importlib.util.find_spec("nltk")  # which is not imported: it brings scipy.stats
    assert package is not None and package.origin is not None
    for path in sorted(Path(package.origin).parent.rglob("*.py")):
        for text in pattern.findall(path.read_text(encoding="utf-8", errors="replace")):
            found += [part for part in re.split(r"(?<=[.!?])\s+", " ".join(text.split())) if usable(part)]
    draw = random.Random(seed)
    odd = ["我们今天去公园。", "Das Haus ist groß, aber alt!", "  two  spaces ", "ﬁne ＡＢＣ １２３", "naïve", "🙂 ok"]
    found = sorted(set(found))
    draw.shuffle(found)
    mixed = [f"{text} {draw.choice(odd)}" if draw.random() < 0.3 else text for text in found]
    while len(mixed) < count:
        mixed.append(" ".join(draw.choice(found).split()[: draw.randint(1, 12)]) + draw.choice(["", *odd]))
    return mixed[:count]


def spm_model(texts: list[str], size: int) -> bytes:
    """A small unigram model, as OPUS-MT's are."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=model,
        vocab_size=size,
        normalization_rule_name="nmt_nfkc",
        character_coverage=0.999,
        minloglevel=2,
    )
    return model.getvalue()


def vocabulary(models: list[bytes], *, drop: int = 5) -> dict[str, int]:
    """`vocab.json`: the pieces in an order of its own, some of them left out, padding last."""
    pieces: dict[str, None] = {}
    for model in models:
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        pieces.update(dict.fromkeys(processor.id_to_piece(i) for i in range(3 + drop, len(processor))))
    return {piece: id for id, piece in enumerate(["</s>", "<unk>", *sorted(pieces), *CODES, "<pad>"])}


def make_marian(folder: Path, shape: str, models: tuple[bytes, bytes], *, seed: int = 1) -> tuple[Path, MarianMTModel]:
    """Write a random checkpoint of one of `SHAPES` and return its folder and the model, attention made visible."""
    settings = {**SMALL, **SHAPES[shape]}
    shared = settings.get("share_encoder_decoder_embeddings", True)
    vocabularies = [vocabulary(list(models))] if shared else [vocabulary([models[0]]), vocabulary([models[1]], drop=9)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, vocab in zip(("vocab.json", "target_vocab.json"), vocabularies, strict=False):
        (folder / name).write_text(json.dumps(vocab), encoding="utf-8")
    for name, model in zip(("source.spm", "target.spm"), models, strict=True):
        (folder / name).write_bytes(model)
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"source_lang": "eng", "target_lang": "zho", "separate_vocabs": not shared}), encoding="utf-8"
    )
    pad = vocabularies[-1]["<pad>"]
    config = MarianConfig(
        vocab_size=len(vocabularies[0]),
        decoder_vocab_size=len(vocabularies[-1]),
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=0,
        forced_eos_token_id=None,
        attn_implementation="eager",
        **settings,
    )
    torch.manual_seed(seed)
    net = MarianMTModel(config).eval()
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if "embed_positions" not in name:
                spread = 0.3 if parameter.dim() > 1 else 0.1
                parameter.copy_(torch.randn_like(parameter) * spread + ("norm.weight" in name))
        net.final_logits_bias.copy_(torch.randn_like(net.final_logits_bias))
        net.final_logits_bias[0, 0] += 6.0  # some sentences shall end by themselves
        net.tie_weights()
    net.generation_config = _generation(HABITS[shape], pad)
    net.save_pretrained(folder)
    return folder, net


def _generation(habits: dict[str, Any], pad: int) -> GenerationConfig:
    kept = {key: value for key, value in habits.items() if key not in ("bad", "forced")}
    return GenerationConfig(
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=0,
        max_length=128,
        bad_words_ids=[[pad]] if habits["bad"] else None,
        forced_eos_token_id=0 if habits["forced"] else None,
        **kept,
    )
