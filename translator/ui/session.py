"""Every call of the page to a model: validate, translate, explain."""

from __future__ import annotations

import itertools
import logging
import re
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from translator.analysis.aggregate import count_words
from translator.config import DecodeConfig, from_dict
from translator.errors import CheckpointError, InputError, TranslatorError
from translator.figures.label import plain
from translator.text.casing import as_read
from translator.text.normalise import Normalised, normalise
from translator.trace import CheckpointId, Token, Trace
from translator.ui import limits
from translator.ui.gate import Stop
from translator.ui.gloss import gloss
from translator.ui.models import Models
from translator.ui.payload import Encoding, profile_payload, step_payload, trace_payload

if TYPE_CHECKING:
    from translator.pipeline import Translator

log = logging.getLogger(__name__)
FRAME = 0.04
"""Seconds between two steps that are told: telling one costs more than decoding it, and each tells the whole so far."""
_BYTE = re.compile("<0x[0-9A-F]{2}>")
_SETTINGS = {field.name for field in fields(DecodeConfig)}


def translate_stream(
    models: Models, text: object, direction: str, settings: Mapping[str, Any], *, session: str | None = None
) -> Iterator[dict[str, Any]]:
    """One translation as messages for the page: a "step" each `FRAME`, then the "trace"; or one "error".

    Nothing of what was typed reaches the log.

    Args:
        session: of the visitor; the work stops once its connection is closed. None where that cannot be known.
    """
    started = time.monotonic()
    try:
        typed, checked = checked_text(text), checked_settings(settings)
        yield from models.gate.stream(
            lambda stop: _messages(models, direction, typed, checked, stop), read=_reads(models, session)
        )
        log.info("translated %d characters in %.2f s", len(typed), time.monotonic() - started)
    except TranslatorError as error:
        log.info("refused after %.2f s: %s", time.monotonic() - started, type(error).__name__)
        yield {"kind": "error", "text": str(error)}


def _messages(
    models: Models, direction: str, text: str, settings: dict[str, Any], stop: Stop, frame: float = FRAME
) -> Iterator[dict[str, Any]]:
    model = models.get(direction)  # in the worker: who asks while it loads is told after the deadline
    bundle = model.bundle
    encoding = bundle.src.encode(text)
    steps = models.steps(direction, text, settings, stop, encoding, every=frame)
    start = bundle.tgt.token(bundle.model.config.start_id)
    src = (*encoding.tokens, *map(bundle.src.token, bundle.src.closing_ids))
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            trace: Trace = end.value
            id_ = keep(models, trace)
            yield {**payload_of(model, trace), "id": id_, "direction": direction}
            return
        so_far = bundle.tgt.decode([token.id for token in step.tokens])
        payload = step_payload(step, src, start, bundle.info, bundle.tgt.decode)
        yield {**payload, "translation": so_far}


def keep(models: Models, trace: Trace, prefix: Sequence[int] = ()) -> str:
    """Put a trace that was made to begin with `prefix` into the store; gives the id by which `trace_of` finds it."""
    return models.store.put(_key(trace.checkpoint, trace.source, trace.settings, prefix), trace)


def _key(checkpoint: CheckpointId, text: str, config: DecodeConfig, prefix: Sequence[int]) -> tuple[Hashable, ...]:
    return checkpoint.sha256, checkpoint.src_language, checkpoint.tgt_language, text, config, *prefix


def trace_of(
    models: Models,
    text: object,
    direction: str,
    settings: Mapping[str, Any],
    *,
    id_: object = None,
    session: str | None = None,
    prefix: Sequence[int] = (),
) -> Trace:
    """The same translation again, whole and exact: from the store, or decoded again, which gives the same.

    Args:
        id_: what the page was given with its trace.
        session: as in `translate_stream`.
        prefix: ids that the translation begins with.
    Raises:
        TranslatorError: as `translate_stream` reports them.
    """
    typed, checked = checked_text(text), checked_settings(settings)

    def kept(model: Translator) -> Trace | None:
        config = from_dict(DecodeConfig, {**asdict(model.bundle.decode), **checked})
        return models.store.get(id_, _key(model.bundle.info, typed, config, prefix))

    found = None if id_ is None else models.ask(direction, kept)
    return found or models.gate.run(
        lambda stop: models.get(direction).translate(typed, stop=stop, prefix=prefix, **checked),
        read=_reads(models, session),
    )


def _reads(models: Models, session: str | None) -> Callable[[], bool] | None:
    """Whether a visitor listens at this moment; None where that cannot be known."""
    return None if session is None else lambda: session in models.readers


