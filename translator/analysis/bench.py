"""Alignment error rate of every head, layer and norm map over a hand-aligned set.

A row predicts one token and reads the token before it. Chen et al. 2020 ("Accurate word alignment induction from
neural machine translation") found that some maps align the word that is read: both readings are tried, as
"output" (row t belongs to what it predicts) and "input" (to what it reads). Low error says that a head
aligns, not that the model needs it for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from translator.analysis.alignment import Gold, Link, best_links, both_ways, links_above, rate_of, shared
from translator.analysis.gold import GoldPair, GoldSet
from translator.analysis.interventions import Progress
from translator.analysis.norms import norms, share
from translator.analysis.roles import READINGS, Reading
from translator.analysis.stopping import Stop, ask
from translator.errors import InputError
from translator.pipeline import Translator
from translator.registry.lab import field
from translator.rules import real, whole
from translator.trace import Token, Trace

Way = Literal["argmax", "reverse", "threshold", "both"]
WAYS: tuple[Way, ...] = ("argmax", "reverse", "threshold", "both")
Map = Literal["raw", "norm"]
MAPS: tuple[Map, ...] = ("raw", "norm")
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True)
class Aligner:
    """One way to read links off a trace.

    `map`: "raw" weights or "norm" shares. `layer` and `head` count from 0; `head` None: the mean of the layer's
    heads, or the layer's own norm map. `way`: each target word's largest weight ("argmax"), each source word's
    ("reverse"), every weight of at least `threshold`, or the pairs that are each other's largest ("both").

    Raises:
        InputError: a value is none of these, or below 0; `threshold` is from 0 to 1.
    """

    map: Map = "raw"
    layer: int = 0
    head: int | None = None
    reading: Reading = "output"
    way: Way = "argmax"
    threshold: float = 0.3

    def __post_init__(self) -> None:
        for name, known in (("map", MAPS), ("reading", READINGS), ("way", WAYS)):
            value = getattr(self, name)
            if value not in known:
                raise InputError(f"{name} is {value!r:.80}; it must be one of {', '.join(known)}")
        for name in ("layer", "head"):
            value = getattr(self, name)
            if name == "layer" or value is not None:
                object.__setattr__(self, name, whole(name, value, 0, 127))
        real("threshold", self.threshold, *field("align", "threshold").range)

    @property
    def name(self) -> str:
        """What a person reads: "L5H3", counted from 1."""
        head = "" if self.head is None else f"H{self.head + 1}"
        return f"L{self.layer + 1}{head}" + (" norm" if self.map == "norm" else "")


@dataclass(frozen=True, eq=False)
class Bench:
    """Alignment error rates, 0 the best, of argmax links on `sentences` pairs of `name`.

    Each array has the readings "output" and "input" first: heads [2, L, H], layers [2, L].
    `best_head` is the best single head by raw weights, with `best_rate`; `best` the best of all maps (heads, means of
    layers, norm maps), with `rate`; `ways` what the map of `best_head` gives by "argmax", "threshold" (the best of
    `THRESHOLDS`) and "both".
    """

    name: str
    sentences: int
    heads: np.ndarray
    norm_heads: np.ndarray
    layers: np.ndarray
    norm_layers: np.ndarray
    best_head: Aligner
    best_rate: float
    best: Aligner
    rate: float
    ways: dict[str, float]


def word_maps(weights: np.ndarray, trace: Trace, counts: tuple[int, int], reading: Reading) -> np.ndarray:
    """Maps of words from maps of tokens, special tokens left out: [..., T, S] → [..., target words, source words].

    A weight on a word is the sum over its pieces; a word looks where its pieces look on average. A word that the
    model has no token for has a row or column of 0.

    Args:
        counts: how many (source, target) words there are.
    Raises:
        InputError: the trace has more words.
    """
    rows = weights if reading == "output" else weights[..., 1:, :]
    owners = trace.tgt if reading == "output" else trace.tgt[:-1]
    into_src, into_tgt = _membership(trace.src, counts[0]), _membership(owners, counts[1])
    into_tgt = into_tgt / np.maximum(into_tgt.sum(axis=0), 1)
    words: np.ndarray = into_tgt.T @ (np.asarray(rows, dtype=np.float64) @ into_src)
    return words


def _membership(tokens: Sequence[Token], count: int) -> np.ndarray:
    """[N, count] floats: 1 where token n is a piece of word w."""
    members = np.zeros((len(tokens), count))
    for index, token in enumerate(tokens):
        if token.word >= count:
            raise InputError(f"the model finds more than {count} words, at {token.surface!r}; words must be the same")
        if token.word >= 0 and not token.special:
            members[index, token.word] = 1
    return members


def links_of(words: np.ndarray, way: Way = "argmax", threshold: float = 0.3) -> frozenset[Link]:
    """Links from one map of words [target, source].

    Raises:
        InputError: there is no such way, or the threshold is not from 0 to 1.
    """
    threshold = real("threshold", threshold, 0, 1)
    seen_tgt, seen_src = np.asarray(words.any(axis=1)), np.asarray(words.any(axis=0))
    if way == "argmax":
        return best_links(words, seen_src, seen_tgt)
    if way == "reverse":
        return frozenset((s, t) for t, s in best_links(words.T, seen_tgt, seen_src))
    if way == "threshold":
        return links_above(words, threshold, seen_src, seen_tgt)
    if way == "both":
        return both_ways(best_links(words, seen_src, seen_tgt), best_links(words.T, seen_tgt, seen_src))
    raise InputError(f"way is {way!r}; it must be one of {', '.join(WAYS)}")


def align(translator: Translator, trace: Trace, aligner: Aligner, counts: tuple[int, int]) -> frozenset[Link]:
    """The links of one trace by one way; `counts` are its (source, target) words.

    Raises:
        InputError: there is no such layer or head, or the trace is not of this model (a norm map is recomputed).
    """
    return links_of(word_map(translator, trace, aligner, counts), aligner.way, aligner.threshold)


def word_map(translator: Translator, trace: Trace, aligner: Aligner, counts: tuple[int, int]) -> np.ndarray:
    """The map of words [target, source] that `align` reads its links off.

    Raises:
        InputError: there is no such layer or head, or the trace is not of this model (a norm map is recomputed).
    """
    layers, heads = trace.cross.shape[:2]
    if not (aligner.layer < layers and (aligner.head is None or aligner.head < heads)):
        raise InputError(f"there is no {aligner.name}; layers run to L{layers}, heads to H{heads}")
    found = None if aligner.map == "raw" else norms(translator, trace)
    maps = trace.cross if found is None else found.cross
    if aligner.head is not None:
        chosen = share(maps[aligner.layer, aligner.head])
    elif found is None:
        chosen = maps[aligner.layer].mean(axis=0)
    else:
        chosen = share(found.cross_layers[aligner.layer])
    return word_maps(chosen, trace, counts, aligner.reading)


def align_bench(
    translator: Translator,
    gold: GoldSet,
    *,
    stop: Stop | None = None,
    progress: Progress | None = None,
) -> Bench:
    """Judge every head, layer mean and norm map of cross-attention; each pair's own target is forced.

    Raises:
        InputError: the set is empty, for another language pair, or a sentence is longer than the limit.
        CancelledError: `stop` said so.
    """
    gold.check(translator.languages, translator.name)
    if not gold.pairs:
        raise InputError(f"{gold.name} has no pair; an error rate needs at least one")
    counts = LinkCounts()
    for number, pair in enumerate(gold.pairs, start=1):
        ask(stop, "the alignment bench")
        counts.add(words_of_every_map(translator, pair), pair.gold)
        if progress is not None:
            progress(number, len(gold.pairs))
    return bench_of(gold.name, counts)


def words_of_every_map(translator: Translator, pair: GoldPair) -> dict[str, np.ndarray]:
    """Word maps of one pair with its own target forced, readings first.

    Heads and norm heads are [2, L, H, Tw, Sw], layers [2, L, Tw, Sw].
    """
    trace = translator.force(pair.src, pair.tgt)
    found = norms(translator, trace)
    maps = {
        "heads": trace.cross,
        "norm_heads": share(found.cross),
        "layers": trace.cross.mean(axis=1),
        "norm_layers": share(found.cross_layers),
    }
    counts = (len(pair.src_words), len(pair.tgt_words))
    return {
        name: np.stack([word_maps(weights, trace, counts, reading) for reading in READINGS])
        for name, weights in maps.items()
    }


class LinkCounts:
    """How many links every map found and shared with the gold, as `shared` counts: they add up over pairs.

    `argmax` holds [..., 2] for each kind of map, readings first; `ways` [2, L, H, N, 2] for the raw heads, for each of
    `THRESHOLDS` and then "both".
    """

    def __init__(self) -> None:
        self.pairs = 0
        self.argmax: dict[str, np.ndarray] = {}
        self.ways: np.ndarray = np.zeros((), dtype=np.int64)

    def add(self, maps: Mapping[str, np.ndarray], truth: Gold) -> None:
        """Count one more pair, of whose maps [..., Tw, Sw] `truth` is the gold."""
        self.pairs += 1
        for name, table in maps.items():
            counts = np.array([shared(links_of(table[at]), truth) for at in np.ndindex(table.shape[:-2])])
            self.argmax[name] = self.argmax.get(name, 0) + counts.reshape(*table.shape[:-2], 2)
        heads = maps["heads"]
        counts = np.array([_other_ways(heads[at], truth) for at in np.ndindex(heads.shape[:-2])])
        self.ways = self.ways + counts.reshape(*heads.shape[:-2], -1, 2)

    def numbers(self) -> dict[str, Any]:
        """All of it as plain numbers, from which `of` makes it anew."""
        argmax = {name: table.tolist() for name, table in self.argmax.items()}
        return {"pairs": self.pairs, "argmax": argmax, "ways": self.ways.tolist()}

    @classmethod
    def of(cls, parts: Iterable[Mapping[str, Any]]) -> LinkCounts:
        """What the `numbers` of the parts of a set add up to."""
        total = cls()
        for part in parts:
            total.pairs += part["pairs"]
            total.ways = total.ways + np.array(part["ways"], dtype=np.int64)
            for name, table in part["argmax"].items():
                total.argmax[name] = total.argmax.get(name, 0) + np.array(table, dtype=np.int64)
        return total


def _other_ways(words: np.ndarray, truth: Gold) -> list[tuple[int, int]]:
    by_threshold = [shared(links_of(words, "threshold", t), truth) for t in THRESHOLDS]
    return [*by_threshold, shared(links_of(words, "both"), truth)]


def bench_of(name: str, counts: LinkCounts) -> Bench:
    """The rates that the counts over a set called `name` come to.

    Raises:
        InputError: there is no link at all to judge.
    """
    rates = {}
    for kind, table in counts.argmax.items():
        flat = [rate_of(int(hits), int(total)) for hits, total in table.reshape(-1, 2)]
        rates[kind] = np.array(flat).reshape(table.shape[:-1])
    winners = {kind: _winner(kind, table) for kind, table in rates.items()}
    best = min(winners, key=lambda kind: rates[kind].min())
    head = winners["heads"]
    index = (READINGS.index(head.reading), head.layer, head.head)
    *by_threshold, both = (rate_of(int(hits), int(total)) for hits, total in counts.ways[index])
    return Bench(
        name=name,
        sentences=counts.pairs,
        **rates,
        best_head=head,
        best_rate=float(rates["heads"].min()),
        best=winners[best],
        rate=float(rates[best].min()),
        ways={"argmax": float(rates["heads"].min()), "threshold": min(by_threshold), "both": both},
    )


def _winner(name: str, table: np.ndarray) -> Aligner:
    reading, layer, *head = np.unravel_index(int(table.argmin()), table.shape)
    return Aligner(
        map="norm" if name.startswith("norm") else "raw",
        layer=int(layer),
        head=int(head[0]) if head else None,
        reading=READINGS[int(reading)],
    )
