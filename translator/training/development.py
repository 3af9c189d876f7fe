"""The development sets, which select the best weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from translator.config import DecodeConfig, ModelConfig
from translator.decode import search_batch
from translator.engine import EagerEngine
from translator.errors import InputError
from translator.model import Transformer
from translator.text import Tokenizer
from translator.training.data import Pair, collate, grouped
from translator.training.loop import Evaluate
from translator.training.metrics import score
from translator.training.objective import objective

GREEDY = DecodeConfig(method="greedy")
ROWS = 100
"""Sentences scored side by side: few enough for two cores, and for their logits to stay in memory."""


def development(
    shape: ModelConfig,
    dev: Mapping[str, Sequence[Pair]],
    src: Tokenizer,
    tgt: Tokenizer,
    *,
    sentences: int | None = None,
    decode: DecodeConfig = GREEDY,
) -> Evaluate:
    """The scorer of the development sets `dev`: the means of loss, accuracy, BLEU and chrF over them.

    Of several sets each one's own BLEU and loss are there too, as "bleu_NAME" and "nll_NAME".

    Args:
        sentences: how many sources of each set are translated for BLEU; None for all.
        decode: how they are translated.
    Raises:
        InputError: a pair has more tokens than the model can read.
    """
    sets = {name: _scorer(shape, pairs, src, tgt, sentences, decode) for name, pairs in dev.items()}

    def evaluate(model: Transformer) -> dict[str, float]:
        found = {name: score_set(model) for name, score_set in sets.items()}
        means = {key: sum(each[key] for each in found.values()) / len(found) for key in next(iter(found.values()))}
        own = {f"{key}_{name}": each[key] for key in ("bleu", "nll") for name, each in found.items()}
        return means | (own if len(found) > 1 else {})

    return evaluate


def _scorer(
    shape: ModelConfig,
    dev: Sequence[Pair],
    src: Tokenizer,
    tgt: Tokenizer,
    sentences: int | None,
    decode: DecodeConfig,
) -> Evaluate:
    """Loss and accuracy on every pair of one set, BLEU on the first sources."""
    src_ids, tgt_ids = src.ids_batch([pair.src for pair in dev]), tgt.ids_batch([pair.tgt for pair in dev])
    _check_lengths(shape, src_ids, tgt_ids)
    sources, references = grouped(dev)
    chosen = [[*ids, shape.eos_id] for ids in src.ids_batch(sources[:sentences])]
    limits = [min(2 * len(ids) + 16, shape.max_positions) for ids in chosen]
    order = sorted(range(len(src_ids)), key=lambda i: len(tgt_ids[i]))

    def evaluate(model: Transformer) -> dict[str, float]:
        device = model.output.weight.device
        nll = correct = tokens = 0.0
        with torch.inference_mode():
            for first in range(0, len(order), ROWS):
                rows = order[first : first + ROWS]
                batch = collate([src_ids[i] for i in rows], [tgt_ids[i] for i in rows], shape).to(device)
                logits = model(batch.src, batch.tgt_in, batch.src_keep, batch.rows)
                found = objective(logits, batch.targets, smoothing=0.0)
                nll, correct, tokens = nll + float(found.nll), correct + float(found.correct), tokens + found.tokens
        produced = search_batch(EagerEngine(model), chosen, decode, max_lengths=limits)
        texts = [tgt.decode(ids) for ids in produced]
        scores = score(texts, references[:sentences], tgt.config.language)
        return {"nll": nll / tokens, "accuracy": correct / tokens, "bleu": scores.bleu, "chrf": scores.chrf}

    return evaluate


def _check_lengths(shape: ModelConfig, src_ids: Sequence[Sequence[int]], tgt_ids: Sequence[Sequence[int]]) -> None:
    limits = (shape.padded_length or shape.max_positions, shape.max_positions)
    for side, rows, limit in zip(("source", "target"), (src_ids, tgt_ids), limits, strict=True):
        for number, ids in enumerate(rows, start=1):
            if not 0 < len(ids) < limit:
                raise InputError(
                    f"the {side} of development pair {number} has {len(ids)} tokens; it needs 1 to {limit - 1}"
                    " (raise the model's max_positions, or take the pair out)"
                )
