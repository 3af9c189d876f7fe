"""Stored arena results of a checkpoint, and the card's sections on arena and omission meter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from translator.analysis.arena import RANDOM, Judged
from translator.analysis.attribution import METHODS
from translator.analysis.omissions import FILE as METER
from translator.analysis.omissions import Judge, Meter, stored_meter
from translator.analysis.sections import with_section
from translator.checkpoints.bundle import CARD
from translator.checkpoints.destination import own_folder
from translator.checkpoints.manifest import MAX_SIDE_BYTES, is_listed, read_json
from translator.checkpoints.save import amend, read_card
from translator.errors import CheckpointError
from translator.pipeline import Translator

FORMAT_VERSION = 1
FILE = "arena.json"
NAMES = {
    "attention": "attention, mean of heads",
    "norms": "attention norms",
    "rollout": "attention rollout",
    "alti": "ALTI+",
    "value-zeroing": "value zeroing",
    "gradient": "gradient × input",
    "integrated": "integrated gradients",
    RANDOM: "random order",
}


@dataclass(frozen=True)
class ArenaTable:
    """Every method over a corpus: `sentences` of `data` had words enough; up to `depth` words were deleted."""

    checkpoint: str
    data: str
    sentences: int
    depth: int
    methods: Mapping[str, Judged]

    @property
    def best(self) -> str:
        """The method that agrees best with occlusion."""
        return max(METHODS, key=lambda method: self.methods[method].correlation)


def store_arena(translator: Translator, table: ArenaTable) -> Path:
    """Write the table into the checkpoint's folder: arena.json, and its section of the card.

    Raises:
        CheckpointError: the checkpoint has no folder of ours, or other weights were judged.
    """
    folder = own_folder(translator.bundle)
    if table.checkpoint != translator.bundle.info.sha256:
        raise CheckpointError(f"the arena is of other weights than those of {translator.name}; measure it again")
    text = json.dumps({"format": FORMAT_VERSION, **asdict(table)}, ensure_ascii=False, indent=1) + "\n"
    card = with_section(read_card(folder), "arena", arena_section(table))
    return amend(folder, {FILE: text.encode(), CARD: card.encode()})


def stored_arena(translator: Translator) -> ArenaTable | None:
    """The table that was shipped with a checkpoint, or None.

    Raises:
        CheckpointError: the file is damaged, or of other weights.
    """
    folder = translator.bundle.folder
    if folder is None or not is_listed(folder, FILE):
        return None
    path = folder / FILE
    data = read_json(path, MAX_SIDE_BYTES)
    try:
        if data.pop("format") != FORMAT_VERSION:
            raise ValueError("it is of another format")
        methods = {name: Judged(**values) for name, values in data.pop("methods").items()}
        table = ArenaTable(methods=methods, **data)
        if set(methods) != {*METHODS, RANDOM}:
            raise ValueError(f"it judges {', '.join(methods)}")
        numbers = [[j.correlation, *j.correlation_range, j.lost, *j.lost_range] for j in methods.values()]
        if not np.isfinite(np.array(numbers, dtype=np.float64)).all():
            raise ValueError("a number is missing")
        arena_section(table)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(f"{path} is not an arena file: {error}; run the command arena again") from error
    if table.checkpoint != translator.bundle.info.sha256:
        raise CheckpointError(f"{path} is of other weights; run the command arena again")
    return table


def store_meter(translator: Translator, meter: Meter) -> Path:
    """Write the omission meter into the checkpoint's folder: omissions.json, and its section of the card.

    Raises:
        CheckpointError: the checkpoint has no folder of ours, or other weights were measured.
    """
    folder = own_folder(translator.bundle)
    if meter.checkpoint != translator.bundle.info.sha256:
        raise CheckpointError(f"the meter is of other weights than those of {translator.name}; measure it again")
    text = json.dumps({"format": FORMAT_VERSION, **asdict(meter)}, ensure_ascii=False, indent=1) + "\n"
    card = with_section(read_card(folder), "omissions", meter_section(meter))
    return amend(folder, {METER: text.encode(), CARD: card.encode()})


def measured_sections(translator: Translator) -> dict[str, str]:
    """The sections of the card that are stored beside it, by name, for a card that is written anew.

    Raises:
        CheckpointError: one is damaged, or of other weights.
    """
    table, meter = stored_arena(translator), stored_meter(translator)
    sections = {} if table is None else {"arena": arena_section(table)}
    return sections if meter is None else {**sections, "omissions": meter_section(meter)}


def arena_section(table: ArenaTable) -> str:
    """The part of a model card that says which attribution to believe, Markdown."""
    ranked = sorted(table.methods.items(), key=lambda item: -item[1].correlation)
    rows = [
        f"| {NAMES[name]} | {_with_range(judged.correlation, judged.correlation_range, '+.2f')} | "
        f"{_with_range(judged.lost, judged.lost_range, '.2f')} |"
        for name, judged in ranked
    ]
    told = (
        f"Over {table.sentences} sentences ({table.data}): Spearman correlation of each method's ranking of source "
        "words with occlusion, and the nats that a prediction loses when the method's "
        f"first 1 to {table.depth} words are deleted; 95% bootstrap intervals in parentheses."
    )
    head = ["| method | agreement with occlusion | nats lost by deletion |", "| --- | --- | --- |"]
    return "\n".join(["## Attribution methods", "", told, "", *head, *rows])


def _with_range(value: float, within: tuple[float, float], form: str) -> str:
    return f"{value:{form}} ({within[0]:{form}} to {within[1]:{form}})"


def meter_section(meter: Meter) -> str:
    """The part of a model card that says how good the omission meter is, Markdown."""
    sides = {"words left out": meter.source, "words invented": meter.target}
    names = list(meter.source.auroc or {})
    rows = [
        f"| {name} | " + " | ".join(f"{(judge.auroc or {})[name]:.3f}" for judge in sides.values()) + " |"
        for name in names
    ]
    told = (
        f"Measured on {meter.cases:,} constructed cases ({meter.data}): references with a word dropped, or a word "
        "added; half of them to fit, half to evaluate. "
    ) + " ".join(_rates(what, judge) for what, judge in sides.items())
    head = ["| signal, AUROC | words left out | words invented |", "| --- | --- | --- |"]
    return "\n".join(["## Omission meter", "", told, "", *head, *rows])


def _rates(what: str, judge: Judge) -> str:
    """What a mark is worth, in a sentence."""
    found, wrong = 100 * (judge.found or 0), 100 * (judge.wrong or 0)
    return f"It marks {found:.0f}% of {what} and {wrong:.1f}% of other words."
