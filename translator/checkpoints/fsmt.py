"""FSMT checkpoints in the layout of `transformers`, such as facebook/wmt19-de-en, as a `Bundle`.

Source: Ng et al. 2019. A vocabulary and an embedding matrix for each side, the output apart from both; post-norm
without a final norm, fairseq's sinusoids, ReLU, no bias on the logits, and decoding that starts from the end token.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from translator.checkpoints import bart
from translator.checkpoints.bart import CODES, GENERATION, TOKENIZER
from translator.checkpoints.bundle import CARD, CONFIG, Bundle
from translator.checkpoints.foreign import Weights
from translator.checkpoints.manifest import read_json
from translator.checkpoints.shelf import MERGES, SOURCE_VOCAB, TARGET_VOCAB
from translator.config import ModelConfig, TextConfig
from translator.errors import CheckpointError, InputError
from translator.text import MosesTokenizer

SIDE_FILES = (CONFIG, SOURCE_VOCAB, TARGET_VOCAB, MERGES, GENERATION, TOKENIZER, CARD)
NEEDED = (CONFIG, SOURCE_VOCAB, TARGET_VOCAB, MERGES)
SRC_EMBEDDING, TGT_EMBEDDING = "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"
OUTPUT = "model.decoder.output_projection.weight"


def load_fsmt(folder: Path, *, root: Path, weights: Path, name: str | None = None) -> Bundle:
    """Load an FSMT folder with the file of its `weights`, on the CPU.

    Args:
        root: no file may lie outside it, whatever links say.
        name: overrules the name of the folder.
    Raises:
        CheckpointError: a file is missing or damaged, or the files do not fit each other.
    """
    path = _side(folder, CONFIG, root)
    config = _config(path)
    generation = bart.read_optional(folder, GENERATION, root) or config
    shape = _shape(path, config, generation)
    src, tgt = _tokenizers(folder, root, config, shape.start_id)
    return bart.bundle(
        folder,
        root=root,
        weights=weights,
        shape=shape,
        parts=lambda found: _parts(found, shape),
        src=src,
        tgt=tgt,
        decode=bart.decoding(path, config, generation),
        name=name,
    )


def _side(folder: Path, name: str, root: Path) -> Path:
    return bart.side_file(folder, name, root, f"an FSMT checkpoint has {', '.join(NEEDED)} and its weights")


def _config(path: Path) -> dict[str, Any]:
    """config.json with what `transformers` takes for granted filled in."""
    kind = read_json(path, 2**20).get("model_type")
    if kind != "fsmt":
        raise CheckpointError(f"{path}: model_type is {kind!r}; this layout is read for 'fsmt'")
    return bart.read_config(
        path,
        {
            "scale_embedding": True,
            "tie_word_embeddings": False,
            "activation_function": "relu",
            "max_position_embeddings": 1024,
            **dict(decoder_start_token_id=2, pad_token_id=1, eos_token_id=2, forced_eos_token_id=2, num_beams=5),
        },
    )


def _shape(path: Path, config: dict[str, Any], generation: dict[str, Any]) -> ModelConfig:
    start = generation.get("decoder_start_token_id")
    return bart.shape(
        path,
        {**config, "decoder_start_token_id": config["decoder_start_token_id"] if start is None else start},
        generation,
        src_vocab=bart.get(path, config, "src_vocab_size"),
        tgt_vocab=bart.get(path, config, "tgt_vocab_size"),
        norm="post",
        final_norm=False,
        positions="fairseq",
        first_position=config["pad_token_id"] + 1,
        embeddings="shared" if config["tie_word_embeddings"] else "separate",
    )


def _tokenizers(
    folder: Path, root: Path, config: dict[str, Any], start_id: int
) -> tuple[MosesTokenizer, MosesTokenizer]:
    settings = bart.read_optional(folder, TOKENIZER, root)
    languages = settings.get("langs") or config.get("langs")
    if not isinstance(languages, list) or len(languages) != 2 or not all(isinstance(code, str) for code in languages):
        raise CheckpointError(f"{folder}: langs is {languages!r:.80}; it must be two codes, source and target")
    lowercase = settings.get("do_lower_case", False)
    if not isinstance(lowercase, bool):
        raise CheckpointError(f"{folder / TOKENIZER}: do_lower_case is {lowercase!r}; it must be true or false")
    merges = _merges(_side(folder, MERGES, root))
    sides = []
    for code, vocab, lower in ((languages[0], SOURCE_VOCAB, lowercase), (languages[1], TARGET_VOCAB, False)):
        pieces = bart.ordered_pieces(_side(folder, vocab, root))
        try:
            text = TextConfig(CODES.get(str(code), str(code)), level="moses", normalise="none", lowercase=lower)
            sides.append(MosesTokenizer(text, pieces, merges, start_id=None if vocab == SOURCE_VOCAB else start_id))
        except (InputError, CheckpointError) as error:
            raise CheckpointError(f"{folder / vocab}: {error}") from error
    return sides[0], sides[1]


def _merges(path: Path) -> list[str]:
    """merges.txt: two pieces a line, best first; a third column counts and is left out."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except ValueError as error:
        raise CheckpointError(f"{path} is no text: {error}; fetch the checkpoint again") from error
    return [" ".join(line.split()[:2]) for line in lines if line]


def _parts(weights: Weights, config: ModelConfig) -> dict[str, dict[str, Tensor]]:
    """Our modules' weights out of FSMT's."""
    width, tied = config.d_model, config.embeddings == "shared"
    src = TGT_EMBEDDING if tied and SRC_EMBEDDING not in weights else SRC_EMBEDDING
    parts = {"src_embedding": {"weight": weights.take(src, config.src_vocab, width)}}
    if not tied:
        parts["tgt_embedding"] = {"weight": weights.take(TGT_EMBEDDING, config.tgt_vocab, width)}
        parts["output"] = {"weight": weights.take(OUTPUT, config.tgt_vocab, width)}
    parts |= bart.layers(weights, config)
    for side in ("encoder", "decoder"):
        bart.check_positions(weights, f"model.{side}.embed_positions.weight", config)
    copies = (SRC_EMBEDDING, TGT_EMBEDDING, OUTPUT) if tied else ()
    weights.finish(ignored="|".join(name.replace(".", r"\.") for name in copies) or "(?!)")
    return parts
