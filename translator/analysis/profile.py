"""What each head of a checkpoint does over a corpus, measured once and stored with it.

The file `profile.json` of a checkpoint says for every head its role, the measures behind it (see `heads`), and for
cross-attention its alignment error rate, so that a page can say "L5H3: aligns". A role is what a head
mostly does on that corpus; one sentence may differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from translator.analysis.bench import Aligner, Bench
from translator.analysis.heads import HeadStats, describe, measures_of
from translator.analysis.interventions import Progress
from translator.analysis.passes import KINDS, head_counts
from translator.analysis.roles import ALIGNED_RATE, READINGS, Reading
from translator.analysis.sections import with_section
from translator.analysis.shards import gathering
from translator.analysis.stopping import Stop, ask
from translator.analysis.tally import NAMES, Tally, read_trace
from translator.checkpoints.bundle import CARD
from translator.checkpoints.destination import own_folder
from translator.checkpoints.manifest import MAX_SIDE_BYTES, is_listed, read_json
from translator.checkpoints.save import amend, read_card
from translator.errors import CheckpointError, InputError
from translator.pipeline import Translator
from translator.text.lines import read_lines

FORMAT_VERSION = 1
FILE = "profile.json"
SECTION = "heads"


@dataclass(frozen=True)
class Profile:
    """Heads over a corpus: `heads` of every kind, layer by layer; `data` names the corpus, `sentences` its size.

    `alignment` is what `align_bench` found, if it was run: rates by head among it.
    """

    checkpoint: str
    data: str
    sentences: int
    heads: dict[str, tuple[HeadStats, ...]]
    alignment: dict[str, Any] | None = None


def head_profile(
    translator: Translator,
    pairs: Iterable[tuple[str, str | None]],
    *,
    data: str,
    stop: Stop | None = None,
    progress: Progress | None = None,
) -> Profile:
    """Measure every head over a corpus; under `torchrun` each process takes its share, and all get the whole.

    Args:
        pairs: source and target texts; a target of None lets the model translate, greedily.
        data: what the corpus is called.
    Raises:
        InputError: a text is refused (the message names it by its number, from 1), or there is none.
        CancelledError: `stop` said so.
    """
    rows = list(pairs)
    if not rows:
        raise InputError(f"{data} holds no sentence; a profile needs at least one")
    tally = Tally()
    with gathering() as (rank, count, gather):
        if len(rows) < count:
            raise InputError(f"{data} holds {len(rows)} sentences for {count} processes; start fewer")
        for done, number in enumerate(range(rank, len(rows), count), start=1):
            ask(stop, "the head profile")
            tally.add(read_trace(translator, rows[number], number))
            if progress is not None:
                progress(min(done * count, len(rows)), len(rows))
        tally.merge(gather)
    return profile_of(translator, tally, data)


def profile_of(translator: Translator, tally: Tally, data: str) -> Profile:
    """The profile that the sums of a corpus called `data` come to."""
    heads = {kind: describe(tally.measures(kind), kind) for kind in KINDS}
    return Profile(translator.bundle.info.sha256, data, tally.sentences, heads)


def read_pairs(path: str | Path, limit: int | None = None) -> list[tuple[str, str | None]]:
    """Lines of a text file: source, or source, tab and target (what follows a second tab is not read).

    Raises:
        InputError: the file cannot be read, or a line is blank.
    """
    pairs: list[tuple[str, str | None]] = []
    for number, line in enumerate(islice(read_lines(path), limit), start=1):
        src, *rest = line.split("\t")
        if not src.strip():
            raise InputError(f"{path}, line {number}: there is no source text; remove the line")
        pairs.append((src, rest[0] if rest and rest[0].strip() else None))
    return pairs


def alignment_table(bench: Bench) -> dict[str, Any]:
    """What a profile says of alignment: plain numbers, heads `[L][H]` by raw weights, readings by name."""
    return {
        "set": bench.name,
        "sentences": bench.sentences,
        "heads": {"output": bench.heads[0].round(4).tolist(), "input": bench.heads[1].round(4).tolist()},
        "layers": {"output": bench.layers[0].round(4).tolist(), "input": bench.layers[1].round(4).tolist()},
        "best_head": {**asdict(bench.best_head), "name": bench.best_head.name, "rate": round(bench.best_rate, 4)},
        "best": {**asdict(bench.best), "name": bench.best.name, "rate": round(bench.rate, 4)},
        "ways": {name: round(rate, 4) for name, rate in bench.ways.items()},
    }


def best_aligner(profile: Profile, reading: Reading | None = None) -> Aligner | None:
    """The head that aligned best, of all or by one reading of its rows, if the bench was run."""
    if profile.alignment is None:
        return None
    if reading is not None:
        rates = np.array(profile.alignment["heads"][reading], dtype=np.float64)
        layer, head = np.unravel_index(int(rates.argmin()), rates.shape)
        return Aligner(layer=int(layer), head=int(head), reading=reading)
    known = {field.name for field in fields(Aligner)}
    return Aligner(**{name: value for name, value in profile.alignment["best_head"].items() if name in known})


def error_rates(profile: Profile) -> tuple[np.ndarray, np.ndarray] | None:
    """What the bench says of every cross head by its better reading, if it was run.

    Returns:
        rates [L, H], 0 the best, and indices into READINGS [L, H], integers: by which reading.
    """
    if profile.alignment is None:
        return None
    rates = np.array([profile.alignment["heads"][reading] for reading in READINGS], dtype=np.float64)
    return rates.min(axis=0), rates.argmin(axis=0)


def judged(profile: Profile) -> Profile:
    """The profile with every role by the present bars.

    Where the bench was run it says which cross heads align, by its better reading and with 1 - the error rate as their
    share; no other cross head has that role.
    """
    rates = error_rates(profile)
    heads = {kind: describe(measures_of(stats), kind, rates) for kind, stats in profile.heads.items()}
    if rates is not None:
        heads["cross"] = tuple(
            replace(each, role="aligns", share=1 - rates[0][at], reading=READINGS[rates[1][at]])
            if rates[0][at := (each.layer, each.head)] <= ALIGNED_RATE
            else each
            for each in heads["cross"]
        )
    return replace(profile, heads=heads)


def store(translator: Translator, profile: Profile) -> Path:
    """Write `profile` into the checkpoint's folder: profile.json, a section of its card, the manifest.

    Raises:
        CheckpointError: the checkpoint has no folder or is of another format, or other weights were profiled.
    """
    bundle = translator.bundle
    folder = own_folder(bundle)
    if profile.checkpoint != bundle.info.sha256:
        raise CheckpointError(f"the profile is of other weights than those of {bundle.info.name}; make it again")
    profile = judged(profile)
    text = json.dumps({"format": FORMAT_VERSION, **asdict(profile)}, ensure_ascii=False, separators=(",", ":")) + "\n"
    card = with_section(read_card(folder), SECTION, card_section(profile))
    return amend(folder, {FILE: text.encode(), CARD: card.encode()})


def stored_profile(translator: Translator) -> Profile | None:
    """The profile that was shipped with a checkpoint, or None.

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
            raise CheckpointError(f"{path} is of another format; run the command profile again")
        heads = {kind: tuple(HeadStats(**row) for row in rows) for kind, rows in data.pop("heads").items()}
        profile = Profile(heads=heads, **data)
        _read_through(profile, head_counts(translator.bundle.model))
        profile = judged(profile)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise CheckpointError(f"{path} is not a head profile: {error}; run the command profile again") from error
    if profile.checkpoint != translator.bundle.info.sha256:
        raise CheckpointError(f"{path} is of other weights; run the command profile again")
    return profile


