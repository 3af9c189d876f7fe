"""Frozen, validated settings of a model, of its text and of decoding."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, TypeVar

from translator.errors import InputError
from translator.registry.decoding import DEFAULTS, SETTINGS, LengthPenalty, Method
from translator.rules import choice, keep, keep_flag, keep_real, keep_whole, require, whole

FORMAT_VERSION = 1

Norm = Literal["pre", "post"]
Positions = Literal["interleaved", "concatenated", "fairseq", "learned"]
Activation = Literal["relu", "gelu", "silu", "none"]
NormVariant = Literal["standard", "unbiased"]
Embeddings = Literal["separate", "tied", "shared"]
Level = Literal[
    "subword", "word", "char", "sentencepiece", "multilingual", "moses", "transformers", "treebank", "bare"
]  # fmt: skip
Weights = Literal["fp32", "int8"]

C = TypeVar("C")


def from_dict(kind: type[C], values: Mapping[str, Any]) -> C:
    """Make the frozen config `kind` from a mapping; an unknown or a missing key is named.

    Raises:
        InputError: a key is unknown or missing, or a value is out of range.
    """
    require(isinstance(values, Mapping), kind.__name__, values, "names with values")
    known = {f.name for f in fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(values) - known)
    if unknown:
        raise InputError(f"unknown setting {unknown[0]!r} in {kind.__name__}; known are {', '.join(sorted(known))}")
    try:
        return kind(**values)
    except TypeError as error:
        raise InputError(f"{kind.__name__}: {error}") from error


@dataclass(frozen=True)
class ModelConfig:
    """The shape and the habits of one encoder-decoder Transformer.

    Defaults follow Vaswani et al. 2017 with pre-norm. Sizes are counts, `dropout` is a probability.
    `d_head` None means d_model / heads, `decoder_d_ff` None the encoder's. `embeddings`: "separate" (source,
    target and output), "tied" (target and output are one), "shared" (all three are one).
    `padded_length`: every source is padded to it and the padding is attended to (one source
    document was trained so); None masks padding, as everybody else does.
    `banned_ids` are never chosen by a search (None: padding and the start token), nor is the last id of one of
    `banned_sequences` right after the others, nor EOS before `min_length` other tokens; no attention reads
    a source token of `masked_ids` (one source document masks unknown words as if they were padding).
    """

    src_vocab: int
    tgt_vocab: int
    d_model: int = 256
    d_ff: int = 1024
    decoder_d_ff: int | None = None
    encoder_layers: int = 6
    decoder_layers: int = 6
    encoder_heads: int = 8
    decoder_heads: int = 8
    d_head: int | None = None
    norm: Norm = "pre"
    final_norm: bool = True
    norm_eps: float = 1e-5
    norm_variant: NormVariant = "standard"
    norm_bias: bool = True
    embedding_norm: bool = False
    positions: Positions = "interleaved"
    max_positions: int = 256
    first_position: int = 0
    activation: Activation = "relu"
    qkv_bias: bool = True
    out_bias: bool = True
    ff_bias: bool = True
    output_bias: bool = False
    embeddings: Embeddings = "tied"
    scale_embeddings: bool = True
    dropout: float = 0.1
    attention_dropout: float = 0.0
    xavier: bool = True
    padded_length: int | None = None
    banned_ids: tuple[int, ...] | None = None
    banned_sequences: tuple[tuple[int, ...], ...] = ()
    min_length: int = 0
    masked_ids: tuple[int, ...] = ()
    pad_id: int = 0
    start_id: int = 1
    eos_id: int = 2

    def __post_init__(self) -> None:
        for name, high in (("src_vocab", 1_000_000), ("tgt_vocab", 1_000_000), ("d_model", 8192), ("d_ff", 65536)):
            keep_whole(self, name, 1, high)
        for name in ("encoder_layers", "decoder_layers", "encoder_heads", "decoder_heads"):
            keep_whole(self, name, 1, 128)
        keep_whole(self, "max_positions", 1, 100_000)
        keep_whole(self, "first_position", 0, 1000)
        keep_whole(self, "min_length", 0, self.max_positions)
        for name in ("pad_id", "start_id", "eos_id"):
            keep_whole(self, name, 0, self.tgt_vocab - 1)
        if self.d_head is None:
            for name in ("encoder_heads", "decoder_heads"):
                heads = getattr(self, name)
                require(self.d_model % heads == 0, name, heads, f"a divisor of d_model {self.d_model}, or set d_head")
        else:
            keep_whole(self, "d_head", 1, 8192)
        if self.decoder_d_ff is not None:
            keep_whole(self, "decoder_d_ff", 1, 65536)
        if self.padded_length is not None:
            keep_whole(self, "padded_length", 1, self.max_positions)
        for name in ("dropout", "attention_dropout"):
            keep_real(self, name, 0.0, 0.95)
        keep_real(self, "norm_eps", 0.0, 1.0)
        for name, literal in (
            ("norm", Norm),
            ("positions", Positions),
            ("activation", Activation),
            ("norm_variant", NormVariant),
            ("embeddings", Embeddings),
        ):
            choice(name, getattr(self, name), literal)
        for name in ("final_norm", "norm_bias", "embedding_norm", "qkv_bias", "out_bias", "ff_bias", "output_bias"):
            keep_flag(self, name)
        for name in ("scale_embeddings", "xavier"):
            keep_flag(self, name)
        self._check_id_sets()
        same = self.embeddings != "shared" or self.src_vocab == self.tgt_vocab
        require(same, "embeddings", self.embeddings, "tied or separate when the vocabularies differ in size")

    def _check_id_sets(self) -> None:
        for name, size in (("banned_ids", self.tgt_vocab), ("masked_ids", self.src_vocab)):
            ids = getattr(self, name)
            if ids is None and name == "banned_ids":
                continue
            require(isinstance(ids, (list, tuple)), name, ids, "a list of token ids")
            keep(self, name, tuple(whole(name, id_, 0, size - 1) for id_ in ids))  # JSON gives lists
        sequences = self.banned_sequences
        require(isinstance(sequences, (list, tuple)), "banned_sequences", sequences, "a list of lists of token ids")
        for sequence in sequences:
            ok = isinstance(sequence, (list, tuple)) and len(sequence) >= 2
            require(ok, "banned_sequences", sequence, "a list of at least two token ids; one by itself is a banned id")
        top = self.tgt_vocab - 1
        read = tuple(tuple(whole("banned_sequences", id_, 0, top) for id_ in sequence) for sequence in sequences)
        keep(self, "banned_sequences", read)
        banned = self.banned_ids or ()
        require(self.eos_id not in banned, "banned_ids", banned, f"without the end-of-sentence token {self.eos_id}")

    @property
    def head_counts(self) -> dict[str, tuple[int, int]]:
        """Layers and heads of each kind of attention."""
        decoder = (self.decoder_layers, self.decoder_heads)
        return {"encoder": (self.encoder_layers, self.encoder_heads), "decoder": decoder, "cross": decoder}

    def head_size(self, heads: int) -> int:
        """The width of one head's query, key and value."""
        return self.d_head or self.d_model // heads


