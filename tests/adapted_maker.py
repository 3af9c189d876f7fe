"""Small random seq2seq models of `transformers`, with a tokenizer trained here."""

from __future__ import annotations

from typing import Any

import tokenizers
import torch
from tokenizers import decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GenerationConfig,
    MT5Config,
    MT5ForConditionalGeneration,
    PegasusConfig,
    PegasusForConditionalGeneration,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

BART = {
    "d_model": 32,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "max_position_embeddings": 200,
}
T5 = {"d_model": 32, "d_kv": 12, "d_ff": 48, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 4}
FAMILIES: dict[str, tuple[Any, Any, dict[str, Any], dict[str, Any]]] = {
    "t5": (T5Config, T5ForConditionalGeneration, T5, {"num_beams": 4}),
    "mt5": (MT5Config, MT5ForConditionalGeneration, T5 | {"num_heads": 2}, {"num_beams": 1}),
    "bart": (
        BartConfig,
        BartForConditionalGeneration,
        BART,
        {"num_beams": 4, "length_penalty": 2.0, "early_stopping": True, "no_repeat_ngram_size": 3, "forced": True},
    ),
    "pegasus": (PegasusConfig, PegasusForConditionalGeneration, BART, {"num_beams": 3, "length_penalty": 0.6}),
}


SHAPES: dict[str, dict[str, dict[str, Any]]] = {
    "t5": {
        "deep": {"num_layers": 4, "num_decoder_layers": 1, "num_heads": 2},  # the other way round generate itself fails
        "gated": {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False, "d_model": 24, "d_kv": 8},
    },
    "bart": {
        "deep": {"encoder_layers": 3, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 8},
        "scaled": {"scale_embedding": True, "activation_function": "relu", "d_model": 48, "decoder_ffn_dim": 32},
    },
}
"""Further shapes of each family."""
SHAPES |= {"mt5": SHAPES["t5"], "pegasus": SHAPES["bart"]}


def make_tokenizer(texts: list[str], size: int = 400) -> Any:
    """BPE over words, `</s>` behind each text."""
    backend = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))  # noqa: S106 - no password
    backend.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    backend.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    special = ["<pad>", "</s>", "<unk>", "<s>"]
    backend.train_from_iterator(texts[:900], trainers.BpeTrainer(vocab_size=size, special_tokens=special))
    backend.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    named = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "bos_token": "<s>"}
    return PreTrainedTokenizerFast(tokenizer_object=backend, **named)


def make_model(family: str, size: int, *, seed: int = 1) -> Any:
    """A random model in float64, so that two orders of summing give the same numbers; "t5-deep": of a further shape."""
    family, _, shape = family.partition("-")
    kind, network, sizes, habits = FAMILIES[family]
    sizes = sizes | (SHAPES[family][shape] if shape else {})
    torch.manual_seed(seed)
    ids = {"pad_token_id": 0, "eos_token_id": 1, "bos_token_id": 3, "decoder_start_token_id": 0}
    net = network(kind(vocab_size=size, **ids, **sizes)).eval()
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if parameter.dim() > 1 and "relative" not in name:
                parameter.copy_(torch.randn_like(parameter) * 0.3)
        if hasattr(net, "final_logits_bias"):
            net.final_logits_bias[0, 1] += 4.0
        net.tie_weights()
    kept = {key: value for key, value in habits.items() if key != "forced"}
    forced = {"forced_bos_token_id": 3, "forced_eos_token_id": 1} if habits.get("forced") else {}
    net.generation_config = GenerationConfig(**ids, **kept, **forced, max_length=60)
    return net.double()
