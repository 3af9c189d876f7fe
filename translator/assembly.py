"""From what a search found to a `Trace`: its maps, its steps, and the tokens on both sides."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from translator.checkpoints import Bundle
from translator.config import DecodeConfig
from translator.decode import Hypothesis, IdStep, Replay, recorded, replay, search
from translator.engine import Engine
from translator.model import Encoded
from translator.request import Request
from translator.text import Tokenizer
from translator.trace import Beam, Candidate, LiveStep, Step, Token, Trace

RECORDED = 1 << 25
"""Bytes of its steps that a search keeps for the trace, 200 tokens by a beam of 4; beyond, its winner is replayed."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found, all its `steps` (none where they took too much memory), and the `beams` of each."""

    engine: Engine = field(repr=False)
    encoded: Encoded = field(repr=False)
    hypothesis: Hypothesis
    steps: list[IdStep] = field(default_factory=list, repr=False)
    beams: list[tuple[Beam, ...]] = field(default_factory=list, repr=False)


def searched(engine: Engine, request: Request) -> Generator[IdStep, None, Found]:
    """Search by `engine`; yields each step and returns what was found, with the steps up to `RECORDED` bytes."""
    encoded = request.encode(engine)
    searching = search(
        engine,
        request.src_ids,
        request.config,
        max_length=request.max_length,
        prefix=request.prefix,
        stop=request.stop,
        encoded=encoded,
        gates=request.gates_on(engine.device),
        spans=request.spans,
    )
    steps: list[IdStep] = []
    beams: list[tuple[Beam, ...]] = []
    room = RECORDED
    while True:
        try:
            step = next(searching)
        except StopIteration as end:
            return Found(engine, encoded, end.value, steps if room >= 0 else [], beams)
        beams.append(step.beams)
        room -= step.nbytes
        if room >= 0:
            steps.append(step)
        else:
            steps.clear()
        yield step


def maps_of(found: Found, request: Request, engine: Engine) -> Replay:
    """Every map as the search saw it; from one replay by `engine` where it recorded none, or was another's."""
    own = engine is found.engine
    if own and found.steps:
        return recorded(found.encoded, found.steps, found.hypothesis, candidates=request.config.candidates)
    return replay(
        engine,
        request.src_ids,
        found.hypothesis.ids,
        encoded=found.encoded if own else None,
        candidates=request.config.candidates,
        gates=request.gates_on(engine.device),
    )


def trace_of(bundle: Bundle, request: Request, found: Found, maps: Replay) -> Trace:
    """The whole of one translation: the tokens, the maps, and the winner's steps."""
    ids = found.hypothesis.ids
    tgt = bundle.tgt.tokens(ids)
    return Trace(
        source=request.source,
        normalised=request.encoding.normalised,
        translation=bundle.tgt.decode(ids),
        src=_read_tokens(bundle.src, request, maps.encoder.shape[-1]),
        start=bundle.tgt.token(bundle.model.config.start_id),
        tgt=tgt,
        steps=_steps(bundle.tgt, maps, tgt, found.beams),
        encoder=maps.encoder,
        decoder=maps.decoder,
        cross=maps.cross,
        checkpoint=bundle.info,
        settings=request.config,
        truncated=found.hypothesis.truncated,
        altered=request.gates is not None and request.gates.alter,
    )


def live_step(side: Tokenizer, step: IdStep, config: DecodeConfig, log_probs: Sequence[float]) -> LiveStep:
    """A step of a running search as a listener hears it; `log_probs` are those of all its steps, this one's last."""
    tokens = side.tokens(step.ids)
    return LiveStep(
        index=step.index,
        token=tokens[-1],
        log_prob=log_probs[-1],
        entropy=step.entropy,
        candidates=_candidates(side, step.candidates(config.candidates)),
        cross=step.cross,
        beams=step.beams,
        tokens=tokens,
        log_probs=tuple(log_probs),
    )


def _candidates(side: Tokenizer, pairs: Sequence[tuple[int, float]]) -> tuple[Candidate, ...]:
    return tuple(Candidate(side.token(id_), log_prob) for id_, log_prob in pairs)


def _steps(
    side: Tokenizer, maps: Replay, tgt: tuple[Token, ...], beams: Sequence[tuple[Beam, ...]]
) -> tuple[Step, ...]:
    """The story of the tokens `tgt` as the maps tell it; the beams are the search's."""
    ids, log_probs = maps.candidate_ids.tolist(), maps.candidate_log_probs.tolist()
    return tuple(
        Step(
            index=t,
            token=tgt[t],
            log_prob=float(maps.log_probs[t]),
            entropy=float(maps.entropies[t]),
            candidates=_candidates(side, list(zip(ids[t], log_probs[t], strict=True))),
            cross=maps.cross[:, :, t],
            beams=beams[t] if beams else (),
            tokens=tgt[: t + 1],
        )
        for t in range(len(tgt))
    )


def _read_tokens(side: Tokenizer, request: Request, length: int) -> tuple[Token, ...]:
    """Every token that the encoder reads: the text's, EOS, and what padding it attends to."""
    padding = (side.token(side.pad_id),) * (length - len(request.src_ids))
    return (*request.encoding.tokens, *map(side.token, side.closing_ids), *padding)
