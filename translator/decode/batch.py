"""Batched decoding without maps: sorted by length, padded, finished sentences removed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from translator.config import DecodeConfig
from translator.decode.beam import BeamSearch, run
from translator.decode.replay import source_tensor
from translator.decode.search import search
from translator.decode.steps import Stop, advance, ban_sequences, banned_ids, check_source, check_target, finish
from translator.model import Cache, Transformer

ROWS = 192  # hypotheses decoded side by side: more gain nothing on two cores, and hold memory
LEAVE = 1 / 8  # ended sentences leave in groups of this share, since every leaving copies the cache


@torch.inference_mode()
def search_batch(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    config: DecodeConfig,
    *,
    max_lengths: Sequence[int],
    stop: Stop | None = None,
    rows: int = ROWS,
) -> list[tuple[int, ...]]:
    """The ids that `search` would produce for each source (EOS included), in the order given.

    Args:
        max_lengths: produced tokens at most, for each source.
        rows: hypotheses decoded side by side.
    Raises:
        InputError: a source or length does not fit the model.
        CancelledError: `stop` said so.
    """
    for source, max_length in zip(sources, max_lengths, strict=True):
        check_source(model.config, source)
        check_target(model.config, (), max_length)
    if config.method == "sample":  # each draws from its own generator: nothing is gained side by side
        pairs = zip(sources, max_lengths, strict=True)
        return [finish(search(model, source, config, max_length=limit, stop=stop)).ids for source, limit in pairs]
    beam = config.beam if config.method == "beam" else 1
    order = sorted(range(len(sources)), key=lambda n: (len(sources[n]), max_lengths[n]), reverse=True)
    found: list[tuple[int, ...]] = [()] * len(sources)
    for group in _groups(order, max(1, rows // beam)):
        limits = [max_lengths[n] for n in group]
        src_ids, src_keep = _padded(model, [sources[n] for n in group])
        memory = model.memory(src_ids, src_keep)
        lengths = [len(sources[n]) for n in group]
        produced = search_memories(model, memory, src_keep, config, limits, stop, lengths=lengths)
        for n, ids in zip(group, produced, strict=True):
            found[n] = ids
    return found


@torch.inference_mode()
def search_memories(
    model: Transformer,
    memory: Tensor,
    src_keep: Tensor | None,
    config: DecodeConfig,
    limits: Sequence[int],
    stop: Stop | None = None,
    *,
    lengths: Sequence[int] | None = None,
) -> list[tuple[int, ...]]:
    """The ids that greedy or beam search produces from each memory [N, S, D], side by side.

    Args:
        src_keep: bool [N, S], which of it may be read; None for all.
        limits: produced tokens at most, for each of them.
        lengths: source tokens of each, EOS included, which coverage counts; None: S of all.
    Raises:
        CancelledError: `stop` said so.
    """
    cache = model.start(memory, src_keep, max_length=max(limits))
    if config.method == "beam" and config.beam > 1:
        return _beam(model, cache, config, limits, lengths or [memory.shape[1]] * len(limits), stop)
    return _greedy(model, cache, config, limits, stop)


def _groups(order: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for first in range(0, len(order), size):
        yield order[first : first + size]


def _padded(model: Transformer, sources: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor | None]:
    """Sources as one batch [N, S] and which tokens are real; None if all are, or if padding is attended to."""
    if model.config.padded_length is not None:
        return torch.cat([source_tensor(model, source) for source in sources]), None
    longest = max(map(len, sources))
    ids = torch.tensor(
        [[*source, *[model.config.pad_id] * (longest - len(source))] for source in sources],
        device=model.output.weight.device,
    )
    if all(len(source) == longest for source in sources) and not model.config.masked_ids:
        return ids, None
    lengths = torch.tensor([len(source) for source in sources], device=ids.device)
    keep = torch.arange(longest, device=ids.device) < lengths[:, None]
    if model.config.masked_ids:
        keep &= ~torch.isin(ids, torch.tensor(model.config.masked_ids, device=ids.device))
    return ids, keep


def _greedy(
    model: Transformer, cache: Cache, config: DecodeConfig, limits: Sequence[int], stop: Stop | None
) -> list[tuple[int, ...]]:
    """The most probable token of every sentence at every step."""
    eos = model.config.eos_id
    banned = torch.tensor(banned_ids(model.config), dtype=torch.long, device=model.output.weight.device)
    found: list[list[int]] = [[] for _ in limits]
    rows, ids = list(range(len(limits))), [model.config.start_id] * len(limits)
    while rows:
        logits = advance(model, ids, cache, stop).logits.index_fill_(-1, banned, -math.inf)
        ban_sequences(logits, model.config, config, [found[n] for n in rows])
        ids = logits.argmax(-1).tolist()
        if config.first_id is not None and not found[rows[0]]:
            ids = [config.first_id] * len(rows)
        for n, token in zip(rows, ids, strict=True):
            if not _ended(found[n], eos, limits[n]):
                forced = config.force_eos and len(found[n]) == limits[n] - 1
                found[n].append(eos if forced else token)
        stay = [row for row, n in enumerate(rows) if not _ended(found[n], eos, limits[n])]
        if not stay or len(rows) - len(stay) >= LEAVE * len(rows):
            rows, ids = [rows[row] for row in stay], [ids[row] for row in stay]
            if rows:
                keep = torch.tensor(stay, device=logits.device)
                cache.reorder(keep, sources=keep)
    return [tuple(ids) for ids in found]


def _ended(ids: Sequence[int], eos_id: int, limit: int) -> bool:
    return len(ids) == limit or (bool(ids) and ids[-1] == eos_id)


def _beam(
    model: Transformer,
    cache: Cache,
    config: DecodeConfig,
    limits: Sequence[int],
    lengths: Sequence[int],
    stop: Stop | None,
) -> list[tuple[int, ...]]:
    """Beam search over every sentence, in step; `lengths` are the sources', EOS included."""
    eos = model.config.eos_id
    searches = [
        BeamSearch(config, eos, limit, to_cover=length - 1) for limit, length in zip(limits, lengths, strict=True)
    ]
    for _ in run(model, cache, searches, [model.config.start_id] * len(limits), stop):
        pass
    return [search.best().ids for search in searches]
