"""Marian checkpoints in the layout of `transformers`, such as Helsinki-NLP/opus-mt-*, as a `Bundle`.

Source: Junczys-Dowmunt et al. 2018 (Marian), Tiedemann and Thottingal 2020 (OPUS-MT). Post-norm without a final
norm, sines before cosines, a bias on the logits, and decoding that starts from padding.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from torch import Tensor

from translator.checkpoints import bart
from translator.checkpoints.bart import CODES, GENERATION, TIED, TOKENIZER
from translator.checkpoints.bundle import CARD, CONFIG, Bundle
from translator.checkpoints.foreign import Weights
from translator.checkpoints.shelf import SOURCE_SPM, TARGET_SPM, VOCAB
from translator.config import ModelConfig, TextConfig
from translator.errors import CheckpointError, InputError
from translator.text import SentencePieceTokenizer

TARGET_VOCAB = "target_vocab.json"
SIDE_FILES = (CONFIG, SOURCE_SPM, TARGET_SPM, VOCAB, TARGET_VOCAB, GENERATION, TOKENIZER, CARD)
NEEDED = (CONFIG, SOURCE_SPM, TARGET_SPM, VOCAB)


def load_marian(folder: Path, *, root: Path, weights: Path, name: str | None = None) -> Bundle:
    """Load a Marian folder with the file of its `weights`, on the CPU.

    Args:
        root: no file may lie outside it, whatever links say.
        name: overrules the name that the checkpoint gives itself.
    Raises:
        CheckpointError: a file is missing or damaged, or the files do not fit each other.
    """
    path = folder / CONFIG
    config = _config(folder, root)
    src, tgt = _tokenizers(folder, root, config, name or "")
    generation = _generation(folder, root, config)
    shape = _model_config(path, config, generation)
    return bart.bundle(
        folder,
        root=root,
        weights=weights,
        shape=shape,
        parts=lambda found: _parts(found, shape, config["share_encoder_decoder_embeddings"]),
        src=src,
        tgt=tgt,
        decode=bart.decoding(path, config, generation),
        name=name,
    )


def _side(folder: Path, name: str, root: Path) -> Path:
    return bart.side_file(folder, name, root, f"a Marian checkpoint has {', '.join(NEEDED)} and its weights")


def _config(folder: Path, root: Path) -> dict[str, Any]:
    """config.json with what `transformers` takes for granted filled in."""
    path = _side(folder, CONFIG, root)
    config = bart.read_config(
        path,
        {
            "scale_embedding": False,
            "share_encoder_decoder_embeddings": True,
            "tie_word_embeddings": True,
            "activation_function": "gelu",
            "max_position_embeddings": 1024,
            "decoder_vocab_size": None,
        },
    )
    if config.get("model_type") != "marian":
        raise CheckpointError(f"{path}: model_type is {config.get('model_type')!r}; this layout is read for 'marian'")
    config["decoder_vocab_size"] = config["decoder_vocab_size"] or config.get("vocab_size")
    return config


def _generation(folder: Path, root: Path, config: dict[str, Any]) -> dict[str, Any]:
    """How the checkpoint is decoded: generation_config.json, or config.json where there is none."""
    return bart.read_optional(folder, GENERATION, root) if (folder / GENERATION).is_file() else config


def _model_config(path: Path, config: dict[str, Any], generation: dict[str, Any]) -> ModelConfig:
    shared, tied = config["share_encoder_decoder_embeddings"], config["tie_word_embeddings"]
    size = bart.get(path, config, "vocab_size")
    return bart.shape(
        path,
        config,
        generation,
        src_vocab=size,
        tgt_vocab=size if shared else config["decoder_vocab_size"],
        norm="post",
        final_norm=False,
        positions="concatenated",
        output_bias=True,
        embeddings="shared" if shared and tied else "tied" if tied else "separate",
    )


def _tokenizers(
    folder: Path, root: Path, config: dict[str, Any], name: str
) -> tuple[SentencePieceTokenizer, SentencePieceTokenizer]:
    separate = not config["share_encoder_decoder_embeddings"] and (folder / TARGET_VOCAB).is_file()
    settings = bart.read_optional(folder, TOKENIZER, root)
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
        pieces = bart.ordered_pieces(_side(folder, vocab, root))
        try:
            text = TextConfig(code, level="sentencepiece", normalise="none")
            sides.append(SentencePieceTokenizer(text, pieces, path.read_bytes()))
        except InputError as error:
            raise CheckpointError(f"{folder / vocab}: {error}") from error
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from error
    return sides[0], sides[1]


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
    parts |= bart.layers(weights, config)
    for side in ("encoder", "decoder"):
        bart.check_positions(weights, f"model.{side}.embed_positions.weight", config)
    weights.finish(ignored=TIED)
    return parts
