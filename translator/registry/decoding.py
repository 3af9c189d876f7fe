"""How a sentence is decoded: every setting of `DecodeConfig`, and what a public page offers and grants of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from translator.registry.field import CHARACTERS, Field, given
from translator.rules import keep, real, require, whole

Method = Literal["greedy", "beam", "sample"]
LengthPenalty = Literal["wu", "power"]

SOURCE_TOKENS = 128
TARGET_TOKENS = 160
"""Tokens of one sentence, its end included, unless other limits are set when a checkpoint is loaded."""
SEED = 2**53 - 1
"""The largest whole number that a browser can send."""
AUTOMATIC = "automatic"
"""The choice among the methods that leaves the decoding to the checkpoint."""


@dataclass(frozen=True)
class Control:
    """How a page asks for a setting: a slider ("range"), a "number" or a "text", labelled by the setting's label.

    `low` to `high` in steps of `step` is what a slider spans, which may be less than can be asked for; `value` is what
    it shows first, and `blank` the value that leaves the setting to the checkpoint, where there is one.
    """

    kind: Literal["range", "number", "text"]
    low: float = 0
    high: float = 0
    step: float | None = None
    value: Any = 0
    blank: Any = None


@dataclass(frozen=True)
class Setting(Field):
    """A field of `DecodeConfig`; `value` is its default, and None allowed where that is None.

    Args:
        granted: the most that a public page grants, where that is less than `high`.
        method: the one that uses it; None: all do.
        control: how a page asks for it; None: it does not.
    """

    granted: float | None = None
    method: Method | None = None
    control: Control | None = None

    def keep(self, config: object) -> None:
        """Let the field of a frozen `config` be what this setting reads it as: Python's own numbers, no NumPy.

        Raises:
            InputError: it is not what can be asked; names the field, the value and the remedy.
        """
        value = getattr(config, self.name)
        if value is not None or self.value is not None:
            keep(config, self.name, self._judged(value))

    def _judged(self, value: Any) -> Any:
        if self.kind == "choice":
            return self._choice(value)
        if self.kind == "pairs":
            return self._pairs(value)
        low, high = self.range
        return whole(self.name, value, int(low), int(high)) if self.whole else real(self.name, value, low, high)

    def _pairs(self, value: Any) -> tuple[tuple[int, int], ...]:
        pairs = isinstance(value, (list, tuple)) and all(isinstance(p, (list, tuple)) and len(p) == 2 for p in value)
        require(bool(pairs and value), self.name, value, "pairs of layer and head, or null for all")
        low, high = map(int, self.range)
        return tuple((whole(self.name, first, low, high), whole(self.name, last, low, high)) for first, last in value)

    @property
    def granting(self) -> str:
        """What a public page grants, in words."""
        return replace(self, high=self.most).want()

    @property
    def most(self) -> float | None:
        """The greatest number that a public page grants."""
        return self.high if self.granted is None else self.granted


def _count(name: str, label: str, low: int, high: int, value: int | None, says: str, **page: Any) -> Setting:
    return Setting(name, label, "number", low=low, high=high, value=value, whole=True, says=says, **page)


def _real(name: str, label: str, low: float, high: float, value: float, says: str, **page: Any) -> Setting:
    return Setting(name, label, "number", low=low, high=high, value=value, says=says, **page)


def _choice(name: str, label: str, choices: tuple[str | bool, ...], value: str | bool, says: str) -> Setting:
    return Setting(name, label, "choice", choices, value=value, says=says)


SETTINGS = (
    _choice("method", "Decoding", get_args(Method), "greedy", "greedy search, beam search or sampling"),
    _count(
        "beam", "Beams (0: automatic)", 1, 64, 4, "width of the beam",
        granted=12, method="beam", control=Control("range", 0, 12, 1, blank=0),
    ),
    _real(
        "length_penalty", "Length penalty (empty: automatic)", -5, 5, 0.6, "alpha of the length penalty",
        method="beam", control=Control("text", value="", blank=""),  # 0 is a penalty: empty must be something else
    ),
    _choice("penalty_kind", "", get_args(LengthPenalty), "wu", "Wu et al. 2016, or a power of the length"),
    _real("coverage_penalty", "", 0, 5, 0.0, "beta of Wu et al. 2016: prefers beams that have read the whole source"),
    Setting(
        "coverage_heads", "", "pairs", low=0, high=127,
        says="cross heads (layer, head; from 0) that measure coverage; null: the mean of all",
    ),
    _choice(
        "early_stopping", "", (True, False, "never"), False,
        "end a beam search once as many as its width have ended (true), once no live one can enter them at its present"
        " length (false) or at any (never)",
    ),
    _choice("force_eos", "", (True, False), False, "end at max_length with EOS, which then scores 0"),
    _count("first_id", "", 0, 1_000_000, None, "id of the forced first token, such as a language code"),
    _count("no_repeat_ngram_size", "", 0, 4096, 0, "size of n-grams that may not repeat (0: off)"),
    _choice(
        "spans_from_source", "", (True, False), False,
        "numbers of two or more digits, and in another script Latin words, only as the source has them",
    ),
    _real(
        "name_penalty", "", 0, 20, 0.0,
        "nats that a beam loses for each capitalised source word of two or more tokens that it does not copy",
    ),
    _real(
        "temperature", "Temperature", 0.01, 10, 1.0, "divides the logits",
        method="sample", control=Control("range", 0.1, 2, 0.1, value=1),
    ),
    _count(
        "top_k", "Top-k (0: off)", 0, 1_000_000, 0, "sample from the k likeliest tokens (0: all)",
        granted=1000, method="sample", control=Control("range", 0, 100, 1),
    ),
    _real(
        "top_p", "Top-p", 0.001, 1, 1.0, "sample from the likeliest tokens of this total probability (1: all)",
        method="sample", control=Control("range", 0.05, 1, 0.05, value=1),
    ),
    _count(
        "seed", "Seed", 0, 2**63 - 1, 0, "of the random numbers",
        granted=SEED, method="sample", control=Control("number", 0, SEED, 1),
    ),
    _count(
        "max_length", "At most … tokens (0: automatic)", 1, 4096, None,
        "most tokens to produce, EOS included; by default twice the source tokens + 16",
        control=Control("range", 0, TARGET_TOKENS, 1, blank=0),
    ),
    _count("candidates", "", 1, 64, 8, "alternatives that each step keeps", granted=16),
)  # fmt: skip
DEFAULTS: dict[str, Any] = {each.name: each.value for each in SETTINGS}
CONTROLLED = tuple((each, each.control) for each in SETTINGS if each.control is not None)
"""Those that a page asks for behind the method, in their order, and how."""
USED = {method: tuple(each.name for each in SETTINGS if each.method == method) for method in get_args(Method)}
"""The settings that each method has to itself."""
LIMITS = {"characters": CHARACTERS, "source_tokens": SOURCE_TOKENS, "target_tokens": TARGET_TOKENS}
_BY_NAME = {each.name: each for each in SETTINGS}


def setting(name: str) -> Setting:
    """A setting by its name.

    Raises:
        KeyError: there is none.
    """
    return _BY_NAME[name]


def for_front_end() -> dict[str, Any]:
    """All of it as JSON: `web/src/protocol/registry.json`."""
    return {
        "limits": LIMITS,
        "methods": {method: list(names) for method, names in USED.items()},
        "defaults": DEFAULTS,
        "decoding": [_as_json(each) for each in SETTINGS],
    }


def _as_json(each: Setting) -> dict[str, Any]:
    said = given(choices=each.choices, low=each.low, high=each.most, method=each.method)
    kind = "whole" if each.whole else each.kind
    control = each.control and {"label": each.label, **given(**vars(each.control))}
    return {"name": each.name, "kind": kind, **said, "empty": each.value is None, **given(control=control)}
