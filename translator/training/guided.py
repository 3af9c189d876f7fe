"""Guided alignment: one head of cross-attention learns where the token that it predicts comes from.

Source: Garg et al. 2019, "Jointly Learning to Align and Translate with Transformer Models". The alignments are the
model's own: of a head that aligns the token it reads, one row later (Chen et al. 2020, "Accurate word alignment
induction from neural machine translation").
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from translator.errors import InputError
from translator.model import Transformer
from translator.training.data import Batch

Head = tuple[int, int]
"""Layer of the decoder and head, from 0."""
LEAST = 1e-9
"""Smaller weights than this count as this, so that their logarithm is finite."""


class Guided(nn.Module):
    """`model` for training, whose pass also returns the cross-attention of the `guided` and the `guiding` head.

    Raises:
        InputError: the model has no such head.
    """

    def __init__(self, model: Transformer, guided: Head, guiding: Head) -> None:
        super().__init__()
        shape = model.config
        for name, (layer, head) in (("guided_head", guided), ("guiding_head", guiding)):
            if layer >= shape.decoder_layers or head >= shape.decoder_heads:
                raise InputError(
                    f"{name} is ({layer}, {head}); the decoder has layers 0 to {shape.decoder_layers - 1}"
                    f" and heads 0 to {shape.decoder_heads - 1}"
                )
        self.model, self.heads = model, (guided, guiding)

    def forward(
        self, src: Tensor, tgt_in: Tensor, src_keep: Tensor | None, rows: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Logits [N, V] of `rows`, and the weights [B, T, S] of both heads."""
        hidden, cross = self.model.hidden_and_cross(src, tgt_in, src_keep, {layer for layer, _ in self.heads})
        logits = self.model.output(hidden.flatten(0, 1).index_select(0, rows))
        guided, guiding = (cross[layer][:, head] for layer, head in self.heads)
        return logits, guided, guiding


def misalignment(guided: Tensor, guiding: Tensor, batch: Batch, eos_id: int) -> Tensor:
    """Cross-entropy of `guided` to where `guiding` looks a row later, summed over target tokens but EOS, in nats.

    No row reads EOS, so none tells where it comes from. Nothing is learnt by `guiding`.

    Args:
        guided, guiding: weights [B, T, S].
    """
    rows = batch.rows[batch.targets != eos_id]
    aligned = guiding.detach().flatten(0, 1).index_select(0, rows + 1).float()
    learnt = guided.flatten(0, 1).index_select(0, rows).float()
    return -torch.sum(aligned * learnt.clamp(min=LEAST).log())
