"""The layout of "The Annotated Transformer: English-to-Chinese Translator".

Pre-norm with the unbiased deviation under the root, no activation in the feed-forward layer, separate embeddings.
Its padding has the id of the unknown word, so that no attention reads an unknown source word. Heads are not to be
seen in the weights. Ids are put in our order: padding, start, end, unknown, words.
"""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from translator.checkpoints.foreign import (
    Weights,
    assemble,
    count_layers,
    model_config,
    read_words,
    reordered,
    stacked,
)
from translator.config import ModelConfig, TextConfig
from translator.errors import CheckpointError
from translator.model import Transformer
from translator.model.positions import sinusoids
from translator.text import LegacyTokenizer

MARK = "src_embed.0.lut.weight"
SPECIAL = {"<pad>": "PAD", "<s>": "BOS", "</s>": "EOS", "<unk>": "UNK"}
LONGEST = 512
Parts = dict[str, dict[str, Tensor]]


def load_annotated(
    weights: Weights, folder: Path, *, heads: int, languages: tuple[str, str]
) -> tuple[Transformer, LegacyTokenizer, LegacyTokenizer]:
    """The model and the source and target tokenizer; vocabularies are `src_vocab.json`, `tgt_vocab.json` of `folder`.

    Raises:
        CheckpointError: weights and vocabularies do not fit each other, or a tensor is missing or of another shape.
    """
    tokenizers, orders = [], []
    for side, key, language in zip(("src", "tgt"), (MARK, "tgt_embed.0.lut.weight"), languages, strict=True):
        path = folder / f"{side}_vocab.json"
        pieces, order = read_words(path, SPECIAL)
        rows = weights.shape(key, 2)[0]
        if sorted(id_ for id_ in order if id_ is not None) != list(range(rows)):
            raise CheckpointError(f"{path} has {len(order)} words, {weights.path} was trained with {rows} (ids from 0)")
        text = TextConfig(language, level="treebank", normalise="none", lowercase=side == "src")
        tokenizers.append(LegacyTokenizer(text, pieces, source=side == "src"))
        orders.append(order)
    config = _config(weights, heads)
    return assemble(config, _parts(weights, config, orders)), tokenizers[0], tokenizers[1]


def _config(weights: Weights, heads: int) -> ModelConfig:
    vocab, width = weights.shape(MARK, 2)
    table = "src_embed.1.pe"
    longest = min(weights.shape(table, 3)[1], LONGEST) if table in weights else LONGEST
    return model_config(
        weights.path,
        src_vocab=vocab,
        tgt_vocab=weights.shape("generator.proj.weight", 2)[0],
        d_model=width,
        d_ff=weights.shape("encoder.layers.0.feed_forward.w_1.weight", 2)[0],
        encoder_layers=count_layers(weights, "encoder.layers.{}.feed_forward.w_1.weight"),
        decoder_layers=count_layers(weights, "decoder.layers.{}.feed_forward.w_1.weight"),
        encoder_heads=heads,
        decoder_heads=heads,
        norm_variant="unbiased",
        norm_eps=1e-6,
        activation="none",
        output_bias=True,
        embeddings="separate",
        max_positions=longest,
        masked_ids=[3],  # the unknown word, which its mask takes for padding
        banned_ids=[],
    )


def _parts(weights: Weights, config: ModelConfig, orders: list[list[int | None]]) -> Parts:
    width, rows = config.d_model, config.tgt_vocab
    src = weights.take(MARK, config.src_vocab, width)
    tgt = weights.take("tgt_embed.0.lut.weight", rows, width)
    output = weights.linear("generator.proj", rows, width)
    parts: Parts = {
        "src_embedding": {"weight": reordered(src, orders[0])},
        "tgt_embedding": {"weight": reordered(tgt, orders[1])},
        "output": {key: reordered(value, orders[1]) for key, value in output.items()},
    }
    for side, count in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        parts[f"{side}_norm"] = _norm(weights, f"{side}.norm", width)
        for layer in range(count):
            parts.update(_layer(weights, config, side, layer))
    for table in ("src_embed.1.pe", "tgt_embed.1.pe"):
        _check_positions(weights, table, config)
    weights.finish()
    return parts


def _layer(weights: Weights, config: ModelConfig, side: str, layer: int) -> Parts:
    theirs, ours, width = f"{side}.layers.{layer}", f"{side}.{layer}", config.d_model
    modules = [("self_attn", "attention")] + ([("src_attn", "cross")] if side == "decoder" else [])
    parts: Parts = {}
    for name, module in modules:
        linears = [weights.linear(f"{theirs}.{name}.linears.{n}", width, width) for n in range(4)]
        parts[f"{ours}.{module}.qkv"], parts[f"{ours}.{module}.out"] = stacked(linears[:3]), linears[3]
    parts[f"{ours}.feed_forward.up"] = weights.linear(f"{theirs}.feed_forward.w_1", config.d_ff, width)
    parts[f"{ours}.feed_forward.down"] = weights.linear(f"{theirs}.feed_forward.w_2", width, config.d_ff)
    for n, module in enumerate([*(module for _, module in modules), "feed_forward"]):
        parts[f"{ours}.{module}_residual.norm"] = _norm(weights, f"{theirs}.sublayer.{n}.norm", width)
    return parts


def _norm(weights: Weights, name: str, width: int) -> dict[str, Tensor]:
    return weights.norm(name, width, "a_2", "b_2")


def _check_positions(weights: Weights, name: str, config: ModelConfig) -> None:
    if name not in weights:
        return
    table = weights.take(name, *weights.shape(name, 3))[0, : config.max_positions]
    expected = sinusoids(config.max_positions, config.d_model, layout=config.positions)
    if table.shape != expected.shape or (table - expected).abs().max() > 1e-2:
        raise CheckpointError(f"{weights.path}: {name} holds other positions than the paper's sinusoids")
