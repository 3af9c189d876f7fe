"""Rerunning the model over the tokens of a trace, the basis of every intervention."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from translator.decode import check_target
from translator.decode.replay import source_keep, source_tensor
from translator.engine import Engine
from translator.errors import InputError
from translator.model import Decoded, Encoded, Gates, Transformer
from translator.pipeline import Translator
from translator.rules import whole
from translator.trace import Trace

KINDS = ("encoder", "decoder", "cross")


@dataclass(frozen=True, eq=False)
class Pair:
    """A source and its target as the model reads them: `src_ids` [1, S], `src_keep` [1, S] or None (all),
    `reads` [1, T] (start token first) and `tgt_ids` [T]."""

    engine: Engine
    src_ids: Tensor
    src_keep: Tensor | None
    reads: Tensor
    tgt_ids: Tensor

    @property
    def model(self) -> Transformer:
        """The model that reads them."""
        return self.engine.model

    def encode(self, gates: Gates | None = None) -> Encoded:
        """The encoder's pass."""
        return self.engine.encode(self.src_ids, self.src_keep, gates)

    def decode(self, memory: Tensor, gates: Gates | None = None) -> Decoded:
        """The decoder's teacher-forced pass over memory [1, S, D]."""
        return self.model.decode(self.reads, memory, self.src_keep, gates)

    def log_probs(self, logits: Tensor) -> Tensor:
        """Log-probability in nats of the target tokens: logits [..., T, V] → [..., T]."""
        wanted = self.tgt_ids.expand(logits.shape[:-1]).flatten()
        return -F.cross_entropy(logits.flatten(0, -2).float(), wanted, reduction="none").view(logits.shape[:-1])

    def scored(self, src_ids: Tensor, src_keep: Tensor | None) -> Tensor:
        """Log-probabilities in nats of the target after each of other sources, [N, S'] → [N, T]."""
        hidden = self.model.hidden(src_ids, self.reads.expand(len(src_ids), -1), src_keep)
        return self.log_probs(self.model.output(hidden))


def pair_of(translator: Translator, trace: Trace) -> Pair:
    """The ids of `trace` on the model's device.

    Raises:
        InputError: another checkpoint made the trace, or this one with gates or moved positions.
    """
    if not isinstance(trace, Trace):
        raise InputError(f"the trace is {type(trace).__name__}; it must be what Translator.translate gives")
    if trace.altered:
        raise InputError("the trace was made with gates or with moved positions; take one of the model as it is")
    info = translator.bundle.info
    if trace.checkpoint.sha256 != info.sha256:
        raise InputError(f"the trace was made by {trace.checkpoint.name}, not by these weights of {info.name}")
    model = translator.bundle.model
    src, tgt = ([token.id for token in tokens] for tokens in (trace.src, trace.tgt))
    check_target(model.config, tgt, len(tgt), name="trace's target")  # a file may say anything
    produced = torch.tensor(tgt, device=translator.device)
    reads = torch.cat([produced.new_tensor([model.config.start_id]), produced[:-1]])
    return Pair(translator.engine, source_tensor(model, src), source_keep(model, src), reads[None], produced)


@dataclass(frozen=True, eq=False)
class Replay:
    """A pair with one pass over it: all that the model computed."""

    pair: Pair
    encoded: Encoded
    decoded: Decoded


def replay_of(translator: Translator, trace: Trace) -> Replay:
    """The pass over `trace`.

    Raises:
        InputError: as `pair_of`.
    """
    pair = pair_of(translator, trace)
    with torch.inference_mode():
        encoded = pair.encode()
        return Replay(pair, encoded, pair.decode(encoded.memory))


def to_numpy(values: Tensor) -> np.ndarray:
    """Float64 NumPy on the CPU, of the same shape [...]."""
    return values.detach().double().cpu().numpy()


def layer_of(count: int, layer: int, name: str = "layer") -> int:
    """`layer`, counted from 0, as an int, if there are so many.

    Raises:
        InputError: there is no such layer, or it is no whole number.
    """
    return whole(name, layer, 0, count - 1)


def head_counts(model: Transformer) -> dict[str, tuple[int, int]]:
    """Layers and heads of each kind of attention."""
    return model.config.head_counts
