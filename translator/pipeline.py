"""`Translator`: text to `Trace`, for page, command line, notebooks and tests."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import cached_property
from pathlib import Path

import torch

from translator.assembly import Found, live_step, maps_of, searched, trace_of
from translator.checkpoints import Bundle, load_bundle
from translator.config import Weights
from translator.decode import Hypothesis, IdStep, Stop, finish, search_batch
from translator.engine import EagerEngine, Engine, best
from translator.errors import InputError
from translator.request import Intake, Limits, Request, check_stop
from translator.settings import DecodeSettings, Settings, Unpack
from translator.spare import Spare, retried, retry
from translator.text import Encoding
from translator.trace import LiveStep, Trace

__all__ = ["Limits", "Translator", "load"]


class Translator:
    """A checkpoint that translates. It is never changed by a call, so threads may share it."""

    def __init__(self, bundle: Bundle, *, limits: Limits | None = None, engine: Engine | None = None) -> None:
        """`engine` runs the bundle's model; None: PyTorch alone, while `load` takes the best."""
        self.bundle = bundle
        self.limits = limits or Limits()
        self.engine: Engine = engine or EagerEngine(bundle.model)
        self._spare = Spare(self.engine)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {' to '.join(self.languages)}, on {self.device})"

    @property
    def _intake(self) -> Intake:
        return Intake(self.bundle, self.limits)

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
        return self.engine.device

    @cached_property
    def memory(self) -> int:
        """Bytes that its weights come to, with those laid out for the processor; counted once."""
        return self.engine.nbytes

    def compile(self, *, wait: bool = False) -> None:
        """Let searches over one sentence run as machine code: two to five times as fast, on a CPU.

        It takes a second or two, and some twenty where it is done for the first time, in the background or with `wait`
        before this returns. Until then, and where Numba is missing, PyTorch does the work; the results agree to 1e-5.
        On a GPU each step is launched at once, as a CUDA graph.
        """
        self.engine.compile(wait=wait)

    def between(self, src: str | None = None, tgt: str | None = None) -> Translator:
        """This checkpoint set to translate from `src` to `tgt`, codes of its own (None: as it is); weights are shared.

        Raises:
            InputError: it does not know the language; `bundle.languages` lists those that it knows.
        """
        bundle = self.bundle.between(src, tgt)
        return self if bundle is self.bundle else Translator(bundle, limits=self.limits, engine=self.engine)

    def translate(
        self, text: str, *, src: str | None = None, tgt: str | None = None, **settings: Unpack[Settings]
    ) -> Trace:
        """Translate one sentence, between other languages if they are named; see `stream` and `between`."""
        if src is not None or tgt is not None:
            return self.between(src, tgt).translate(text, **settings)
        request = self._intake.request(text, **settings)
        started = time.perf_counter()
        trace = self._trace(request, finish(self._search(request)))
        return dataclasses.replace(trace, seconds=time.perf_counter() - started)

    def stream(
        self,
        text: str,
        *,
        src: str | None = None,
        tgt: str | None = None,
        encoding: Encoding | None = None,
        every: float = 0.0,
        **settings: Unpack[Settings],
    ) -> Generator[LiveStep, None, Trace]:
        """Translate one sentence; yields a `LiveStep` a token as it is decoded and returns the `Trace`.

        The trace's own steps are those of the hypothesis that won, which a live beam search need not
        have led with. The text and the settings are checked before this returns.

        Args:
            text: what to translate.
            src: the text's language, for a checkpoint that knows many.
            tgt: the language to translate into, likewise.
            encoding: what `bundle.src.encode` makes of the text, where the caller has it already.
            every: seconds from one step that is yielded to the next; those that come sooner are left out, but for the
                first. What is yielded of a step takes as long to make as a fifth of decoding it.
            settings: fields of `DecodeConfig` (method, beam, max_length, ...) over what the checkpoint
                is best decoded with; and `prefix` (text, or ids, that the translation must begin with),
                `stop` (asked before every step; True ends the work), `deadline` (seconds), `gates` (a factor
                for each head, see `Gates`).
        Raises:
            InputError: the text is blank or too long, or a setting is unknown or out of range.
            CancelledError: `stop` said so.
            BusyError: the deadline passed.
        """
        translator = self.between(src, tgt)
        return translator._stream(translator._intake.request(text, encoding=encoding, **settings), every)

    def force(
        self,
        text: str,
        target: str | Sequence[int],
        *,
        src: str | None = None,
        tgt: str | None = None,
        **settings: Unpack[Settings],
    ) -> Trace:
        """The trace of a given translation: what the model makes of `target` (text, or ids with their EOS).

        Raises:
            InputError: as in `stream`; or the target is blank, too long, or not what this model can produce.
        """
        if src is not None or tgt is not None:
            return self.between(src, tgt).force(text, target, **settings)
        request = self._intake.request(text, **settings)
        ids = self._intake.target_ids(target)
        started = time.perf_counter()
        ends = ids[-1] == self.bundle.tgt.eos_id
        at_limit = request.config.force_eos and len(ids) == request.max_length  # where a search has to end
        given = Hypothesis(ids, truncated=at_limit or not ends)
        found = retry(lambda engine: Found(engine, request.encode(engine), given), self.engine, self._spare_engine)
        trace = self._trace(request, found)
        return dataclasses.replace(trace, seconds=time.perf_counter() - started)

    def translate_batch(
        self,
        texts: Sequence[str],
        *,
        stop: Stop | None = None,
        refused: Callable[[int, InputError], None] | None = None,
        src: str | None = None,
        tgt: str | None = None,
        **settings: Unpack[DecodeSettings],
    ) -> list[str]:
        """Translate many sentences at once, without maps; the same texts as `translate` gives.

        Args:
            stop: asked before every step; True ends the work.
            refused: is told the index and the error of each text that is blank or too long, which
                then gives ""; without it the first such text raises.
            src: the text's language, for a checkpoint that knows many.
            tgt: the language to translate into, likewise.
            settings: fields of `DecodeConfig`, greedy or beam.
        Raises:
            InputError: a text or a setting is refused; the message names the text by its number, from 1.
            CancelledError: `stop` said so.
        """
        if src is not None or tgt is not None:
            return self.between(src, tgt).translate_batch(texts, stop=stop, refused=refused, **settings)
        intake = self._intake
        config = intake.config(settings)
        if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
            raise InputError(f"texts is {texts!r:.40}; it must be a list of texts")
        texts = list(texts)
        check_stop(stop)
        if refused is not None and not callable(refused):
            raise InputError(f"refused is {refused!r:.80}; it must be a function of an index and an error")
        sources: dict[int, tuple[int, ...]] = {}
        for index, text in enumerate(texts):
            try:
                sources[index] = intake.source_ids(text)
            except InputError as error:
                if refused is None:
                    raise InputError(f"text {index + 1}: {error}") from error
                refused(index, error)
        spans = [self.bundle.spans(texts[index], config) for index in sources]
        lengths = [config.max_length or intake.usual_length(ids) for ids in sources.values()]
        found = retry(
            lambda engine: search_batch(
                engine, list(sources.values()), config, max_lengths=lengths, stop=stop, spans=spans
            ),
            self.engine,
            self._spare_engine,
        )
        out = [""] * len(texts)
        for index, ids in zip(sources, found, strict=True):
            out[index] = self.bundle.tgt.decode(ids)
        return out

    @property
    def source_limit(self) -> int:
        """Tokens that a text may have, EOS included."""
        return self._intake.source_limit

    def usual_length(self, src_ids: Sequence[int]) -> int:
        """Produced tokens at most unless `max_length` is set, EOS included, for what the encoder reads."""
        return self._intake.usual_length(src_ids)

    def source_ids(self, text: str) -> tuple[int, ...]:
        """What the encoder reads of `text`, EOS included.

        Raises:
            InputError: the text is blank or too long.
        """
        return self._intake.source_ids(text)

    def _stream(self, request: Request, every: float) -> Generator[LiveStep, None, Trace]:
        searching = self._search(request)
        seconds, told = 0.0, -math.inf
        log_probs: list[float] = []
        while True:
            started = time.perf_counter()
            try:
                step = next(searching)
            except StopIteration as end:
                trace = self._trace(request, end.value)
                return dataclasses.replace(trace, seconds=seconds + time.perf_counter() - started)
            live = None
            if step.index >= len(log_probs):  # a search that began anew repeats what was told
                log_probs.append(step.log_prob)
                if time.perf_counter() >= told + every:
                    live = live_step(self.bundle.tgt, step, request.config, log_probs)
            seconds += time.perf_counter() - started  # the listener's own time is not ours
            if live is not None:
                told = time.perf_counter()
                yield live

    def _search(self, request: Request) -> Generator[IdStep, None, Found]:
        """Search on the model's device, or on the CPU: see `retried`."""
        return (yield from retried(lambda engine: searched(engine, request), self.engine, self._spare_engine))

    def _spare_engine(self) -> Engine:
        """One for the same model on the CPU."""
        return self._spare.engine(self.name)

    def _trace(self, request: Request, found: Found) -> Trace:
        maps = retry(lambda engine: maps_of(found, request, engine), found.engine, self._spare_engine)
        return trace_of(self.bundle, request, found, maps)


def load(
    name: str | Path,
    *,
    device: str = "auto",
    revision: str | None = None,
    precision: Weights = "fp32",
) -> Translator:
    """Load a checkpoint: a name ("de-en"), a folder, or a hub id ("owner/name") with its `revision`.

    Weights are safetensors; a pickle is refused with the command that converts it. `precision` "int8" keeps three
    quarters of the weights of a decoding step in bytes: a large model decodes faster once it is compiled, and its maps
    stay within 0.02.

    Raises:
        CheckpointError: it is missing, damaged, its weights are a pickle, or its files do not fit each other.
        InputError: the device does not exist here or has no room, or int8 is not available on it.
    """
    bundle = load_bundle(name, device=device, revision=revision)
    return Translator(bundle, engine=best(bundle.model, precision))
