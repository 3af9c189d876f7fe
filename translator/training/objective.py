"""The training objective: label-smoothed cross-entropy (Szegedy et al. 2016; Vaswani et al. 2017, 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

_CHUNK = 64
"""Rows of logits worked on at once: few enough to stay in a core's cache, where most of the time would go."""


@dataclass(frozen=True, eq=False)
class Objective:
    """Sums over real target tokens, in nats: divide by `tokens` for a mean.

    `loss` is the smoothed loss that is differentiated; `nll` the plain one; `correct` counts tokens
    whose most probable prediction was right.
    """

    loss: Tensor
    nll: Tensor
    correct: Tensor
    tokens: int


def objective(logits: Tensor, targets: Tensor, *, smoothing: float) -> Objective:
    """Score logits [N, V] against target ids [N]; the smoothed share `smoothing` is spread over all V ids."""
    loss, nll, correct = _SmoothedCrossEntropy.apply(logits, targets, smoothing)  # type: ignore[no-untyped-call]
    return Objective(loss, nll, correct, len(targets))


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """Mean of both Kullback-Leibler divergences between two passes' predictions [N, V], summed over rows, in nats.

    Source: Liang et al. 2021, "R-Drop: Regularized Dropout for Neural Networks", equation 2.
    """
    p, q = first.float().log_softmax(dim=-1), second.float().log_softmax(dim=-1)
    both = F.kl_div(p, q, reduction="sum", log_target=True) + F.kl_div(q, p, reduction="sum", log_target=True)
    return both / 2


class _SmoothedCrossEntropy(torch.autograd.Function):
    """Loss and gradient in one walk over the logits, a few rows at a time; equals torch's `cross_entropy`."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, smoothing: float) -> tuple[Tensor, Tensor, Tensor]:
        wanted = logits.requires_grad
        gradient = torch.empty_like(logits) if wanted else None
        sums = torch.zeros(3, dtype=torch.float64, device=logits.device)
        chunk = _CHUNK if logits.device.type == "cpu" else len(logits)
        for first in range(0, len(logits), max(chunk, 1)):
            rows = slice(first, first + chunk)
            log_probs = logits[rows].float().log_softmax(dim=-1)
            sums += torch.stack(_scores(log_probs, targets[rows, None], smoothing))
            if gradient is not None:
                gradient[rows] = _slopes(log_probs, targets[rows, None], smoothing)
        ctx.save_for_backward(gradient)
        loss, nll, correct = sums.float().unbind()
        ctx.mark_non_differentiable(nll, correct)
        return loss, nll, correct

    @staticmethod
    def backward(ctx: Any, slope: Tensor, *_: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * slope.to(gradient.dtype), None, None


def _scores(log_probs: Tensor, target: Tensor, smoothing: float) -> tuple[Tensor, Tensor, Tensor]:
    """Smoothed loss, plain loss and right predictions, each summed over rows [N, V] and their target ids [N, 1]."""
    hit = log_probs.gather(1, target)
    nll = -hit.sum()
    loss = (1 - smoothing) * nll - smoothing / log_probs.shape[1] * log_probs.sum()
    correct = (hit >= log_probs.amax(dim=1, keepdim=True)).sum()
    return loss, nll, correct


def _slopes(log_probs: Tensor, target: Tensor, smoothing: float) -> Tensor:
    """d loss / d logit = softmax − (1 − ε)·[is target] − ε/V for rows [N, V], written over `log_probs`."""
    slopes = log_probs.exp_().sub_(smoothing / log_probs.shape[1])
    return slopes.scatter_add_(1, target, slopes.new_full(target.shape, smoothing - 1))
