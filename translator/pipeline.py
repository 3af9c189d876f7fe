"""Text to `Trace`: the one door for page, command line, notebooks and tests."""

from __future__ import annotations

import dataclasses
import logging
import re
import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import torch

from translator.checkpoints import Bundle, load_bundle
from translator.config import DecodeConfig, from_dict
from translator.decode import Hypothesis, IdStep, Replay, Stop, encode, finish, replay, search, search_batch
from translator.errors import BusyError, InputError
from translator.model import Encoded, Gates, Transformer
from translator.text import Encoding, is_blank, normalise_text
from translator.trace import Beam, Candidate, Step, Token, Trace

_log = logging.getLogger(__name__)
_SURROGATE = re.compile("[\ud800-\udfff]")
R = TypeVar("R")


@dataclass(frozen=True)
class Limits:
    """What one sentence may ask for: characters before and after normalising, and tokens (EOS included)."""

    characters: int = 1000
    source_tokens: int = 128
    target_tokens: int = 160


@dataclass(frozen=True, eq=False)
class _Request:
    """One sentence, checked and ready to decode."""

    source: str
    encoding: Encoding
    src_ids: tuple[int, ...]
    config: DecodeConfig
    max_length: int
    prefix: tuple[int, ...] = ()
    stop: Stop | None = None
    gates: Gates | None = None

    def encode(self, model: Transformer) -> Encoded:
        """The encoder's pass."""
        return encode(model, self.src_ids, self.gates_on(model))

    def gates_on(self, model: Transformer) -> Gates | None:
        """The gates where the model is."""
        return self.gates and self.gates.to(model.output.weight.device)


@dataclass(frozen=True, eq=False)
class _Found:
    """What a search found, with what the replay need not compute again."""

    model: Transformer
    encoded: Encoded
    hypothesis: Hypothesis
    beams: list[tuple[Beam, ...]] = field(default_factory=list)