def _read_through(profile: Profile, counts: dict[str, tuple[int, int]]) -> None:
    """Read what is read of a profile later; `counts` are the layers and heads of each kind.

    Raises:
        KeyError, TypeError, AttributeError, ValueError, IndexError: something is not there, or is something else.
    """
    for kind, count in counts.items():
        heads = profile.heads[kind]
        if [(head.layer, head.head) for head in heads] != list(np.ndindex(count)):
            raise ValueError(f"the {kind} heads are not {count}, layers by heads")
        _numbers([[getattr(head, name) for name in NAMES] for head in heads])
    best = best_aligner(profile)
    if profile.alignment is not None and best is not None:
        for reading in READINGS:
            rates = _numbers(profile.alignment["heads"][reading])
            if rates.shape != counts["cross"] or rates[best.layer, best.head].ndim:
                raise ValueError(f"the rates of {reading} are {rates.shape}, not one for each head")
    card_section(profile)


def _numbers(values: Any) -> np.ndarray:
    found = np.array(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise ValueError("a number is missing")
    return found


def card_section(profile: Profile) -> str:
    """The part of a model card that tells of the heads, Markdown."""
    lines = ["## What the heads do", "", f"Measured over {profile.sentences} sentences ({profile.data}).", ""]
    lines += ["| attention | " + " | ".join(roles := _roles(profile)) + " |", "|" + " --- |" * (len(roles) + 1)]
    for kind in KINDS:
        counts = [sum(head.role == role for head in profile.heads.get(kind, ())) for role in roles]
        lines.append(f"| {kind} | " + " | ".join(map(str, counts)) + " |")
    if profile.alignment is not None:
        lines += ["", _aligning(profile, profile.alignment)]
    return "\n".join(lines)


def _aligning(profile: Profile, table: dict[str, Any]) -> str:
    """The best head by the bench, and, if that reads, the best whose rows align the token they predict."""
    best, reading = table["best_head"], {"output": "predicts", "input": "reads"}
    told = (
        f"Word alignment against {table['sentences']} hand-aligned sentence pairs: the best head is "
        f"{best['name']} (rows belong to the token it {reading[best['reading']]}), alignment error rate "
        f"{best['rate']:.3f}; with bidirectional links only {table['ways']['both']:.3f}."
    )
    other = best_aligner(profile, "output")
    if best["reading"] == "output" or other is None:
        return told
    rate = table["heads"]["output"][other.layer][other.head]
    return f"{told} Of the token that a row predicts, {other.name} is the best, {rate:.3f}."


def _roles(profile: Profile) -> list[str]:
    return sorted({head.role for heads in profile.heads.values() for head in heads})
