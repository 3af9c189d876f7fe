"""Gradient × input and integrated gradients over input tokens.

Sources: Denil et al. 2014, "Extraction of salient sentences from labelled documents" (gradient × input); Sundararajan
et al. 2017, "Axiomatic attribution for deep networks" (integrated gradients). The input is the word embedding of each
token, scaled as the model reads it; positions are held fixed. A gradient sees small changes only; the baseline, an
embedding of zeros, is a sentence that the model never saw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from translator.analysis.passes import Pair, pair_of, to_numpy
from translator.analysis.sites import over_heads
from translator.errors import InputError
from translator.model.attention import causal_keep
from translator.model.positions import rows_at
from translator.pipeline import Translator
from translator.rules import choice, whole
from translator.trace import Trace

Score = Callable[[Tensor], Tensor]
"""From the logits [..., N, V] of N steps to one number a step, [..., N]. A step's number must read its own row only."""
Inputs = Literal["both", "source"]
POINTS = 64
"""Points of the quadrature; on the shipped checkpoints the gap is then a few hundredths of what is split."""
ROWS = 256
"""Rows of the batch that one backward pass may have, so that memory stays bounded."""
GROUP = 4
"""Steps that share a pass of the decoder."""


@dataclass(frozen=True, eq=False)
class Attribution:
    """What each input token contributes to the score of each of N steps, in the score's own unit.

    `source` [N, S]; `target` [N, T], whose column j is the token `trace.reads[j]` (0 from the step's own row on upward,
    and everywhere where the target was held fixed). `value` [N] is the score, `base` [N] the score at the baseline.
    """

    steps: tuple[int, ...]
    source: np.ndarray
    target: np.ndarray
    value: np.ndarray
    base: np.ndarray

    @property
    def gap(self) -> np.ndarray:
        """What the parts fail to add up to: `value` - `base` - their sum, [N]. Integrated gradients bring it to 0."""
        gap: np.ndarray = self.value - self.base - self.source.sum(axis=-1) - self.target.sum(axis=-1)
        return gap


def log_prob(pair: Pair, steps: Sequence[int]) -> Score:
    """The score that is taken where none is given: the log-probability in nats of the token of each of the N steps."""
    own = pair.tgt_ids[list(steps)]

    def score(logits: Tensor) -> Tensor:
        picked = logits.gather(-1, own.expand(logits.shape[:-1])[..., None]).squeeze(-1)
        return picked - logits.logsumexp(-1)

    return score


def gradient_x_input(
    translator: Translator,
    trace: Trace,
    steps: Sequence[int] | None = None,
    score: Score | None = None,
    *,
    inputs: Inputs = "both",
) -> Attribution:
    """The gradient of each step's score by each token's embedding, times that embedding.

    Args:
        steps: of `trace.tgt`, counted from 0; None takes them all.
        score: what is explained; None takes the log-probability of the step's token.
        inputs: "source" leaves the target's prefix out.
    Raises:
        InputError: there is no such step, or another checkpoint made the trace.
    """
    return _integrals(translator, trace, steps, score, inputs, np.ones(1), np.ones((1, 1)))[0]


def integrated_gradients(
    translator: Translator,
    trace: Trace,
    steps: Sequence[int] | None = None,
    score: Score | None = None,
    *,
    inputs: Inputs = "both",
    points: int = POINTS,
) -> Attribution:
    """The gradients on the straight way from embeddings of zeros to the real ones, summed up.

    The points lie at the squares of even steps, where the midpoint rule was measured to come closest: gradients jump
    near the baseline, so that a rule for smooth curves gains nothing.

    Args:
        steps: as for `gradient_x_input`.
        score: as for `gradient_x_input`.
        inputs: as for `gradient_x_input`; with "source" the prefix stays as it is on the whole way.
        points: where on the way gradients are taken, from 1 to 1000.
    Raises:
        InputError: as `gradient_x_input`, or the number of points is none of these.
    """
    at, weight = _quadrature(points)
    return _integrals(translator, trace, steps, score, inputs, at, weight[None])[0]


def both_gradients(
    translator: Translator,
    trace: Trace,
    steps: Sequence[int] | None = None,
    score: Score | None = None,
    *,
    inputs: Inputs = "both",
    points: int = POINTS,
) -> tuple[Attribution, Attribution]:
    """`gradient_x_input` and `integrated_gradients` of the same in one go, in less time than one after the other.

    Args and raises: as `integrated_gradients`.
    """
    at, weight = _quadrature(points)
    weights = np.stack([np.eye(1, points + 1)[0], [0.0, *weight]])
    slope, integral = _integrals(translator, trace, steps, score, inputs, np.array([1.0, *at]), weights)
    return slope, integral


