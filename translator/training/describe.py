"""A finished model card: everything in it is measured or read when it is written."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sacrebleu.metrics import CHRF

from translator.checkpoints.bundle import CARD
from translator.checkpoints.manifest import seal
from translator.errors import InputError
from translator.pipeline import Translator
from translator.training.card import Card, render
from translator.training.data import Pair, find_split, grouped, read_pairs
from translator.training.evaluate import Evaluation, evaluate
from translator.training.run import read_config
from translator.training.state import read_log

ASSETS = Path(__file__).resolve().parents[2] / "assets"
QUOTABLE = "test"
"""The only test file whose sentences a card may show: Tatoeba's are CC-BY, news and captions may not be spread."""


def describe(
    translator: Translator, folder: Path | None, data: Path, *, hardware: str, selection: str
) -> list[Evaluation]:
    """Evaluate the checkpoint in `folder` on every test file in `data` and write its card; returns the scores.

    Raises:
        InputError: `data` has no training file, or a corpus in it has no credits in assets/credits.json.
    """
    if folder is None:
        raise InputError("this checkpoint is no folder, so there is no card to write; load it from one")
    config = read_config(folder / "train.json")
    records = read_log(folder / "log.jsonl")
    corpora = Counter(pair.corpus for pair in read_pairs(find_split(data, "train")))
    licences = _credits(list(corpora))  # refused before the long part
    tests = sorted(path for path in data.glob("*.tsv*") if path.name.split(".")[0] not in ("train", "dev"))
    evaluations = [evaluate(translator, read_pairs(path), path.name.split(".")[0], method="beam") for path in tests]
    weaknesses = ASSETS / "weaknesses" / f"{config.name}.md"
    model = translator.bundle.model
    card = Card(
        config=config,
        shape=model.config,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        steps=max(record["step"] for record in records),
        hours=max(record.get("hours", 0.0) for record in records),
        selection=selection,
        evaluations=evaluations,
        corpora=sorted(corpora.items(), key=lambda item: -item[1]),
        data="Openly licensed corpora only, weighted as `train.json` says; all texts were normalised and filtered.",
        licences=licences,
        hardware=hardware,
        examples="\n\n".join((*_chosen(evaluations, data), _newcomers(translator, config.name))),
        weaknesses=weaknesses.read_text(encoding="utf-8").strip() if weaknesses.exists() else "",
    )
    (folder / CARD).write_text(render(card), encoding="utf-8")
    seal(folder)
    return evaluations


def _credits(corpora: Sequence[str]) -> str:
    """What the licences of the training text ask to be said."""
    credits = json.loads((ASSETS / "credits.json").read_text(encoding="utf-8"))
    lines = ["The weights are under CC-BY-SA 4.0. They were learnt from:", ""]
    for name in sorted(corpora):
        if name not in credits:
            raise InputError(f"corpus {name!r} has no entry in assets/credits.json; add its licence and credit")
        entry = credits[name]
        lines.append(f"- **{name}**: {entry['what']}. {entry['licence']}. Credit: {entry['credit']}.")
    return "\n".join([*lines, "", "All texts were changed (normalised, split into sentences, filtered)."])


def _chosen(evaluations: Sequence[Evaluation], data: Path) -> list[str]:
    """Ten of the Tatoeba test: five drawn blindly, five from the tenth that scored worst."""
    found = [one for one in evaluations if one.name == QUOTABLE]
    if not found:
        return []
    pairs: list[Pair] = read_pairs(find_split(data, QUOTABLE))
    sources, references = grouped(pairs)
    chrf = CHRF()
    scores = [chrf.sentence_score(h, r).score for h, r in zip(found[0].hypotheses, references, strict=True)]
    worst = sorted(range(len(sources)), key=scores.__getitem__)[: max(5, len(sources) // 10)]
    draw = random.Random(0)
    rows = [*draw.sample(range(len(sources)), 5), *draw.sample(worst, 5)]
    table = ["| source | translation | a reference |", "| --- | --- | --- |"]
    table += [f"| {sources[i]} | {found[0].hypotheses[i]} | {references[i][0]} |" for i in rows]
    return ["Ten of the Tatoeba test, five drawn blindly and five from the worst tenth:", "\n".join(table)]


def _newcomers(translator: Translator, name: str) -> str:
    """All the sentences that a newcomer might type, written before training and never tuned on."""
    path = ASSETS / "newcomers" / f"{name}.txt"
    if not path.exists():
        return ""
    sources = path.read_text(encoding="utf-8").splitlines()
    texts = translator.translate_batch(sources, method="beam")
    rows = [f"| {source} | {text} |" for source, text in zip(sources, texts, strict=True)]
    head = f"The {len(rows)} sentences of `assets/newcomers/{path.name}`, written before training:"
    return "\n".join([head, "", "| source | translation |", "| --- | --- |", *rows])
