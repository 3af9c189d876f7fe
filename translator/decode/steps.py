"""What a search yields and returns, and its argument checks."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from translator.config import DecodeConfig, ModelConfig
from translator.engine import Engine, Session
from translator.errors import CancelledError, CheckpointError, InputError
from translator.model import Stepped
from translator.trace import Beam

Stop = Callable[[], bool]
R = TypeVar("R")


@dataclass(frozen=True)
class Hypothesis:
    """A finished search: produced ids (EOS last unless `truncated`) and their log-probabilities in nats.

    `score` is the sum of `log_probs`; what a penalty takes off ranks hypotheses but is not in it. `coverage` says how
    much attention each source token has had, where the search counts it; `rows` which row of each step's it was;
    `missing` what it loses for names of the source, in nats.
    """

    ids: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    score: float = 0.0
    truncated: bool = False
    coverage: tuple[float, ...] = ()
    rows: tuple[int, ...] = ()
    missing: float = 0.0

    def extend(
        self, token: int, log_prob: float, read: Sequence[float] = (), row: int = 0, missing: float = 0.0
    ) -> Hypothesis:
        """This hypothesis with one more token, which `row` of the step predicted.

        `read` is the attention that it paid to each source token.
        """
        coverage = tuple(map(operator.add, self.coverage, read)) if self.coverage else tuple(read)
        ids, log_probs, rows = (*self.ids, token), (*self.log_probs, log_prob), (*self.rows, row)
        score = self.score + log_prob
        return Hypothesis(ids, log_probs, score, coverage=coverage, rows=rows, missing=missing)


@dataclass(frozen=True, eq=False)
class IdStep:
    """One step of a search: what the leading hypothesis produced, and what it might have.

    `ids` is the leading hypothesis up to and with this step. `all_log_probs` [B, V] is the model's full
    log-softmax, of which `row` predicted the last of them, and `row` of `stepped` holds the weights that it read by;
    `known` is the last one's, where the search has looked it up. All stays on the model's device, and what a listener
    asks for is computed when it asks.
    """

    ids: tuple[int, ...]
    all_log_probs: Tensor
    stepped: Stepped
    row: int = 0
    beams: tuple[Beam, ...] = ()
    known: float | None = None

    @property
    def index(self) -> int:
        """Which step this is, from 0."""
        return len(self.ids) - 1

    @property
    def id(self) -> int:
        """The token that the leading hypothesis produced."""
        return self.ids[-1]

    @property
    def log_probs(self) -> Tensor:
        """The leading hypothesis' [V]."""
        return self.all_log_probs[self.row]

    @property
    def nbytes(self) -> int:
        """Bytes of what the step gave, for every hypothesis."""
        return self.all_log_probs.nbytes + self.stepped.nbytes

    @property
    def log_prob(self) -> float:
        """Log-probability of `id` in nats."""
        return float(self.all_log_probs[self.row, self.id]) if self.known is None else self.known

    @cached_property
    def entropy(self) -> float:
        """Entropy of the full distribution in nats."""
        return float(entropy(self.log_probs))

    def candidates(self, count: int) -> list[tuple[int, float]]:
        """The `count` most probable ids and their log-probabilities, best first."""
        best = self.log_probs.topk(min(count, self.all_log_probs.shape[-1]))
        return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))

    @cached_property
    def cross(self) -> np.ndarray:
        """The rows that it read the source by, [L, H, S], as float32 NumPy."""
        return self.stepped.cross[self.row].float().cpu().numpy()


