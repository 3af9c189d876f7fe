"""What the BART-derived layouts of `transformers` share: Marian, M2M100, mBART and FSMT.

Names of files, keys of config.json and generation_config.json, and names of weights.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor

from translator.checkpoints.bundle import CARD, CONFIG, Bundle
from translator.checkpoints.foreign import Weights, assemble, model_config, stacked
from translator.checkpoints.manifest import MAX_SIDE_BYTES, inside, read_json, sha256
from translator.checkpoints.shelf import PICKLED_WEIGHTS, SAFE_WEIGHTS, SHARDS, pickle_refusal
from translator.config import DecodeConfig, ModelConfig
from translator.errors import CheckpointError, InputError
from translator.model.positions import sinusoids
from translator.text import Tokenizer
from translator.trace import CheckpointId

GENERATION, TOKENIZER = "generation_config.json", "tokenizer_config.json"
TIED = r"lm_head\.weight|model\.(shared|encoder\.embed_tokens|decoder\.embed_tokens)\.weight"  # copies of each other
ACTIVATIONS = {"swish": "silu", "silu": "silu", "relu": "relu", "gelu": "gelu"}
CODES = {"eng": "en", "deu": "de", "ger": "de", "zho": "zh", "cmn": "zh", "cmn_Hans": "zh", "zh_cn": "zh"}
NEUTRAL = {
    "repetition_penalty": 1.0,
    "encoder_no_repeat_ngram_size": 0,
    "num_beam_groups": 1,
    "diversity_penalty": 0.0,
}
_log = logging.getLogger(__name__)


def weights_path(folder: Path, root: Path, *, pickles: bool) -> Path:
    """The file of the weights: safetensors, or with `pickles`, where there are none, a pickle.

    Raises:
        CheckpointError: there is none, or none that may be read.
    """
    if (folder / SAFE_WEIGHTS).is_file():
        return inside(folder, SAFE_WEIGHTS, root)
    if (folder / PICKLED_WEIGHTS).is_file():
        if not pickles:
            raise CheckpointError(pickle_refusal(folder, folder / PICKLED_WEIGHTS))
        return inside(folder, PICKLED_WEIGHTS, root)
    for name in SHARDS:
        if (folder / name).is_file():
            raise CheckpointError(f"{folder / name} says that the weights are in several files; save them as one")
    raise CheckpointError(f"{folder / SAFE_WEIGHTS} is missing, and so is {PICKLED_WEIGHTS}; fetch the weights")


def side_file(folder: Path, name: str, root: Path, needed: str) -> Path:
    """The path of a small file that has to be there; `needed` says what else the layout has.

    Raises:
        CheckpointError: it is missing or too large.
    """
    path = folder / name
    if not path.is_file():
        raise CheckpointError(f"{path} is missing; {needed}")
    if path.stat().st_size > MAX_SIDE_BYTES:
        raise CheckpointError(f"{path} has {path.stat().st_size} bytes; it may have {MAX_SIDE_BYTES}")
    return inside(folder, name, root)


def read_config(path: Path, defaults: dict[str, Any]) -> dict[str, Any]:
    """config.json with `defaults`, what `transformers` takes for granted, filled in; the flags among them are checked.

    Raises:
        CheckpointError: it cannot be read, or a flag is no flag.
    """
    config = {**defaults, **read_json(path, 2**20)}
    for key, default in defaults.items():
        if isinstance(default, bool) and not isinstance(config[key], bool):
            raise CheckpointError(f"{path}: {key} is {config[key]!r}; it must be true or false")
    return config


def read_optional(folder: Path, name: str, root: Path) -> dict[str, Any]:
    """A JSON object that may be left out: {} then."""
    return read_json(inside(folder, name, root), 2**20) if (folder / name).is_file() else {}


def ordered_pieces(path: Path) -> list[str]:
    """vocab.json, {piece: id}, as pieces in the order of their ids.

    Raises:
        CheckpointError: an id is none, or the ids have gaps.
    """
    ids = read_json(path, MAX_SIDE_BYTES)
    pieces: list[str | None] = [None] * len(ids)
    for piece, id_ in ids.items():
        if not isinstance(id_, int) or isinstance(id_, bool) or not 0 <= id_ < len(ids) or pieces[id_] is not None:
            raise CheckpointError(f"{path}: the id of {piece!r} is {id_!r}; want each of 0 to {len(ids) - 1} once")
        pieces[id_] = piece
    return [piece for piece in pieces if piece is not None]


def get(path: Path, config: dict[str, Any], key: str) -> Any:
    """What `config`, read from `path`, says of `key`.

    Raises:
        CheckpointError: it says nothing.
    """
    if key not in config:
        raise CheckpointError(f"{path} lacks {key!r}")
    return config[key]


def shape(path: Path, config: dict[str, Any], generation: dict[str, Any], **more: object) -> ModelConfig:
    """The `ModelConfig` of what config.json says; `more` is what only the layout knows.

    Raises:
        CheckpointError: something is missing, or cannot be.
    """
    activation = config["activation_function"]
    if activation not in ACTIVATIONS:
        known = ", ".join(ACTIVATIONS)
        raise CheckpointError(f"{path}: activation_function is {activation!r}; known are {known}")
    said = {
        "d_model": "d_model",
        "d_ff": "encoder_ffn_dim",
        "decoder_d_ff": "decoder_ffn_dim",
        "encoder_layers": "encoder_layers",
        "decoder_layers": "decoder_layers",
        "encoder_heads": "encoder_attention_heads",
        "decoder_heads": "decoder_attention_heads",
        "pad_id": "pad_token_id",
        "start_id": "decoder_start_token_id",
        "eos_id": "eos_token_id",
    }
    values: dict[str, object] = {ours: get(path, config, theirs) for ours, theirs in said.items()}
    values["banned_ids"], values["banned_sequences"] = banned(path, generation, values["eos_id"])
    values["min_length"] = shortest(path, generation)
    values |= {"max_positions": config["max_position_embeddings"], "scale_embeddings": config["scale_embedding"]}
    return model_config(path, **{**values, "activation": ACTIVATIONS[activation], **more})


def banned(path: Path, generation: dict[str, Any], eos_id: object) -> tuple[list[int], list[list[int]]]:
    """Ids that are never produced, and sequences that are not; like `transformers`, EOS alone cannot be among them.

    Raises:
        CheckpointError: `bad_words_ids` holds something else than lists of ids.
    """
    words = generation.get("bad_words_ids") or []
    if not isinstance(words, list) or not all(
        isinstance(word, list) and word and all(isinstance(id_, int) for id_ in word) for word in words
    ):
        raise CheckpointError(f"{path}: bad_words_ids is {str(words)[:80]}; it must be lists of ids")
    single = {word[0] for word in words if len(word) == 1 and word[0] != eos_id}
    return sorted(single), [word for word in words if len(word) > 1]


def shortest(path: Path, generation: dict[str, Any]) -> int:
    """Tokens at least that come before the end token; `transformers` counts the start token in `min_length`.

    Raises:
        CheckpointError: what is said is no number.
    """
    counts = {key: generation.get(key) or 0 for key in ("min_length", "min_new_tokens")}
    for key, count in counts.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise CheckpointError(f"{path}: {key} is {count!r:.40}; it must be a whole number from 0")
    return max(counts["min_length"] - 1, counts["min_new_tokens"], 0)


def decoding(
    path: Path, config: dict[str, Any], generation: dict[str, Any], *, first_id: int | None = None
) -> DecodeConfig:
    """How the checkpoint is decoded.

    Raises:
        CheckpointError: a setting cannot be.
    """
    beams = generation.get("num_beams") or 1
    eos_id, forced = config["eos_token_id"], generation.get("forced_eos_token_id")
    for key, neutral in NEUTRAL.items():
        if generation.get(key) not in (None, neutral):
            _log.warning("%s sets %s to %r, which is not supported and ignored", path.parent, key, generation[key])
    try:
        return DecodeConfig(
            method="greedy" if beams == 1 else "beam",
            beam=beams,
            length_penalty=1.0 if generation.get("length_penalty") is None else generation["length_penalty"],
            penalty_kind="power",
            early_stopping=generation.get("early_stopping") or False,
            force_eos=forced == eos_id or forced == [eos_id],
            first_id=first_id,
            no_repeat_ngram_size=generation.get("no_repeat_ngram_size") or 0,
        )
    except InputError as error:
        raise CheckpointError(f"{path}: {error}") from error


def layers(weights: Weights, config: ModelConfig) -> dict[str, dict[str, Tensor]]:
    """The weights of every encoder and decoder layer, by our modules' names."""
    parts: dict[str, dict[str, Tensor]] = {}
    for side, count in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
        for layer in range(count):
            parts.update(_layer(weights, config, side, layer))
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


