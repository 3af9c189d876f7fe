"""Every call of the page to a model goes through here: load once in the background, check, translate, explain."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from translator.config import DecodeConfig, from_dict
from translator.errors import CheckpointError, InputError, TranslatorError
from translator.figures.label import plain
from translator.trace import Trace
from translator.ui import limits
from translator.ui.gate import Gate, Stop
from translator.ui.middleware import Readers
from translator.ui.payload import step_payload, trace_payload
from translator.ui.store import TraceStore

if TYPE_CHECKING:
    from translator.pipeline import Translator

log = logging.getLogger(__name__)
DIRECTIONS = ("en-zh", "de-en")
_SETTINGS = {field.name for field in fields(DecodeConfig)}


class Models:
    """The checkpoints behind the page, each loaded once, in the background or when first asked for.

    `gate` lets few requests run them at once; `store` keeps recent traces for exports; `readers` knows which
    sessions listen.
    """

    def __init__(self, names: Mapping[str, str | Path] | None = None, *, device: str = "auto") -> None:
        self.gate, self.store, self.readers = Gate(), TraceStore(), Readers()
        self.names = dict(names or {direction: direction for direction in DIRECTIONS})
        self.device = device
        self._loaded: dict[str, Translator | TranslatorError] = {}
        self._locks = {direction: threading.Lock() for direction in self.names}

    def warm(self) -> threading.Thread:
        """Start loading every model behind the page's back, so that the port answers at once."""
        thread = threading.Thread(target=lambda: [self._load(name) for name in self.names], daemon=True)
        thread.start()
        return thread

    def get(self, direction: str) -> Translator:
        """The model of a direction; waits while it loads.

        Raises:
            InputError: no such direction.
            CheckpointError: its checkpoint cannot be used.
        """
        if not isinstance(direction, str) or direction not in self.names:
            raise InputError(f"there is no direction {str(direction)[:20]!r}; there are {', '.join(self.names)}")
        found = self._load(direction)
        if isinstance(found, TranslatorError):
            raise CheckpointError(f"{direction} is not available here: {found}") from found
        return found

    def _load(self, direction: str) -> Translator | TranslatorError:
        with self._locks[direction]:
            if direction not in self._loaded:
                from translator.pipeline import load  # torch takes seconds to import; the page must not wait for it

                try:
                    self._loaded[direction] = load(self.names[direction], device=self.device)
                except TranslatorError as error:
                    log.warning("%s is not available: %s", direction, error)
                    self._loaded[direction] = error
            return self._loaded[direction]


def translate_stream(
    models: Models, text: object, direction: str, settings: Mapping[str, Any], *, session: str | None = None
) -> Iterator[dict]:
    """One translation as messages for the page: a "step" a token, then the "trace"; or one "error".

    Nothing of what was typed reaches the log.

    Args:
        session: of the visitor; the work stops once nobody listens to it. None where that cannot be known.
    """
    read: Callable[[], bool] | None = None if session is None else lambda: session in models.readers
    started = time.monotonic()
    try:
        typed, checked = checked_text(text), checked_settings(settings)
        yield from models.gate.stream(lambda stop: _messages(models, direction, typed, checked, stop), read=read)
        log.info("translated %d characters in %.2f s", len(typed), time.monotonic() - started)
    except TranslatorError as error:
        log.info("refused after %.2f s: %s", time.monotonic() - started, type(error).__name__)
        yield {"kind": "error", "text": str(error)}


def _messages(models: Models, direction: str, text: str, settings: dict[str, Any], stop: Stop) -> Iterator[dict]:
    model = models.get(direction)  # in the worker: who asks while it loads is told after the deadline
    steps = model.stream(text, stop=stop, **settings)
    bundle = model.bundle
    eos, start = bundle.src.token(bundle.src.eos_id), bundle.tgt.token(bundle.model.config.start_id)
    src = (*bundle.src.encode(text).tokens, eos)
    log_probs: list[float] = []
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            trace: Trace = end.value
            id_ = models.store.put((trace.checkpoint.sha256, text, trace.settings), trace)
            yield {**trace_payload(trace, trace_health(model, trace)), "id": id_}
            return
        log_probs.append(step.log_prob)
        so_far = bundle.tgt.decode([token.id for token in step.tokens])
        yield {**step_payload(step, src, start, bundle.info, log_probs), "translation": so_far}


def trace_of(models: Models, text: object, direction: str, settings: Mapping[str, Any], *, id_: object = None) -> Trace:
    """The same translation again, whole and exact: from the store, or decoded again, which gives the same.

    Args:
        id_: what the page was given with its trace.
    Raises:
        TranslatorError: as `translate_stream` reports them.
    """
    typed, checked = checked_text(text), checked_settings(settings)
    model = models.get(direction)
    config = from_dict(DecodeConfig, {**asdict(model.bundle.decode), **checked})
    kept = models.store.get(id_, (model.bundle.info.sha256, typed, config))
    return kept or models.gate.run(lambda stop: model.translate(typed, stop=stop, **checked))


def checked_text(text: object) -> str:
    """What was typed, if it is a text, and short enough to be looked at."""
    return limits.text(text)


def checked_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Known settings with whole numbers as whole numbers; a browser's fields send 4.0 for 4.

    Raises:
        InputError: a setting is unknown, or asks too much; the rest is judged by `DecodeConfig`.
    """
    checked = limits.settings(settings)
    unknown = sorted(set(checked) - _SETTINGS)
    if unknown:
        raise InputError(f"unknown setting {plain(str(unknown[0]))!r}")
    return checked


def health(model: Translator, text: str) -> dict[str, Any]:
    """What the model makes of a text: words, tokens and their limit, what was normalised, unknown words.

    The length is judged before anything else looks at the text. `problem` says in one sentence why the
    text will be refused, if it will.
    """
    limits, limit = model.limits, min(model.limits.source_tokens, model.bundle.model.config.max_positions)
    empty = {"words": 0, "tokens": 0, "limit": limit, "unknown": 0, "changed": 0, "normalised": ""}
    if len(text) > limits.characters:
        problem = f"{len(text):,} characters, at most {limits.characters:,}: shorten it"
        return {**empty, "problem": problem}
    tokens = model.bundle.src.encode(text)
    count = len(tokens.tokens) + 1
    problem = f"{count} tokens, at most {limit}: shorten it" if count > limit else ""
    words = {token.word for token in tokens.tokens if token.word >= 0}
    return {
        **empty,
        "words": len(words),
        "tokens": count,
        "unknown": sum(token.unknown for token in tokens.tokens),
        "changed": _changed(text, tokens.normalised),
        "normalised": plain(tokens.normalised, 400) if text != tokens.normalised else "",
        "problem": problem,
    }


def trace_health(model: Translator, trace: Trace) -> dict[str, Any]:
    """`health` of a text that was translated."""
    return health(model, trace.source)


def _changed(text: str, normalised: str) -> int:
    """How many characters normalising replaced, added or dropped."""
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, text, normalised, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in blocks if tag != "equal")
