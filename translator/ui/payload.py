"""A `Trace` as compact JSON: 16-bit fixed point for the page, four decimals for notebooks, float32 for exports."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from translator.analysis import aggregate, heads, rollout
from translator.analysis.roles import READINGS
from translator.figures.label import plain
from translator.trace import Beam, CheckpointId, Step, Token, Trace

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


def pack(weights: np.ndarray, encoding: Encoding) -> str:
    """Probabilities [...] as base64, flat in C order.

    "f32": little-endian floats, exact. "u16": round(w · 65535), the error is at most 7.7e-6. "d4": round(w · 10000),
    the four decimals that the explorer shows, a fifth smaller once deflated. All first bytes stand before all second
    ones and so on: high bytes are alike, and so they compress.
    """
    if encoding == "f32":
        data = np.ascontiguousarray(weights, dtype="<f4").reshape(-1, 1).view(np.uint8).T.tobytes()
    else:
        fixed = np.rint(np.clip(weights, 0.0, 1.0) * _FULL[encoding]).astype(np.uint16).ravel()
        data = (fixed >> 8).astype(np.uint8).tobytes() + (fixed & 0xFF).astype(np.uint8).tobytes()
    return base64.b64encode(data).decode("ascii")


def unpack(text: str, encoding: Encoding) -> np.ndarray:
    """What `pack` wrote, as a flat float array [N]."""
    data = base64.b64decode(text)
    if encoding == "f32":
        return np.frombuffer(data, dtype=np.uint8).reshape(4, -1).T.copy().view("<f4").ravel()
    high, low = np.frombuffer(data, dtype=np.uint8).reshape(2, -1).astype(np.float64)
    return (high * 256 + low) / _FULL[encoding]


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
    stats = {kind: heads.head_stats(trace, kind, rates) for kind in trace.kinds}
    crossing = stats.get("cross")
    layer, head = heads.leading_head(crossing, profile["rates"] if profile else ()) if crossing else (0, 0)
    parts = {"encoder": trace.encoder, "decoder": lower_triangles(trace.decoder), "cross": trace.cross}
    scored = not np.isnan(trace.log_probs).any()
    return {
        "kind": "trace",
        "source": trace.source,
        "normalised": trace.normalised,
        "translation": trace.translation,
        "checkpoint": _checkpoint(trace),
        "settings": asdict(trace.settings),
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
        "rollout": pack(rollout.self_rollout(trace.encoder), encoding) if "encoder" in stats else "",
        "heads": {kind: _head_table(each) for kind, each in stats.items()},
        "leading": {"layer": layer, "head": head},
        "health": health,
        **({} if trace.kinds == KINDS else {"kinds": trace.kinds}),
        **({} if scored and trace.tgt else {"scored": False}),
        **({"profile": profile} if profile else {}),
    }


def step_payload(
    step: Step,
    src: Sequence[Token],
    start: Token,
    checkpoint: CheckpointId,
    log_probs: Sequence[float],
    decode: Decode | None = None,
) -> dict[str, Any]:
    """One live step. Every message says where it stands by itself, so that a page may miss some.

    Args:
        src: what the encoder reads, EOS too.
        log_probs: of the steps so far, this one's last.
    """
    return {
        "kind": "step",
        "index": step.index,
        "checkpoint": {"name": checkpoint.name, "src": checkpoint.src_language, "tgt": checkpoint.tgt_language},
        "log_probs": [round(value, 5) for value in log_probs],
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
    flags = SPECIAL * token.special + UNKNOWN * token.unknown + SPACE * token.space
    flags += PUNCTUATION * heads.is_punctuation(token)
    shown = plain(token.surface, None)
    real = {} if shown == token.surface else {"r": token.surface}
    return {"s": shown, "i": token.id, "f": flags, "w": token.word, **real}


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
    candidates = [{**_token(each.token), "lp": round(each.log_prob, 5)} for each in step.candidates]
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


def _head_table(stats: Sequence[heads.HeadStats]) -> dict[str, list[Any]]:
    """One list a measure, head by head, layer by layer."""
    inner = ("kind", "layer", "head", "even_", "read_")
    names = [field.name for field in fields(heads.HeadStats) if not field.name.startswith(inner)]
    return {name: [_short(getattr(each, name)) for each in stats] for name in names}


def _known(value: float, digits: int) -> float:
    """A number rounded; 0 for one that is not known, of which the payload says that it is not scored."""
    return 0.0 if np.isnan(value) else round(value, digits)


def _short(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
