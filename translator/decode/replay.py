"""Every attention map and probability of a hypothesis, by one teacher-forced pass or as recorded by a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from translator.decode.steps import Hypothesis, IdStep, check_logits, check_source, check_target, entropy
from translator.engine import Engine
from translator.engine.ranking import largest
from translator.errors import InputError
from translator.model import Encoded, Gates, Transformer


@dataclass(frozen=True, eq=False)
class Replay:
    """Float32 NumPy. Row t is the query that reads the token before tgt_ids[t] and predicts tgt_ids[t].

    `encoder` [L, H, S, S], `decoder` [L, H, T, T], `cross` [L, H, T, S]; `log_probs` [T] of the target
    tokens and `entropies` [T] in nats; `candidate_ids`, `candidate_log_probs` [T, k], best first.
    """

    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray
    log_probs: np.ndarray
    entropies: np.ndarray
    candidate_ids: np.ndarray
    candidate_log_probs: np.ndarray


def source_tensor(model: Transformer, src_ids: Sequence[int]) -> Tensor:
    """What the encoder reads, [1, S]; a model with a fixed length gets padding up to it, and attends to it."""
    config = model.config
    check_source(config, src_ids)
    padding = (config.padded_length or 0) - len(src_ids)
    return torch.tensor([[*src_ids, *[config.pad_id] * padding]], device=model.output.weight.device)


def source_keep(model: Transformer, src_ids: Sequence[int]) -> Tensor | None:
    """Which source tokens attention may read, [1, S]; None for all, as with nearly every model."""
    config = model.config
    if not config.masked_ids or config.padded_length is not None:
        return None
    keep = [id_ not in config.masked_ids for id_ in src_ids]
    return None if all(keep) else torch.tensor([keep], device=model.output.weight.device)


@torch.inference_mode()
def encode(engine: Engine, src_ids: Sequence[int], gates: Gates | None = None) -> Encoded:
    """Run the encoder over one source (EOS included), with every weight.

    Raises:
        InputError: the source is empty, too long, or holds an unknown id.
    """
    return engine.encode(source_tensor(engine.model, src_ids), source_keep(engine.model, src_ids), gates)


@torch.inference_mode()
def replay(
    engine: Engine,
    src_ids: Sequence[int],
    tgt_ids: Sequence[int],
    *,
    encoded: Encoded | None = None,
    candidates: int = 8,
    gates: Gates | None = None,
) -> Replay:
    """Force `tgt_ids` (EOS included if it was produced) and read off what the model saw and thought.

    `encoded` saves the encoder's pass when a search has made it already (`encode(engine, src_ids)`).

    Raises:
        InputError: source or target cannot be read by this model.
        CheckpointError: the model gives no numbers, see `check_logits`.
    """
    if not tgt_ids:
        raise InputError("the target has 0 tokens; there is nothing to replay")
    check_target(engine.config, tgt_ids, len(tgt_ids))
    encoded = encoded or encode(engine, src_ids, gates)
    produced = torch.tensor(tgt_ids, device=encoded.memory.device)
    reads = torch.cat([produced.new_tensor([engine.config.start_id]), produced[:-1]])
    decoded = engine.model.decode(reads[None], encoded.memory, encoded.src_keep, gates)
    check_logits(decoded.logits)
    log_probs = decoded.logits[0].float().log_softmax(-1)
    return _read_off(encoded, decoded.decoder[0], decoded.cross[0], log_probs, produced, candidates)


@torch.inference_mode()
def recorded(encoded: Encoded, steps: Sequence[IdStep], hypothesis: Hypothesis, *, candidates: int = 8) -> Replay:
    """What `replay` gives for a search's `hypothesis`, from what all of the search's `steps` saw themselves.

    The decoder is causal, so that a cached step reads what the whole pass reads in its row.
    """
    path = list(zip(steps, hypothesis.rows, strict=False))  # a search goes on after a hypothesis has ended
    cross = torch.stack([step.stepped.cross[row] for step, row in path], 2)
    decoder = cross.new_zeros(*cross.shape[:2], len(path), len(path))
    for t, (step, row) in enumerate(path):
        decoder[:, :, t, : t + 1] = step.stepped.decoder[row]
    log_probs = torch.stack([step.all_log_probs[row] for step, row in path])
    produced = torch.tensor(hypothesis.ids, device=log_probs.device)
    return _read_off(encoded, decoder, cross, log_probs, produced, candidates)


def _read_off(
    encoded: Encoded, decoder: Tensor, cross: Tensor, log_probs: Tensor, produced: Tensor, candidates: int
) -> Replay:
    """decoder [L, H, T, T], cross [L, H, T, S], log_probs [T, V]."""
    best, places = largest(log_probs, min(candidates, log_probs.shape[-1]))
    return Replay(
        encoder=_numpy(encoded.weights[0]),
        decoder=_numpy(decoder),
        cross=_numpy(cross),
        log_probs=_numpy(log_probs.gather(1, produced[:, None]).squeeze(1)),
        entropies=_numpy(entropy(log_probs)),
        candidate_ids=places.cpu().numpy(),
        candidate_log_probs=_numpy(best),
    )


def _numpy(x: Tensor) -> np.ndarray:
    return x.float().cpu().numpy()
