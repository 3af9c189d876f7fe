"""Everyday test sets held out of the training text, with their near copies removed.

The sets are derived, by a fixed seed, from text whose licences ask for no copy to be spread; so the recipe is kept
and the sentences are not. Text that the shipped weights have met can test no weights that grow from them: sets are
drawn from `extra` alone.
"""

from __future__ import annotations

import gzip
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from translator.errors import InputError
from translator.rules import keep_whole, real, require, whole
from translator.text.lines import read_lines
from translator.training.adequacy import adequacy_path, read_adequacy
from translator.training.data import MONOLINGUAL, MONOLINGUAL_TARGET, Pair, find_split, read_pairs

T = TypeVar("T")

SETS = ("everyday-dev", "everyday-test")
GRAM = 3
"""Words in a row by which two sentences are compared; two characters stand for a word of Chinese."""
NEAR = 0.5
"""The share of a held sentence's runs from which on a sentence that has them too is a near copy of it."""


@dataclass(frozen=True)
class HoldOut:
    """Which sentences are kept aside: `draw` of each corpus for both sets together, of `least` to `most` words.

    `sides` are the languages of source and target; `mono` says which share of each monolingual corpus of the source
    language is kept for self-training, `other` the same of the corpora of other pairs' train that have that language
    (such as {"de-en": {"tatoeba": 0.1}}), `target_mono` and `target_other` the same of the target language for
    back-translation, and `keep` which share of a corpus's pairs enters train at all (1 if not named). `beside` adds
    shares of the corpora of pairs with another target language to train, so that one model learns both (Johnson et al.
    2017): {"de-en": {"tatoeba": 0.5}} adds English to German. `tag` precedes their sources; the pair's name is their
    corpus.
    """

    sides: tuple[str, str]
    draw: Mapping[str, int]
    seed: int = 1
    least: int = 8
    most: int = 20
    mono: Mapping[str, float] | None = None
    keep: Mapping[str, float] | None = None
    other: Mapping[str, Mapping[str, float]] | None = None
    target_mono: Mapping[str, float] | None = None
    target_other: Mapping[str, Mapping[str, float]] | None = None
    beside: Mapping[str, Mapping[str, float]] | None = None

    def __post_init__(self) -> None:
        pair = isinstance(self.sides, (list, tuple)) and len(self.sides) == 2 and all(self.sides)
        require(pair, "sides", self.sides, "two languages, such as en and zh")
        object.__setattr__(self, "sides", tuple(self.sides))
        for name, low in (("seed", 0), ("least", 1), ("most", 1)):
            keep_whole(self, name, low, 2**31)
        require(self.least <= self.most, "least", self.least, f"at most {self.most}")
        require(isinstance(self.draw, Mapping) and bool(self.draw), "draw", self.draw, "corpora with numbers of pairs")
        for name, count in self.draw.items():
            whole(f"draw.{name}", count, 1, 10**6)
        for field in ("mono", "keep", "target_mono"):
            for name, share in (getattr(self, field) or {}).items():
                real(f"{field}.{name}", share, 0.0, 1.0)
        for field, side in (("other", 0), ("target_other", 1), ("beside", 0)):
            language = self.sides[side]
            for other, shares in (getattr(self, field) or {}).items():
                require(language in other.split("-"), field, other, f"pairs of languages with {language}")
                require(isinstance(shares, Mapping), f"{field}.{other}", shares, "corpora with shares")
                for name, share in shares.items():
                    real(f"{field}.{other}.{name}", share, 0.0, 1.0)

    def alone(self, side: int) -> tuple[Mapping[str, float], Mapping[str, Mapping[str, float]]]:
        """The shares of monolingual corpora, and of other pairs' corpora, for the source (0) or the target (1)."""
        mono, other = ((self.mono, self.other), (self.target_mono, self.target_other))[side]
        return mono or {}, other or {}


def prepare(plan: HoldOut, data: Path, out: Path) -> dict[str, int]:
    """Write into `out` all that training reads, from what `data` holds; returns how many lines each file got.

    `data` holds a folder of the pair with train, extra, dev and test files, and a folder `mono`. `train` in `out` is
    train and extra without the sets, without near copies of them, and without those of the adequacy check.

    Raises:
        InputError: a file is missing or malformed, or a corpus has fewer fitting pairs than are to be drawn.
    """
    folder = data / "-".join(plan.sides)
    train, extra = read_pairs(find_split(folder, "train")), read_pairs(find_split(folder, "extra"))
    rng = np.random.default_rng(plan.seed)
    held = draw(plan, extra, rng)
    typed = [sentence.source for sentence in read_adequacy(adequacy_path(*plan.sides))]
    near = Copies([*held, *(Pair(source, source, "adequacy") for source in typed)])
    chosen = set(held)
    shares, pairs = plan.keep or {}, [*train, *extra]
    stays = rng.random(len(pairs)) < np.array([shares.get(pair.corpus, 1.0) for pair in pairs])
    kept = [p for p, stay in zip(pairs, stays, strict=True) if stay and p not in chosen and not near.has(p)]
    kept += beside(plan, data, near, rng)
    out.mkdir(parents=True, exist_ok=True)
    files = {"train": kept, SETS[0]: held[0::2], SETS[1]: held[1::2]}
    for name, pairs in files.items():
        write_lines(out / f"{name}.tsv.gz", ("\t".join((p.src, p.tgt, p.corpus)) for p in pairs))
    counts = {name: len(pairs) for name, pairs in files.items()}
    for path in sorted({*folder.glob("*.tsv.gz"), *folder.glob("*.tsv")}):
        if path.name.split(".")[0] not in ("train", "extra"):
            shutil.copyfile(path, out / path.name)
    for side, name in enumerate((MONOLINGUAL, MONOLINGUAL_TARGET)):
        if any(plan.alone(side)):
            sentences = monolingual(plan, data, near, rng, side)
            write_lines(out / f"{name}.txt.gz", sentences)
            counts[name] = len(sentences)
    return counts


