"""Gradient × input and integrated gradients over input tokens.

Sources: Denil et al. 2014, "Extraction of salient sentences from labelled documents" (gradient × input); Sundararajan
et al. 2017, "Axiomatic attribution for deep networks" (integrated gradients). The input is the word embedding of each
token, scaled as the model reads it; positions are held fixed. A gradient sees small changes only; the baseline, an
embedding of zeros, is a sentence that the model never saw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from translator.analysis.passes import Pair, pair_of, to_numpy
from translator.analysis.pullback import DecoderPass, EncoderPass
from translator.analysis.sites import over_heads
from translator.analysis.stopping import Stop, ask
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
ROWS = 2048
"""Rows of all points that one forward pass may have, so that memory stays bounded."""
COTANGENTS = 4096
"""Rows of the encoder that are pulled back at once."""


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
        wanted = own.expand(logits.shape[:-1]).flatten()
        return -F.cross_entropy(logits.flatten(0, -2), wanted, reduction="none").view(logits.shape[:-1])

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

    The points lie at the squares of even steps, the last at the embeddings themselves, and are summed by the trapezoid
    rule: gradients jump near the baseline, so that a rule for smooth curves gains nothing.

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
    stop: Stop | None = None,
) -> tuple[Attribution, Attribution]:
    """`gradient_x_input` and `integrated_gradients` of the same in one go, in the time of the second alone.

    Args: as `integrated_gradients`; `stop` is asked twice a point, and True ends the work.
    Raises:
        InputError: as `integrated_gradients`.
        CancelledError: `stop` said so.
    """
    at, weight = _quadrature(points)
    weights = np.stack([at == 1, weight])  # the last point is where the other method looks
    slope, integral = _integrals(translator, trace, steps, score, inputs, at, weights, stop)
    return slope, integral


def _quadrature(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Where on the way gradients are taken, and what each is worth: [P] both."""
    even = np.arange(1, whole("points", points, 1, 1000) + 1) / points
    weight = 2 * even / points
    weight[-1] /= 2  # the other end, at 0, weighs nothing
    return even**2, weight


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
    stop: Stop | None = None,
) -> list[Attribution]:
    """Gradients at the shares `at` [P] of the embeddings, times these, summed with each row of `weight` [K, P]."""
    choice("inputs", inputs, Inputs)
    pair = pair_of(translator, trace)
    chosen = _steps(steps, len(trace.tgt))
    score = score or log_prob(pair, chosen)
    output = pair.model.output
    last = max(chosen) + 1  # no step reads what comes after it
    with torch.inference_mode():  # in which products are fastest
        source, target = embeddings(pair)
        target = target[:last]
        zeros = 0 * target if inputs == "both" else target
        ends = read_embedded(pair, torch.stack([source, 0 * source]), torch.stack([target, zeros]))
        value, base = score(output(ends[:, list(chosen)]))
    shares, weights = (output.weight.new_tensor(values) for values in (at, weight))
    sums = [shares.new_zeros(len(weight), len(chosen), len(side)) for side in (trace.src, trace.tgt)]
    rows = max(ROWS // (len(source) + last), 1)
    with torch.no_grad():
        for some, worth in zip(shares.split(rows), weights.split(rows, -1), strict=True):
            x = some[:, None, None] * source
            y = some[:, None, None] * target if inputs == "both" else target.expand(len(some), -1, -1)
            for points, slopes in _gradients(pair, x, y, chosen, score, inputs, stop):
                for total, side, slope in zip(sums, (source, target), slopes, strict=False):
                    total[..., : len(side)] += torch.einsum("kc,cni->kni", worth[:, points], (slope * side).sum(-1))
    by_source, by_target = map(to_numpy, sums)
    return [
        Attribution(chosen, by_source[k], by_target[k], to_numpy(value), to_numpy(base)) for k in range(len(weight))
    ]


def _gradients(
    pair: Pair,
    source: Tensor,
    target: Tensor,
    steps: tuple[int, ...],
    score: Score,
    inputs: Inputs,
    stop: Stop | None,
) -> Iterator[tuple[slice, tuple[Tensor, ...]]]:
    """Gradients of each step's score by embeddings source [P, S, D] and, of both, target [P, T, D].

    Some points of P at a time: which, and their gradients [C, N, S, D] and, of both, [C, N, T, D].
    """
    model, keep = pair.model, over_heads(pair.src_keep)
    ask(stop, "the gradients")
    encoder = EncoderPass(model, source + rows_at(model.src_positions, 0, source.shape[1]), keep)
    ask(stop, "the gradients")
    decoder = DecoderPass(model, target + rows_at(model.tgt_positions, 0, target.shape[1]), encoder.out, keep)
    ask(stop, "the gradients")
    slopes = _slopes(pair, decoder.out[:, list(steps)], score)
    some = max(COTANGENTS // (len(steps) * source.shape[1]), 1)
    for first in range(0, len(source), some):
        points = slice(first, first + some)
        ask(stop, "the gradients")
        by_memory, by_target = decoder.back(slopes[points], points, steps, whole=inputs == "both")
        ask(stop, "the gradients")
        by_source = encoder.back(by_memory, points)
        yield points, (by_source,) if by_target is None else (by_source, by_target)


def _slopes(pair: Pair, read: Tensor, score: Score) -> Tensor:
    """The gradient of each step's score by its own row of `read` [P, N, D]: as `read`."""
    with torch.enable_grad():
        rows = read.detach().requires_grad_()
        scores = score(pair.model.output(rows))  # (P, N)
        return torch.autograd.grad(scores.sum(), rows)[0]  # a score reads its own row only


def _steps(steps: Sequence[int] | None, count: int) -> tuple[int, ...]:
    """The steps as whole numbers from 0."""
    chosen = tuple(range(count)) if steps is None else tuple(whole("step", step, 0, count - 1) for step in steps)
    if not chosen:
        raise InputError("no step was chosen; choose at least one")
    return chosen
