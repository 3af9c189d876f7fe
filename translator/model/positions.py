"""How a position becomes a vector: one of three layouts of sinusoids, or a learned table."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from translator.config import ModelConfig


def sinusoids(length: int, d_model: int, *, layout: str, first: float = 0) -> Tensor:
    """The sinusoidal table of Vaswani et al. 2017, section 3.5.

    Pair i turns at the rate 10000^(-2i / d_model), in fairseq's layout 10000^(-i / (d_model // 2 - 1)). Computed in
    float64, so that late positions keep their phase. With an odd `d_model` the last sine has no cosine; in fairseq's
    layout the last column is 0.

    Args:
        length: number of positions, the first of which is numbered `first`.
        d_model: width of the table.
        layout: "interleaved" puts sine and cosine of a pair side by side (the paper),
            "concatenated" puts all sines first (Marian), and so does "fairseq", whose slowest pair turns at exactly
            1/10000 (M2M100, NLLB, FSMT).
    Returns:
        [length, d_model], float32.
    """
    positions = first + torch.arange(length, dtype=torch.float64)[:, None]
    if layout == "fairseq":
        half = d_model // 2
        angles = positions * 10000.0 ** (-torch.arange(half, dtype=torch.float64) / max(half - 1, 1))
        table = torch.cat([angles.sin(), angles.cos()], dim=1)
        return F.pad(table, (0, d_model % 2)).float()
    pairs = (d_model + 1) // 2
    angles = positions * 10000.0 ** (-2 * torch.arange(pairs, dtype=torch.float64) / d_model)
    sines, cosines = angles.sin(), angles.cos()[:, : d_model // 2]
    if layout == "concatenated":
        return torch.cat([sines, cosines], dim=1).float()
    table = torch.empty(length, d_model, dtype=torch.float64)
    table[:, 0::2], table[:, 1::2] = sines, cosines
    return table.float()


def position_table(config: ModelConfig) -> torch.nn.Parameter | Tensor:
    """The table that `config` asks for, [max_positions, d_model]: a parameter if it is learned.

    Among weights without storage it has none either: PyTorch would import its compiler to compute it.
    """
    learned = config.positions == "learned"
    if torch.get_default_device().type == "meta":
        shape = torch.empty(config.max_positions, config.d_model)
        return torch.nn.Parameter(shape) if learned else shape
    if learned:
        return torch.nn.Parameter(torch.randn(config.max_positions, config.d_model) * 0.02)
    return sinusoids(config.max_positions, config.d_model, layout=config.positions, first=config.first_position)


def rows_at(table: Tensor, first: Tensor | int, count: int) -> Tensor:
    """`count` rows of a table [P, D] from `first` on: [count, D]; or the one at `first` [1], on the same device."""
    return table[first : first + count] if isinstance(first, int) else table.index_select(0, first)
