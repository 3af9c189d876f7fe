"""Self-training: monolingual source sentences translated by the base model.

Source: He et al. 2020, "Revisiting Self-Training for Neural Sequence Generation"; the run that then learns from them
has the dropout and BPE-dropout that this needs.
"""

from __future__ import annotations

import gzip
import os
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F
from tqdm import tqdm

from translator.decode import search_batch
from translator.engine import best
from translator.errors import InputError
from translator.model import Transformer
from translator.text import Tokenizer
from translator.text.lines import read_lines
from translator.training.config import TrainConfig
from translator.training.data import Pair, collate, find_monolingual, read_split
from translator.training.development import GREEDY, ROWS
from translator.training.evaluate import loops
from translator.training.loop import Process

CORPUS = "self"
"""What `corpora` calls these pairs."""
PAIRS = "self.tsv.gz"
"""The file in a run's folder that holds them."""
LENGTHS = 4
"""Words by which lengths differ before they are no longer alike."""
CHUNK = 768
"""Sentences of like length that are translated at once, so that a bar can move between them."""


@dataclass(frozen=True)
class Teacher:
    """What translates: a model, on its device, with its two vocabularies. It is left in evaluation."""

    model: Transformer
    src: Tokenizer
    tgt: Tokenizer


def write_pairs(teacher: Teacher, config: TrainConfig, data: Path, folder: Path, process: Process) -> None:
    """Translate the sentences that the corpora of `data` do not have; what is sure enough becomes `PAIRS` in `folder`.

    Every process does its part; the first one writes. Does nothing for a run without `self_training`.

    Raises:
        InputError: there are no such sentences, or none was translated as surely as `config.self_training` asks.
    """
    least = config.self_training
    if least is None:
        return
    known = {pair.src for split in ("train", *config.dev) for pair in read_split(config, data, split)}
    sentences = unknown(read_lines(find_monolingual(data)), known)
    every = translated(teacher, sentences, config, process, least=config.self_training_length)

    def write() -> None:
        sure = surest(
            [sentences[n] for n, *_ in every], [score for *_, score in every], least, config.self_training_share
        )
        pairs = {n: text for (n, text, _), keep in zip(every, sure, strict=True) if keep}
        if not pairs:
            raise InputError(
                f"of {len(sentences):,} sentences of {find_monolingual(data)} none was translated with a mean"
                f" log-probability of {least} or more; lower self_training"
            )
        write_corpus(folder / PAIRS, [Pair(sentences[n], pairs[n], CORPUS) for n in sorted(pairs)])

    process.first(write)


def surest(sentences: Sequence[str], scores: Sequence[float], least: float, share: float) -> list[bool]:
    """Which translations to learn from: of at least `least` nats a token, or among the best of their length.

    A token of a long sentence is less sure than one of a short one, so that one bound leaves out nearly all that are
    long. Of the sentences of like length, in steps of `LENGTHS` words, the share `share` is kept whatever its score.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for n, sentence in enumerate(sentences):
        groups[len(sentence.split()) // LENGTHS].append(n)
    best = [
        n for group in groups.values() for n in sorted(group, key=lambda n: -scores[n])[: round(share * len(group))]
    ]
    chosen = set(best)
    return [score >= least or n in chosen for n, score in enumerate(scores)]


def unknown(lines: Iterable[str], known: Container[str]) -> list[str]:
    """Every sentence of `lines` once, in their order, without those that are `known` from the corpora."""
    plain = (" ".join(line.split()) for line in lines)
    return [line for line in dict.fromkeys(plain) if line and line not in known]


def write_corpus(path: Path, pairs: Iterable[Pair]) -> None:
    """A gzipped corpus file; a kill leaves the former one or this one."""
    part = path.with_suffix(".part")
    with gzip.open(part, "wt", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{pair.src}\t{pair.tgt}\t{pair.corpus}\n" for pair in pairs)
    os.replace(part, path)


def translated(
    teacher: Teacher, sentences: Sequence[str], config: TrainConfig, process: Process, *, least: float = 0.0
) -> list[tuple[int, str, float]]:
    """The place of each sentence whose translation is whole, that, and its mean log-probability of a token in nats.

    Whole is what ended, does not loop, and has `least` target tokens or more for each source token. Every process
    does its part, and all get everything.
    """
    mine = sentences[process.rank :: process.world]
    found = process.gather(list(_translated(teacher, mine, config.max_tokens, least, shown=process.rank == 0)))
    return [
        (place * process.world + rank, text, score) for rank, part in enumerate(found) for place, text, score in part
    ]


def _translated(
    teacher: Teacher, sentences: Sequence[str], max_tokens: int, least: float, *, shown: bool
) -> Iterator[tuple[int, str, float]]:
    model = teacher.model.eval()
    engine = best(model)
    ids = teacher.src.ids_batch(sentences)
    fits = sorted((n for n, row in enumerate(ids) if 0 < len(row) < max_tokens), key=lambda n: len(ids[n]))
    for first in tqdm(range(0, len(fits), CHUNK), unit="chunk", desc="translating", disable=not shown):
        places = fits[first : first + CHUNK]
        rows = [[*ids[n], model.config.eos_id] for n in places]
        limits = [min(2 * len(row) + 16, model.config.max_positions) for row in rows]
        produced = search_batch(engine, rows, GREEDY, max_lengths=limits)
        ended = [
            (n, list(out[:-1]))
            for n, out in zip(places, produced, strict=True)
            if out[-1] == model.config.eos_id and not loops(out) and len(out) - 1 >= least * len(ids[n])
        ]
        sure = _mean_log_probs(model, [ids[n] for n, _ in ended], [out for _, out in ended]) if ended else []
        for (n, out), each in zip(ended, sure, strict=True):
            text = " ".join(teacher.tgt.decode(out).split())
            if text:
                yield n, text, each


def _mean_log_probs(model: Transformer, src: Sequence[Sequence[int]], tgt: Sequence[Sequence[int]]) -> list[float]:
    """Nats a target token, its end included, that `model` gives each pair of ids (without EOS)."""
    return [float(each.mean()) for each in log_probs(model, src, tgt)]


@torch.inference_mode()
def log_probs(model: Transformer, src: Sequence[Sequence[int]], tgt: Sequence[Sequence[int]]) -> list[Tensor]:
    """The log-probability in nats that `model` gives each target token and the end, for each pair of ids (no EOS)."""
    found: list[Tensor] = []
    for first in range(0, len(src), ROWS):
        part = slice(first, first + ROWS)
        batch = collate(src[part], tgt[part], model.config).to(model.output.weight.device)
        logits = model(batch.src, batch.tgt_in, batch.src_keep, batch.rows)
        nll = F.cross_entropy(logits.float(), batch.targets, reduction="none")
        found += (-nll).cpu().split([len(ids) + 1 for ids in tgt[part]])
    return found