def check_positions(weights: Weights, name: str, config: ModelConfig) -> None:
    """Positions are computed, not stored; refuse a file that has others than ours.

    Raises:
        CheckpointError: it has.
    """
    if name not in weights:
        return
    rows, first = weights.shape(name, 2)[0], config.first_position
    table = weights.take(name, rows, config.d_model)[first : first + config.max_positions]
    expected = sinusoids(len(table), config.d_model, layout=config.positions, first=first)
    if (table - expected).abs().max() > 1e-2:
        raise CheckpointError(f"{weights.path}: {name} holds other positions than this layout's sines and cosines")


def bundle(
    folder: Path,
    *,
    root: Path,
    weights: Path,
    shape: ModelConfig,
    parts: Callable[[Weights], dict[str, dict[str, Tensor]]],
    src: Tokenizer,
    tgt: Tokenizer,
    decode: DecodeConfig,
    name: str | None,
) -> Bundle:
    """The whole checkpoint, once `parts` has read its weights.

    Raises:
        CheckpointError: the weights are damaged, or vocabularies and model do not fit each other.
    """
    path = folder / CONFIG
    for side, tokenizer, size in (("source", src, shape.src_vocab), ("target", tgt, shape.tgt_vocab)):
        if len(tokenizer) != size:
            raise CheckpointError(f"{folder}: the {side} vocabulary has {len(tokenizer)} pieces, {path} says {size}")
    for key in ("pad_id", "start_id", "eos_id"):
        found, want = getattr(tgt, key), getattr(shape, key)
        if found != want:
            raise CheckpointError(f"{folder}: {key} is {found} in the target vocabulary and {want} in {path}")
    card = folder / CARD
    return Bundle(
        model=assemble(shape, parts(Weights(weights))),
        src=src,
        tgt=tgt,
        info=CheckpointId(name or folder.name, sha256(weights), src.config.language, tgt.config.language),
        decode=decode,
        card=inside(folder, CARD, root).read_text(encoding="utf-8", errors="replace") if card.is_file() else "",
        folder=folder,
    )