def finish(steps: Generator[object, None, R]) -> R:
    """Run a generator to its end and return what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: R = end.value
            return result


def entropy(log_probs: Tensor) -> Tensor:
    """Entropy in nats of log-probabilities [..., V]: [...]; what is impossible (-inf) adds nothing."""
    return -(log_probs.exp() * log_probs.clamp(min=torch.finfo(log_probs.dtype).min)).sum(-1)


class Decoding:
    """A session under way, the settings that it decodes by, and what may stop it."""

    def __init__(self, engine: Engine, session: Session, config: DecodeConfig, stop: Stop | None = None) -> None:
        self.model_config, self.device = engine.config, engine.device
        self.session, self.config, self.stop = session, config, stop

    def step(self, ids: Sequence[int]) -> Stepped:
        """Read `ids`, one for each hypothesis.

        Raises:
            CancelledError: `stop` says so.
            CheckpointError: the model gives no numbers, see `check_logits`.
        """
        if self.stop is not None and self.stop():
            raise CancelledError("decoding was stopped")
        stepped = self.session.step(ids)
        check_logits(stepped.logits, stepped.total)
        return stepped


def check_logits(logits: Tensor, total: float | None = None) -> None:
    """Refuse logits [..., V] among which one is infinite or no number: every choice by them would be arbitrary.

    Args:
        total: their sum, where it is known.
    Raises:
        CheckpointError: weights that are finite each by themselves, but too large, give such.
    """
    if not math.isfinite(float(logits.sum()) if total is None else total):
        raise CheckpointError("the model's logits are not finite: its weights are too large; use another checkpoint")


def banned_ids(config: ModelConfig) -> list[int]:
    """What a search must not choose: what the config names, or else padding and the start token."""
    if config.banned_ids is not None:
        return sorted(config.banned_ids)
    return sorted({config.pad_id, config.start_id} - {config.eos_id})


def ban_sequences(
    scores: Tensor | np.ndarray, config: ModelConfig, decode: DecodeConfig, produced: Sequence[Sequence[int]]
) -> None:
    """Set the scores [B, V] of what `banned_next` names to -inf in place."""
    for row, id_ in banned_next(config, decode, produced):
        scores[row, id_] = -math.inf


def banned_next(
    config: ModelConfig, decode: DecodeConfig, produced: Sequence[Sequence[int]]
) -> Iterator[tuple[int, int]]:
    """The (row, id) that would complete a banned or a repeated sequence, or end too early.

    Source: `transformers`' NoBadWordsLogitsProcessor, NoRepeatNGramLogitsProcessor and MinLengthLogitsProcessor, to
    which the start token is the first of what was produced.

    Args:
        produced: the ids so far of each row.
    """
    size = decode.no_repeat_ngram_size
    for row, ids in enumerate(produced if config.banned_sequences or size or config.min_length else ()):
        whole = [config.start_id, *ids]
        if len(ids) < config.min_length:
            yield row, config.eos_id
        for *before, last in config.banned_sequences:
            if whole[-len(before) :] == before:
                yield row, last
        latest = whole[len(whole) - size + 1 :]
        for end in range(size - 1, len(whole) if size else 0):
            if whole[end - size + 1 : end] == latest:
                yield row, whole[end]


def check_source(config: ModelConfig, src_ids: Sequence[int]) -> None:
    """Refuse a source that `config` cannot read.

    Raises:
        InputError: it is empty, too long for the positions, or holds an id outside the vocabulary.
    """
    longest = config.padded_length or config.max_positions
    if not 1 <= len(src_ids) <= longest:
        raise InputError(f"the source has {len(src_ids)} tokens; this model reads 1 to {longest}")
    _check_ids("source", src_ids, config.src_vocab)


def check_target(config: ModelConfig, prefix: Sequence[int], max_length: int, *, name: str = "prefix") -> None:
    """Refuse a length or a forced prefix (called `name`) that `config` cannot produce.

    Raises:
        InputError: the length is out of range, or the prefix is longer, goes on after EOS, or holds a
            banned id or one outside the vocabulary.
    """
    if not 1 <= max_length <= config.max_positions:
        raise InputError(f"the target may have {max_length} tokens; this model produces 1 to {config.max_positions}")
    if len(prefix) > max_length:
        raise InputError(f"the {name} has {len(prefix)} tokens, but at most {max_length} are to be produced")
    _check_ids(name, prefix, config.tgt_vocab)
    if config.eos_id in prefix[:-1]:
        raise InputError(f"the {name} goes on after its end-of-sentence token; end it there")
    for banned in banned_ids(config):
        if banned in prefix:
            raise InputError(f"the {name} holds id {banned}, which is padding or the start token; leave it out")


def _check_ids(what: str, ids: Sequence[int], size: int) -> None:
    for id_ in ids:
        if not 0 <= id_ < size:
            raise InputError(f"the {what} holds id {id_}; the vocabulary has ids 0 to {size - 1}")
