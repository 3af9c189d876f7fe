"""Whether the live page computes what Python computes: ids, the eight best, maps, tokens.

The page's own code answers in Node, from the files that a browser loads.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from translator import Translator
from translator.analysis.interventions import make_gates
from translator.ui.live.casing import casing_file
from translator.ui.live.chinese import chinese_file
from translator.ui.live.site import ENGINES, LIVE

HERE = Path(__file__).parent
TIE = 1e-4
"""Nats between two totals below which two orders of the same sums may choose differently."""
KINDS = ("encoder", "decoder", "cross")
SETTINGS: dict[str, dict[str, Any]] = {"greedy": {"method": "greedy"}, "beam": {"method": "beam", "beam": 4}}


@contextmanager
def _laid_out(model: Translator) -> Iterator[Path]:
    """A folder with a checkpoint's files and the engine, as a site has them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "checkpoints" / "one"
        folder.mkdir(parents=True)
        for name in ("config.json", "src.json", "tgt.json", "model.safetensors"):
            (folder / name).symlink_to((model.bundle.folder or Path()) / name)
        none = gzip.compress(b'{"language": "", "words": ""}')
        (folder / "casing.json.gz").write_bytes(casing_file(model) or none)
        for name in ENGINES.values():
            (Path(place) / name).write_bytes((LIVE / name).read_bytes())
        yield folder


def _answers(ask: str, **task: Any) -> Any:
    """What `live_answers.mjs` answers."""
    node = [shutil.which("node") or "node", "--no-warnings", str(HERE / "live_answers.mjs")]
    asked = json.dumps({"ask": ask, "live": LIVE.as_uri(), **task})
    return json.loads(subprocess.run(node, input=asked, capture_output=True, text=True, check=True).stdout)


def ids(model: Translator, texts: Sequence[str]) -> dict[str, int]:
    """How many texts have Python's ids, by greedy search and a beam of 4, and steps its best eight; and what is no tie.

    A list differs by a tie where each of its places holds the same log-probability within TIE.
    """
    with _laid_out(model) as folder:
        found = _answers("ids", folder=str(folder), texts=list(texts), settings=SETTINGS)
    counts = {"sentences": len(texts), "greedy": 0, "beam": 0, "steps": 0, "lists": 0, "no tie": 0}
    for name, asked in SETTINGS.items():
        for text, answer in zip(texts, found[name], strict=True):
            trace = model.translate(text, **asked)
            if [token.id for token in trace.tgt] != answer["ids"]:
                counts["no tie"] += not _tie(model, text, asked, answer["ids"])
                continue
            counts[name] += 1
            if name != "greedy":
                continue
            for step, theirs in zip(trace.steps, answer["best"], strict=True):
                own = [(each.token.id, each.log_prob) for each in step.candidates]
                same = [id_ for id_, _ in own] == [id_ for id_, _ in theirs]
                counts["steps"] += 1
                counts["lists"] += same
                near = all(abs(a - b) < TIE for (_, a), (_, b) in zip(own, theirs, strict=True))
                counts["no tie"] += not (same or near)
    return counts


def _tie(model: Translator, text: str, settings: dict[str, Any], other_ids: list[int]) -> bool:
    """Whether Python finds the other translation as good, within TIE."""
    own, other = model.translate(text, **settings), model.force(text, other_ids)
    return abs(own.score / len(own.tgt) - other.score / len(other.tgt)) < TIE


def maps(model: Translator, texts: Sequence[str], *, gated: bool) -> dict[str, float]:
    """How many texts have Python's ids by greedy search, and the worst cell of every map of those.

    `gated`: each head of each attention has a factor from 0 to 1 of its own.
    """
    counts = model.bundle.model.config.head_counts
    draw = np.random.default_rng(0)
    values = {kind: draw.random(counts[kind]) for kind in KINDS} if gated else {}
    gates = make_gates(model.bundle.model, values) if gated else None
    same, worst = 0, 0.0
    with _laid_out(model) as folder:
        out = folder / "maps"
        flat = {kind: each.ravel().tolist() for kind, each in values.items()}
        task = {"folder": str(folder), "texts": list(texts), "settings": SETTINGS["greedy"], "out": str(out)}
        found = _answers("maps", **task, gates=flat)
        theirs = np.fromfile(out, "<f4")
    at = 0
    for text, other_ids in zip(texts, found, strict=True):
        trace = model.translate(text, method="greedy", gates=gates)
        S, T = len(trace.src), len(other_ids)
        sizes = [int(np.prod(counts[kind])) * rows for kind, rows in zip(KINDS, (S * S, T * T, T * S), strict=True)]
        if [token.id for token in trace.tgt] == other_ids:
            same += 1
            own = np.concatenate([trace.weights(kind).ravel() for kind in KINDS])
            worst = max(worst, float(np.abs(own - theirs[at : at + sum(sizes)]).max()))
        at += sum(sizes)
    if at != len(theirs):
        raise RuntimeError("the maps that came are of other sizes")
    return {"sentences": len(texts), "same ids": same, "worst cell": worst}


def tokens(model: Translator, side: str, lines: Sequence[str], count: int) -> dict[str, int]:
    """How many of the lines, and of `count` random strings, have Python's ids in the vocabulary "src" or "tgt"."""
    tokenizer = getattr(model.bundle, side)
    strange = list(random_texts(count))
    with tempfile.TemporaryDirectory() as place:
        chinese = Path(place) / "chinese.json.gz"
        chinese.write_bytes(chinese_file())
        file = (model.bundle.folder or Path()) / f"{side}.json"
        casing = casing_file(model) if side == "src" else None
        packed = base64.b64encode(casing or b"").decode()
        found = _answers("tokens", file=str(file), chinese=str(chinese), texts=[*lines, *strange], casing=packed)
    same = [tokenizer.ids(text) == ids for text, ids in zip([*lines, *strange], found, strict=True)]
    own = same[: len(lines)]
    return {"lines": len(own), "equal": sum(own), "strings": count, "equal strings": sum(same[len(own) :])}


def random_texts(count: int) -> Iterator[str]:
    """Strings of 1 to 24 characters from all of Unicode, half of them from one script's neighbourhood."""
    draw = random.Random(0)
    for _ in range(count):
        start = draw.randrange(0x110000 - 200)
        codes = (
            draw.choice((draw.randrange(0x110000), start + draw.randrange(200))) for _ in range(draw.randint(1, 24))
        )
        yield "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