def draw(plan: HoldOut, pairs: Sequence[Pair], rng: np.random.Generator) -> list[Pair]:
    """Pairs for both sets, shuffled: of each corpus as many as `plan` says, each source and each target once.

    Raises:
        InputError: a corpus has fewer that fit.
    """
    held: list[Pair] = []
    for name, count in sorted(plan.draw.items()):
        fitting: dict[str, Pair] = {}
        targets: set[str] = set()
        for pair in pairs:
            fits = pair.corpus == name and plan.least <= len(pair.src.split()) <= plan.most
            if fits and plain(pair.src) not in fitting and plain(pair.tgt) not in targets:
                fitting[plain(pair.src)] = pair
                targets.add(plain(pair.tgt))
        if len(fitting) < count:
            raise InputError(f"{name} has {len(fitting):,} pairs of {plan.least} to {plan.most} words, not {count:,}")
        each = list(fitting.values())
        held += [each[i] for i in rng.permutation(len(each))[:count]]
    return [held[i] for i in rng.permutation(len(held))]


def monolingual(plan: HoldOut, data: Path, near: Copies, rng: np.random.Generator, side: int = 0) -> list[str]:
    """Sentences of the source (`side` 0) or the target language: of each corpus its share, no near copy of a held one.

    Raises:
        InputError: a file is missing or malformed.
    """
    mono, other = plan.alone(side)
    found: list[str] = []
    if mono:
        lines = [line.split("\t") for line in read_lines(data / "mono" / f"{plan.sides[side]}.tsv.gz")]
        found += _sampled([(columns[0], columns[1]) for columns in lines], mono, rng)
    for name, shares in other.items():
        place = name.split("-").index(plan.sides[side])
        pairs = read_pairs(find_split(data / name, "train"))
        found += _sampled([((pair.src, pair.tgt)[place], pair.corpus) for pair in pairs], shares, rng)
    return [text for text in found if not near.holds(text, side)]


def beside(plan: HoldOut, data: Path, near: Copies, rng: np.random.Generator) -> list[Pair]:
    """The pairs from the source language to other target languages that `plan.beside` asks for, sources tagged.

    Raises:
        InputError: a file is missing or malformed.
    """
    found: list[Pair] = []
    for name, shares in (plan.beside or {}).items():
        place = name.split("-").index(plan.sides[0])
        pairs = read_pairs(find_split(data / name, "train"))
        sides = [((pair.src, pair.tgt) if place == 0 else (pair.tgt, pair.src), pair.corpus) for pair in pairs]
        language = name.split("-")[1 - place]
        chosen = [both for both in _sampled(sides, shares, rng) if not near.holds(both[0], 0)]
        found += [Pair(f"{tag(language)} {src}", tgt, name) for src, tgt in chosen]
    return found


def tag(language: str) -> str:
    """What a source begins with that is to be translated into `language`, as OPUS-MT's models of several have it."""
    return f">>{language}<<"


def _sampled(lines: Sequence[tuple[T, str]], shares: Mapping[str, float], rng: np.random.Generator) -> list[T]:
    """Of texts with their corpora, each corpus's share by chance."""
    chosen = rng.random(len(lines)) < np.array([shares.get(corpus, 0.0) for _, corpus in lines])
    return [text for (text, _), take in zip(lines, chosen, strict=True) if take]


class Copies:
    """Tells near copies of held pairs: a side equal but for case and punctuation, or sharing half of a side's runs."""

    def __init__(self, held: Sequence[Pair]) -> None:
        self.equal = [{plain(pair.src) for pair in held}, {plain(pair.tgt) for pair in held}]
        self.sizes: list[list[int]] = [[], []]
        self.places: list[dict[tuple[str, ...], list[int]]] = [defaultdict(list), defaultdict(list)]
        for number, pair in enumerate(held):
            for side, text in enumerate((pair.src, pair.tgt)):
                grams = runs(text)
                self.sizes[side].append(len(grams))
                for gram in grams:
                    self.places[side][gram].append(number)

    def has(self, pair: Pair) -> bool:
        """Whether either side of `pair` is a near copy of a held one's."""
        return self.holds(pair.src, 0) or self.holds(pair.tgt, 1)

    def holds(self, text: str, side: int) -> bool:
        """Whether `text` is a near copy of the `side` (0 source, 1 target) of a held pair."""
        if plain(text) in self.equal[side]:
            return True
        shared = Counter(number for gram in runs(text) for number in self.places[side].get(gram, ()))
        return any(count >= NEAR * self.sizes[side][number] for number, count in shared.items())


def plain(text: str) -> str:
    """The letters and digits of `text` in lower case, one space between words."""
    return " ".join("".join(char if char.isalnum() else " " for char in text.casefold()).split())


def runs(text: str) -> set[tuple[str, ...]]:
    """Every `GRAM` words in a row of `text`, case and punctuation aside; twice as many characters where it is Chinese.

    A text that is shorter has one: itself.
    """
    words: Sequence[str] = plain(text).split()
    size = GRAM
    if any("\u3400" <= char <= "\u9fff" for char in text):
        words, size = "".join(words), 2 * GRAM
    return {tuple(words[i : i + size]) for i in range(max(1, len(words) - size + 1))} if words else set()


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """The same bytes for the same lines; a kill leaves the former file or this one."""
    part = path.with_suffix(".part")
    with open(part, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
        file.writelines(f"{line}\n".encode() for line in lines)
    os.replace(part, path)
