"""A `Trace` as compact JSON: 16-bit fixed point for the page, four decimals for notebooks, float32 for exports."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from translator.analysis import aggregate, heads, rollout
from translator.analysis.roles import READINGS, Roles
from translator.figures.label import plain
from translator.trace import Beam, CheckpointId, LiveStep, Step, Token, Trace

if TYPE_CHECKING:
    from translator.analysis.profile import Profile

Encoding = Literal["u16", "d4", "f32"]
Decode = Callable[[Sequence[int]], str]
KINDS = ("encoder", "decoder", "cross")
SPECIAL, UNKNOWN, SPACE, PUNCTUATION = 1, 2, 4, 8
TAIL = 60
"""Characters of a hypothesis that are sent: its end is what tells it from the others."""
_FULL = {"u16": 65535, "d4": 10_000}
"""What stands for 1."""
_ESCAPE = 192
"""Of "d4": a first byte from here on has the upper bits of a number, whose lower eight stand behind all first bytes."""
LOOKS = 8192
"""Surfaces whose looks are kept."""
_DIGITS, _NEAR_HALF = 1e4, 1e-6
_TOLD = tuple(each.name for each in fields(heads.Measures) if not each.name.startswith(("even_", "read_")))
"""Measures that the page shows."""


def pack(weights: np.ndarray, encoding: Encoding) -> str:
    """Probabilities [...] as base64, flat in C order.

    "f32": little-endian floats, exact. "u16": round(w · 65535), the error is at most 7.7e-6. Of both, all first bytes
    stand before all second ones and so on: high bytes are alike, and so they compress. "d4": round(w · 10000), the four
    decimals that the explorer shows, in one byte where that is below 192, as most are, else in two.
    """
    return base64.b64encode(pack_bytes(weights, encoding)).decode("ascii")


def pack_bytes(weights: np.ndarray, encoding: Encoding) -> bytes:
    """Probabilities of any shape as the bytes that `pack` encodes."""
    if encoding == "f32":
        planes: bytes = np.ascontiguousarray(weights, dtype="<f4").reshape(-1, 1).view(np.uint8).T.tobytes()
        return planes
    fixed = np.rint(np.clip(weights, 0.0, 1.0) * _FULL[encoding]).astype(np.uint16).ravel()
    high, low = (fixed >> 8).astype(np.uint8), (fixed & 0xFF).astype(np.uint8)
    large = fixed >= _ESCAPE
    first, rest = (high, low) if encoding == "u16" else (np.where(large, _ESCAPE + high, low), low[large])
    return bytes(first.astype(np.uint8)) + bytes(rest)


def unpack(text: str | bytes, encoding: Encoding) -> np.ndarray:
    """What `pack` wrote, or its bytes, as a flat float array [N]."""
    data = np.frombuffer(base64.b64decode(text) if isinstance(text, str) else text, dtype=np.uint8)
    if encoding == "f32":
        return data.reshape(4, -1).T.copy().view("<f4").ravel()
    if encoding == "u16":
        high, low = data.reshape(2, -1).astype(np.float64)
        return (high * 256 + low) / _FULL[encoding]
    count = int(np.searchsorted(np.cumsum(1 + (data >= _ESCAPE)), len(data))) + bool(len(data))
    found = data[:count].astype(np.float64)
    large = found >= _ESCAPE
    found[large] = (found[large] - _ESCAPE) * 256 + data[count:]
    return found / _FULL[encoding]


def lower_triangles(weights: np.ndarray) -> np.ndarray:
    """Decoder maps [L, H, T, T] without their future, which is 0: [L, H, T·(T+1)/2]."""
    rows, columns = np.tril_indices(weights.shape[-1])
    return weights[..., rows, columns]


def trace_payload(
    trace: Trace,
    health: dict[str, Any],
    encoding: Encoding = "u16",
    *,
    decode: Decode | None = None,
    profile: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything the explorer needs of one translation.

    Args:
        health: as `session.health` makes it.
        decode: the text of target ids; without it the hypotheses of a beam search are left out.
        profile: what the heads do over a corpus, as `profile_payload` makes it.
    """
    ids = tuple(token.id for token in trace.tgt)
    rates = _rates(profile, trace.cross.shape[:2])
    measures = {kind: heads.measure(trace.weights(kind), heads.rows_of(trace, kind)) for kind in trace.kinds}
    roles = {kind: heads.roles_of(found, kind, rates) for kind, found in measures.items()}
    layer, head = (0, 0)
    if "cross" in measures:
        layer, head = heads.leading(measures["cross"], roles["cross"], profile["rates"] if profile else ())
    parts = {"encoder": trace.encoder, "decoder": lower_triangles(trace.decoder), "cross": trace.cross}
    scored = not np.isnan(trace.log_probs).any()
    return {
        "kind": "trace",
        "source": trace.source,
        "normalised": trace.normalised,
        "translation": trace.translation,
        "checkpoint": _checkpoint(trace),
        "settings": dict(vars(trace.settings)),
        "truncated": trace.truncated,
        "seconds": round(trace.seconds, 3),
        "src": _tokens(trace.src),
        "start": _token(trace.start),
        "tgt": _tokens(trace.tgt),
        "words": {
            "src": _words(trace.src, trace.source),
            "reads": _words(trace.reads, trace.translation),
            "tgt": _words(trace.tgt, trace.translation),
        },
        "steps": [_step(step, ids[: t + 1], decode) for t, step in enumerate(trace.steps)],
        "shapes": {kind: trace.weights(kind).shape for kind in trace.kinds},
        "encoding": encoding,
        "weights": {kind: pack(parts[kind], encoding) for kind in trace.kinds},
        "rollout": pack(rollout.self_rollout(trace.encoder), encoding) if "encoder" in measures else "",
        "heads": {kind: _head_table(found, roles[kind]) for kind, found in measures.items()},
        "leading": {"layer": layer, "head": head},
        "health": health,
        **({} if trace.kinds == KINDS else {"kinds": trace.kinds}),
        **({} if scored and trace.tgt else {"scored": False}),
        **({"profile": profile} if profile else {}),
    }


