"""M2M100, NLLB-200, mBART and mBART-50 in the layout of `transformers`, as a `Bundle` that knows many languages.

Sources: Fan et al. 2021 (M2M100), NLLB Team 2022, Liu et al. 2020 (mBART), Tang et al. 2020 (mBART-50). Pre-norm with
a final norm and one embedding matrix for all. M2M100 and NLLB have fairseq's sinusoids and ReLU; mBART has learned
positions, a norm over the embeddings and GELU.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from torch import Tensor

from translator.checkpoints import bart
from translator.checkpoints.bart import GENERATION, TIED, TOKENIZER
from translator.checkpoints.bundle import CARD, CONFIG, Bundle
from translator.checkpoints.foreign import Weights
from translator.checkpoints.manifest import read_json
from translator.checkpoints.shelf import SPM, TOKENIZER_JSON, VOCAB
from translator.config import ModelConfig, TextConfig
from translator.errors import CheckpointError, InputError
from translator.text.multilingual import MultilingualTokenizer, Place, json_pieces
from translator.text.sentencepiece import processor

MODEL_TYPES = ("m2m_100", "mbart")
SPECIAL_MAP, ADDED = "special_tokens_map.json", "added_tokens.json"
SIDE_FILES = (CONFIG, SPM, TOKENIZER_JSON, VOCAB, GENERATION, TOKENIZER, SPECIAL_MAP, ADDED, CARD)
OFFSET = 2  # rows of a table of positions before the first that is used
LANGUAGE = re.compile(r"__([a-z]{2,3})__|([a-z]{2,3}_[A-Za-z]{2,4})")
# What a tokenizer knows whose files name no language, in the order of their ids (Fan et al. 2021; Tran et al. 2021).
M2M100 = (
    *("af", "am", "ar", "ast", "az", "ba", "be", "bg", "bn", "br", "bs", "ca", "ceb", "cs", "cy", "da", "de", "el"),
    *("en", "es", "et", "fa", "ff", "fi", "fr", "fy", "ga", "gd", "gl", "gu", "ha", "he", "hi", "hr", "ht", "hu"),
    *("hy", "id", "ig", "ilo", "is", "it", "ja", "jv", "ka", "kk", "km", "kn", "ko", "lb", "lg", "ln", "lo", "lt"),
    *("lv", "mg", "mk", "ml", "mn", "mr", "ms", "my", "ne", "nl", "no", "ns", "oc", "or", "pa", "pl", "ps", "pt"),
    *("ro", "ru", "sd", "si", "sk", "sl", "so", "sq", "sr", "ss", "su", "sv", "sw", "ta", "th", "tl", "tn", "tr"),
    *("uk", "ur", "uz", "vi", "wo", "xh", "yi", "yo", "zh", "zu"),
)
WMT21 = ("en", "ha", "is", "ja", "cs", "ru", "zh", "de")
ENGLISH, GERMAN = ("en", "eng_Latn", "en_XX"), ("de", "deu_Latn", "de_DE")


def load_multilingual(folder: Path, *, root: Path, weights: Path, name: str | None = None) -> Bundle:
    """Load a folder of one of `MODEL_TYPES` with the file of its `weights`, on the CPU.

    It is set to the languages that its files name, and where they name none from English, to German;
    `Bundle.between` sets it to others.

    Args:
        root: no file may lie outside it, whatever links say.
        name: overrules the name of the folder.
    Raises:
        CheckpointError: a file is missing or damaged, or the files do not fit each other.
    """
    path = bart.side_file(folder, CONFIG, root, "config.json says what the model is")
    config = _config(path)
    generation = bart.read_optional(folder, GENERATION, root) or config
    settings = bart.read_optional(folder, TOKENIZER, root)
    shape = _shape(path, config, generation)
    pieces, model, languages = _vocabulary(folder, root, config, settings)
    if not languages:
        raise CheckpointError(f"{folder} names no language; its tokenizer's files are not this layout's")
    first = _first(config, generation, languages)
    place: Place = "before" if _before(config, settings, first) else "after"
    src = _known((settings.get("src_lang"), *ENGLISH), languages)
    begun = next((code for code, id_ in languages.items() if id_ in (shape.start_id, first)), None)
    tgt = _known((begun, settings.get("tgt_lang"), *(GERMAN if src in ENGLISH else ENGLISH)), languages)
    sides = []
    for code, source in ((src, True), (tgt, False)):
        known = languages if source or first is not None else {code: languages[code]}
        try:
            text = TextConfig(code, level="multilingual", normalise="none")
            sides.append(
                MultilingualTokenizer(
                    text, pieces, model, languages=known, place=place, start_id=shape.start_id, source=source
                )
            )
        except InputError as error:
            raise CheckpointError(f"{folder}: {error}") from error
    return bart.bundle(
        folder,
        root=root,
        weights=weights,
        shape=shape,
        parts=lambda found: _parts(found, shape, config),
        src=sides[0],
        tgt=sides[1],
        decode=bart.decoding(path, config, generation, first_id=None if first is None else languages[tgt]),
        name=name,
    )


def _config(path: Path) -> dict[str, Any]:
    """config.json with what `transformers` takes for granted filled in."""
    kind = read_json(path, 2**20).get("model_type")
    if kind not in MODEL_TYPES:
        raise CheckpointError(f"{path}: model_type is {kind!r}; this layout is read for {', '.join(MODEL_TYPES)}")
    m2m100 = kind == "m2m_100"
    config = bart.read_config(
        path,
        {
            "scale_embedding": m2m100,
            "tie_word_embeddings": True,
            "activation_function": "relu" if m2m100 else "gelu",
            "max_position_embeddings": 1024,
            **dict(decoder_start_token_id=2, pad_token_id=1, eos_token_id=2),
        },
    )
    if not config["tie_word_embeddings"]:
        raise CheckpointError(f"{path}: tie_word_embeddings is false; this layout has one matrix for all embeddings")
    config["decoder_start_token_id"] = config["decoder_start_token_id"] or config["eos_token_id"]
    return config


def _shape(path: Path, config: dict[str, Any], generation: dict[str, Any]) -> ModelConfig:
    size, mbart = bart.get(path, config, "vocab_size"), config["model_type"] == "mbart"
    start = generation.get("decoder_start_token_id") or config["decoder_start_token_id"]
    return bart.shape(
        path,
        {**config, "decoder_start_token_id": start},
        generation,
        src_vocab=size,
        tgt_vocab=size,
        norm="pre",
        final_norm=True,
        embedding_norm=mbart,
        positions="learned" if mbart else "fairseq",
        first_position=0 if mbart else OFFSET,
        output_bias=mbart,
        embeddings="shared",
    )


def _first(config: dict[str, Any], generation: dict[str, Any], languages: dict[str, int]) -> int | None:
    """The token that every translation begins with, or None where decoding starts from the language itself."""
    forced = generation.get("forced_bos_token_id")
    if isinstance(forced, int):
        return forced
    start = generation.get("decoder_start_token_id") or config["decoder_start_token_id"]
    return None if start in languages.values() else -1


def _before(config: dict[str, Any], settings: dict[str, Any], first: int | None) -> bool:
    """Whether the language stands before the source text; the first NLLB had it behind, and so has mBART."""
    if settings.get("legacy_behaviour") is True:
        return False
    named = str(settings.get("tokenizer_class", "")).removesuffix("Fast")
    if named in ("MBartTokenizer", "MBart50Tokenizer"):
        return named == "MBart50Tokenizer"
    return config["model_type"] == "m2m_100" or first is not None


def _known(wanted: tuple[Any, ...], languages: dict[str, int]) -> str:
    """The first code of `wanted` that there is, or else the first language."""
    return next((code for code in wanted if code in languages), next(iter(languages)))


def _vocabulary(
    folder: Path, root: Path, config: dict[str, Any], settings: dict[str, Any]
) -> tuple[list[str], bytes, dict[str, int]]:
    """Pieces in the order of their ids, what cuts a text into them, and the id of each language's token."""
    needed = f"a multilingual checkpoint has {TOKENIZER_JSON}, or {SPM}, with M2M100 and {VOCAB} beside it"
    path = folder / (VOCAB if (folder / VOCAB).is_file() else TOKENIZER_JSON)
    named = _named(folder, root, settings)
    try:
        if path.name == VOCAB:
            codes = [piece.strip("_") for piece in named if piece.startswith("__")]
            codes = codes or list(WMT21 if settings.get("language_codes") == "wmt21" else M2M100)
            model = bart.side_file(folder, SPM, root, needed).read_bytes()
            pieces = [
                *bart.ordered_pieces(bart.side_file(folder, VOCAB, root, needed)),
                *(f"__{code}__" for code in codes),
            ]
        elif path.is_file():
            model = bart.side_file(folder, TOKENIZER_JSON, root, needed).read_bytes()
            pieces = json_pieces(model)
        else:
            path = folder / SPM
            model = bart.side_file(folder, SPM, root, needed).read_bytes()
            own = processor(model)
            codes = [piece for piece in named if LANGUAGE.fullmatch(piece)]
            rest = [own.id_to_piece(id_) for id_ in range(3, len(own))]  # after <unk>, <s> and </s>
            pieces = ["<s>", "<pad>", "</s>", "<unk>", *rest, *codes, "<mask>"]
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error
    size = config.get("vocab_size")
    if isinstance(size, int) and len(pieces) < size <= len(pieces) + 64:  # rows without a piece
        pieces += [f"madeupword{number:04d}" for number in range(size - len(pieces))]
    languages = {}
    for id_, piece in enumerate(pieces):
        match = LANGUAGE.fullmatch(piece)
        if match and (piece in named or match.group(1) or not named):
            languages[match.group(1) or piece] = id_
    return pieces, model, languages


