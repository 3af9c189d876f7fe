"""Batched decoding without maps: sorted by length, padded, finished sentences removed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from translator.config import DecodeConfig
from translator.decode.beam import BeamSearch, run
from translator.decode.copying import SourceSpans, ban_spans
from translator.decode.replay import source_tensor
from translator.decode.search import search
from translator.decode.steps import Decoding, Stop, ban_sequences, banned_ids, check_source, check_target, finish
from translator.engine import Engine
from translator.model import Encoded, Transformer

ROWS = 192  # hypotheses decoded side by side: more gain nothing on two cores, and hold memory
LEAVE = 1 / 8  # ended sentences leave in groups of this share, since every leaving copies the KV cache


@torch.inference_mode()
def search_batch(
    engine: Engine,
    sources: Sequence[Sequence[int]],
    config: DecodeConfig,
    *,
    max_lengths: Sequence[int],
    stop: Stop | None = None,
    rows: int = ROWS,
    spans: Sequence[SourceSpans | None] | None = None,
) -> list[tuple[int, ...]]:
    """The ids that `search` would produce for each source (EOS included), in the order given.

    Args:
        max_lengths: produced tokens at most, for each source.
        rows: hypotheses decoded side by side.
        spans: of each source, where they count; None: they count nowhere.
    Raises:
        InputError: a source or length does not fit the model.
        CancelledError: `stop` said so.
    """
    for source, max_length in zip(sources, max_lengths, strict=True):
        check_source(engine.config, source)
        check_target(engine.config, (), max_length)
    spans = spans or [None] * len(sources)
    if config.method == "sample":  # each draws from its own generator: nothing is gained side by side
        return [
            finish(search(engine, source, config, max_length=limit, stop=stop, spans=own)).ids
            for source, limit, own in zip(sources, max_lengths, spans, strict=True)
        ]
    beam = config.beam if config.method == "beam" else 1
    order = sorted(range(len(sources)), key=lambda n: (len(sources[n]), max_lengths[n]), reverse=True)
    found: list[tuple[int, ...]] = [()] * len(sources)
    for group in _groups(order, max(1, rows // beam)):
        limits = [max_lengths[n] for n in group]
        encoded = engine.encode(*_padded(engine.model, [sources[n] for n in group]), maps=False)
        lengths = [len(sources[n]) for n in group]
        own = [spans[n] for n in group]
        produced = search_encoded(engine, encoded, config, limits, stop, lengths=lengths, spans=own)
        for n, ids in zip(group, produced, strict=True):
            found[n] = ids
    return found


@torch.inference_mode()
def search_encoded(
    engine: Engine,
    encoded: Encoded,
    config: DecodeConfig,
    limits: Sequence[int],
    stop: Stop | None = None,
    *,
    lengths: Sequence[int] | None = None,
    spans: Sequence[SourceSpans | None] | None = None,
) -> list[tuple[int, ...]]:
    """The ids that greedy or beam search produces from each of N encoded sources, side by side.

    Args:
        encoded: `Encoded.without_maps(memory, src_keep)` will do.
        limits: produced tokens at most, for each of them.
        lengths: source tokens of each, EOS included, which coverage counts; None: S of all.
        spans: of each of them, where they count; None: they count nowhere.
    Raises:
        CancelledError: `stop` said so.
    """
    decoding = Decoding(engine, engine.start(encoded, max_length=max(limits)), config, stop)
    spans = spans or [None] * len(limits)
    if config.method == "beam" and config.beam > 1:
        return _beam(decoding, limits, lengths or [encoded.memory.shape[1]] * len(limits), spans)
    return _greedy(decoding, limits, spans)


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


def _greedy(decoding: Decoding, limits: Sequence[int], spans: Sequence[SourceSpans | None]) -> list[tuple[int, ...]]:
    """The most probable token of every sentence at every step."""
    config, model_config = decoding.config, decoding.model_config
    eos = model_config.eos_id
    banned = torch.tensor(banned_ids(model_config), dtype=torch.long, device=decoding.device)
    found: list[list[int]] = [[] for _ in limits]
    rows, ids = list(range(len(limits))), [model_config.start_id] * len(limits)
    while rows:
        logits = decoding.step(ids).logits.index_fill_(-1, banned, -math.inf)
        ban_sequences(logits, model_config, config, [found[n] for n in rows])
        ban_spans(logits, [spans[n] for n in rows], [found[n] for n in rows])
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
                decoding.session.reorder(keep, sources=keep)
    return [tuple(ids) for ids in found]


def _ended(ids: Sequence[int], eos_id: int, limit: int) -> bool:
    return len(ids) == limit or (bool(ids) and ids[-1] == eos_id)


def _beam(
    decoding: Decoding, limits: Sequence[int], lengths: Sequence[int], spans: Sequence[SourceSpans | None]
) -> list[tuple[int, ...]]:
    """Beam search over every sentence, in step; `lengths` are the sources', EOS included."""
    config, model_config = decoding.config, decoding.model_config
    searches = [
        BeamSearch(config, model_config.eos_id, limit, to_cover=length - 1, spans=own)
        for limit, length, own in zip(limits, lengths, spans, strict=True)
    ]
    for _ in run(decoding, searches, [model_config.start_id] * len(limits)):
        pass
    return [search.best().ids for search in searches]