class Translator:
    """A checkpoint that translates. It is never changed by a call, so threads may share it."""

    def __init__(self, bundle: Bundle, *, limits: Limits | None = None) -> None:
        self.bundle = bundle
        self.limits = limits or Limits()
        self._spare: Transformer | None = None
        self._spare_lock = threading.Lock()

    @property
    def name(self) -> str:
        """What the checkpoint is called."""
        return self.bundle.info.name

    @property
    def languages(self) -> tuple[str, str]:
        """The codes of source and target language."""
        return self.bundle.info.src_language, self.bundle.info.tgt_language

    @property
    def device(self) -> torch.device:
        """Where the model runs."""
        return self.bundle.model.output.weight.device

    def translate(self, text: str, **settings: Any) -> Trace:
        """Translate one sentence; see `stream` for the settings and the errors."""
        request = self._request(text, **settings)
        started = time.perf_counter()
        trace = self._trace(request, finish(self._search(request)))
        return dataclasses.replace(trace, seconds=time.perf_counter() - started)

    def stream(self, text: str, **settings: Any) -> Generator[Step, None, Trace]:
        """Translate one sentence; yields a `Step` a token as it is decoded and returns the `Trace`.

        The trace's own steps are those of the hypothesis that won, which a live beam search need not
        have led with. The text and the settings are checked before this returns.

        Args:
            text: what to translate.
            settings: fields of `DecodeConfig` (method, beam, max_length, ...) over what the checkpoint
                is best decoded with; and `prefix` (text, or ids, that the translation must begin with),
                `stop` (asked before every step; True ends the work), `deadline` (seconds), `gates` (a factor
                for each head, see `Gates`).
        Raises:
            InputError: the text is blank or too long, or a setting is unknown or out of range.
            CancelledError: `stop` said so.
            BusyError: the deadline passed.
        """
        return self._stream(self._request(text, **settings))

    def force(self, text: str, target: str | Sequence[int], **settings: Any) -> Trace:
        """The trace of a given translation: what the model makes of `target` (text, or ids with their EOS).

        Raises:
            InputError: as in `stream`; or the target is blank, too long, or not what this model can produce.
        """
        request = self._request(text, **settings)
        eos_id = self.bundle.tgt.eos_id
        ids = (*self._prefix(target), eos_id) if isinstance(target, str) else self._prefix(target)
        if not ids or (isinstance(target, str) and is_blank(target)):
            raise InputError("the target is blank: nothing to force")
        limit = self._target_limit()
        if len(ids) > limit:
            raise InputError(f"the target has {len(ids)} tokens; at most {limit} are allowed, and nothing is cut")
        started = time.perf_counter()
        given = Hypothesis(ids, truncated=ids[-1] != eos_id)
        found = self._retry(lambda model: _Found(model, request.encode(model), given), self.bundle.model)
        trace = self._trace(request, found)
        return dataclasses.replace(trace, seconds=time.perf_counter() - started)

    def translate_batch(
        self,
        texts: Sequence[str],
        *,
        stop: Stop | None = None,
        refused: Callable[[int, InputError], None] | None = None,
        **settings: Any,
    ) -> list[str]:
        """Translate many sentences at once, without maps; the same texts as `translate` gives.

        Args:
            stop: asked before every step; True ends the work.
            refused: is told the index and the error of each text that is blank or too long, which
                then gives ""; without it the first such text raises.
            settings: fields of `DecodeConfig`, greedy or beam.
        Raises:
            InputError: a text or a setting is refused; the message names the text by its number, from 1.
            CancelledError: `stop` said so.
        """
        config = self._config(settings)
        max_length = self._max_length(config)
        sources: dict[int, tuple[int, ...]] = {}
        for index, text in enumerate(texts):
            try:
                sources[index] = self.source_ids(text)
            except InputError as error:
                if refused is None:
                    raise InputError(f"text {index + 1}: {error}") from error
                refused(index, error)
        lengths = [max_length or self._usual_length(ids) for ids in sources.values()]
        found = self._retry(
            lambda model: search_batch(model, list(sources.values()), config, max_lengths=lengths, stop=stop),
            self.bundle.model,
        )
        out = [""] * len(texts)
        for index, ids in zip(sources, found, strict=True):
            out[index] = self.bundle.tgt.decode(ids)
        return out

    def source_ids(self, text: str) -> tuple[int, ...]:
        """What the encoder reads of `text`, EOS included.

        Raises:
            InputError: the text is blank or too long.
        """
        self._check_text(text)
        return self._closed(self.bundle.src.ids(text))

    def _check_text(self, text: object) -> None:
        """Characters first, so that no long text is ever normalised, segmented or tokenised."""
        if not isinstance(text, str):
            raise InputError(f"the text is {type(text).__name__}; it must be a string")
        self._check_length("the text", len(text))
        if is_blank(text):
            raise InputError("nothing to translate: the text is blank")
        self._check_length("the text, normalised,", len(normalise_text(text, self.bundle.src.config)))

    def _check_length(self, what: str, count: int) -> None:
        limit = self.limits.characters
        if count > limit:
            raise InputError(f"{what} has {count:,} characters; at most {limit:,} are allowed, and nothing is cut")

    def _closed(self, ids: Sequence[int]) -> tuple[int, ...]:
        """Source ids with their EOS, if they are not too many."""
        if not ids:
            raise InputError("nothing to translate: the text has no token that this checkpoint knows")
        config = self.bundle.model.config
        limit = min(self.limits.source_tokens, config.padded_length or config.max_positions)
        if len(ids) + 1 > limit:
            raise InputError(f"the text has {len(ids) + 1} tokens; at most {limit} are allowed, and nothing is cut")
        return (*ids, self.bundle.src.eos_id)

    def _config(self, settings: dict[str, Any]) -> DecodeConfig:
        return from_dict(DecodeConfig, {**asdict(self.bundle.decode), **settings})

    def _target_limit(self) -> int:
        return min(self.limits.target_tokens, self.bundle.model.config.max_positions)

    def _usual_length(self, src_ids: Sequence[int]) -> int:
        """How long a translation may be where nobody says: twice the source and a little."""
        return min(2 * len(src_ids) + 16, self._target_limit())

    def _max_length(self, config: DecodeConfig) -> int | None:
        limit = self._target_limit()
        if config.max_length is not None and config.max_length > limit:
            raise InputError(f"max_length is {config.max_length}; at most {limit} tokens are allowed")
        return config.max_length

    def _request(
        self,
        text: str,
        *,
        prefix: str | Sequence[int] = (),
        stop: Stop | None = None,
        deadline: float | None = None,
        gates: Gates | None = None,
        **settings: Any,
    ) -> _Request:
        """Check everything that can be checked before the model runs."""
        config = self._config(settings)
        max_length = self._max_length(config)
        self._check_text(text)
        encoding = self.bundle.src.encode(text)
        src_ids = self._closed(encoding.ids)
        forced = self._prefix(prefix)
        longest = max_length or max(self._usual_length(src_ids), min(len(forced) + 16, self._target_limit()))
        if len(forced) > longest:
            raise InputError(f"the prefix has {len(forced)} tokens, but at most {longest} are to be produced")
        source = _SURROGATE.sub("\ufffd", text)  # no encoder could write a lone surrogate
        return _Request(source, encoding, src_ids, config, longest, forced, _stop_by(stop, deadline), gates)

    def _prefix(self, prefix: str | Sequence[int]) -> tuple[int, ...]:
        if isinstance(prefix, str):
            self._check_length("the forced text", len(prefix))
            return tuple(self.bundle.tgt.ids(prefix))
        if not all(isinstance(id_, int) and not isinstance(id_, bool) for id_ in prefix):
            raise InputError(f"the forced ids are {prefix!r}; they must be whole numbers, or a text")
        return tuple(prefix)

    def _stream(self, request: _Request) -> Generator[Step, None, Trace]:
        searching = self._search(request)
        seconds, shown = 0.0, 0
        while True:
            started = time.perf_counter()
            try:
                step = next(searching)
            except StopIteration as end:
                trace = self._trace(request, end.value)
                return dataclasses.replace(trace, seconds=seconds + time.perf_counter() - started)
            live = self._live(step, request.config) if step.index >= shown else None
            seconds += time.perf_counter() - started  # the listener's own time is not ours
            if live is not None:
                shown = step.index + 1
                yield live

    def _search(self, request: _Request) -> Generator[IdStep, None, _Found]:
        """Search on the model's device; if its memory runs out, once more from the start on the CPU."""
        try:
            return (yield from _searched(self.bundle.model, request))
        except torch.OutOfMemoryError:
            pass  # only once this block is left does Python free what the failed search held
        return (yield from _searched(self._spare_model(), request))

    def _retry(self, work: Callable[[Transformer], R], model: Transformer) -> R:
        """`work(model)`; if its device's memory runs out, once more on the CPU."""
        try:
            return work(model)
        except torch.OutOfMemoryError:
            pass
        return work(self._spare_model())

    def _spare_model(self) -> Transformer:
        """The same model on the CPU, made when it is first needed."""
        _log.warning("%s: the memory of %s ran out; once more on the CPU", self.name, self.device)
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        with self._spare_lock:
            if self._spare is None:
                spare = Transformer(self.bundle.model.config)
                spare.load_state_dict(self.bundle.model.state_dict())
                for name, table in self.bundle.model.named_buffers():  # sinusoids are no weights, but may be altered
                    spare.get_buffer(name).copy_(table)
                self._spare = spare.eval().requires_grad_(False)
            return self._spare

    def _live(self, step: IdStep, config: DecodeConfig) -> Step:
        tokens = self.bundle.tgt.tokens(step.ids)
        return Step(
            index=step.index,
            token=tokens[-1],
            log_prob=step.log_prob,
            entropy=step.entropy,
            candidates=self._candidates(step.candidates(config.candidates)),
            cross=step.cross,
            beams=step.beams,
            tokens=tokens,
        )

    def _candidates(self, pairs: Sequence[tuple[int, float]]) -> tuple[Candidate, ...]:
        return tuple(Candidate(self.bundle.tgt.token(id_), log_prob) for id_, log_prob in pairs)

    def _trace(self, request: _Request, found: _Found) -> Trace:
        """The whole of one translation: every map from one replay, and the winner's own steps."""

        def run(model: Transformer) -> Replay:
            encoded = found.encoded if model is found.model else None
            return replay(
                model,
                request.src_ids,
                ids,
                encoded=encoded,
                candidates=request.config.candidates,
                gates=request.gates_on(model),
            )

        bundle, ids = self.bundle, found.hypothesis.ids
        maps = self._retry(run, found.model)
        tgt = bundle.tgt.tokens(ids)
        return Trace(
            source=request.source,
            normalised=request.encoding.normalised,
            translation=bundle.tgt.decode(ids),
            src=self._read_tokens(request, maps.encoder.shape[-1]),
            start=bundle.tgt.token(bundle.model.config.start_id),
            tgt=tgt,
            steps=self._steps(maps, tgt, found.beams),
            encoder=maps.encoder,
            decoder=maps.decoder,
            cross=maps.cross,
            checkpoint=bundle.info,
            settings=request.config,
            truncated=found.hypothesis.truncated,
        )

    def _steps(self, maps: Replay, tgt: tuple[Token, ...], beams: Sequence[tuple[Beam, ...]]) -> tuple[Step, ...]:
        """The story of the tokens `tgt` as the replay tells it; the beams are the search's."""
        ids, log_probs = maps.candidate_ids.tolist(), maps.candidate_log_probs.tolist()
        return tuple(
            Step(
                index=t,
                token=tgt[t],
                log_prob=float(maps.log_probs[t]),
                entropy=float(maps.entropies[t]),
                candidates=self._candidates(list(zip(ids[t], log_probs[t], strict=True))),
                cross=maps.cross[:, :, t],
                beams=beams[t] if beams else (),
                tokens=tgt[: t + 1],
            )
            for t in range(len(tgt))
        )

    def _read_tokens(self, request: _Request, length: int) -> tuple[Token, ...]:
        """Every token that the encoder reads: the text's, EOS, and what padding it attends to."""
        src = self.bundle.src
        padding = (src.token(src.pad_id),) * (length - len(request.src_ids))
        return (*request.encoding.tokens, src.token(src.eos_id), *padding)


