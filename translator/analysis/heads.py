"""Measures per head over one set of maps, and one role that summarises them.

Sources: Voita et al. 2019 (positional heads, confidence), Clark et al. 2019 (entropy, attention to
separators and punctuation), Vig and Belinkov 2019 (attention distance).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from translator.analysis.roles import Roles, judge
from translator.errors import InputError
from translator.trace import Token, Trace

Rates = tuple[np.ndarray, np.ndarray]
_LEAST = np.finfo(np.float64).tiny
_BESIDE = {"previous": -1, "same": 0, "next": 1}
"""The measures of the key beside a query's own, and how far it is away."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Which rows and keys of the maps are what: bool arrays.

    `counted` [Q]: the rows that are measured. `content_rows` [Q]: those of them that stand for content words;
    `reading_rows` [Q]: the same where a row stands for the token that it reads. `special` and `punctuation` [K]
    describe the keys. `visible` [Q], integers: how many keys each row may see, the first ones. `self_attention`:
    queries and keys are one sequence.
    """

    counted: np.ndarray
    content_rows: np.ndarray
    reading_rows: np.ndarray
    special: np.ndarray
    punctuation: np.ndarray
    visible: np.ndarray
    self_attention: bool


@dataclass(frozen=True, eq=False)
class Measures:
    """One float array [L, H] for each measure; means over the counted rows.

    `entropy` in nats and `relative_entropy` as a share of ln n, n being the keys a row can see.
    `confidence` is the largest weight. `distance` is |key - query| in keys, weighted by attention; for
    cross-attention it is counted from the diagonal that joins the corners of the map. `previous`, `same`
    and `next` are the shares of rows whose largest weight is there, of the rows that have such a key
    (0 for cross-attention). `special` and `punctuation` are shares of weight. The next three are of
    content rows: the mean largest weight, the share with their best key on content, and the distinct
    best keys as a share of the most there could be; those that begin with `read_` are the same where a row stands for
    the token that it reads, not for the one that it predicts. Those that begin with `even_` are what a head would
    have that looks at all keys alike: they depend on the sentence alone.
    """

    entropy: np.ndarray
    relative_entropy: np.ndarray
    confidence: np.ndarray
    distance: np.ndarray
    previous: np.ndarray
    same: np.ndarray
    next: np.ndarray
    special: np.ndarray
    punctuation: np.ndarray
    content_confidence: np.ndarray
    on_content: np.ndarray
    distinct: np.ndarray
    read_content_confidence: np.ndarray
    read_on_content: np.ndarray
    read_distinct: np.ndarray
    even_previous: np.ndarray
    even_same: np.ndarray
    even_next: np.ndarray
    even_sink: np.ndarray
    even_confidence: np.ndarray


@dataclass(frozen=True)
class HeadStats:
    """`Measures` of one head, its role, and where it is; `layer` and `head` count from 0.

    `role`, `near`, `share` and `reading` are those of `roles.Roles`. What `profile.json` files from before have not
    is 0 or "".
    """

    kind: str
    layer: int
    head: int
    role: str
    entropy: float
    relative_entropy: float
    confidence: float
    distance: float
    previous: float
    same: float
    next: float
    special: float
    punctuation: float
    content_confidence: float
    on_content: float
    distinct: float
    read_content_confidence: float = 0.0
    read_on_content: float = 0.0
    read_distinct: float = 0.0
    even_previous: float = 0.0
    even_same: float = 0.0
    even_next: float = 0.0
    even_sink: float = 0.0
    even_confidence: float = 0.0
    share: float = 0.0
    reading: str = ""
    near: str = ""


def entropy(weights: np.ndarray) -> np.ndarray:
    """Entropy in nats of each row: [..., K] → [...]. Uniform over n keys gives ln n, one-hot gives 0."""
    probs = np.asarray(weights, dtype=np.float64)
    nats: np.ndarray = -np.einsum("...k,...k->...", probs, np.log(np.maximum(probs, _LEAST)))
    return nats


def is_punctuation(token: Token) -> bool:
    """True if every character of the token's text is punctuation or a symbol, of any script."""
    text = token.surface.strip()
    if token.special or not text or text.isalnum():  # most are words, of which nothing need be looked up
        return False
    return all(unicodedata.category(c)[0] in "PS" for c in text)


