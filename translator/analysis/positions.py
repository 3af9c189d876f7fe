"""Positions shifted, scaled or removed, and the sentence translated again.

Source: Vaswani et al. 2017, section 3.5, chose sinusoids so that PE(p + k) is a linear function of PE(p) and
PE(p) · PE(q) depends on p − q alone. A model need not have learned to use that.
"""

from __future__ import annotations

import copy
from dataclasses import asdict, replace
from typing import Any, Literal

import torch
from torch import Tensor

from translator.analysis.passes import pair_of
from translator.errors import InputError
from translator.model import Transformer
from translator.model.positions import sinusoids
from translator.pipeline import Translator
from translator.registry.lab import field
from translator.rules import real
from translator.trace import Trace

Side = Literal["source", "target", "both"]
TABLES = {"source": ("src_positions",), "target": ("tgt_positions",), "both": ("src_positions", "tgt_positions")}
RANGES = {name: field("positions", name).range for name in ("shift", "scale")}


def move(
    translator: Translator, trace: Trace, *, side: Side = "both", shift: float = 0, scale: float = 1, **settings: Any
) -> Trace:
    """Translate the sentence of `trace` again, as it was decoded, with every position encoding changed.

    Args:
        side: of the source, of the target, or both.
        shift: how many positions each token moves to the right; for sinusoids any number, for a learned table
            a whole number, and the table must reach so far.
        scale: what the encoding is multiplied by, from 0 (removed) to 10.
        settings: over those of the trace.
    Raises:
        InputError: shift or scale cannot be had, an unknown side, or the trace is not of this model (see `pair_of`).
    """
    model, limits = pair_of(translator, trace).model, translator.limits
    changed = replace(translator.bundle, model=with_positions(model, side=side, shift=shift, scale=scale))
    if model.config.positions == "learned":
        room = model.config.max_positions - int(shift)
        limits = replace(
            limits,
            source_tokens=min(limits.source_tokens, room if side != "target" else limits.source_tokens),
            target_tokens=min(limits.target_tokens, room if side != "source" else limits.target_tokens),
        )
    moved = Translator(changed, limits=limits)
    found = moved.translate(trace.source, **{**asdict(trace.settings), **settings})
    return replace(found, altered=bool(found.altered or shift != 0 or scale != 1))


def with_positions(model: Transformer, *, side: Side = "both", shift: float = 0, scale: float = 1) -> Transformer:
    """`model` with its position tables changed as in `move`; all else is shared, and `model` stays as it is.

    Of a learned table that was shifted the last `shift` rows are no positions; `move` keeps texts out of them.

    Raises:
        InputError: shift or scale cannot be had, or an unknown side.
    """
    if not isinstance(side, str) or side not in TABLES:
        raise InputError(f"side is {side!r}; it must be source, target or both")
    for (name, (low, high)), value in zip(RANGES.items(), (shift, scale), strict=True):
        real(name, value, low, high)
    changed = copy.copy(model)
    changed._parameters, changed._buffers = dict(model._parameters), dict(model._buffers)
    for name in TABLES[side]:
        table = _shifted(model, name, shift) * scale
        if name in changed._parameters:
            changed._parameters[name] = torch.nn.Parameter(table, requires_grad=False)
        else:
            changed._buffers[name] = table
    return changed


def _shifted(model: Transformer, name: str, shift: float) -> Tensor:
    """The table [max_positions, D] whose first row is position `shift`."""
    table: Tensor = getattr(model, name).detach()
    config = model.config
    if shift == 0:
        return table
    if name not in model._parameters:
        first = config.first_position + shift
        made = sinusoids(config.max_positions, config.d_model, layout=config.positions, first=first)
        return made.to(table)
    if shift != int(shift) or not 0 <= shift < len(table):
        raise InputError(f"shift is {shift!r}; a learned table takes whole numbers from 0 to {len(table) - 1}")
    return table.roll(-int(shift), dims=0)
