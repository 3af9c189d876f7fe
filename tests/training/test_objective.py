"""The smoothed loss and its gradient against torch's cross_entropy."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from translator.training.objective import divergence, objective


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [1, 64, 200])
def test_value_and_gradient_equal_torch(smoothing: float, rows: int) -> None:
    torch.manual_seed(0)
    logits = (3 * torch.randn(rows, 37)).requires_grad_()
    targets = torch.randint(0, 37, (rows,))
    found = objective(logits, targets, smoothing=smoothing)
    (gradient,) = torch.autograd.grad(0.7 * found.loss, logits)
    want = F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
    (want_gradient,) = torch.autograd.grad(0.7 * want, logits)
    torch.testing.assert_close(found.loss, want)
    torch.testing.assert_close(gradient, want_gradient, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(found.nll, F.cross_entropy(logits, targets, reduction="sum"))
    assert int(found.correct) == int((logits.argmax(-1) == targets).sum())
    assert found.tokens == rows


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_bfloat16_logits_lose_only_their_own_rounding(smoothing: float) -> None:
    torch.manual_seed(0)
    logits = (3 * torch.randn(100, 37)).bfloat16().requires_grad_()
    targets = torch.randint(0, 37, (100,))
    exact = logits.detach().float().requires_grad_()
    found = objective(logits, targets, smoothing=smoothing)
    want = F.cross_entropy(exact, targets, label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(found.loss, want)  # the sum is taken in higher precision
    (gradient,) = torch.autograd.grad(found.loss, logits)
    (want_gradient,) = torch.autograd.grad(want, exact)
    assert gradient.dtype == torch.bfloat16
    torch.testing.assert_close(gradient.float(), want_gradient, atol=1e-3, rtol=8e-3)


def test_without_gradients_it_only_counts() -> None:
    found = objective(torch.tensor([[0.0, 9.0], [9.0, 0.0]]), torch.tensor([1, 1]), smoothing=0.0)
    assert int(found.correct) == 1 and not found.loss.requires_grad


def test_divergence_equals_torch_distributions() -> None:
    torch.manual_seed(0)
    first, second = (3 * torch.randn(20, 37, dtype=torch.float64) for _ in range(2))
    p, q = (torch.distributions.Categorical(logits=logits) for logits in (first, second))
    kl = torch.distributions.kl_divergence
    want = (kl(p, q) + kl(q, p)).sum() / 2
    torch.testing.assert_close(divergence(first, second).double(), want, atol=1e-4, rtol=1e-5)
    assert float(divergence(first, first)) == pytest.approx(0, abs=1e-6)