@dataclass(frozen=True)
class DecodeConfig:
    """How one sentence is decoded; `translator.registry.decoding` has each range and default.

    `max_length` counts produced tokens, EOS included; None lets the source's length decide
    (twice its tokens plus 16, at most 160). `length_penalty` is alpha of Wu et al. 2016 ("wu"),
    or the exponent of the length that divides the score ("power", as in `transformers`);
    `coverage_penalty` is their beta: a beam search then prefers hypotheses that have read the whole source, by the
    attention of `coverage_heads` (pairs of decoder layer and head, from 0; None: the mean over all of them);
    `early_stopping` True ends a beam search as soon as `beam` hypotheses have ended, False when none that
    lives could enter them at its present length, "never" when none could at any length.
    `no_repeat_ngram_size` n > 0 lets no n tokens follow each other twice in a translation, as in `transformers`.
    `spans_from_source` lets a number of two or more digits, and a Latin word where the target has another script, be
    written only if the source has it (see `translator.decode.copying`). `name_penalty` is what a hypothesis of a beam
    search loses for each name of the source that it does not have, in nats (see `translator.decode.names`).
    `force_eos` ends what reaches `max_length` with EOS, which then counts 0 in the score. `first_id` is the id that
    every translation begins with, also counted 0, as multilingual models name the target language by it.
    `top_k` 0 and `top_p` 1 switch these filters off. `candidates` is how many
    alternatives a Step carries.
    """

    method: Method = DEFAULTS["method"]
    beam: int = DEFAULTS["beam"]
    length_penalty: float = DEFAULTS["length_penalty"]
    penalty_kind: LengthPenalty = DEFAULTS["penalty_kind"]
    coverage_penalty: float = DEFAULTS["coverage_penalty"]
    coverage_heads: tuple[tuple[int, int], ...] | None = DEFAULTS["coverage_heads"]
    early_stopping: bool | Literal["never"] = DEFAULTS["early_stopping"]
    force_eos: bool = DEFAULTS["force_eos"]
    first_id: int | None = DEFAULTS["first_id"]
    no_repeat_ngram_size: int = DEFAULTS["no_repeat_ngram_size"]
    spans_from_source: bool = DEFAULTS["spans_from_source"]
    name_penalty: float = DEFAULTS["name_penalty"]
    temperature: float = DEFAULTS["temperature"]
    top_k: int = DEFAULTS["top_k"]
    top_p: float = DEFAULTS["top_p"]
    seed: int = DEFAULTS["seed"]
    max_length: int | None = DEFAULTS["max_length"]
    candidates: int = DEFAULTS["candidates"]

    def __post_init__(self) -> None:
        for each in SETTINGS:
            each.keep(self)


@dataclass(frozen=True)
class TextConfig:
    """How one side's text becomes tokens.

    `language` is an ISO 639-1 code. `level`: "subword" (BPE with byte fallback), "word", "char", or how
    imported checkpoints do it: "sentencepiece" (OPUS-MT), "multilingual" (M2M100, NLLB, mBART: a token names the
    language), "moses" (FSMT: words by Moses' rules, then BPE), "transformers" (a tokenizer of that library),
    "treebank" (Penn Treebank words between start and end token), "bare" (words without punctuation, unknown ones left
    out).
    `normalise`: "corpus" (what the training corpora had) or "none". `prefix_space` marks the first
    word like a word after a space, so that both share one piece. `lowercase` as two source documents do.
    """

    language: str
    level: Level = "subword"
    normalise: Literal["corpus", "none"] = "corpus"
    prefix_space: bool = True
    lowercase: bool = False

    def __post_init__(self) -> None:
        named = isinstance(self.language, str) and 2 <= len(self.language) <= 16
        require(named, "language", self.language, "a code such as 'de'")
        choice("level", self.level, Level)
        choice("normalise", self.normalise, Literal["corpus", "none"])
        for name in ("prefix_space", "lowercase"):
            keep_flag(self, name)


def to_json(config: Any) -> str:
    """A config dataclass as indented JSON with stable key order."""
    return json.dumps(asdict(config), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