def step_payload(
    step: LiveStep,
    src: Sequence[Token],
    start: Token,
    checkpoint: CheckpointId,
    decode: Decode | None = None,
) -> dict[str, Any]:
    """One live step. Every message says where it stands by itself, so that a page may miss some.

    Args:
        src: what the encoder reads, EOS too.
    """
    return {
        "kind": "step",
        "index": step.index,
        "checkpoint": {"name": checkpoint.name, "src": checkpoint.src_language, "tgt": checkpoint.tgt_language},
        "log_probs": [round(value, 5) for value in step.log_probs],
        "src": _tokens(src),
        "start": _token(start),
        "tgt": _tokens(step.tokens),
        "step": _step(step, tuple(token.id for token in step.tokens), decode),
        "shape": step.cross.shape,
        "cross": pack(step.cross, "u16"),
    }


def _checkpoint(trace: Trace) -> dict[str, str]:
    info = trace.checkpoint
    return {"name": info.name, "sha256": info.sha256, "src": info.src_language, "tgt": info.tgt_language}


def _token(token: Token) -> dict[str, Any]:
    """`s` is what is shown, `r` the real surface where it differs, `f` flags, `w` the word it belongs to."""
    shown, flags = _look(token.surface, token.special, token.unknown, token.space)
    found = {"s": shown, "i": token.id, "f": flags, "w": token.word}
    if shown != token.surface:
        found["r"] = token.surface
    return found


@lru_cache(LOOKS)
def _look(surface: str, special: bool, unknown: bool, space: bool) -> tuple[str, int]:
    """What is shown of a token, and its flags; a trace asks the same of its candidates again and again."""
    flags = SPECIAL * special + UNKNOWN * unknown + SPACE * space
    flags += PUNCTUATION * heads.is_punctuation(Token(0, surface, special=special))
    return plain(surface, None), flags