def measure(weights: np.ndarray, rows: Rows) -> Measures:
    """Measure every head of `weights` [L, H, Q, K] (probabilities) over the rows of `rows`."""
    layers, heads, queries, keys = weights.shape
    shape = layers, heads
    probs = np.ascontiguousarray(weights, dtype=np.float64).reshape(layers * heads * queries, keys)
    best = probs.argmax(axis=-1)
    peak = probs[np.arange(len(probs)), best].reshape(-1, queries)
    best = best.reshape(-1, queries)
    nats = entropy(probs).reshape(-1, queries)
    centre = np.arange(queries) if rows.self_attention else np.arange(queries) * (keys - 1) / max(queries - 1, 1)
    spread = np.abs(centre[:, None] - np.arange(keys))
    plain_key = ~(rows.special | rows.punctuation)
    on_plain = plain_key[best].astype(np.float64)
    counted, content, reading = rows.counted, rows.content_rows, rows.reading_rows
    # What is asked of each key, over all counted rows of a head at once: [Q, K, 3] as one matrix.
    asked = np.empty((queries, keys, 3))
    asked[..., 0], asked[..., 1], asked[..., 2] = spread, rows.special, rows.punctuation
    asked *= counted[:, None, None]
    spent = probs.reshape(-1, queries * keys) @ asked.reshape(-1, 3) / max(int(np.count_nonzero(counted)), 1)
    confident = _means(peak, counted, content, reading)
    content_keys = int(np.count_nonzero(plain_key))
    distinct = _distinct(best[:, content], keys, content_keys)
    alike = np.array_equal(content, reading)
    found = {
        "entropy": _means(nats, counted)[:, 0],
        "relative_entropy": _means(nats / np.log(np.maximum(rows.visible, 2)), counted & (rows.visible > 1))[:, 0],
        "confidence": confident[:, 0],
        "distance": spent[:, 0],
        **_beside(best, rows),
        "special": spent[:, 1],
        "punctuation": spent[:, 2],
        "content_confidence": confident[:, 1],
        "read_content_confidence": confident[:, 2],
        **dict(zip(("on_content", "read_on_content"), _means(on_plain, content, reading).T, strict=True)),
        "distinct": distinct,
        "read_distinct": distinct if alike else _distinct(best[:, reading], keys, content_keys),
    }
    return Measures(
        **{name: values.reshape(shape) for name, values in found.items()},
        **{name: np.full(shape, value) for name, value in _even(rows).items()},
    )


def _beside(best: np.ndarray, rows: Rows) -> dict[str, np.ndarray]:
    """The share of rows whose best key [N, Q] stands where the name says, of those that have such a key: each [N]."""
    if not rows.self_attention:
        return {name: np.zeros(len(best)) for name in _BESIDE}
    offsets = best - np.arange(best.shape[1])
    return {
        name: _means((offsets == offset).astype(np.float64), _possible(offset, rows))[:, 0]
        for name, offset in _BESIDE.items()
    }


def _even(rows: Rows) -> dict[str, float]:
    """What a head has of each measure that looks at all keys alike."""
    sink = np.cumsum(rows.special | rows.punctuation) / np.arange(1, len(rows.special) + 1)
    alike = 1 / rows.visible
    chosen = (*(_possible(offset, rows) for offset in _BESIDE.values()), rows.content_rows)
    names = (*(f"even_{name}" for name in _BESIDE), "even_confidence")
    found = dict(zip(names, _means(alike[None], *chosen)[0].tolist(), strict=True))
    return {**found, "even_sink": float(_means(sink[rows.visible - 1][None], rows.counted)[0, 0])}


def rows_of(trace: Trace, kind: str) -> Rows:
    """Which rows and keys of one kind of a trace's maps count as what.

    Encoder rows of special tokens are left out, and so is the decoder's first row, which has one key
    only. A cross row belongs to the token it predicts; the row that predicts EOS is left out. If
    nothing is left, every row counts.

    Raises:
        InputError: `kind` is no kind of attention.
    """
    keys = trace.keys(kind)
    owners = trace.tgt if kind == "cross" else trace.queries(kind)
    counted = np.array([not token.special for token in owners])
    content, reading = (
        np.array([not (token.special or is_punctuation(token)) for token in each])
        for each in (owners, trace.queries(kind))
    )
    if not counted.any():
        counted = np.ones_like(counted)
    return Rows(
        counted=counted,
        content_rows=content if content.any() else counted,
        reading_rows=reading if reading.any() else counted,
        special=np.array([token.special for token in keys]),
        punctuation=np.array([is_punctuation(token) for token in keys]),
        visible=np.arange(1, len(keys) + 1) if kind == "decoder" else np.full(len(owners), len(keys)),
        self_attention=kind != "cross",
    )


def head_stats(trace: Trace, kind: str, rates: Rates | None = None) -> tuple[HeadStats, ...]:
    """Measures and role of every head of one kind of attention, layer by layer.

    Args:
        rates: alignment error rates of the cross heads [L, H] and by which reading, as `profile.error_rates` gives
            them: a head that does not align over the hand-aligned pairs is not said to align here.
    Raises:
        InputError: `kind` is not encoder, decoder or cross.
    """
    measures = measure(trace.weights(kind), rows_of(trace, kind))
    return describe(measures, kind, rates)