def payload_of(model: Translator, trace: Trace, encoding: Encoding = "u16") -> dict[str, Any]:
    """Everything the page holds of a translation, with what the heads do over a corpus where the checkpoint says it.

    "own" is how the checkpoint decodes by itself; "automatic" says that this was decoded so, with no setting of a
    visitor's; "gloss" is there for a Chinese translation.
    """
    payload = trace_payload(
        trace,
        trace_health(model, trace),
        encoding,
        decode=model.bundle.tgt.decode,
        profile=_profile_of(model),
    )
    own, words = model.bundle.decode, gloss(trace)
    return {
        **payload,
        "automatic": trace.settings == own,
        "own": dict(vars(own)),
        **({"gloss": words} if words is not None else {}),
    }


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
    """What the model makes of a text: words, tokens and their limit, unknown ones, bytes, what was normalised.

    Punctuation is no word, and bytes stand for characters that the vocabulary lacks. The length is judged before
    anything else looks at the text. `problem` is the sentence with which the text will be refused, if it will.
    """
    facts: dict[str, Any] = dict.fromkeys(("words", "tokens", "unknown", "bytes", "changed"), 0)
    if len(text) <= model.limits.characters:
        encoding = model.bundle.src.encode(text)
        facts |= _facts(model, text, encoding.tokens, encoding.normalised)
    return {"limit": model.source_limit, "normalised": "", **facts, "problem": _refusal(model, text)}


def _facts(model: Translator, text: str, tokens: Sequence[Token], normalised: str) -> dict[str, Any]:
    """What `health` says of a text that is short enough to be looked at, by its own tokens."""
    return {
        "words": count_words(tokens, text),
        "tokens": len(tokens) + 1,
        "unknown": sum(token.unknown for token in tokens),
        "bytes": sum(_BYTE.fullmatch(token.surface) is not None for token in tokens),
        "changed": _changed(text, normalise(as_read(model.bundle.src, text), model.bundle.src.config)),
        "normalised": plain(normalised, 400) if text != normalised else "",
    }


_profiles: WeakKeyDictionary[Translator, tuple[object, dict[str, Any] | None]] = WeakKeyDictionary()


def _profile_of(model: Translator) -> dict[str, Any] | None:
    """The head profile of a checkpoint as the page holds it; read again where its files have changed."""
    from translator.analysis.profile import FILE, stored_profile  # brings torch, which the page must not wait for

    folder = model.bundle.folder
    stamp = [_stamp(folder / name) for name in (FILE, "manifest.json")] if folder else None
    known = _profiles.get(model)
    if known is None or known[0] != stamp:
        try:
            profile = stored_profile(model)
        except CheckpointError as error:  # what a translation can do without
            log.warning("the head profile of %s is left out: %s", model.bundle.info.name, error)
            profile = None
        known = _profiles[model] = stamp, profile_payload(profile) if profile else None
    return known[1]


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _refusal(model: Translator, text: str) -> str:
    if not text.strip():
        return ""
    try:
        model.source_ids(text)
    except InputError as error:
        return str(error)
    return ""


def trace_health(model: Translator, trace: Trace) -> dict[str, Any]:
    """`health` of a text that was translated, by the tokens that its trace holds: it is not tokenised again."""
    src, own = model.bundle.src, list(trace.src)
    while own and model.bundle.model.config.padded_length is not None and own[-1].id == src.pad_id:
        own.pop()
    own = own[: len(own) - len(src.closing_ids)]
    return {"limit": model.source_limit, **_facts(model, trace.source, own, trace.normalised), "problem": ""}


def split(model: Translator, text: str) -> list[list[dict[str, Any]]]:
    """Every word of a text that is short enough to be looked at, in the pieces that the model will read."""
    if len(text) > model.limits.characters:
        return []
    words: dict[int, list[dict[str, Any]]] = {}
    for token in model.bundle.src.encode(text).tokens:
        piece = {"s": plain(token.surface, None), **({"u": 1} if token.unknown else {})}
        words.setdefault(token.word, []).append(piece)
    return list(words.values())


def _changed(text: str, found: Normalised) -> int:
    """How many characters normalising replaced, added or dropped: in one pass, whatever was typed."""
    if found.text == text:
        return 0
    changed = end = 0
    for (low, high), group in itertools.groupby(zip(found.spans, found.text, strict=True), key=itemgetter(0)):
        old, new = text[low:high], "".join(char for _, char in group)
        alike = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
        changed += max(0, low - end) + max(len(old), len(new)) - alike
        end = high
    return changed + len(text) - end
