"""Validation of a translation request before the model runs."""

from __future__ import annotations

import operator
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import torch

from translator.checkpoints import Bundle
from translator.config import DecodeConfig, from_dict
from translator.decode import SourceSpans, Stop, check_target, encode
from translator.engine import Engine
from translator.errors import BusyError, InputError
from translator.model import Encoded, Gates
from translator.registry.decoding import SOURCE_TOKENS, TARGET_TOKENS
from translator.registry.field import CHARACTERS
from translator.rules import whole
from translator.settings import DecodeSettings, Unpack
from translator.text import Encoding, is_blank, normalise_text

FOREVER = 1e9  # seconds: some thirty years
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Limits:
    """What one sentence may ask for: characters before and after normalising, and tokens (EOS included)."""

    characters: int = CHARACTERS
    source_tokens: int = SOURCE_TOKENS
    target_tokens: int = TARGET_TOKENS

    def __post_init__(self) -> None:
        for name in ("characters", "source_tokens", "target_tokens"):
            object.__setattr__(self, name, whole(name, getattr(self, name), 1, 10**9))


@dataclass(frozen=True, eq=False)
class Request:
    """One sentence, checked and ready to decode."""

    source: str
    encoding: Encoding
    src_ids: tuple[int, ...]
    config: DecodeConfig
    max_length: int
    prefix: tuple[int, ...] = ()
    stop: Stop | None = None
    gates: Gates | None = None
    spans: SourceSpans | None = None

    def encode(self, engine: Engine) -> Encoded:
        """The encoder's pass."""
        return encode(engine, self.src_ids, self.gates_on(engine.device))

    def gates_on(self, device: torch.device) -> Gates | None:
        """The gates where the model is."""
        return self.gates and self.gates.to(device)


