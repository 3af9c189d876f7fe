"""Corpora as arrays of ids, and the order of batches in training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from translator.config import ModelConfig
from translator.errors import InputError
from translator.text.lines import read_lines
from translator.training.config import TrainConfig
from translator.training.join import joined


@dataclass(frozen=True)
class Pair:
    """One line of a corpus file."""

    src: str
    tgt: str
    corpus: str


def read_pairs(path: Path) -> list[Pair]:
    """Read `source<TAB>target<TAB>corpus` lines from a text or gzip file.

    Raises:
        InputError: the file is missing, or a line has not three non-empty columns (its number is named).
    """
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        pairs.append(pair_of(line.split("\t"), path, number))
    if not pairs:
        raise InputError(f"{path} holds no sentence pairs")
    return pairs


def pair_of(columns: Sequence[str], path: str | Path, number: int) -> Pair:
    """The pair in the columns of one line of a file, the `number`th from 1.

    Raises:
        InputError: they are not three non-empty columns.
    """
    if len(columns) != 3 or not all(columns):
        raise InputError(f"{path} line {number}: {_flaw(columns)}; it needs source, target, corpus with a tab between")
    return Pair(*columns)


def _flaw(columns: Sequence[str]) -> str:
    return f"{len(columns)} columns" if len(columns) != 3 else f"column {columns.index('') + 1} is empty"


MONOLINGUAL, MONOLINGUAL_TARGET = "monolingual", "monolingual-target"
"""The names of the files of sentences of the source language alone, and of the target language."""


def find_split(folder: Path, split: str) -> Path:
    """The file of one split (`train`, `dev`, `test` …) in a data folder, gzipped or not.

    Raises:
        InputError: there is no such file.
    """
    return _find(folder, f"{split}.tsv", "expected are train.tsv.gz and dev.tsv.gz (source, target, corpus)")


def find_monolingual(folder: Path) -> Path:
    """The file of sentences that self-training translates, one a line, in a data folder, gzipped or not.

    Raises:
        InputError: there is none.
    """
    return _find(folder, f"{MONOLINGUAL}.txt", "self_training translates what it holds, one sentence a line")


def _find(folder: Path, name: str, why: str) -> Path:
    for path in (folder / f"{name}.gz", folder / name):
        if path.is_file():
            return path
    raise InputError(f"{folder} has no {name}.gz; {why}")


def find_monolingual_target(folder: Path) -> Path:
    """The file of target sentences that back-translation translates, one a line, in a data folder, gzipped or not.

    Raises:
        InputError: there is none.
    """
    return _find(folder, f"{MONOLINGUAL_TARGET}.txt", "reverse translates back what it holds, one sentence a line")


def read_split(config: TrainConfig, folder: Path, split: str) -> list[Pair]:
    """The pairs of one split, in the direction of the run.

    Raises:
        InputError: the file is missing or malformed.
    """
    pairs = read_pairs(find_split(folder, split))
    return [Pair(pair.tgt, pair.src, pair.corpus) for pair in pairs] if config.mirrored else pairs


def read_dev(config: TrainConfig, folder: Path) -> dict[str, list[Pair]]:
    """The pairs of each development set of a run.

    Raises:
        InputError: a file is missing or malformed.
    """
    return {name: read_split(config, folder, name) for name in config.dev}


def grouped(pairs: Sequence[Pair]) -> tuple[list[str], list[list[str]]]:
    """Sources, each once, with all the references that stand in neighbouring lines."""
    sources: list[str] = []
    references: list[list[str]] = []
    for pair in pairs:
        if not sources or sources[-1] != pair.src:
            sources.append(pair.src)
            references.append([])
        references[-1].append(pair.tgt)
    return sources, references


def copies(
    corpora: Sequence[str],
    weights: Mapping[str, float],
    rng: np.random.Generator,
    factors: Sequence[float] | np.ndarray | None = None,
) -> np.ndarray:
    """Indices of the pairs of one epoch: each as often as its corpus weighs, a fraction by chance.

    `factors` multiply that, one for each pair.
    """
    wanted = np.array([weights.get(name, 1.0) for name in corpora])
    if factors is not None:
        wanted = wanted * np.asarray(factors)
    whole = np.floor(wanted)
    count = (whole + (rng.random(len(wanted)) < wanted - whole)).astype(np.int64)
    return np.repeat(np.arange(len(wanted)), count)


@dataclass(frozen=True, eq=False)
class Batch:
    """Padded ids: src [B, S] (EOS last), tgt_in [B, T] (start first). `src_keep` is True where the model may look.

    `rows` [N] are the places of real target tokens among the B·T of `tgt_in`, sentence by sentence, and `targets` [N]
    what each predicts (EOS last). They are found here, on the CPU: a GPU would have to be waited for.
    """

    src: Tensor
    src_keep: Tensor
    tgt_in: Tensor
    rows: Tensor
    targets: Tensor

    def to(self, device: torch.device) -> Batch:
        """The same batch on `device`."""
        return Batch(*(getattr(self, name).to(device, non_blocking=True) for name in self.__dataclass_fields__))

    def doubled(self) -> Batch:
        """Every sentence twice, the second time behind all of them, so that dropout meets each in two ways."""
        src, keep, entering, targets = (
            torch.cat([each, each]) for each in (self.src, self.src_keep, self.tgt_in, self.targets)
        )
        return Batch(src, keep, entering, torch.cat([self.rows, self.rows + self.tgt_in.numel()]), targets)


def collate(src: Sequence[Sequence[int]], tgt: Sequence[Sequence[int]], shape: ModelConfig) -> Batch:
    """Pad sentences of ids (without EOS) into a batch for a model of `shape`.

    Where the model attends to padding (`padded_length`), sources are padded to that length and all of it is kept.
    """
    reads, src_keep = _padded([[*ids, shape.eos_id] for ids in src], shape.pad_id, shape.padded_length)
    entering, tgt_keep = _padded([[shape.start_id, *ids] for ids in tgt], shape.pad_id)
    targets = np.concatenate([[*ids, shape.eos_id] for ids in tgt])
    if shape.padded_length is not None:
        src_keep = torch.ones_like(src_keep)
    return Batch(reads, src_keep, entering, tgt_keep.flatten().nonzero().squeeze(1), torch.from_numpy(targets))


def _padded(rows: Sequence[Sequence[int]], pad: int, width: int | None = None) -> tuple[Tensor, Tensor]:
    width = width or max(map(len, rows))
    ids = np.full((len(rows), width), pad, dtype=np.int64)
    keep = np.zeros((len(rows), width), dtype=bool)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        keep[i, : len(row)] = True
    return torch.from_numpy(ids), torch.from_numpy(keep)


def batches(order: np.ndarray, lengths: np.ndarray, budget: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Cut one epoch into batches of neighbours in length.

    Args:
        order: indices of pairs, repeats allowed.
        lengths: [pairs, 2], source and target tokens of each pair, EOS included.
        budget: rows × the longer padded side of a batch stay within it (one row always goes).
        rng: decides between equal lengths and shuffles the batches.
    Returns:
        index arrays, in the order in which to train on them.
    """
    order = rng.permutation(order)
    src, tgt = lengths[order, 0], lengths[order, 1]
    order = order[np.lexsort((src, tgt))]
    cut, out, widest = 0, [], 0
    longest = lengths[order].max(axis=1)
    for i, length in enumerate(longest):
        widest = max(widest, int(length))
        if i > cut and widest * (i + 1 - cut) > budget:
            out.append(order[cut:i])
            cut, widest = i, int(length)
    out.append(order[cut:])
    return [out[i] for i in rng.permutation(len(out))]


