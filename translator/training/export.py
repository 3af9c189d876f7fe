"""From a run to a checkpoint: the best candidate on the whole development set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from translator.checkpoints import save_bundle
from translator.checkpoints.bundle import CONFIG
from translator.checkpoints.destination import free_folder
from translator.checkpoints.manifest import read_json
from translator.checkpoints.save import read_card
from translator.config import DecodeConfig, from_dict, to_json
from translator.errors import InputError
from translator.model import Transformer
from translator.text import load_tokenizer
from translator.training.card import MISSING, own_card, render
from translator.training.claim import read_config
from translator.training.data import Pair
from translator.training.development import development
from translator.training.run import model_config
from translator.training.selection import BASE, select
from translator.training.state import read_log


@dataclass(frozen=True)
class Exported:
    """Which weights became the checkpoint, and what each candidate scored on the development set."""

    folder: Path
    chosen: str
    scores: Mapping[str, Mapping[str, float]]


def export(run: Path, dev: Mapping[str, Sequence[Pair]], out: Path, *, device: torch.device) -> Exported:
    """Make `out` a checkpoint of the weights that the run has kept; nothing is written into `run`, which may go on.

    The decoding settings that `out` has already are kept and translate the development set (else those of the
    checkpoint that the run began with, else greedy search); so is its model card if it is finished.

    Raises:
        CheckpointError: the run has no weights yet, or its files do not fit each other.
        InputError: `out` is or holds something else than a checkpoint of ours.
        TranslatorError: `out` could not be written; what was there is untouched.
    """
    out = free_folder(out)
    config = read_config(run / "train.json")
    src, tgt = load_tokenizer(run / "src.json"), load_tokenizer(run / "tgt.json")
    model = Transformer(model_config(config, src, tgt)).to(device).eval()
    card, decode = _former(out, run)
    found = select(model, run, config, development(model.config, dev, src, tgt, decode=decode))
    model.load_state_dict(found.weights)
    how = f"beam {decode.beam}" if decode.method == "beam" else decode.method
    selection = f"{found.chosen}, dev BLEU {found.scores[found.chosen]['bleu']:.1f} ({how})"
    records = history(run)
    save_bundle(
        out,
        model=model,
        src=src,
        tgt=tgt,
        name=config.name,
        card=card or render(own_card(config, model, records, selection)),
        decode=decode,
        extra={
            "log.jsonl": "".join(json.dumps(record) + "\n" for record in records).encode(),
            "train.json": to_json(config).encode(),
        },
    )
    return Exported(out, found.chosen, found.scores)


def history(run: Path) -> list[dict[str, Any]]:
    """The log of a run behind those of the runs it came from, steps and hours counted on."""
    before = history(run / BASE) if (run / BASE).is_dir() else []
    steps = max((record["step"] for record in before), default=0)
    hours = max((record.get("hours", 0.0) for record in before), default=0.0)
    for record in read_log(run / "log.jsonl"):
        worked = {"hours": record["hours"] + hours} if "hours" in record else {}
        before.append({**record, "step": record["step"] + steps, **worked})
    return before


def _former(out: Path, run: Path) -> tuple[str, DecodeConfig]:
    """The model card ("" for none) and the decoding settings of the checkpoint that `out` is until now.

    Where it is none yet, the settings are those of the checkpoint that the run began with, if any.
    """
    text = read_card(out)
    if MISSING in text:  # an earlier export wrote it, and its numbers are that export's
        text = ""
    folder = next((each for each in (out, run / BASE) if (each / CONFIG).exists()), None)
    if folder is None:
        return text, DecodeConfig()
    try:
        return text, from_dict(DecodeConfig, read_json(folder / CONFIG, 2**20).get("decode", {}))
    except (InputError, TypeError) as error:
        raise InputError(f"{folder / CONFIG}: {error}; mend it or remove {folder}") from error