def _named(folder: Path, root: Path, settings: dict[str, Any]) -> list[str]:
    """The special tokens that the tokenizer's files add, in their order."""
    found: list[str] = []
    for said in (bart.read_optional(folder, SPECIAL_MAP, root), settings):
        for key in ("additional_special_tokens", "extra_special_tokens"):
            tokens = said.get(key) or []
            texts = [each.get("content") if isinstance(each, dict) else each for each in tokens]
            found += [text for text in texts if isinstance(text, str)]
    return list(dict.fromkeys(found))


def _parts(weights: Weights, shape: ModelConfig, config: dict[str, Any]) -> dict[str, dict[str, Tensor]]:
    """Our modules' weights out of theirs."""
    width, mbart = shape.d_model, config["model_type"] == "mbart"
    names = ("model.shared.weight", "model.encoder.embed_tokens.weight", "lm_head.weight")
    shared = next((name for name in names if name in weights), names[0])
    parts = {"src_embedding": {"weight": weights.take(shared, shape.src_vocab, width)}}
    for side, norm, positions in (("encoder", "0", "src_positions"), ("decoder", "1", "tgt_positions")):
        parts[f"{side}_norm"] = weights.norm(f"model.{side}.layer_norm", width)
        table = f"model.{side}.embed_positions.weight"
        if mbart:
            parts[f"embedding_norms.{norm}"] = weights.norm(f"model.{side}.layernorm_embedding", width)
            rows = weights.take(table, shape.max_positions + OFFSET, width)[OFFSET:]
            parts.setdefault("", {})[positions] = rows
        else:
            bart.check_positions(weights, table, shape)
    if mbart:
        parts["output"] = {"bias": weights.take("final_logits_bias", 1, shape.tgt_vocab)[0]}
    parts |= bart.layers(weights, shape)
    weights.finish(ignored=TIED)
    return parts