class Epochs:
    """An endless, repeatable stream of batches: everything follows from the seed and the epoch's number.

    Args:
        corpora: the corpus name of each pair.
        encode: epoch → (source ids, target ids) of every pair, without EOS.
        factors: of each pair, how often it takes part beside its corpus's weight; None: all alike.
        joins: of each pair, whether another sentence may follow it; needed where `config.join` is not 0.
    """

    def __init__(
        self,
        corpora: Sequence[str],
        encode: Callable[[int], tuple[list[list[int]], list[list[int]]]],
        config: TrainConfig,
        *,
        factors: Sequence[float] | None = None,
        joins: Sequence[bool] | None = None,
    ) -> None:
        self.corpora, self.encode, self.config, self.factors = corpora, encode, config, factors
        self.joins = np.zeros(len(corpora), dtype=bool) if joins is None else np.asarray(joins)

    def plan(self, epoch: int) -> tuple[list[np.ndarray], list[list[int]], list[list[int]]]:
        """The batches of an epoch as index arrays [B], and the source and target ids that they point into.

        Raises:
            InputError: no pair is short enough.
        """
        rng = np.random.default_rng([self.config.seed, epoch])
        src, tgt = self.encode(epoch)
        order = copies(self.corpora, self.config.corpora or {}, rng, self.factors)
        if self.config.join:
            together = joined(self.corpora, order[self.joins[order]], self.config.join, rng)
            order = np.concatenate([order, np.arange(len(src), len(src) + len(together))])
            src, tgt = (
                [*side, *([id_ for i in places for id_ in side[i]] for places in together)] for side in (src, tgt)
            )
        lengths = np.array([[len(a), len(b)] for a, b in zip(src, tgt, strict=True)]) + 1
        fits = (lengths[order] <= self.config.max_tokens).all(axis=1) & (lengths[order] > 1).all(axis=1)
        if not fits.any():
            raise InputError(f"no sentence pair has 1 to {self.config.max_tokens - 1} tokens a side; raise max_tokens")
        return batches(order[fits], lengths, self.config.batch_tokens, rng), src, tgt

    def from_(self, epoch: int, index: int) -> Iterator[tuple[int, int, list[list[int]], list[list[int]]]]:
        """Every batch from batch `index` of `epoch` on, as (its epoch, its index, source ids, target ids)."""
        while True:
            plan, src, tgt = self.plan(epoch)
            for i in range(index, len(plan)):
                yield epoch, i, [src[j] for j in plan[i]], [tgt[j] for j in plan[i]]
            epoch, index = epoch + 1, 0