def _quadrature(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Where on the way gradients are taken, and what each is worth: [P] both."""
    middle = (np.arange(whole("points", points, 1, 1000)) + 0.5) / points
    return middle**2, 2 * middle / points


def embeddings(pair: Pair) -> tuple[Tensor, Tensor]:
    """What the two sides read before positions are added, scaled: source [S, D] and decoder inputs [T, D]."""
    model = pair.model
    scale = model.config.d_model**0.5 if model.config.scale_embeddings else 1.0
    return model.src_embedding(pair.src_ids[0]) * scale, model.tgt_embedding(pair.reads[0]) * scale


def read_embedded(pair: Pair, source: Tensor, target: Tensor) -> Tensor:
    """What the output projection reads, [B, T, D], from embeddings [B, S, D] and [B, T, D] instead of ids."""
    return _decoded(pair, target, _encoded(pair, source))


def _encoded(pair: Pair, source: Tensor) -> Tensor:
    """The encoder's output [B, S, D] from embeddings [B, S, D]."""
    model = pair.model
    x = source + rows_at(model.src_positions, 0, source.shape[1])
    x = model.embedding_norms[0](x) if model.embedding_norms else x
    for layer in model.encoder:
        x, _ = layer(x, over_heads(pair.src_keep))
    normed: Tensor = model.encoder_norm(x)
    return normed


def _decoded(pair: Pair, target: Tensor, memory: Tensor) -> Tensor:
    """What the output projection reads, [B, T, D], from embeddings [B, T, D] over memory [B, S, D]."""
    model = pair.model
    y = target + rows_at(model.tgt_positions, 0, target.shape[1])
    y = model.embedding_norms[1](y) if model.embedding_norms else y
    causal = causal_keep(y.shape[1], y.device)
    for block in model.decoder:
        y, _, _ = block(y, causal, memory, over_heads(pair.src_keep))
    normed: Tensor = model.decoder_norm(y)
    return normed


def _integrals(
    translator: Translator,
    trace: Trace,
    steps: Sequence[int] | None,
    score: Score | None,
    inputs: Inputs,
    at: np.ndarray,
    weight: np.ndarray,
) -> list[Attribution]:
    """Gradients at the shares `at` [P] of the embeddings, times these, summed with each row of `weight` [K, P]."""
    choice("inputs", inputs, Inputs)
    pair = pair_of(translator, trace)
    chosen = _steps(steps, len(trace.tgt))
    score = score or log_prob(pair, chosen)
    rows = max(ROWS // len(chosen), 1)
    shares, weights = (pair.model.output.weight.new_tensor(values).split(rows, -1) for values in (at, weight))
    with torch.no_grad():
        source, target = embeddings(pair)
        zeros = 0 * target if inputs == "both" else target
        last = max(chosen) + 1  # no step reads what comes after it
        ends = read_embedded(pair, torch.stack([source, 0 * source]), torch.stack([target[:last], zeros[:last]]))
        value, base = score(pair.model.output(ends[:, list(chosen)]))
    sums = [source.new_zeros(len(weight), len(chosen), *side.shape) for side in (source, target)]
    for some, worth in zip(shares, weights, strict=True):
        grads = _gradients(pair, source, target, some, chosen, score, inputs)
        for total, grad in zip(sums, grads, strict=False):
            total += torch.einsum("kp,npid->knid", worth, grad)
    by_source, by_target = (
        to_numpy((total * side).sum(-1)) for total, side in zip(sums, (source, target), strict=True)
    )
    return [
        Attribution(chosen, by_source[k], by_target[k], to_numpy(value), to_numpy(base)) for k in range(len(weight))
    ]


def _gradients(
    pair: Pair, source: Tensor, target: Tensor, shares: Tensor, steps: tuple[int, ...], score: Score, inputs: Inputs
) -> tuple[Tensor, ...]:
    """Gradients of each step's score by the embeddings at each share of them: [N, P, S, D], and [N, P, T, D] of both.

    One forward pass of the encoder serves all steps, and their backward passes run side by side. The decoder takes a
    few steps at a time, which read no row after the last of them, so that the early ones cost less.
    """
    order = sorted(range(len(steps)), key=lambda n: steps[n])
    groups = [order[first : first + GROUP] for first in range(0, len(order), GROUP)]
    with torch.enable_grad():
        x = (shares[:, None, None] * source).requires_grad_()
        y = shares[:, None, None] * target if inputs == "both" else target.expand(len(shares), -1, -1)
        memory = _encoded(pair, x)
        wanted = (memory, y.requires_grad_()) if inputs == "both" else (memory,)
        read = [
            _decoded(pair, y[:, : steps[group[-1]] + 1], memory)[:, [steps[n] for n in group]] for group in groups
        ]  # (P, n, D) each
        slopes = _slopes(pair, torch.cat(read, dim=1), order, score).split([len(group) for group in groups], dim=1)
        found = [_side_by_side(rows, slope, wanted) for rows, slope in zip(read, slopes, strict=True)]
        by_memory, *by_target = (torch.cat(parts)[np.argsort(order)] for parts in zip(*found, strict=True))
        (by_source,) = torch.autograd.grad(memory, x, by_memory, is_grads_batched=True)
    return by_source, *by_target


def _slopes(pair: Pair, read: Tensor, order: list[int], score: Score) -> Tensor:
    """The gradient of each step's score by its own row of `read` [P, N, D], whose rows are in `order`: as `read`."""
    rows = read.detach().requires_grad_()
    scores = score(pair.model.output(rows[:, np.argsort(order)]))  # (P, N)
    return torch.autograd.grad(scores.sum(), rows)[0]  # a score reads its own row only


def _side_by_side(read: Tensor, slope: Tensor, wanted: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Gradients by `wanted` [P, ·, D] of each row n of `read` [P, n, D] by itself, times its `slope`: [n, P, ·, D]."""
    each = torch.eye(read.shape[1], dtype=read.dtype).to(read.device)[:, None, :, None] * slope
    return torch.autograd.grad(read, wanted, each, retain_graph=True, is_grads_batched=True)


def _steps(steps: Sequence[int] | None, count: int) -> tuple[int, ...]:
    """The steps as whole numbers from 0."""
    chosen = tuple(range(count)) if steps is None else tuple(whole("step", step, 0, count - 1) for step in steps)
    if not chosen:
        raise InputError("no step was chosen; choose at least one")
    return chosen
