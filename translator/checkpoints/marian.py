"""Marian checkpoints in the layout of `transformers`, such as Helsinki-NLP/opus-mt-*, as a `Bundle`.

Source: Junczys-Dowmunt et al. 2018 (Marian), Tiedemann and Thottingal 2020 (OPUS-MT). Post-norm without a final
norm, sines before cosines, a bias on the logits, and decoding that starts from padding.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

from torch import Tensor

from translator.checkpoints.bundle import CARD, CONFIG, Bundle
from translator.checkpoints.foreign import Weights, assemble, model_config, stacked
from translator.checkpoints.manifest import MAX_SIDE_BYTES, inside, read_json, sha256
from translator.checkpoints.shelf import PICKLED_WEIGHTS, SAFE_WEIGHTS, SOURCE_SPM, TARGET_SPM, VOCAB
from translator.config import DecodeConfig, ModelConfig, TextConfig
from translator.errors import CheckpointError, InputError
from translator.model.positions import sinusoids
from translator.text import SentencePieceTokenizer
from translator.trace import CheckpointId

TARGET_VOCAB = "target_vocab.json"
GENERATION, TOKENIZER = "generation_config.json", "tokenizer_config.json"
SIDE_FILES = (CONFIG, SOURCE_SPM, TARGET_SPM, VOCAB, TARGET_VOCAB, GENERATION, TOKENIZER, CARD)
NEEDED = (CONFIG, SOURCE_SPM, TARGET_SPM, VOCAB)
TIED = r"lm_head\.weight|model\.(shared|encoder\.embed_tokens|decoder\.embed_tokens)\.weight"  # copies of each other
ACTIVATIONS = {"swish": "silu", "silu": "silu", "relu": "relu", "gelu": "gelu"}
CODES = {"eng": "en", "deu": "de", "ger": "de", "zho": "zh", "cmn": "zh", "cmn_Hans": "zh", "zh_cn": "zh"}
NEUTRAL = {
    "repetition_penalty": 1.0,
    "encoder_no_repeat_ngram_size": 0,
    "min_length": 0,
    "num_beam_groups": 1,
    "diversity_penalty": 0.0,
}
CONVERT = "convert the checkpoint once: python -m translator convert SOURCE FOLDER"
_log = logging.getLogger(__name__)


def load_marian(folder: Path, *, root: Path, name: str | None = None, pickles: bool = True) -> Bundle:
    """Load a Marian folder, on the CPU; safetensors are preferred to a pickle, which is read as weights only.

    Args:
        root: no file may lie outside it, whatever links say.
        name: overrules the name that the checkpoint gives itself.
        pickles: whether weights may be a pickle; a public page refuses them.
    Raises:
        CheckpointError: a file is missing or damaged, or the files do not fit each other.
    """
    path = folder / CONFIG
    config = _config(folder, root)
    src, tgt = _tokenizers(folder, root, config, name or "")
    weights_path = _weights_path(folder, root, pickles)
    model_settings = _model_config(path, config, _generation(folder, root, config))
    for side, tokenizer, size in (("source", src, model_settings.src_vocab), ("target", tgt, model_settings.tgt_vocab)):
        if len(tokenizer) != size:
            raise CheckpointError(f"{folder}: the {side} vocabulary has {len(tokenizer)} pieces, {path} says {size}")
    for key in ("pad_id", "start_id", "eos_id"):
        if getattr(tgt, key) != getattr(model_settings, key):
            found, want = getattr(tgt, key), getattr(model_settings, key)
            raise CheckpointError(f"{folder}: {key} is {found} in the target vocabulary and {want} in {path}")
    shared = config["share_encoder_decoder_embeddings"]
    model = assemble(model_settings, _parts(Weights(weights_path), model_settings, shared))
    card = folder / CARD
    return Bundle(
        model=model,
        src=src,
        tgt=tgt,
        info=CheckpointId(name or folder.name, sha256(weights_path), src.config.language, tgt.config.language),
        decode=_decode(path, config, _generation(folder, root, config)),
        card=inside(folder, CARD, root).read_text(encoding="utf-8", errors="replace") if card.is_file() else "",
        folder=folder,
    )


def _weights_path(folder: Path, root: Path, pickles: bool) -> Path:
    for name in (SAFE_WEIGHTS, PICKLED_WEIGHTS) if pickles else (SAFE_WEIGHTS,):
        if (folder / name).is_file():
            return inside(folder, name, root)
    if not pickles:
        raise CheckpointError(f"{folder / SAFE_WEIGHTS} is missing, and no pickle is read here; {CONVERT}")
    raise CheckpointError(f"{folder / SAFE_WEIGHTS} is missing, and so is {PICKLED_WEIGHTS}; fetch the weights")


def _side(folder: Path, name: str, root: Path) -> Path:
    """The path of a small file that has to be there."""
    path = folder / name
    if not path.is_file():
        raise CheckpointError(f"{path} is missing; a Marian checkpoint has {', '.join(NEEDED)} and its weights")
    if path.stat().st_size > MAX_SIDE_BYTES:
        raise CheckpointError(f"{path} has {path.stat().st_size} bytes; it may have {MAX_SIDE_BYTES}")
    return inside(folder, name, root)


def _config(folder: Path, root: Path) -> dict[str, Any]:
    """config.json with what `transformers` takes for granted filled in."""
    path = _side(folder, CONFIG, root)
    config = read_json(path, 2**20)
    if config.get("model_type") != "marian":
        raise CheckpointError(f"{path}: model_type is {config.get('model_type')!r}; this layout is read for 'marian'")
    defaults = {
        "scale_embedding": False,
        "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True,
        "activation_function": "gelu",
        "max_position_embeddings": 1024,
        "decoder_vocab_size": None,
    }
    config = {**defaults, **config}
    config["decoder_vocab_size"] = config["decoder_vocab_size"] or config.get("vocab_size")
    for key in ("scale_embedding", "share_encoder_decoder_embeddings", "tie_word_embeddings"):
        if not isinstance(config[key], bool):
            raise CheckpointError(f"{path}: {key} is {config[key]!r}; it must be true or false")
    return config


def _generation(folder: Path, root: Path, config: dict[str, Any]) -> dict[str, Any]:
    """How the checkpoint is decoded: generation_config.json, or config.json where there is none."""
    if not (folder / GENERATION).is_file():
        return config
    return read_json(inside(folder, GENERATION, root), 2**20)


def _get(path: Path, config: dict[str, Any], key: str) -> Any:
    if key not in config:
        raise CheckpointError(f"{path} lacks {key!r}")
    return config[key]


def _model_config(path: Path, config: dict[str, Any], generation: dict[str, Any]) -> ModelConfig:
    activation = config["activation_function"]
    if activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise CheckpointError(f"{path}: activation_function is {activation!r}; known are {known}")
    shared, tied = config["share_encoder_decoder_embeddings"], config["tie_word_embeddings"]
    get = lambda key: _get(path, config, key)  # noqa: E731
    banned_ids, banned_sequences = _banned(path, generation, get("eos_token_id"))
    return model_config(
        path,
        src_vocab=get("vocab_size"),
        tgt_vocab=get("vocab_size") if shared else config["decoder_vocab_size"],
        d_model=get("d_model"),
        d_ff=get("encoder_ffn_dim"),
        decoder_d_ff=get("decoder_ffn_dim"),
        encoder_layers=get("encoder_layers"),
        decoder_layers=get("decoder_layers"),
        encoder_heads=get("encoder_attention_heads"),
        decoder_heads=get("decoder_attention_heads"),
        norm="post",
        final_norm=False,
        positions="concatenated",
        max_positions=config["max_position_embeddings"],
        activation=ACTIVATIONS[activation],
        output_bias=True,
        embeddings="shared" if shared and tied else "tied" if tied else "separate",
        scale_embeddings=config["scale_embedding"],
        banned_ids=banned_ids,
        banned_sequences=banned_sequences,
        pad_id=get("pad_token_id"),
        start_id=get("decoder_start_token_id"),
        eos_id=get("eos_token_id"),
    )


def _banned(path: Path, generation: dict[str, Any], eos_id: object) -> tuple[list[int], list[list[int]]]:
    """Ids that are never produced, and sequences that are not; like `transformers`, EOS alone cannot be among them."""
    words = generation.get("bad_words_ids") or []
    if not isinstance(words, list) or not all(
        isinstance(word, list) and word and all(isinstance(id_, int) for id_ in word) for word in words
    ):
        raise CheckpointError(f"{path}: bad_words_ids is {str(words)[:80]}; it must be lists of ids")
    single = {word[0] for word in words if len(word) == 1 and word[0] != eos_id}
    return sorted(single), [word for word in words if len(word) > 1]


def _decode(path: Path, config: dict[str, Any], generation: dict[str, Any]) -> DecodeConfig:
    beams = generation.get("num_beams") or 1
    eos_id, forced = config["eos_token_id"], generation.get("forced_eos_token_id")
    for key, neutral in NEUTRAL.items():
        if generation.get(key) not in (None, neutral):
            _log.warning("%s sets %s to %r, which is not followed here", path.parent, key, generation[key])
    try:
        return DecodeConfig(
            method="greedy" if beams == 1 else "beam",
            beam=beams,
            length_penalty=generation.get("length_penalty", 1.0),
            penalty_kind="power",
            early_stopping=generation.get("early_stopping") or False,
            force_eos=forced == eos_id or forced == [eos_id],
            no_repeat_ngram_size=generation.get("no_repeat_ngram_size") or 0,
        )
    except InputError as error:
        raise CheckpointError(f"{path}: {error}") from error


def _tokenizers(
    folder: Path, root: Path, config: dict[str, Any], name: str
) -> tuple[SentencePieceTokenizer, SentencePieceTokenizer]:
    separate = not config["share_encoder_decoder_embeddings"] and (folder / TARGET_VOCAB).is_file()
    settings = read_json(inside(folder, TOKENIZER, root), 2**20) if (folder / TOKENIZER).is_file() else {}
    known_as = name or str(config.get("_name_or_path") or folder.name)
    named = re.search(r"-([A-Za-z_]{2,8})-([A-Za-z_]{2,8})(@.*)?$", known_as)
    sides = []
    for side, model, vocab, key in (
        (1, SOURCE_SPM, VOCAB, "source_lang"),
        (2, TARGET_SPM, TARGET_VOCAB if separate else VOCAB, "target_lang"),
    ):
        code = settings.get(key) or (named.group(side) if named else "und")
        code = CODES.get(str(code), str(code))
        path = _side(folder, model, root)
        pieces = _pieces(_side(folder, vocab, root))
        try:
            text = TextConfig(code, level="sentencepiece", normalise="none")
            sides.append(SentencePieceTokenizer(text, pieces, path.read_bytes()))
        except InputError as error:
            raise CheckpointError(f"{folder / vocab}: {error}") from error
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from error
    return sides[0], sides[1]


def _pieces(path: Path) -> list[str]:
    """vocab.json, {piece: id}, as pieces in the order of their ids."""
    ids = read_json(path, MAX_SIDE_BYTES)
    pieces: list[str | None] = [None] * len(ids)
    for piece, id_ in ids.items():
        if not isinstance(id_, int) or isinstance(id_, bool) or not 0 <= id_ < len(ids) or pieces[id_] is not None:
            raise CheckpointError(f"{path}: the id of {piece!r} is {id_!r}; want each of 0 to {len(ids) - 1} once")
        pieces[id_] = piece
    return [piece for piece in pieces if piece is not None]


def _parts(weights: Weights, config: ModelConfig, shared: bool) -> dict[str, dict[str, Tensor]]:
    """Our modules' weights out of Marian's."""
    width, parts = config.d_model, {}
    own = "model.{}.embed_tokens.weight"
    src = "model.shared.weight" if "model.shared.weight" in weights and shared else own.format("encoder")
    parts["src_embedding"] = {"weight": weights.take(src, config.src_vocab, width)}
    if config.embeddings != "shared":
        tgt = src if shared else own.format("decoder")
        parts["tgt_embedding"] = {"weight": weights.take(tgt, config.tgt_vocab, width)}
    bias = weights.take("final_logits_bias", 1, config.tgt_vocab)[0]
    parts["output"] = {"bias": bias}
    if config.embeddings == "separate":
        parts["output"]["weight"] = weights.take("lm_head.weight", config.tgt_vocab, width)
    for side, count in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        for layer in range(count):
            parts.update(_layer(weights, config, side, layer))
        _check_positions(weights, f"model.{side}.embed_positions.weight", config)
    weights.finish(ignored=TIED)
    return parts


def _layer(weights: Weights, config: ModelConfig, side: str, layer: int) -> dict[str, dict[str, Tensor]]:
    theirs, ours, width = f"model.{side}.layers.{layer}", f"{side}.{layer}", config.d_model
    d_ff = config.decoder_d_ff if side == "decoder" and config.decoder_d_ff else config.d_ff
    parts = {}
    for name, module in (("self_attn", "attention"), ("encoder_attn", "cross"))[: 1 if side == "encoder" else 2]:
        qkv = [weights.linear(f"{theirs}.{name}.{part}_proj", width, width) for part in "qkv"]
        parts[f"{ours}.{module}.qkv"] = stacked(qkv)
        parts[f"{ours}.{module}.out"] = weights.linear(f"{theirs}.{name}.out_proj", width, width)
        parts[f"{ours}.{module}_residual.norm"] = weights.norm(f"{theirs}.{name}_layer_norm", width)
    parts[f"{ours}.feed_forward.up"] = weights.linear(f"{theirs}.fc1", d_ff, width)
    parts[f"{ours}.feed_forward.down"] = weights.linear(f"{theirs}.fc2", width, d_ff)
    parts[f"{ours}.feed_forward_residual.norm"] = weights.norm(f"{theirs}.final_layer_norm", width)
    return parts


def _check_positions(weights: Weights, name: str, config: ModelConfig) -> None:
    """Positions are computed, not stored; a file that has others than ours is not Marian's."""
    if name not in weights:
        return
    table = weights.take(name, config.max_positions, config.d_model)
    expected = sinusoids(config.max_positions, config.d_model, layout=config.positions)
    if (table - expected).abs().max() > 1e-2:
        raise CheckpointError(f"{weights.path}: {name} holds other positions than Marian's sines and cosines")
