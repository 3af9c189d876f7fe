"""Aggregated maps: heads combined, subwords merged into words, special tokens hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from translator.errors import InputError
from translator.rules import whole
from translator.trace import Token


def combine(
    weights: np.ndarray,
    heads: Sequence[tuple[int, int]] | None = None,
    *,
    how: Literal["mean", "max"] = "mean",
) -> np.ndarray:
    """One map from several heads: [L, H, Q, K] → [Q, K].

    Args:
        heads: (layer, head) pairs counted from 0; None takes them all.
        how: "mean" keeps rows that sum to 1; a row of "max" may sum to more.
    Raises:
        InputError: no head, an unknown head, or another `how`.
    """
    if how not in ("mean", "max"):
        raise InputError(f"how is {how!r}; it must be mean or max")
    layers, per_layer = weights.shape[:2]
    chosen = list(np.ndindex(layers, per_layer)) if heads is None else list(heads)
    if not chosen:
        raise InputError("no head was chosen; choose at least one (layer, head)")
    places = []
    for each in chosen:
        try:
            layer, head = each
            places.append((whole("layer", layer, 0, layers - 1), whole("head", head, 0, per_layer - 1)))
        except (TypeError, ValueError) as error:
            said = f"there is no head {each!r:.80}; a head is (layer, head), counted from 0"
            raise InputError(f"{said}; layers run to {layers - 1}, heads to {per_layer - 1}") from error
    picked = np.stack([weights[place] for place in places]).astype(np.float64)
    combined: np.ndarray = picked.mean(axis=0) if how == "mean" else picked.max(axis=0)
    return combined


def word_groups(tokens: Sequence[Token]) -> np.ndarray:
    """The group of each token, [N] integers from 0: pieces of one word share one, a special token has its own."""
    groups: list[int] = []
    previous: Token | None = None
    for token in tokens:
        same = previous is not None and token.word == previous.word and not (token.special or previous.special)
        groups.append(groups[-1] + (not same) if groups else 0)
        previous = token
    return np.array(groups, dtype=np.int64)


def word_surfaces(tokens: Sequence[Token], text: str = "") -> list[str]:
    """What each group of `word_groups` reads as: the stretch of `text` that its spans cover, or its joined pieces."""
    groups: dict[int, list[Token]] = {}
    for token, group in zip(tokens, word_groups(tokens).tolist(), strict=True):
        groups.setdefault(group, []).append(token)
    surfaces = []
    for members in groups.values():
        spans = [token.span for token in members if token.span is not None]
        if text and len(spans) == len(members):
            surfaces.append(text[min(s for s, _ in spans) : max(e for _, e in spans)])
        else:
            surfaces.append("".join(token.surface for token in members))
    return surfaces


def by_word(weights: np.ndarray, query_groups: np.ndarray, key_groups: np.ndarray) -> np.ndarray:
    """Maps of words from maps of pieces: [..., Q, K] → [..., query words, key words].

    A weight on a word is the sum over its pieces; a word looks where its pieces look on average
    (Clark et al. 2019, section 4.1), so that rows still sum to 1.

    Raises:
        InputError: there is not one group a query and one a key.
    """
    if weights.shape[-2:] != (len(query_groups), len(key_groups)):
        raise InputError(f"maps of {weights.shape[-2:]} do not fit {(len(query_groups), len(key_groups))} tokens")
    into_query, into_key = _membership(query_groups), _membership(key_groups)
    sums = np.asarray(weights, dtype=np.float64) @ into_key
    words: np.ndarray = (into_query / into_query.sum(axis=0)).T @ sums
    return words


def hide(
    weights: np.ndarray,
    *,
    queries: np.ndarray | None = None,
    keys: np.ndarray | None = None,
    renormalise: bool = False,
) -> np.ndarray:
    """The maps [..., Q, K] without the rows and columns that are True in `queries` [Q] and `keys` [K].

    With `renormalise` the rest of each row is scaled to sum to 1; a row with nothing left stays 0.

    Raises:
        InputError: there is not one value a query and one a key.
    """
    rows = np.zeros(weights.shape[-2], dtype=bool) if queries is None else np.asarray(queries, dtype=bool)
    columns = np.zeros(weights.shape[-1], dtype=bool) if keys is None else np.asarray(keys, dtype=bool)
    if weights.shape[-2:] != rows.shape + columns.shape:
        raise InputError(f"maps of {weights.shape[-2:]} do not fit {rows.shape + columns.shape} tokens")
    rest = np.asarray(weights, dtype=np.float64)[..., ~rows, :][..., ~columns]
    if not renormalise:
        return rest
    total = rest.sum(axis=-1, keepdims=True)
    shares: np.ndarray = np.divide(rest, total, out=np.zeros_like(rest), where=total > 0)
    return shares


def _membership(groups: np.ndarray) -> np.ndarray:
    """[N, G] floats: 1 where token n is in group g."""
    groups = np.asarray(groups)
    members: np.ndarray = (groups[:, None] == np.arange(groups.max() + 1)).astype(np.float64)
    return members


def count_words(tokens: Sequence[Token], text: str) -> int:
    """How many words of `text` the tokens stand for; what has neither letter nor digit, as punctuation, is none."""
    return len({each.word for each in tokens if each.span and any(map(str.isalnum, text[slice(*each.span)]))})
