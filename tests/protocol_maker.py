"""The messages in `tests/protocol`, one of each kind, as the server makes them with the tiny checkpoint in `fixed`.

The server's tests make both anew and compare; the front end's tests read them. After a change of the protocol:
`python tests/protocol_maker.py` writes them again.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from checkpoint_maker import tiny_model, tokenizers

from translator.checkpoints import save_bundle
from translator.config import DecodeConfig
from translator.trace import Trace
from translator.ui import lab_tab, lesson_tab, session, translate_tab
from translator.ui.models import Models

FOLDER = Path(__file__).parent / "protocol"
TEXT, DIRECTION = "Guten Morgen!", "de-en"
SETTINGS = {"method": "beam", "beam": 2, "max_length": 5, "candidates": 3}
FORCED = "I run in."
CHECKPOINT = ("config.json", "src.json", "tgt.json", "model.safetensors")
"""What of the checkpoint a page reads, stored in `FOLDER / "fixed"`."""


def fixed_models(folder: Path) -> Models:
    """A checkpoint whose weights come from NumPy's frozen generator: the same with every version of PyTorch."""
    src, tgt = tokenizers()
    bytes_ = [id_ for id_ in range(len(tgt)) if tgt.token(id_).surface.startswith("<0x")]  # words are read more easily
    model = tiny_model(len(src), len(tgt), banned_ids=(tgt.pad_id, tgt.start_id, *bytes_))
    draw = np.random.RandomState(7)
    with torch.no_grad():
        for weights in model.parameters():
            values = draw.standard_normal(tuple(weights.shape)) * (0.5 if weights.dim() > 1 else 0.1)
            weights.copy_(torch.from_numpy(values + (weights.dim() == 1)))
    saved = save_bundle(
        folder / "fixed", model=model, src=src, tgt=tgt, name="fixed", card="# Fixed\n", decode=DecodeConfig()
    )
    return Models({DIRECTION: saved}, device="cpu")


def messages(models: Models) -> dict[str, Any]:
    """Every message by its name; `numbers` are the maps of the translation in `trace` as the model gave them, `forced`
    those of FORCED, with the log-probability of each of its ids and what is told of its heads and words."""
    told = list(session._messages(models, DIRECTION, TEXT, SETTINGS, lambda: False, 0.0))  # every step
    asked: dict[str, Any] = {"text": TEXT, "direction": DIRECTION}
    tabs = (translate_tab, lab_tab, lesson_tab)
    ask = {each.__name__: each for tab in tabs for each in tab.server_functions(models)}
    trace = session.trace_of(models, TEXT, DIRECTION, SETTINGS)
    forced = models.get(DIRECTION).force(TEXT, FORCED)
    told_of = session.payload_of(models.get(DIRECTION), forced)
    edit = {"view": "edit", "options": {"step": 1, "choice": "The"}}
    return {
        "step": told[1],
        "trace": told[-1],
        "numbers": _maps(trace),
        "forced": {
            "ids": [token.id for token in forced.tgt],
            "log_probs": [round(float(value), 6) for value in forced.log_probs],
            **_maps(forced),
            "told": {name: told_of[name] for name in ("heads", "leading", "words")},
        },
        "error": next(session.translate_stream(models, " ", DIRECTION, {})),
        "inspect": ask["inspect"](asked),
        "lab_board": ask["lab_board"]({**asked, "kind": "cross"}),
        "lab_switch": ask["lab_switch"]({**asked, "gates": {"cross": [[1, 0], [1, 1]]}}),
        "lab_ask": ask["lab_ask"]({**asked, **edit}),
        "refusal": ask["lab_ask"]({**asked, **edit, "options": {"step": 99}}),
        "station": ask["station"]({**asked, "station": "choice", "options": {}, "view": ""}),
    }


def _maps(trace: Trace) -> dict[str, Any]:
    return {kind: _numbers(trace.weights(kind)) for kind in ("encoder", "decoder", "cross")}


def _numbers(weights: np.ndarray) -> dict[str, Any]:
    return {"shape": list(weights.shape), "values": [round(float(value), 6) for value in weights.ravel()]}


def main() -> None:
    """Write them all, and the checkpoint."""
    (FOLDER / "fixed").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        models = fixed_models(Path(folder))
        for name in CHECKPOINT:
            shutil.copyfile(Path(folder) / "fixed" / name, FOLDER / "fixed" / name)
        for name, message in messages(models).items():
            text = json.dumps(message, ensure_ascii=False, indent=1)
            (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
