"""Greedy, beam and sampled search over ids with a KV cache, one step at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

import numpy as np
import torch

from translator.config import DecodeConfig
from translator.decode.beam import BeamSearch, attention_paid, covered, penalty, run
from translator.decode.copying import SourceSpans, ban_spans
from translator.decode.replay import encode
from translator.decode.steps import Decoding, Hypothesis, IdStep, Stop, ban_sequences, banned_ids, check_target
from translator.engine import Engine
from translator.model import Encoded, Gates
from translator.trace import Beam

Steps = Generator[IdStep, None, Hypothesis]


@torch.inference_mode()
def search(
    engine: Engine,
    src_ids: Sequence[int],
    config: DecodeConfig,
    *,
    max_length: int,
    prefix: Sequence[int] = (),
    stop: Stop | None = None,
    encoded: Encoded | None = None,
    gates: Gates | None = None,
    spans: SourceSpans | None = None,
) -> Steps:
    """Decode one source (EOS included); yields an `IdStep` a token, returns the winning `Hypothesis`.

    Probabilities are those of the model's full softmax; only the choice leaves out padding, the start
    token, what would repeat, what `spans` do not have, and what sampling filters away. A beam of 1 is greedy search.

    Args:
        max_length: produced tokens at most, EOS included.
        prefix: ids that the target must begin with.
        stop: asked before every step.
        encoded: `encode(engine, src_ids, gates)`, where the caller has it already.
        gates: a factor for each head, [L, H].
        spans: those of the source, where they count; see `source_spans`.
    Raises:
        InputError: source, prefix or length do not fit the model.
        CancelledError: `stop` said so.
    """
    check_target(engine.config, prefix, max_length)
    encoded = encoded or encode(engine, src_ids, gates)
    decoding = Decoding(engine, engine.start(encoded, max_length=max_length, gates=gates), config, stop)
    eos, to_cover = engine.config.eos_id, len(src_ids) - 1
    forced = yield from _force(decoding, prefix, to_cover)
    if forced.ids and (forced.ids[-1] == eos or len(forced.ids) == max_length):
        return _close(forced, eos)
    if config.method == "beam" and config.beam > 1:
        beams = BeamSearch(config, eos, max_length, forced, to_cover=to_cover, spans=spans)
        return (yield from _beam(decoding, beams))
    ended = yield from _one_by_one(decoding, forced, max_length - config.force_eos, spans)
    if len(ended.ids) == max_length - 1 and ended.truncated and config.force_eos:
        return (yield from _end(decoding, ended))
    return ended


def _close(hypothesis: Hypothesis, eos_id: int) -> Hypothesis:
    """Say whether the end was reached."""
    return replace(hypothesis, truncated=hypothesis.ids[-1:] != (eos_id,), coverage=())


def _force(decoding: Decoding, prefix: Sequence[int], to_cover: int) -> Steps:
    """Produce the prefix, whatever the model thinks of it."""
    config, model_config = decoding.config, decoding.model_config
    hypothesis, last = Hypothesis(), model_config.start_id
    for token in prefix:
        stepped = decoding.step([last])
        all_log_probs = stepped.logits.float().log_softmax(-1)
        log_probs = all_log_probs[0]
        free = not hypothesis.ids and token == config.first_id  # what every translation begins with is no choice
        counts = config.method == "beam" and config.coverage_penalty
        read = attention_paid(stepped, config)[0, :to_cover].tolist() if counts else ()
        hypothesis, last = hypothesis.extend(token, 0.0 if free else float(log_probs[token]), read), token
        beams: tuple[Beam, ...] = ()
        if config.method == "beam":
            normalised = hypothesis.score / penalty(len(hypothesis.ids), config) + covered(hypothesis, config)
            beams = (Beam(hypothesis.ids, hypothesis.score, normalised, 0, token == model_config.eos_id),)
        yield IdStep(hypothesis.ids, all_log_probs, stepped, beams=beams)
    return hypothesis


def _one_by_one(decoding: Decoding, hypothesis: Hypothesis, max_length: int, spans: SourceSpans | None) -> Steps:
    """Greedy search or sampling: one hypothesis, each token chosen from its own distribution."""
    config, model_config = decoding.config, decoding.model_config
    choose = _sampler(config) if config.method == "sample" else _best
    last = hypothesis.ids[-1] if hypothesis.ids else model_config.start_id
    banned = banned_ids(model_config)
    while hypothesis.ids[-1:] != (model_config.eos_id,) and len(hypothesis.ids) < max_length:
        stepped = decoding.step([last])
        log_probs = stepped.logits.float().log_softmax(-1)
        numbers = log_probs[0].cpu().numpy()  # NumPy looks at a few numbers in a fraction of the time
        allowed = numbers.copy()
        allowed[banned] = -math.inf
        ban_sequences(allowed[None], model_config, config, [hypothesis.ids])
        ban_spans(allowed[None], [spans], [hypothesis.ids])
        first = None if hypothesis.ids else config.first_id
        last = choose(allowed) if first is None else first
        hypothesis = hypothesis.extend(last, float(numbers[last]))
        yield IdStep(hypothesis.ids, log_probs, stepped)
    return _close(hypothesis, model_config.eos_id)


def _end(decoding: Decoding, hypothesis: Hypothesis) -> Steps:
    """Produce EOS at the length limit, whatever the model thinks of it."""
    last = hypothesis.ids[-1] if hypothesis.ids else decoding.model_config.start_id
    stepped = decoding.step([last])
    ended = hypothesis.extend(decoding.model_config.eos_id, 0.0)
    yield IdStep(ended.ids, stepped.logits.float().log_softmax(-1), stepped)
    return replace(ended, truncated=True)


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


def _beam(decoding: Decoding, beams: BeamSearch) -> Steps:
    """Beam search over one source; each step shows what leads at that moment."""
    ids = beams.live[0].ids
    last = ids[-1] if ids else decoding.model_config.start_id
    for log_probs, stepped in run(decoding, [beams], [last]):
        known = beams.leading or None  # 0 is what a token counts that had to come
        yield IdStep(beams.beams[0].ids, log_probs, stepped, beams.leader, beams.beams, known)
    return beams.best()
