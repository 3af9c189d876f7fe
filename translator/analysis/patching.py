"""Activation patching: states of one run put into another, and the fraction of the metric restored.

Sources: Vig et al. 2020 and Meng et al. 2022 (causal tracing), Wang et al. 2023 (path to a head, minimal pairs); Zhang
and Nanda 2024 on what to measure. What restores much carries the difference there; what restores nothing may still
carry it beside something that does the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from translator.analysis.minimal import Runs, greedily, usual_length
from translator.analysis.passes import Pair, to_numpy
from translator.analysis.sites import Look, Site, decoder_pass, encoder_pass
from translator.analysis.stopping import Stop, ask
from translator.config import DecodeConfig
from translator.decode.steps import ban_sequences, banned_ids
from translator.errors import InputError
from translator.pipeline import Translator
from translator.rules import choice, whole
from translator.trace import known_kind

What = Literal["residual", "head", "q", "k", "v", "pattern", "ffn"]
Progress = Callable[[int, int], None]
BY_TOKEN = ("residual", "ffn")
ROWS = 64
"""Cells that are run side by side, at most."""
POSITIONS = 2048
"""Their tokens together, so that long sentences too ask `stop` often."""


@dataclass(frozen=True)
class Patch:
    """One state of the clean run: `what` of attention `kind` in `layer`, of one `head` or all (None), at one
    `position` of the run that it is put into or all (None). For "residual" and "ffn" the kind is "encoder" or
    "decoder"; layer n of "residual" is the stream before layer n, and behind the last one. All counted from 0."""

    kind: str
    what: What
    layer: int
    head: int | None = None
    position: int | None = None


@dataclass(frozen=True, eq=False)
class Grid:
    """`restored` [rows, columns]: 0 where a patch changes nothing, 1 where it gives the clean run's difference.

    It may leave that range: a patch can overshoot, or push the other way. Rows are layers, columns tokens or heads.
    """

    kind: str
    what: What
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    restored: np.ndarray
    patches: tuple[tuple[Patch, ...], ...]


@dataclass(frozen=True, eq=False)
class Patched:
    """The corrupted sentence translated with patches in place, greedily; `restored` as in `Grid`."""

    translation: str
    ids: tuple[int, ...]
    delta: float
    restored: float


def grid(
    runs: Runs,
    what: What,
    kind: str | None = None,
    *,
    position: int | None = None,
    stop: Stop | None = None,
    progress: Progress | None = None,
) -> Grid:
    """Every single patch of `what`: layer by token for "residual" and "ffn", layer by head for the others.

    Args:
        kind: "encoder", "decoder" or "cross"; None: the encoder for layers by tokens, cross for heads.
        position: of the layers by heads, one position instead of all.
        stop: asked before every batch; True ends the work.
        progress: told how many cells are done, and of how many.
    Raises:
        InputError: there is no such place, or it cannot be aligned (see `restored`).
        CancelledError: `stop` said so.
    """
    choice("what", what, What)
    kind = known_kind(kind or ("encoder" if what in BY_TOKEN else "cross"))
    layers, heads = runs.clean.pair.model.config.head_counts[kind]
    if what in BY_TOKEN:
        names = runs.words if kind == "encoder" else runs.reads
        columns = [n for n in range(len(names)) if kind != "encoder" or runs.partner[n] >= 0]
        shown = tuple(names[n] for n in columns)
        table = [[Patch(kind, what, layer, None, n) for n in columns] for layer in range(layers + (what == "residual"))]
    else:
        shown = tuple(f"H{head + 1}" for head in range(heads))
        table = [[Patch(kind, what, layer, head, position) for head in range(heads)] for layer in range(layers)]
    rows = [f"L{n + 1}" for n in range(layers)]
    if what == "residual":
        rows = ["embedding", *rows]
    found = restored(runs, [[patch] for row in table for patch in row], stop=stop, progress=progress)
    return Grid(kind, what, tuple(rows), shown, found.reshape(len(rows), len(shown)), tuple(map(tuple, table)))


def restored(
    runs: Runs, cells: Sequence[Sequence[Patch]], *, stop: Stop | None = None, progress: Progress | None = None
) -> np.ndarray:
    """How much each of `cells` restores, [len(cells)]; the patches of a cell are put in together.

    Raises:
        InputError: a patch names no place of this model, or one that the clean sentence has no partner for.
        CancelledError: `stop` said so.
    """
    for cell in cells:
        for patch in cell:
            check(runs, patch)
    deltas, done = np.zeros(len(cells)), 0
    with torch.inference_mode():
        for start, group in _groups(cells, _side_by_side(runs)):
            ask(stop, "the patching board")
            hidden = _run(runs, [cells[n] for n in group], start)
            deltas[group] = to_numpy(runs.deltas(hidden).unflatten(0, (len(group), -1)).mean(1))
            done += len(group)
            if progress is not None:
                progress(done, len(cells))
    return np.asarray(runs.restored(deltas))


def check(runs: Runs, patch: Patch) -> None:
    """Refuse a patch that cannot be put in.

    Raises:
        InputError: it names no place, or one without a partner in the clean run.
    """
    choice("what", patch.what, What)
    kind = known_kind(patch.kind)
    layers, heads = runs.clean.pair.model.config.head_counts[kind]
    if patch.what in BY_TOKEN and kind == "cross":
        raise InputError(f"kind is 'cross'; {patch.what} belongs to the encoder or the decoder")
    whole("layer", patch.layer, 0, layers - (patch.what != "residual"))
    if patch.head is not None:
        if patch.what in BY_TOKEN:
            raise InputError(f"head is {patch.head}; {patch.what} has no heads")
        whole("head", patch.head, 0, heads - 1)
    source = _over_source(kind, patch.what)
    if patch.position is not None:
        whole("position", patch.position, 0, len(runs.words if source else runs.reads) - 1)
        if source and runs.partner[patch.position] < 0:
            shown = runs.words[patch.position]
            raise InputError(f"{shown!r} (position {patch.position}) has no partner in the other sentence")
    if patch.what == "pattern" and kind != "decoder":
        count = runs.clean.pair.src_ids.shape[1]
        if runs.partner != tuple(range(count)):
            said = f"the sentences have {count} and {len(runs.partner)} tokens"
            raise InputError(f"what is 'pattern', which needs sentences that match token by token; {said}")


def patched_translation(
    translator: Translator, runs: Runs, patches: Sequence[Patch], *, limit: int | None = None, stop: Stop | None = None
) -> Patched:
    """The corrupted sentence, translated greedily with `patches` in place.

    With a patch in the decoder the translation begins with the tokens that both runs read before the step, since that
    is where the clean run's states belong; with patches in the encoder alone, it begins anew.

    Args:
        limit: produced tokens at most; None: as the translator has it for such a sentence.
    Raises:
        InputError: see `check`; or there are several corrupted runs, as with noise, and so no one sentence.
        CancelledError: `stop` said so.
    """
    for patch in patches:
        check(runs, patch)
    if len(runs.corrupt.memory) > 1:
        raise InputError(
            f"there are {len(runs.corrupt.memory)} draws of noise; make the runs with draws=1 to translate"
        )
    pair, look = runs.corrupt.pair, _look(runs, [patches])
    with torch.inference_mode():
        memory = encoder_pass(pair.model, runs.corrupt.values["encoder", "residual", 0], pair.src_keep, look)
        if all(patch.kind == "encoder" for patch in patches):
            ids = greedily(translator, pair, memory, limit=limit, stop=stop)
        else:
            most = limit or usual_length(translator, pair)
            ids = _continued(pair, translator.bundle.decode, memory, look, most, stop)
        delta = float(runs.deltas(_run(runs, [patches], ("encoder", 0)))[0])
    return Patched(translator.bundle.tgt.decode(ids), ids, delta, float(runs.restored(delta)))


def _continued(
    pair: Pair, config: DecodeConfig, memory: Tensor, look: Look, limit: int, stop: Stop | None
) -> tuple[int, ...]:
    """What the decoder says greedily after what `pair` reads, patched by `look` at every step."""
    model, ids = pair.model, pair.reads[0, 1:].tolist()
    while len(ids) < limit and ids[-1:] != [model.config.eos_id]:
        ask(stop, "the patched translation")
        reads = torch.tensor([[model.config.start_id, *ids]], device=memory.device)
        hidden = decoder_pass(model, model.embed(reads, target=True), memory, pair.src_keep, look)
        logits = model.output(hidden[:, -1]).float()
        logits[:, banned_ids(model.config)] = -math.inf
        ban_sequences(logits, model.config, config, [ids])
        ids.append(int(logits.argmax()))
    return tuple(ids)


def _over_source(kind: str, what: str) -> bool:
    """Whether the positions of a site are source tokens."""
    return kind == "encoder" or (kind == "cross" and what in ("k", "v"))


def _side_by_side(runs: Runs) -> int:
    pair = runs.corrupt.pair
    length = pair.src_ids.shape[1] + pair.reads.shape[1]
    return min(max(POSITIONS // (length * len(runs.corrupt.memory)), 1), ROWS)


def _groups(cells: Sequence[Sequence[Patch]], most: int) -> Iterator[tuple[tuple[str, int], list[int]]]:
    """Cells that can begin at the same layer, at most `most` of them at a time, and that layer."""
    starts: dict[tuple[str, int], list[int]] = {}
    for n, cell in enumerate(cells):
        below = [patch.layer for patch in cell if patch.kind == "encoder"]
        above = [patch.layer for patch in cell if patch.kind != "encoder"]
        start = ("encoder", min(below)) if below else ("decoder", min(above, default=0))
        starts.setdefault(start, []).append(n)
    for start, group in starts.items():
        for first in range(0, len(group), most):
            yield start, group[first : first + most]


def _run(runs: Runs, cells: Sequence[Sequence[Patch]], start: tuple[str, int]) -> Tensor:
    """What the output projection reads, [cells · corrupted runs, T, D], where nothing below `start` is patched."""
    model, pair, (side, first) = runs.corrupt.pair.model, runs.corrupt.pair, start
    many, look = len(cells), _look(runs, cells)
    if side == "encoder":
        x = _repeated(runs.corrupt.values["encoder", "residual", first], many)
        memory = encoder_pass(model, x, pair.src_keep, look, first)
        first = 0
    else:
        memory = runs.corrupt.memory
        memory = memory if len(memory) == 1 else _repeated(memory, many)
    x = _repeated(runs.corrupt.values["decoder", "residual", first], many)
    return decoder_pass(model, x, memory, pair.src_keep, look, first)


def _repeated(values: Tensor, many: int) -> Tensor:
    """[B, ...] as [many · B, ...]."""
    return values.expand(many, *values.shape).flatten(0, 1)


def _look(runs: Runs, cells: Sequence[Sequence[Patch]]) -> Look:
    """Puts the clean values of each cell into its rows."""
    draws = len(runs.corrupt.memory)
    masks: dict[Site, Tensor] = {}
    values: dict[Site, Tensor] = {}
    for row, cell in enumerate(cells):
        for patch in cell:
            site: Site = (patch.kind, patch.what, patch.layer)
            if site not in masks:
                values[site] = _aligned(runs, site)
                masks[site] = torch.zeros(
                    len(cells), *values[site].shape[1:-1], 1, dtype=torch.bool, device=values[site].device
                )
            _mark(runs, masks[site][row], patch)

    def look(site: Site, value: Tensor) -> Tensor:
        if site not in masks:
            return value
        mask, clean = masks[site].repeat_interleave(draws, 0), values[site]
        return torch.where(_fitted(mask, value, keys=False), _fitted(clean, value, keys=site[1] == "pattern"), value)

    return look


def _mark(runs: Runs, mask: Tensor, patch: Patch) -> None:
    """Set the mask [N, 1] or [H, N, 1] of one row where `patch` puts something."""
    heads = slice(None) if patch.head is None else slice(patch.head, patch.head + 1)
    if patch.position is not None:
        positions = torch.tensor([patch.position], device=mask.device)
    elif _over_source(patch.kind, patch.what):
        positions = torch.tensor([n for n, own in enumerate(runs.partner) if own >= 0], device=mask.device)
    else:
        positions = torch.arange(mask.shape[-2], device=mask.device)
    if patch.what in BY_TOKEN:
        mask[positions] = True
    else:
        mask[heads, positions] = True


def _aligned(runs: Runs, site: Site) -> Tensor:
    """The clean run's value at the corrupted run's positions, [1, ..., N, ·]."""
    value = runs.clean.values[site]
    if not _over_source(site[0], site[1]):
        return value
    return value[..., torch.tensor([max(own, 0) for own in runs.partner], device=value.device), :]


def _fitted(given: Tensor, value: Tensor, *, keys: bool) -> Tensor:
    """`given` with as many positions as `value`: a translation that grows past the runs is patched no further."""
    more = value.shape[-2] - given.shape[-2]
    return F.pad(given, (0, more if keys and value.shape[-1] != given.shape[-1] else 0, 0, more)) if more else given
