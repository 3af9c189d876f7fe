"""Attention of any model as a `Trace`: arrays and tokens in the forms that `transformers` and BertViz use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from translator.config import DecodeConfig
from translator.errors import InputError
from translator.trace import CheckpointId, Step, Token, Trace

SPECIAL = re.compile(r"\[[A-Z0-9_]+\]|<(?!0x[0-9A-Fa-f]{2}>)[^<>\s]+>")
MARKS, PIECE, END = ("Ġ", "▁"), "##", "</w>"
"""What subword vocabularies write before a word, before a later piece of one, and after a word."""
UNSEEN = Token(-1, "…", special=True)
"""What the last row predicts, where the tokens end with what it reads."""
_FORMS = "arrays [batch of 1, heads, queries, keys], one a layer, or one array [layers, heads, queries, keys]"


class Views(TypedDict, total=False):
    """What `head_view` and `model_view` hand on to `arrays_trace`."""

    encoder_attention: object
    decoder_attention: object
    cross_attention: object
    encoder_tokens: Sequence[str] | None
    decoder_tokens: Sequence[str] | None
    include_layers: Sequence[int] | None
    include_heads: Sequence[int] | None


class Arrays(Views, total=False):
    """What `explore` hands on to it."""

    prettify_tokens: bool


def arrays_trace(
    *,
    encoder_attention: object = None,
    decoder_attention: object = None,
    cross_attention: object = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
    prettify_tokens: bool = True,
    name: str = "attention",
) -> Trace:
    """A `Trace` of attention maps that another program made; a kind that is not given has no maps.

    Args:
        encoder_attention: for each layer an array or tensor [1, H, S, S], as `transformers` returns them; or one array
            [L, H, S, S].
        decoder_attention: likewise [1, H, T, T]; or what `generate(..., output_attentions=True)` returned, a tuple of
            layers for each step.
        cross_attention: likewise [1, H, T, S].
        encoder_tokens: S texts.
        decoder_tokens: the texts that the rows read, T of them from the start token on; with one more, the last is
            what the last row predicts.
        include_layers: which layers, from 0; None: all. `include_heads` likewise.
        prettify_tokens: take the marks of subword vocabularies (Ġ, ▁, ##, </w>) out of the tokens, and put the pieces
            of a word together by them.
        name: what the trace calls its model.
    Raises:
        InputError: nothing was given, arrays are no probabilities, or their shapes do not fit the tokens.
    """
    given = {"encoder": encoder_attention, "decoder": decoder_attention, "cross": cross_attention}
    maps = {
        kind: _chosen(_maps(kind, each), kind, include_layers, include_heads)
        for kind, each in given.items()
        if each is not None
    }
    if not maps:
        raise InputError("there is no attention to show; give attention, or encoder, decoder or cross attention")
    src = _tokens("encoder_tokens", encoder_tokens, prettify_tokens)
    read = _tokens("decoder_tokens", decoder_tokens, prettify_tokens)
    _check(maps, src, read)
    rows = next((maps[kind].shape[2] for kind in ("cross", "decoder") if kind in maps), 0)
    tgt = (*read[1:], UNSEEN)[:rows]
    shapes = {"encoder": (len(src), len(src)), "decoder": (rows, rows), "cross": (rows, len(src))}
    whole = {kind: maps.get(kind, np.zeros((0, 0, *shape), np.float32)) for kind, shape in shapes.items()}
    return Trace(
        source=_text(src),
        normalised=_text(src),
        translation=_text(tgt),
        src=src,
        start=read[0] if read else UNSEEN,
        tgt=tgt,
        steps=tuple(_step(t, tgt, whole["cross"]) for t in range(rows)),
        checkpoint=CheckpointId(name, "", "und", "und"),
        settings=DecodeConfig(),
        encoder=whole["encoder"],
        decoder=whole["decoder"],
        cross=whole["cross"],
    )


def _step(t: int, tgt: tuple[Token, ...], cross: np.ndarray) -> Step:
    """A step of which only the token is known."""
    return Step(t, tgt[t], float("nan"), float("nan"), (), cross[:, :, t], tokens=tgt[: t + 1])


def _maps(kind: str, given: Any) -> np.ndarray:
    """The maps [L, H, Q, K] of what was given for one kind, float32."""
    if isinstance(given, (list, tuple)):
        if not given:
            raise InputError(f"{kind}_attention is empty; it must be {_FORMS}")
        if isinstance(given[0], (list, tuple)):
            found = _generated(kind, given)
        else:
            found = np.stack([_layer(kind, each) for each in _alike(kind, [_array(kind, each) for each in given])])
    else:
        found = _array(kind, given)
    if found.ndim != 4 or 0 in found.shape:
        raise InputError(f"{kind}_attention has the shape {found.shape}; it must be {_FORMS}")
    low, high = float(found.min()), float(found.max())  # NaN if one is
    if not (low >= -1e-3 and high <= 1 + 1e-3):
        raise InputError(
            f"{kind}_attention has values from {low:.3g} to {high:.3g}; weights are probabilities, after the softmax"
        )
    return np.ascontiguousarray(found, dtype=np.float32)


def _alike(kind: str, layers: list[np.ndarray]) -> list[np.ndarray]:
    shapes = sorted({layer.shape for layer in layers})
    if len(shapes) > 1:
        raise InputError(f"the layers of {kind}_attention have the shapes {shapes}; all must have the same")
    return layers


def _array(kind: str, given: Any) -> np.ndarray:
    if hasattr(given, "detach"):  # a tensor of PyTorch, on any device and of any precision
        given = given.detach().cpu().float().numpy()
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{kind}_attention holds {type(given).__name__}; it must be {_FORMS}") from error


def _layer(kind: str, layer: np.ndarray) -> np.ndarray:
    """One layer [H, Q, K] of [1, H, Q, K], or as it is."""
    if layer.ndim == 4:
        if layer.shape[0] != 1:
            raise InputError(
                f"{kind}_attention has a batch of {layer.shape[0]}; take one sentence of it: layer[:1] for each layer"
            )
        heads: np.ndarray = layer[0]
        return heads
    return layer


def _generated(kind: str, steps: Sequence[Any]) -> np.ndarray:
    """What `generate` returned, [1, H, 1, K] for each step and layer, as rows of maps [L, H, T, K]."""
    rows = [np.stack([_layer(kind, _array(kind, layer)) for layer in step]) for step in steps]  # [L, H, Q, K]
    if any(row.ndim != 4 or row.shape[:2] != rows[0].shape[:2] for row in rows):
        raise InputError(f"the steps of {kind}_attention differ in layers or heads; it must be {_FORMS}")
    if kind == "encoder":
        raise InputError("encoder_attention is given step by step; the encoder reads a text once")
    width = max(row.shape[-1] for row in rows)
    padded = [np.pad(row, ((0, 0), (0, 0), (0, 0), (0, width - row.shape[-1]))) for row in rows]
    return np.concatenate(padded, axis=2)


def _chosen(maps: np.ndarray, kind: str, layers: Sequence[int] | None, heads: Sequence[int] | None) -> np.ndarray:
    for axis, (name, chosen) in enumerate((("include_layers", layers), ("include_heads", heads))):
        if chosen is None:
            continue
        wanted = list(chosen)
        if not wanted or any(isinstance(n, bool) or not 0 <= n < maps.shape[axis] for n in wanted):
            raise InputError(f"{name} is {wanted}; {kind} attention has {name[8:]} 0 to {maps.shape[axis] - 1}")
        maps = np.take(maps, wanted, axis=axis)
    return maps


def _tokens(name: str, texts: Sequence[str] | None, prettify: bool) -> tuple[Token, ...]:
    """Texts as tokens, the pieces of a word put together by the marks of their vocabulary."""
    if texts is None:
        return ()
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{name} is {texts!r:.60}; it must be a list of texts, one a token")
    starts = _word_starts(texts) if prettify else [True] * len(texts)
    tokens: list[Token] = []
    word = -1
    for number, text in enumerate(texts):
        special = bool(SPECIAL.fullmatch(text))
        shown = _plain(text) if prettify and not special else text
        begins = starts[number] or not number or tokens[-1].special
        word += begins and not special
        tokens.append(
            Token(number, shown or text, None, -1 if special else word, begins and number > 0, special=special)
        )
    return tuple(tokens)


def _word_starts(texts: Sequence[str]) -> list[bool]:
    """Which tokens begin a word, by the marks that their vocabulary uses; all where it uses none."""
    if any(text.startswith(MARKS) for text in texts):
        return [text.startswith(MARKS) for text in texts]
    if any(text.endswith(END) for text in texts):
        return [True, *(text.endswith(END) for text in texts[:-1])]
    return [not text.startswith(PIECE) for text in texts]


def _plain(text: str) -> str:
    """A piece without the marks of its vocabulary."""
    bare = text.removeprefix(PIECE).removesuffix(END)
    for mark in MARKS:
        bare = bare.removeprefix(mark).replace(mark, " ")
    return bare


def _text(tokens: Sequence[Token]) -> str:
    """What the tokens say: words with spaces between them."""
    out = ""
    for before, token in zip((None, *tokens), tokens, strict=False):
        if token.special:
            continue
        new = before is None or before.word != token.word
        out += (" " if out and new else "") + token.surface
    return out


def _check(maps: dict[str, np.ndarray], src: tuple[Token, ...], read: tuple[Token, ...]) -> None:
    sides = {"encoder": (src, src), "decoder": (read, read), "cross": (read, src)}
    for kind, found in maps.items():
        queries, keys = sides[kind]
        for name, tokens in (("decoder_tokens", read), ("encoder_tokens", src)):
            if not tokens and (tokens is queries or tokens is keys):
                raise InputError(f"{kind}_attention needs {name}; for self-attention alone give attention and tokens")
        want = found.shape[2:]
        short = kind != "encoder" and len(read) == want[0] + 1  # the last token is only predicted
        have = (want[0] if short else len(queries), want[1] if short and kind == "decoder" else len(keys))
        if want != have or (kind != "cross" and want[0] != want[1]):
            raise InputError(
                f"{kind}_attention is {want[0]} queries × {want[1]} keys; the tokens are "
                f"{len(queries)} and {len(keys)}. Give the tokens that the model read, special ones too"
            )
    if "decoder" in maps and "cross" in maps and maps["decoder"].shape[:3] != maps["cross"].shape[:3]:
        raise InputError(
            f"decoder_attention is {maps['decoder'].shape[:3]} and cross_attention {maps['cross'].shape[:3]} "
            "(layers, heads, queries); they must agree"
        )
