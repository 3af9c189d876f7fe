"""Plausible traces from a seed: repeated words, pieces of words, punctuation, special tokens, causal maps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from translator.config import DecodeConfig
from translator.trace import Candidate, CheckpointId, Step, Token, Trace

SOURCE = (("die", 0), ("Bü", 1), ("cher", 1), (",", 2), ("die", 3), ("ich", 4), ("habe", 5), (".", 6))
TARGET = (("the", 0), ("book", 1), ("s", 1), ("the", 2), ("I", 3), ("have", 4), (".", 5))
START = Token(1, "<s>", special=True)
EOS = Token(2, "</s>", special=True)
PUNCTUATION = ",.!?"


def _tokens(pieces: Sequence[tuple[str, int]]) -> tuple[tuple[Token, ...], str]:
    """The pieces as tokens with spans into the text that they make, and that text."""
    text, tokens = "", []
    last = 0
    for index, (surface, word) in enumerate(pieces):
        space = word != last and surface not in PUNCTUATION
        text += " " * space
        span = (len(text), len(text) + len(surface))
        tokens.append(Token(4 + index, surface, span=span, word=word, space=space))
        text, last = text + surface, word
    return tuple(tokens), text


def _maps(rng: np.random.Generator, layers: int, heads: int, rows: int, keys: int, *, causal: bool) -> np.ndarray:
    scores = 3 * rng.standard_normal((layers, heads, rows, keys))
    if causal:
        scores = np.where(np.tril(np.ones((rows, keys), dtype=bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


def _step(rng: np.random.Generator, index: int, tgt: Sequence[Token], cross: np.ndarray) -> Step:
    probs = np.sort(rng.dirichlet(np.full(40, 0.1)))[::-1]
    log_probs = np.log(np.maximum(probs, 1e-12))
    others = (Token(100 + n, f"other{n}") for n in range(7))
    return Step(
        index=index,
        token=tgt[index],
        log_prob=float(log_probs[0]),
        entropy=float(-(probs * log_probs).sum()),
        candidates=tuple(Candidate(t, float(p)) for t, p in zip((tgt[index], *others), log_probs, strict=False)),
        cross=cross[:, :, index],
        tokens=tuple(tgt[: index + 1]),
    )


def make_trace(
    seed: int = 0,
    *,
    layers: int = 3,
    heads: int = 4,
    source: Sequence[tuple[str, int]] = SOURCE,
    target: Sequence[tuple[str, int]] = TARGET,
) -> Trace:
    """A trace of `source` and `target`, given as (surface, word index) pieces; both sides end in EOS."""
    rng = np.random.default_rng(seed)
    src, text = _tokens(source)
    tgt, translation = _tokens(target)
    src, tgt = (*src, EOS), (*tgt, EOS)
    cross = _maps(rng, layers, heads, len(tgt), len(src), causal=False)
    return Trace(
        source=text,
        normalised=text,
        translation=translation,
        src=src,
        start=START,
        tgt=tgt,
        steps=tuple(_step(rng, t, tgt, cross) for t in range(len(tgt))),
        encoder=_maps(rng, layers, heads, len(src), len(src), causal=False),
        decoder=_maps(rng, layers, heads, len(tgt), len(tgt), causal=True),
        cross=cross,
        checkpoint=CheckpointId("toy", "0" * 64, "de", "en"),
        settings=DecodeConfig(),
        seconds=0.01,
    )