@dataclass(frozen=True, eq=False)
class Intake:
    """Judges texts and settings for one checkpoint; all of it raises `InputError`, and nothing is cut."""

    bundle: Bundle
    limits: Limits

    def request(
        self,
        text: str,
        *,
        prefix: str | Sequence[int] = (),
        stop: Stop | None = None,
        deadline: float | None = None,
        gates: Gates | None = None,
        encoding: Encoding | None = None,
        **settings: Unpack[DecodeSettings],
    ) -> Request:
        """One sentence with its settings; `Translator.stream` says what they mean.

        Raises:
            InputError: the text is blank or too long, a setting cannot be, or the prefix leaves no room.
        """
        config = self.config(settings)
        self._check_text(text)
        gates = self._gates(gates)
        encoding = encoding or self.bundle.src.encode(text)
        src_ids = self._closed(encoding.ids)
        forced = _opened(self._forced(prefix), config.first_id)
        longest = config.max_length or max(self.usual_length(src_ids), min(len(forced) + 16, self._target_limit))
        check_target(self.bundle.model.config, forced, longest)
        source = _SURROGATE.sub("\ufffd", text)  # no encoder could write a lone surrogate
        spans = self.bundle.spans(source, config)
        return Request(source, encoding, src_ids, config, longest, forced, _stop_by(stop, deadline), gates, spans)

    def config(self, settings: DecodeSettings) -> DecodeConfig:
        """`settings` over what the checkpoint is best decoded with.

        Raises:
            InputError: a setting is unknown or cannot be, or max_length is above the limit.
        """
        own = self.bundle.decode
        config = from_dict(DecodeConfig, {**vars(own), **settings}) if settings else own
        if config.max_length is not None and config.max_length > self._target_limit:
            raise InputError(f"max_length is {config.max_length}; at most {self._target_limit} tokens are allowed")
        if config.first_id is not None:
            whole("first_id", config.first_id, 0, self.bundle.model.config.tgt_vocab - 1)
        return config

    def source_ids(self, text: str) -> tuple[int, ...]:
        """What the encoder reads of `text`, EOS included.

        Raises:
            InputError: the text is blank or too long.
        """
        self._check_text(text)
        return self._closed(self.bundle.src.ids(text))

    def target_ids(self, target: str | Sequence[int]) -> tuple[int, ...]:
        """A given translation as ids: a text gets its EOS, ids are taken as they are.

        Raises:
            InputError: it is blank or too long, or holds what is no id.
        """
        ids = self._forced(target)
        if isinstance(target, str):
            ids = () if is_blank(target) else (*ids, self.bundle.tgt.eos_id)
        if not ids:
            raise InputError("the target is blank: nothing to force")
        ids = _opened(ids, self.bundle.decode.first_id)
        limit = self._target_limit
        if len(ids) > limit:
            raise InputError(f"the target has {len(ids)} tokens; at most {limit} are allowed, so shorten it")
        check_target(self.bundle.model.config, ids, len(ids), name="target")
        return ids

    def usual_length(self, src_ids: Sequence[int]) -> int:
        """How long a translation may be by default: twice the source and a little."""
        return min(2 * len(src_ids) + 16, self._target_limit)

    @property
    def source_limit(self) -> int:
        """Tokens that a text may have, EOS included."""
        config = self.bundle.model.config
        return min(self.limits.source_tokens, config.padded_length or config.max_positions)

    @property
    def _target_limit(self) -> int:
        return min(self.limits.target_tokens, self.bundle.model.config.max_positions)

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
            raise InputError(f"{what} has {count:,} characters; at most {limit:,} are allowed, so shorten it")

    def _closed(self, ids: Sequence[int]) -> tuple[int, ...]:
        """Source ids with their EOS, if they are not too many."""
        if not ids:
            raise InputError("nothing to translate: the text has no token that this checkpoint knows")
        closing = self.bundle.src.closing_ids
        count, limit = len(ids) + len(closing), self.source_limit
        if count > limit:
            raise InputError(f"the text has {count} tokens; at most {limit} are allowed, so shorten it")
        return (*ids, *closing)

    def _forced(self, tokens: str | Sequence[int]) -> tuple[int, ...]:
        if isinstance(tokens, str):
            self._check_length("the forced text", len(tokens))
            return tuple(self.bundle.tgt.ids(tokens))
        ids = _whole_numbers(tokens)
        if ids is None:
            raise InputError(f"the forced ids are {tokens!r:.80}; they must be a list of whole numbers, or a text")
        return ids

    def _gates(self, gates: object) -> Gates | None:
        """The gates as the model takes them, in its own kind of number."""
        if gates is None:
            return None
        if not isinstance(gates, Gates):
            raise InputError(f"gates is {type(gates).__name__}; it must be what interventions.make_gates gives")
        read = {}
        for kind, shape in self.bundle.model.config.head_counts.items():
            values: Any = getattr(gates, kind)
            if values is None:
                continue
            if not isinstance(values, torch.Tensor) or tuple(values.shape) != shape:
                found = tuple(values.shape) if isinstance(values, torch.Tensor) else type(values).__name__
                raise InputError(f"the gates of {kind} are {found}; they must be {shape}, layers by heads")
            if values.is_complex() or not values.isfinite().all():
                raise InputError(f"a gate of {kind} is not a number; a head's factor must be finite")
            read[kind] = values.detach().to(self.bundle.model.output.weight.dtype)
        return Gates(**read)


def _opened(ids: tuple[int, ...], first_id: int | None) -> tuple[int, ...]:
    """Target ids with the one that every translation begins with."""
    return ids if first_id is None or ids[:1] in ((), (first_id,)) else (first_id, *ids)


def _whole_numbers(values: object) -> tuple[int, ...] | None:
    """A list of whole numbers, NumPy's and PyTorch's among them, as ints; None if it is anything else."""
    if not isinstance(values, (Sequence, np.ndarray, torch.Tensor)) or isinstance(
        values, (bytes, bytearray, memoryview)
    ):
        return None
    try:
        found = tuple(map(operator.index, values))
    except TypeError:
        return None
    return None if any(isinstance(value, (bool, np.bool_)) for value in values) else found


def check_stop(stop: object) -> None:
    """Refuse what cannot be asked whether to stop.

    Raises:
        InputError: it is no function.
    """
    if stop is not None and not callable(stop):
        raise InputError(f"stop is {stop!r:.80}; it must be a function that says whether to stop")


def _stop_by(stop: Stop | None, deadline: float | None) -> Stop | None:
    """`stop`, and an error once `deadline` seconds have passed from now."""
    check_stop(stop)
    if deadline is None:
        return stop
    if not isinstance(deadline, Real) or isinstance(deadline, bool) or not deadline > 0:
        raise InputError(f"deadline is {deadline!r:.80}; it must be seconds above 0")
    end = time.monotonic() + float(min(deadline, FOREVER))

    def late() -> bool:
        if time.monotonic() > end:
            raise BusyError(f"decoding took longer than {deadline:g} seconds; try again, or send a shorter text")
        return stop is not None and stop()

    return late
