"""Formats of a weight, which keep a float32 exactly or by rounding."""

from __future__ import annotations

import torch
from torch import Tensor

GROUP = 64
"""Inputs that share a scale where weights are integers."""


def fits_float16(weight: Tensor) -> bool:
    """Whether 16 bits hold these very weights [...]."""
    return torch.equal(weight.half().float(), weight)


def in_whole_numbers(weight: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Weights [N, K] rounded to whole numbers (int32) of some bits [N, K], and the scale [N, G] of G groups of inputs.

    A group is 64 inputs of an output, where these can be cut so. Rounding is to nearest, and 0 stays 0: no weight is
    off by more than half a step, and there are 2^(bits - 1) - 1 of them from 0 to the largest of its group.
    """
    largest, width = 2 ** (bits - 1) - 1, GROUP if weight.shape[1] % GROUP == 0 else weight.shape[1]
    groups = weight.view(len(weight), -1, width)
    scale = groups.abs().amax(2).clamp(min=1e-12) / largest
    steps = groups.to(torch.float64, copy=True).div_(scale[..., None])  # in place: an output layer may be large
    return steps.round_().clamp_(-largest, largest).to(torch.int32).view_as(weight), scale


def rounded(weight: Tensor) -> Tensor:
    """What bytes make of weights [N, K], as float32, to the nearest float16."""
    whole, scale = in_whole_numbers(weight, 8)
    return (whole.float().view(*scale.shape, -1) * scale[..., None]).half().float().view_as(weight)