def _tokens(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    return [_token(token) for token in tokens]


def _words(tokens: Sequence[Token], text: str) -> dict[str, Any]:
    """The word group of each token, and what each group reads as."""
    surfaces = [plain(surface, None) for surface in aggregate.word_surfaces(tokens, text)]
    return {"g": aggregate.word_groups(tokens).tolist(), "s": surfaces}


def profile_payload(profile: Profile) -> dict[str, Any]:
    """The role of each head over a corpus, layer by layer.

    `rates` are alignment error rates of the cross heads, each by its better reading; `readings` says which, "output"
    (a row belongs to what it predicts) or "input" (to what it reads). Both are empty if the bench was not run.
    """
    from translator.analysis.profile import error_rates  # brings torch, which the page must not wait for

    roles = {kind: [head.role for head in stats] for kind, stats in profile.heads.items()}
    found = error_rates(profile)
    rates, readings = ([], []) if found is None else ([*found[0].ravel()], [READINGS[i] for i in found[1].ravel()])
    return {
        "data": profile.data,
        "sentences": profile.sentences,
        "roles": roles,
        "rates": [float(rate) for rate in rates],
        "readings": readings,
    }


def _rates(profile: dict[str, Any] | None, shape: tuple[int, ...]) -> heads.Rates | None:
    """The rates of `profile_payload` as `head_stats` takes them."""
    if not (profile and profile["rates"]):
        return None
    readings = [READINGS.index(each) for each in profile["readings"]]
    return np.array(profile["rates"]).reshape(shape), np.array(readings).reshape(shape)


def _step(step: Step, leading: tuple[int, ...], decode: Decode | None) -> dict[str, Any]:
    candidates = [_token(each.token) | {"lp": round(each.log_prob, 5)} for each in step.candidates]
    beams = _beams(step.beams, decode, leading) if decode else []
    return {
        "lp": _known(step.log_prob, 6),
        "h": _known(step.entropy, 4),
        "c": candidates,
        **({"b": beams} if beams else {}),
    }


def _beams(beams: Sequence[Beam], decode: Decode, leading: tuple[int, ...]) -> list[dict[str, Any]]:
    """The hypotheses of a step; a text that an earlier one has too, in other subwords, has the flag `x`."""
    texts = [plain(decode(each.ids), None) for each in beams]
    told = [(text, beam.ended) for text, beam in zip(texts, beams, strict=True)]
    return [
        _beam(beam, text, beam.ids == leading, told[at] in told[:at])
        for at, (beam, text) in enumerate(zip(beams, texts, strict=True))
    ]


def _beam(beam: Beam, text: str, leads: bool, again: bool) -> dict[str, Any]:
    """`s` is the end of its text, `n` its score after the length penalty, `p` its parent; flags where they hold."""
    shown = text if len(text) <= TAIL else "…" + text[1 - TAIL :]
    flags = {name: 1 for name, value in (("e", beam.ended), ("w", leads), ("x", again)) if value}
    return {"s": shown, "lp": round(beam.score, 4), "n": round(beam.normalised, 4), "p": beam.parent, **flags}


def _head_table(measures: heads.Measures, roles: Roles) -> dict[str, list[Any]]:
    """One list a measure, head by head, layer by layer."""
    names = (*_TOLD, "share")
    numbers = _short(np.stack([*(getattr(measures, name) for name in _TOLD), roles.share]))
    heads_ = roles.share.size
    lists = (numbers[at : at + heads_] for at in range(0, len(numbers), heads_))
    return {
        "role": roles.name.ravel().tolist(),
        **dict(zip(names, lists, strict=True)),
        "reading": roles.reading.ravel().tolist(),
        "near": roles.near.ravel().tolist(),
    }


def _known(value: float, digits: int) -> float:
    """A number rounded; 0 for one that is not known, of which the payload says that it is not scored."""
    return 0.0 if np.isnan(value) else round(value, digits)


def _short(values: np.ndarray) -> list[float]:
    """Every number as Python's `round` has it with four digits, which on each by itself took a seventh of a trace."""
    scaled = values.ravel() * _DIGITS
    found: list[float] = (np.rint(scaled) / _DIGITS).tolist()
    half = np.abs(scaled - np.floor(scaled) - 0.5) < _NEAR_HALF  # where the product may have been rounded to the tie
    for at in half.nonzero()[0].tolist():
        found[at] = round(float(values.flat[at]), 4)
    return found
