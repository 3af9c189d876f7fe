"""Frozen, validated settings of a model, of decoding and of a training run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, TypeVar

from translator.errors import InputError
from translator.registry.decoding import DEFAULTS, SETTINGS, LengthPenalty, Method
from translator.rules import choice, keep, keep_flag, keep_real, keep_whole, real, require, whole

FORMAT_VERSION = 1

Norm = Literal["pre", "post"]
Positions = Literal["interleaved", "concatenated", "fairseq", "learned"]
Activation = Literal["relu", "gelu", "silu", "none"]
NormVariant = Literal["standard", "unbiased"]
Embeddings = Literal["separate", "tied", "shared"]
Level = Literal[
    "subword", "word", "char", "sentencepiece", "multilingual", "moses", "transformers", "treebank", "bare"
]  # fmt: skip
Schedule = Literal["noam", "inverse_sqrt", "cosine", "trapezoid"]
Precision = Literal["fp32", "bf16", "auto"]
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
    written only if the source has it (see `translator.decode.copying`).
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


_OWN: dict[str, Any] = {
    "self_training": None,
    "self_training_share": 0.0,
    "self_training_length": 0.0,
    "dev": ("dev",),
    "middle": 1.0,
    "join": 0.0,
    "noise": 0.0,
    "recopied": 0.0,
    "reverse": None,
    "r_drop": 0.0,
    "guided": 0.0,
    "guided_head": None,
    "guiding_head": None,
}
"""Settings that a run which another grows from has only if it says so itself."""


@dataclass(frozen=True)
class TrainConfig:
    """One training run, whole: what it learns from, how long, and how it is made repeatable.

    `corpora` maps a corpus name to its copies an epoch (fractions: a fresh sample each epoch); a
    corpus not named takes part once, one with 0 is left out. `batch_tokens` counts tokens of a batch's longer side,
    padding included. `steps` are optimiser steps. `lr` is the peak of every schedule but Noam's,
    where it is the factor before d_model^-0.5; "trapezoid" is flat until the last `decay` steps and
    then falls to 0 in a line. `precision` "auto" means bfloat16 autocast on CUDA, float32 elsewhere.
    `bpe_dropout` and `label_smoothing` are probabilities. `level` is the unit of both languages, or of the
    source alone where `tgt_level` names another.
    `average` is how many of the last checkpoints are averaged. `base` is what this run begins with and may grow
    deeper than (see `translator.training.grow`): the settings in which a first run differs, or a checkpoint (a name,
    a folder, or a hub id with its "@revision"), whose vocabularies and, but for what `model` says, shape it takes
    over; None: nothing. `begin` says which weights of a first run: "best" by the first `eval_sentences`, or those
    that an export would take ("selected"). `self_training` lets sentences of the source language alone take part, as
    what the run begins with translates them, where a token of that has at least this mean log-probability (nats; see
    `translator.training.self_training`); of those of like length the share `self_training_share`, the surest, takes
    part even below it; what has fewer than `self_training_length` target tokens for each source token, and so has
    probably left something out, takes no part. A run that this one grows from does so only if it says so itself.
    `dev` names the development sets; the mean of their BLEU decides. `middle` multiplies the copies of pairs whose
    source has 8 to 20 words. Of the sentences of an epoch the share `join` is met once more in examples of two or
    three (Kondo et al. 2021), the share `noise` as careless typing leaves it, and the share `recopied` with other
    names and numbers where both sides have the same. `mirrored` swaps the columns of the data: the run learns the
    other direction. `reverse` lets sentences of the target language alone take part, translated back by a mirrored run
    (Sennrich et al. 2016; see `translator.training.back_translation`): the settings in which that one differs. It
    begins with the same weights as this one where one vocabulary serves both languages (`joint_vocab`), else with none.
    `r_drop` is the weight α of the divergence between two passes with different dropout (Liang et al. 2021).
    `guided` is the weight of a loss by which the cross-attention of `guided_head` (a decoder's layer and head, from 0)
    learns where the token that it predicts comes from (Garg et al. 2019): where `guiding_head` looks once it reads that
    token (see `translator.training.guided`).
    """

    name: str
    src: str
    tgt: str
    seed: int = 1
    steps: int = 20_000
    batch_tokens: int = 4096
    accumulate: int = 1
    max_tokens: int = 96
    schedule: Schedule = "inverse_sqrt"
    lr: float = 1e-3
    warmup: int = 1000
    decay: int = 1000
    precision: Precision = "auto"
    betas: tuple[float, float] = (0.9, 0.98)
    adam_eps: float = 1e-9
    weight_decay: float = 0.0
    clip: float = 1.0
    label_smoothing: float = 0.1
    bpe_dropout: float = 0.0
    vocab: int = 8000
    joint_vocab: bool = False
    level: Level = "subword"
    tgt_level: Level | None = None
    corpora: Mapping[str, float] | None = None
    eval_every: int = 500
    eval_sentences: int = 300
    average: int = 5
    model: Mapping[str, Any] | None = None
    base: Mapping[str, Any] | str | None = None
    begin: Literal["best", "selected"] = "best"
    self_training: float | None = None
    self_training_share: float = 0.0
    self_training_length: float = 0.0
    dev: tuple[str, ...] = ("dev",)
    middle: float = 1.0
    join: float = 0.0
    noise: float = 0.0
    recopied: float = 0.0
    mirrored: bool = False
    reverse: Mapping[str, Any] | None = None
    r_drop: float = 0.0
    guided: float = 0.0
    guided_head: tuple[int, int] | None = None
    guiding_head: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for name, high in (("steps", 10**8), ("batch_tokens", 10**7), ("accumulate", 10_000), ("max_tokens", 4096)):
            keep_whole(self, name, 1, high)
        for name in ("warmup", "decay", "eval_every", "eval_sentences", "average"):
            keep_whole(self, name, 1, 10**8)
        keep_whole(self, "vocab", 300, 1_000_000)
        choice("schedule", self.schedule, Schedule)
        choice("precision", self.precision, Precision)
        levels = Level if isinstance(self.base, str) else Literal["subword", "word", "char"]  # those it can learn
        choice("level", self.level, levels)
        if self.tgt_level is not None:
            choice("tgt_level", self.tgt_level, levels)
        same = not self.joint_vocab or self.tgt_level in (None, self.level)
        require(same, "tgt_level", self.tgt_level, f"{self.level!r}, since the vocabulary is joint")
        choice("begin", self.begin, Literal["best", "selected"])
        keep_real(self, "lr", 1e-12, 100.0)
        keep_real(self, "clip", 0.0, 1e6)
        keep_real(self, "weight_decay", 0.0, 10.0)
        keep_real(self, "adam_eps", 1e-30, 1.0)
        for name in ("label_smoothing", "bpe_dropout"):
            keep_real(self, name, 0.0, 0.95)
        keep_whole(self, "seed", 0, 2**63 - 1)
        keep_flag(self, "joint_vocab")
        keep_flag(self, "mirrored")
        keep_real(self, "r_drop", 0.0, 100.0)
        self._check_guided()
        for name in ("name", "src", "tgt"):
            value = getattr(self, name)
            require(isinstance(value, str) and bool(value), name, value, "a name")
        require(isinstance(self.betas, (tuple, list)) and len(self.betas) == 2, "betas", self.betas, "two numbers")
        named = isinstance(self.dev, (tuple, list)) and self.dev and all(isinstance(n, str) and n for n in self.dev)
        require(bool(named), "dev", self.dev, "names of development sets")
        keep(self, "dev", tuple(self.dev))
        keep_real(self, "middle", 0.0, 100.0)
        for name in ("self_training_share", "join", "noise", "recopied"):
            keep_real(self, name, 0.0, 1.0)
        keep_real(self, "self_training_length", 0.0, 10.0)
        keep(self, "betas", tuple(real("betas", beta, 0.0, 1 - 1e-9) for beta in self.betas))  # JSON gives lists
        for name in ("corpora", "model", "reverse"):
            value = getattr(self, name)
            require(value is None or isinstance(value, Mapping), name, value, "names with values")
        known = (
            self.base is None or isinstance(self.base, Mapping) or (isinstance(self.base, str) and self.base.strip())
        )
        require(bool(known), "base", self.base, "names with values, or a checkpoint")
        if self.self_training is not None:
            keep_real(self, "self_training", -100.0, 0.0)
            require(self.base is not None, "base", self.base, "what translates, since self_training is set")
        for name, copies in (self.corpora or {}).items():
            real(f"corpora.{name}", copies, 0.0, 1e6)
        from_dict(ModelConfig, {"src_vocab": self.vocab, "tgt_vocab": self.vocab, **(self.model or {})})
        self.first()
        self.other_way()

    def _check_guided(self) -> None:
        keep_real(self, "guided", 0.0, 100.0)
        for name in ("guided_head", "guiding_head"):
            head = getattr(self, name)
            if head is not None or self.guided:
                pair = isinstance(head, (list, tuple)) and len(head) == 2
                require(pair, name, head, "a layer of the decoder and a head, from 0")
                keep(self, name, tuple(whole(name, index, 0, 127) for index in head))
        same = self.guided_head is not None and self.guided_head == self.guiding_head
        require(not same, "guiding_head", self.guiding_head, "another head than guided_head")

    @property
    def guiding(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        """The guided head and the one that guides it; None where none is."""
        if not self.guided or self.guided_head is None or self.guiding_head is None:
            return None
        return self.guided_head, self.guiding_head

    def first(self) -> TrainConfig | None:
        """The settings of the run that this one grows from; None if it begins with nothing, or with a checkpoint.

        Raises:
            InputError: a setting in `base` is unknown or out of range.
        """
        if not isinstance(self.base, Mapping):
            return None
        return from_dict(TrainConfig, {**asdict(self), "base": None, **_OWN, **self.base})

    def other_way(self) -> TrainConfig | None:
        """The settings of the run that translates the target language back; None without `reverse`.

        Raises:
            InputError: a setting in `reverse` is unknown or out of range.
        """
        if self.reverse is None:
            return None
        turned: dict[str, Any] = {"src": self.tgt, "tgt": self.src, "mirrored": not self.mirrored, "base": None}
        turned |= {"level": self.tgt_level or self.level, "tgt_level": self.level}
        shape = {"model": {**(self.model or {}), **self.reverse.get("model", {})}}
        return from_dict(TrainConfig, {**asdict(self), **_OWN, **turned, **self.reverse, **shape})


def to_json(config: Any) -> str:
    """A config dataclass as indented JSON with stable key order."""
    return json.dumps(asdict(config), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
