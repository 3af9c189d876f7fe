"""Linear layers, some rows of which may be used alone."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F


class Linear(nn.Linear):
    """`torch.nn.Linear`; `rows` computes a part of its outputs."""

    def rows(self, x: Tensor, first: int, last: int) -> Tensor:
        """What output rows `first` up to `last` give for x [..., K]: [..., last - first]."""
        if last - first == self.out_features:
            return F.linear(x, self.weight, self.bias)
        return F.linear(x, self.weight[first:last], None if self.bias is None else self.bias[first:last])