def roles_of(measures: Measures, kind: str, rates: Rates | None = None) -> Roles:
    """The role of every head of one kind of attention, by its measures; `rates` as in `head_stats`."""
    by = {} if rates is None or kind != "cross" else {"rates": rates[0], "readings": rates[1]}
    return judge(vars(measures), self_attention=kind != "cross", **by)


def describe(measures: Measures, kind: str, rates: Rates | None = None) -> tuple[HeadStats, ...]:
    """The arrays of `measures` as one record a head, with its role, layer by layer; `rates` as in `head_stats`."""
    found = roles_of(measures, kind, rates)
    names = [field.name for field in fields(Measures)]
    lists = (found.name, found.share, found.reading, found.near, *(getattr(measures, name) for name in names))
    rows = zip(np.ndindex(found.name.shape), *(each.ravel().tolist() for each in lists), strict=True)
    return tuple(
        HeadStats(
            kind, layer, head, role, share=share, reading=reading, near=near, **dict(zip(names, values, strict=True))
        )
        for (layer, head), role, share, reading, near, *values in rows
    )


def measures_of(stats: Sequence[HeadStats]) -> Measures:
    """The arrays [L, H] that these records of all heads of one kind were made of."""
    shape = (stats[-1].layer + 1, stats[-1].head + 1)
    names = [field.name for field in fields(Measures)]
    return Measures(**{name: np.array([getattr(each, name) for each in stats]).reshape(shape) for name in names})


def leading_head(stats: Sequence[HeadStats], rates: Sequence[float] = ()) -> tuple[int, int]:
    """`leading` of the records that `head_stats` gives of all cross heads.

    Raises:
        InputError: there are no heads, or not one rate for each.
    """
    if not stats or (rates and len(rates) != len(stats)):
        raise InputError(f"{len(stats)} heads and {len(rates)} rates; each head needs one, or none has any")
    measures = measures_of(stats)

    def of(name: str) -> np.ndarray:
        return np.array([getattr(each, name) for each in stats]).reshape(measures.entropy.shape)

    return leading(measures, Roles(of("role"), of("near"), of("share"), of("reading")), rates)


def leading(measures: Measures, roles: Roles, rates: Sequence[float] = ()) -> tuple[int, int]:
    """The cross head to look at first, as (layer, head) from 0: the one that links the words of this sentence best.

    Heads whose rows look at the source of what they predict come first, since that is how a row is read at first
    sight; among equals it is how sharply and how often content looks at content, times 1 − the head's alignment
    error rate where that was measured.

    Args:
        rates: the alignment error rate of each of these heads over a hand-aligned set, a row belonging to what it
            predicts; empty if never measured.
    """
    shape = roles.name.shape
    first = (roles.name == "aligns") & (roles.reading != "input")
    found = measures.content_confidence * measures.on_content
    if rates:
        found = found * (1 - np.reshape(rates, shape))
    layer, head = np.unravel_index(np.where(first == first.max(), found, -np.inf).argmax(), shape)
    return int(layer), int(head)


def token_share(weights: np.ndarray, chosen: Sequence[bool] | np.ndarray) -> np.ndarray:
    """The share of each row's weight on the chosen keys [K]: [..., K] → [...]."""
    share: np.ndarray = np.asarray(weights, dtype=np.float64)[..., np.asarray(chosen, dtype=bool)].sum(axis=-1)
    return share


def _means(values: np.ndarray, *chosen: np.ndarray) -> np.ndarray:
    """The means of `values` [N, Q] over the rows of each of `chosen` [Q], [N, C]; 0 where there are none."""
    weights = np.array(chosen, np.float64)
    means: np.ndarray = values @ weights.T / np.maximum(weights.sum(axis=1), 1)
    return means


def _possible(offset: int, rows: Rows) -> np.ndarray:
    """For which queries [Q] there is a key `offset` away, among others."""
    key = np.arange(len(rows.counted)) + offset
    possible: np.ndarray = rows.self_attention & rows.counted & (key >= 0) & (key < rows.visible) & (rows.visible > 1)
    return possible


def _distinct(best: np.ndarray, keys: int, content_keys: int) -> np.ndarray:
    """Distinct best keys of each head [N, rows], as a share of the most that there could be."""
    most = max(min(best.shape[-1], content_keys), 1)
    seen = np.zeros((len(best), keys), np.bool_)
    seen[np.arange(len(best))[:, None], best] = True
    distinct: np.ndarray = np.minimum(np.count_nonzero(seen, axis=1) / most, 1.0)
    return distinct
