"""Frozen, validated settings of a training run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from translator.config import Level, ModelConfig, from_dict
from translator.rules import choice, keep, keep_flag, keep_real, keep_whole, real, require, whole

Schedule = Literal["noam", "inverse_sqrt", "cosine", "trapezoid"]
Precision = Literal["fp32", "bf16", "auto"]

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
    deeper than (see `translator.training.grow`) or wider (`translator.training.widen`; with learned positions): the
    settings in which a first run differs, or a checkpoint (a name, a folder, or a hub id with its "@revision"), whose
    vocabularies and, but for what `model` says, shape it takes over; None: nothing. `begin` says which weights of a
    first run: "best" by the first `eval_sentences`, or those that an export would take ("selected"). `self_training`
    lets sentences of the source language alone take part, as what the run begins with translates them, where a
    token of that has at least this mean log-probability (nats; see `translator.training.self_training`); of those
    of like length the share `self_training_share`, the surest, takes part even below it; what has fewer than
    `self_training_length` target tokens for each source token, and so has probably left something out, takes no
    part. A run that this one grows from does so only if it says so itself.
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