def _searched(model: Transformer, request: _Request) -> Generator[IdStep, None, _Found]:
    encoded = request.encode(model)
    searching = search(
        model,
        request.src_ids,
        request.config,
        max_length=request.max_length,
        prefix=request.prefix,
        stop=request.stop,
        encoded=encoded,
        gates=request.gates_on(model),
    )
    beams: list[tuple[Beam, ...]] = []
    while True:
        try:
            step = next(searching)
        except StopIteration as end:
            return _Found(model, encoded, end.value, beams)
        beams.append(step.beams)
        yield step


def _stop_by(stop: Stop | None, deadline: float | None) -> Stop | None:
    """`stop`, and an error once `deadline` seconds have passed from now."""
    if deadline is None:
        return stop
    if not isinstance(deadline, (int, float)) or not deadline > 0:
        raise InputError(f"deadline is {deadline!r}; it must be seconds above 0")
    end = time.monotonic() + deadline

    def late() -> bool:
        if time.monotonic() > end:
            raise BusyError(f"decoding took longer than {deadline:g} seconds; try again, or send a shorter text")
        return stop is not None and stop()

    return late


def load(name: str | Path, *, device: str = "auto", revision: str | None = None) -> Translator:
    """Load a checkpoint: a name ("de-en"), a folder, or a hub id ("owner/name") with its `revision`.

    Raises:
        CheckpointError: it is missing, damaged, or its files do not fit each other.
        InputError: the device does not exist here.
    """
    return Translator(load_bundle(name, device=device, revision=revision))
