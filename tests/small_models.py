"""Small models with every weight at random, and a batch with padding, for the tests of models and engines."""

from __future__ import annotations

import torch
from torch import Tensor

from translator.config import ModelConfig
from translator.model import Transformer

SIZES = {
    "src_vocab": 23,
    "tgt_vocab": 19,
    "d_model": 16,
    "d_ff": 24,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_heads": 4,
    "decoder_heads": 2,
    "max_positions": 32,
}


def make_model(**changes: object) -> Transformer:
    """A model in evaluation mode; biases and norms are drawn too, so that a forgotten one shows."""
    torch.manual_seed(3)
    model = Transformer(ModelConfig(**{**SIZES, **changes})).eval()  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def make_batch() -> tuple[Tensor, Tensor, Tensor]:
    """src_ids [3, 7], src_keep [3, 7] and tgt_ids [3, 6]; two sources are padded."""
    torch.manual_seed(4)
    src_keep = torch.arange(7) < torch.tensor([7, 4, 2])[:, None]
    return torch.randint(3, 19, (3, 7)) * src_keep, src_keep, torch.randint(3, 19, (3, 6))
