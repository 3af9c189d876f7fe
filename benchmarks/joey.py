"""JoeyNMT's model, batch and training step over the sentences of `benchmarks.training`: the second peer of row 10."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

_UNK, _PAD, _BOS, _EOS = range(4)


def build(vocab: int, width: int, inner: int, layers: int, heads: int, dropout: float) -> nn.Module:
    """JoeyNMT's pre-norm Transformer, one embedding for both sides and the output, label smoothing 0.1."""
    from joeynmt.model import build_model
    from joeynmt.vocabulary import Vocabulary

    specials = {"unk": "<unk>", "pad": "<pad>", "bos": "<s>", "eos": "</s>"}
    signs: dict[str, Any] = {f"{name}_token": sign for name, sign in specials.items()}
    numbers = {f"{name}_id": number for number, name in enumerate(specials)}
    given = SimpleNamespace(**signs, **numbers, sep_token=None, lang_tags=[])
    words = Vocabulary([f"word{number}" for number in range(4, vocab)], given)
    stack = {
        "type": "transformer", "num_layers": layers, "num_heads": heads, "hidden_size": width, "ff_size": inner,
        "dropout": dropout, "layer_norm": "pre", "embeddings": {"embedding_dim": width, "scale": True},
    }  # fmt: skip
    model = build_model(
        {"encoder": stack, "decoder": stack, "tied_embeddings": True, "tied_softmax": True}, words, words
    )
    model.loss_function = "crossentropy", 0.1
    return model


def steps(
    model: nn.Module, src: Sequence[Sequence[int]], tgt: Sequence[Sequence[int]], order: Sequence[int], rows: int,
    device: torch.device | str = "cpu",
) -> Iterator[int]:  # fmt: skip
    """What JoeyNMT does for a batch of `rows` sentences, in `order`; yields the real target tokens of each step."""
    from joeynmt.batch import Batch

    model.train().to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    for first in range(0, len(order), rows):
        chosen = order[first : first + rows]
        reads, whole = _padded([[*src[i], _EOS] for i in chosen]), _padded([[_BOS, *tgt[i], _EOS] for i in chosen])
        fields: dict[str, Any] = {
            "src": reads, "src_length": (reads != _PAD).sum(1), "src_prompt_mask": None,
            "trg": whole, "trg_prompt_mask": None, "indices": torch.arange(len(chosen)),
        }  # fmt: skip
        batch = Batch(**fields, device=torch.device(device), pad_index=_PAD, eos_index=_EOS)
        batch.sort_by_src_length()
        loss, _, _, _ = model(return_type="loss", **vars(batch))
        batch.normalize(loss, normalization="tokens").backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()
        yield int(batch.ntokens)


def _padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=_PAD)
