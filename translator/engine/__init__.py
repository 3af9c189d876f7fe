"""Engines, which run a model: the protocols that decoding relies on, and `best`, the only place that chooses one.

PyTorch's eager engine is the default and the reference; another one may be removed together with its line in `best`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, get_args

import torch
from torch import Tensor

from translator.config import ModelConfig, Weights
from translator.engine.eager import EagerEngine
from translator.engine.ranking import Ranked
from translator.errors import InputError
from translator.model import Encoded, Gates, Stepped, Transformer

__all__ = ["EagerEngine", "Engine", "Session", "best"]


class Session(Protocol):
    """The decoding of N sources × `rows` hypotheses; those of one source are neighbours in the batch B = N·rows."""

    @property
    def length(self) -> int:
        """Steps taken."""

    @property
    def rows(self) -> int:
        """Hypotheses of each source."""

    def step(self, ids: Tensor | Sequence[int]) -> Stepped:
        """Read one more id of every hypothesis, ids [B].

        Raises:
            ValueError: there is no room for another step.
        """

    def rank(self, logits: Tensor, scores: Sequence[Sequence[float]], count: int) -> Ranked:
        """The best continuations of each source's hypotheses by what a step gave.

        Args:
            logits: of the step, [B, V].
            scores: of the hypotheses, [N, rows]; -inf stands for one that is not there, and has none.
            count: how many of each source, those with the largest sums of score and log-probability, best first.
        """

    def reorder(self, rows: Tensor | Sequence[int], *, sources: Tensor | None = None) -> None:
        """Let hypothesis i be what hypothesis rows[i] was; `sources` [N'] names the sources that stay (None = all).

        Raises:
            ValueError: the rows are not a whole number for each source.
        """


class Engine(Protocol):
    """A model and a way to run it. Threads may share it; what one search needs is in its `Session`."""

    @property
    def model(self) -> Transformer:
        """The model, whose layers may be used one by one."""

    @property
    def config(self) -> ModelConfig:
        """The model's."""

    @property
    def device(self) -> torch.device:
        """Where the model is."""

    @property
    def nbytes(self) -> int:
        """Bytes held once the engine has been used in every way: the weights, and whatever else is made of them."""

    def encode(
        self, src_ids: Tensor, src_keep: Tensor | None, gates: Gates | None = None, *, maps: bool = True
    ) -> Encoded:
        """Read sources src_ids [B, S], of which `src_keep` [B, S] (None: all) is real; see `Transformer.encode`."""

    def start(self, encoded: Encoded, *, max_length: int, rows: int = 1, gates: Gates | None = None) -> Session:
        """Begin to decode `rows` hypotheses of each source, at most `max_length` steps, its heads gated by `gates`.

        Raises:
            ValueError: there are no positions for so many steps.
        """

    def compile(self, *, wait: bool = False) -> None:
        """Become faster, in the background or with `wait` before this returns, if this engine can."""


def best(model: Transformer, precision: Weights = "fp32") -> Engine:
    """The fastest engine for a model where it is now; its linear layers may be replaced by faster ones.

    Args:
        precision: "int8" keeps three quarters of the weights of a decoding step in bytes, on the CPU.
    Raises:
        InputError: there is no such precision, or not for this model's device.
    """
    if precision not in get_args(Weights):
        raise InputError(f"precision is {precision!r}; it must be one of {', '.join(get_args(Weights))}")
    engine: Engine | None = None
    engine = _accelerated(model, precision)
    if engine is None and precision == "int8":
        raise InputError("precision is 'int8', which is for the CPU; use 'fp32'")
    return engine or EagerEngine(model)


def _accelerated(model: Transformer, precision: Weights) -> Engine | None:
    """The engine made for the device of a model; None where there is none."""
    from translator.engine import cpu, cuda

    weight = model.output.weight
    if weight.is_cpu and weight.dtype == torch.float32:
        return cpu.CpuEngine(model, precision)
    if weight.device.type in cuda.CAPTURES and precision == "fp32":
        return cuda.CudaEngine(model)
    return None
