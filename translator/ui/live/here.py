"""What a browser needs to compute a served page's translations itself: engine, worker, and a checkpoint's files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from translator.errors import CheckpointError
from translator.ui.live.casing import casing_file
from translator.ui.live.languages import told_apart
from translator.ui.live.published import Published
from translator.ui.offline import offline_shell

if TYPE_CHECKING:
    from translator.pipeline import Translator


def files_here(published: Published, direction: str, model: Translator, names: Sequence[str] = ()) -> dict[str, Any]:
    """Publish what `model` is computed with in a browser.

    Args:
        names: every direction of the page, of which one may suit a text better.
    Returns:
        "manifest" as an exported site has it, with this checkpoint alone; "size", the bytes of all its files;
        "worker" and "shell", the addresses of the worker and of the offline page's shell. Or "uncovered", a sentence:
        the checkpoint is none that a browser computes.
    """
    from translator.ui.live.site import CHECKPOINT, ENGINES, LIVE, MANIFEST_VERSION, check, profile_of  # brings torch

    try:
        folder = check(model)
    except CheckpointError as error:
        return {"uncovered": str(error)}
    known = {CHECKPOINT["weights"]: model.bundle.info.sha256}
    found = {part: published.put(name, folder / name, known.get(name)) for part, name in CHECKPOINT.items()}
    if profile := profile_of(model):
        found["profile"] = published.put("profile.json", json.dumps(profile, ensure_ascii=False).encode())
    if file := casing_file(model):
        found["casing"] = published.put("casing.json.gz", file)
    if "zh" in model.languages:
        found["chinese"] = published.put("chinese.json.gz", _chinese())
    if file := told_apart(model.languages[:1], names):
        found["languages"] = published.put("languages.json.gz", file)
    engines = {part: published.put(name, LIVE / name) for part, name in ENGINES.items()}
    manifest = {"version": MANIFEST_VERSION, **engines, "directions": list(names)}
    return {
        "manifest": {**manifest, "checkpoints": {direction: found}},
        "size": sum(entry["size"] for entry in found.values()),
        "worker": published.put("worker.js", LIVE / "worker.js")["path"],
        "shell": published.put("offline.html", _shell())["path"],
    }


@cache
def _chinese() -> bytes:
    from translator.ui.live.chinese import chinese_file

    return chinese_file()


@cache
def _shell() -> bytes:
    return offline_shell().encode()
