"""The layout of the German-English source document (nanoGPT's attention).

Post-norm, learned positions, fused `c_attn`, no activation in the feed-forward layer, every source padded to the
block and the padding attended to. Heads are not to be seen in the weights. Ids are put in our order: padding,
start, end, unknown, words; the rows that were not there are empty and are never produced.
"""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from translator.checkpoints.foreign import Weights, assemble, model_config, read_words, reordered, stacked
from translator.config import ModelConfig, TextConfig
from translator.errors import CheckpointError
from translator.model import Transformer
from translator.text import LegacyTokenizer

MARK = "encoder_embed.wte.weight"
TARGET_SPECIAL = {"<s>": "[start]", "</s>": "[end]"}
NEVER = -1e4  # a logit whose probability is 0 in float32, and that float16 can hold
Parts = dict[str, dict[str, Tensor]]
Order = list[int | None]


def load_nanogpt(
    weights: Weights, folder: Path, *, heads: int, languages: tuple[str, str]
) -> tuple[Transformer, LegacyTokenizer, LegacyTokenizer]:
    """The model and the source and target tokenizer; vocabularies are `src_vocab.json`, `tgt_vocab.json` of `folder`.

    Raises:
        CheckpointError: weights and vocabularies do not fit each other, or a tensor is missing or of another shape.
    """
    tokenizers, orders = [], []
    for side, key, language in zip(("src", "tgt"), (MARK, "decoder_embed.wte.weight"), languages, strict=True):
        path = folder / f"{side}_vocab.json"
        pieces, order = read_words(path, TARGET_SPECIAL if side == "tgt" else {})
        rows = weights.shape(key, 2)[0]
        known = {id_ for id_ in order if id_ is not None}
        if 0 in known or max(known, default=0) >= rows or len(known) != rows - 1:
            raise CheckpointError(f"{path} has {len(known)} words, {weights.path} was made for {rows - 1} (ids from 1)")
        order[0] = 0  # padding, which is no word
        text = TextConfig(language, level="bare", normalise="none", lowercase=True)
        tokenizers.append(LegacyTokenizer(text, pieces, source=side == "src"))
        orders.append(order)
    config = _config(weights, heads, orders)
    return assemble(config, _parts(weights, config, orders)), tokenizers[0], tokenizers[1]


def _config(weights: Weights, heads: int, orders: list[Order]) -> ModelConfig:
    block, width = weights.shape("encoder_embed.wtp.weight", 2)
    return model_config(
        weights.path,
        src_vocab=len(orders[0]),
        tgt_vocab=len(orders[1]),
        d_model=width,
        d_ff=weights.shape("encoder.encoder_processing_layer.denselayer1.weight", 2)[0],
        encoder_layers=1,
        decoder_layers=1,
        encoder_heads=heads,
        decoder_heads=heads,
        norm="post",
        final_norm=False,
        norm_bias="decoder.layernorm.bias" in weights,
        positions="learned",
        max_positions=block,
        padded_length=block,
        activation="none",
        qkv_bias="encoder.attention_encoder.c_attn.bias" in weights,
        out_bias="encoder.attention_encoder.c_proj.bias" in weights,
        output_bias=True,
        embeddings="separate",
        scale_embeddings=False,
    )


def _parts(weights: Weights, config: ModelConfig, orders: list[Order]) -> Parts:
    width = config.d_model
    parts: Parts = {"": {}}
    for side, theirs, order in (("src", "encoder_embed", orders[0]), ("tgt", "decoder_embed", orders[1])):
        words = weights.take(f"{theirs}.wte.weight", *weights.shape(f"{theirs}.wte.weight", 2))
        parts[f"{side}_embedding"] = {"weight": reordered(words, order)}
        parts[""][f"{side}_positions"] = weights.take(f"{theirs}.wtp.weight", config.max_positions, width)
    rows = sum(id_ is not None for id_ in orders[1])
    output = weights.linear("final_layer", rows, width)
    parts["output"] = {
        "weight": reordered(output["weight"], orders[1]),
        "bias": reordered(output["bias"], orders[1], fill=NEVER),
    }
    parts.update(_attention(weights, config, "encoder.attention_encoder", "encoder.0.attention"))
    parts.update(_attention(weights, config, "decoder.masked_attention", "decoder.0.attention"))
    parts.update(_attention(weights, config, "decoder.encoder_decoder_attn", "decoder.0.cross"))
    parts["decoder.0.attention_residual.norm"] = _norm(weights, config, "decoder.layernorm")
    for side, before in (("encoder", "attention"), ("decoder", "cross")):
        theirs, ours = f"{side}.{side}_processing_layer", f"{side}.0"
        parts[f"{ours}.{before}_residual.norm"] = _norm(weights, config, f"{theirs}.layernorm1")
        parts[f"{ours}.feed_forward.up"] = weights.linear(f"{theirs}.denselayer1", config.d_ff, width)
        parts[f"{ours}.feed_forward.down"] = weights.linear(f"{theirs}.denselayer2", width, config.d_ff)
        parts[f"{ours}.feed_forward_residual.norm"] = _norm(weights, config, f"{theirs}.layernorm2")
    weights.finish(ignored=r"decoder\.masked_attention\.bias")  # the look-ahead mask
    return parts


def _attention(weights: Weights, config: ModelConfig, theirs: str, ours: str) -> Parts:
    width, bias = config.d_model, config.qkv_bias
    if ours.endswith("cross"):  # queries, then keys and values, apart
        query = weights.linear(f"{theirs}.c_attn", width, width, bias=bias)
        qkv = stacked([query, weights.linear(f"{theirs}.c_attn_en", 2 * width, width, bias=bias)])
    else:
        qkv = weights.linear(f"{theirs}.c_attn", 3 * width, width, bias=bias)
    return {f"{ours}.qkv": qkv, f"{ours}.out": weights.linear(f"{theirs}.c_proj", width, width, bias=config.out_bias)}


def _norm(weights: Weights, config: ModelConfig, name: str) -> dict[str, Tensor]:
    return weights.norm(name, config.d_model, bias="bias" if config.norm_bias else None)
