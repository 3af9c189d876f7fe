"""Greedy, beam and sampled search over ids with a KV cache, one step at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence

import numpy as np
import torch

from translator.config import DecodeConfig
from translator.decode.beam import BeamSearch, attention_paid, covered, penalty, run
from translator.decode.replay import encode, source_keep
from translator.decode.steps import Hypothesis, IdStep, Stop, advance, ban_sequences, banned_ids, check_target
from translator.model import Cache, Encoded, Gates, Transformer
from translator.trace import Beam

Steps = Generator[IdStep, None, Hypothesis]


@torch.inference_mode()
def search(
    model: Transformer,
    src_ids: Sequence[int],
    config: DecodeConfig,
    *,
    max_length: int,
    prefix: Sequence[int] = (),
    stop: Stop | None = None,
    encoded: Encoded | None = None,
    gates: Gates | None = None,
) -> Steps:
    """Decode one source (EOS included); yields an `IdStep` a token, returns the winning `Hypothesis`.

    Probabilities are those of the model's full softmax; only the choice leaves out padding, the start
    token, what would repeat, and what sampling filters away. A beam of 1 is greedy search.

    Args:
        max_length: produced tokens at most, EOS included.
        prefix: ids that the target must begin with.
        stop: asked before every step.
        encoded: `encode(model, src_ids, gates)`, where the caller has it already.
        gates: a factor for each head, [L, H].
    Raises:
        InputError: source, prefix or length do not fit the model.
        CancelledError: `stop` said so.
    """
    check_target(model.config, prefix, max_length)
    encoded = encoded or encode(model, src_ids, gates)
    cache = model.start(encoded.memory, source_keep(model, src_ids), max_length=max_length)
    forced = yield from _force(model, cache, config, prefix, len(src_ids) - 1, stop, gates)
    if forced.ids and (forced.ids[-1] == model.config.eos_id or len(forced.ids) == max_length):
        return _close(forced, model.config.eos_id)
    if config.method == "beam" and config.beam > 1:
        return (yield from _beam(model, cache, config, forced, max_length, len(src_ids) - 1, stop, gates))
    ended = yield from _one_by_one(model, cache, config, forced, max_length - config.force_eos, stop, gates)
    if len(ended.ids) == max_length - 1 and ended.truncated and config.force_eos:
        return (yield from _end(model, cache, ended, stop, gates))
    return ended


def _close(hypothesis: Hypothesis, eos_id: int) -> Hypothesis:
    """Say whether the end was reached."""
    return Hypothesis(hypothesis.ids, hypothesis.log_probs, hypothesis.score, hypothesis.ids[-1:] != (eos_id,))


def _force(
    model: Transformer,
    cache: Cache,
    config: DecodeConfig,
    prefix: Sequence[int],
    to_cover: int,
    stop: Stop | None,
    gates: Gates | None,
) -> Steps:
    """Produce the prefix, whatever the model thinks of it."""
    hypothesis, last = Hypothesis(), model.config.start_id
    for token in prefix:
        stepped = advance(model, [last], cache, stop, gates)
        log_probs = stepped.logits[0].float().log_softmax(-1)
        free = not hypothesis.ids and token == config.first_id  # what every translation begins with is no choice
        counts = config.method == "beam" and config.coverage_penalty
        read = attention_paid(stepped, config)[0, :to_cover].tolist() if counts else ()
        hypothesis, last = hypothesis.extend(token, 0.0 if free else float(log_probs[token]), read), token
        beams: tuple[Beam, ...] = ()
        if config.method == "beam":
            normalised = hypothesis.score / penalty(len(hypothesis.ids), config) + covered(hypothesis, config)
            beams = (Beam(hypothesis.ids, hypothesis.score, normalised, 0, token == model.config.eos_id),)
        yield IdStep(hypothesis.ids, log_probs, stepped, beams=beams)
    return hypothesis


def _one_by_one(
    model: Transformer,
    cache: Cache,
    config: DecodeConfig,
    hypothesis: Hypothesis,
    max_length: int,
    stop: Stop | None,
    gates: Gates | None,
) -> Steps:
    """Greedy search or sampling: one hypothesis, each token chosen from its own distribution."""
    choose = _sampler(config) if config.method == "sample" else _best
    last = hypothesis.ids[-1] if hypothesis.ids else model.config.start_id
    banned = banned_ids(model.config)
    while hypothesis.ids[-1:] != (model.config.eos_id,) and len(hypothesis.ids) < max_length:
        stepped = advance(model, [last], cache, stop, gates)
        log_probs = stepped.logits[0].float().log_softmax(-1)
        numbers = log_probs.cpu().numpy()  # NumPy looks at a few numbers in a fraction of the time
        allowed = numbers.copy()
        allowed[banned] = -math.inf
        ban_sequences(allowed[None], model.config, config, [hypothesis.ids])
        first = None if hypothesis.ids else config.first_id
        last = choose(allowed) if first is None else first
        hypothesis = hypothesis.extend(last, float(numbers[last]))
        yield IdStep(hypothesis.ids, log_probs, stepped)
    return _close(hypothesis, model.config.eos_id)


def _end(model: Transformer, cache: Cache, hypothesis: Hypothesis, stop: Stop | None, gates: Gates | None) -> Steps:
    """Produce EOS at the length limit, whatever the model thinks of it."""
    last = hypothesis.ids[-1] if hypothesis.ids else model.config.start_id
    stepped = advance(model, [last], cache, stop, gates)
    ended = hypothesis.extend(model.config.eos_id, 0.0)
    yield IdStep(ended.ids, stepped.logits[0].float().log_softmax(-1), stepped)
    return Hypothesis(ended.ids, ended.log_probs, ended.score, truncated=True)


def _best(log_probs: np.ndarray) -> int:
    return int(log_probs.argmax())


def _sampler(config: DecodeConfig) -> Callable[[np.ndarray], int]:
    """Draw by temperature, then top-k, then top-p (Holtzman et al. 2020), on the CPU: one seed, one text."""
    generator = torch.Generator().manual_seed(config.seed)

    def draw(log_probs: np.ndarray) -> int:
        scores = torch.from_numpy(log_probs) / config.temperature
        count = config.top_k if 0 < config.top_k < len(scores) else len(scores)
        best = scores.topk(count)
        probs = best.values.softmax(-1)
        probs[probs.cumsum(-1) - probs >= config.top_p] = 0.0  # the most probable is always left
        return int(best.indices[torch.multinomial(probs, 1, generator=generator)])

    return draw


def _beam(
    model: Transformer,
    cache: Cache,
    config: DecodeConfig,
    prefix: Hypothesis,
    max_length: int,
    to_cover: int,
    stop: Stop | None,
    gates: Gates | None,
) -> Steps:
    """Beam search over one source; each step shows what leads at that moment."""
    beams = BeamSearch(config, model.config.eos_id, max_length, prefix, to_cover=to_cover)
    last = prefix.ids[-1] if prefix.ids else model.config.start_id
    for log_probs, stepped in run(model, cache, [beams], [last], stop, gates):
        yield IdStep(beams.beams[0].ids, log_probs[beams.leader], stepped, beams.leader, beams.beams)
    return beams.best()
