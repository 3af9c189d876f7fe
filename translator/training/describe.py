"""Measuring a checkpoint and writing its model card."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sacrebleu.metrics import CHRF

from translator.analysis.measured import measured_sections
from translator.analysis.profile import SECTION, card_section, stored_profile
from translator.analysis.sections import with_section
from translator.checkpoints.bundle import CARD, check_licence
from translator.checkpoints.destination import own_folder
from translator.checkpoints.save import amend
from translator.errors import InputError
from translator.pipeline import Translator
from translator.resources import resources
from translator.text.lines import read_lines
from translator.training import adequacy
from translator.training.adequacy import adequacy_path, judge, read_adequacy
from translator.training.back_translation import CORPUS as BACK
from translator.training.card import lineage, own_card, render, table, verbatim
from translator.training.claim import read_config
from translator.training.config import TrainConfig
from translator.training.data import find_split, grouped, read_pairs
from translator.training.evaluate import Evaluation, evaluate
from translator.training.self_training import CORPUS
from translator.training.state import read_log

ASSETS = resources("assets")
QUOTABLE = "test"
"""The only test file whose sentences a card shows; what others hold may not be spread."""
FEW = 5
"""Sentences that are shown by chance, and as many of the worst."""


def describe(
    translator: Translator,
    data: Path,
    *,
    hardware: str,
    selection: str,
    licence: str,
    weaknesses: str = "",
) -> list[Evaluation]:
    """Evaluate a trained checkpoint on every test file in `data` and write its card; returns the scores.

    Args:
        licence: of the weights, as the Hugging Face hub writes it.
        weaknesses: what is known of them, Markdown.
    Raises:
        InputError: the checkpoint says of no training, `data` has no training file, or a corpus that was learnt from
            has no credits in assets/credits.json.
        CheckpointError: the checkpoint may not be written to, or its log or its profile is damaged.
    """
    folder = own_folder(translator.bundle)
    if not (folder / "train.json").is_file():
        raise InputError(f"{folder} has no train.json; only a checkpoint that `train` made can be described")
    check_licence(licence)
    config = read_config(folder / "train.json")
    records = read_log(folder / "log.jsonl")
    profile = stored_profile(translator)
    sections = {} if profile is None else {SECTION: card_section(profile)}
    sections |= measured_sections(translator)
    sections |= adequacy_section(translator)
    pairs = Counter(pair.corpus for pair in read_pairs(find_split(data, "train")))
    pairs[CORPUS] += sum(record.get("self_training_pairs", 0) for record in records)
    pairs[BACK] += sum(record.get("back_translation_pairs", 0) for record in records)
    corpora = _learnt(config, +pairs)
    licences = _credits(list(corpora), licence, config)  # refused before the long part
    before = f" See the card of `{config.base}` for its own training data." if isinstance(config.base, str) else ""
    evaluations = [
        evaluate(translator, read_pairs(path), name, method="beam") for name, path in _tests(data, config).items()
    ]
    card = render(
        replace(
            own_card(config, translator.bundle.model, records, selection),
            evaluations=evaluations,
            corpora=sorted(corpora.items(), key=lambda item: -item[1]),
            data="`corpora` in `train.json` says how often each corpus is used per epoch; the default is once."
            + before,
            licences=licences,
            hardware=hardware,
            examples="\n\n".join(filter(None, (_chosen(evaluations, data), _newcomers(translator)))),
            weaknesses=weaknesses.strip(),
            licence=licence,
        )
    )
    for name, section in sections.items():
        card = with_section(card, name, section)
    amend(folder, {CARD: card.encode()})
    return evaluations


def adequacy_section(translator: Translator) -> dict[str, str]:
    """The card's section on what of the sentences of `assets/adequacy` arrives; none where the languages have none."""
    sentences = read_adequacy(adequacy_path(*translator.languages))
    if not sentences:
        return {}
    texts = translator.translate_batch([sentence.source for sentence in sentences], method="beam")
    return {adequacy.SECTION: adequacy.card_section(judge(sentences, texts, translator.languages[1]))}


def _learnt(config: TrainConfig, pairs: Mapping[str, int]) -> dict[str, int]:
    """The pairs of each corpus that any of the runs let take part."""
    weights = [run.corpora or {} for run in lineage(config)]
    return {name: count for name, count in pairs.items() if any(each.get(name, 1) > 0 for each in weights)}


def _tests(data: Path, config: TrainConfig) -> dict[str, Path]:
    """The test files of a data folder by name, each gzipped or not."""
    files = (*data.glob("[!.]*.tsv"), *data.glob("[!.]*.tsv.gz"))
    names = {path.name.removesuffix(".gz").removesuffix(".tsv") for path in files}
    return {name: find_split(data, name) for name in sorted(names - {"train", "dev", *config.dev})}


def _credits(corpora: Sequence[str], licence: str, config: TrainConfig) -> str:
    """What the licences of the training text ask to be said."""
    credits = json.loads((ASSETS / "credits.json").read_text(encoding="utf-8"))
    lines = [f"The weights are under {licence}. They were trained on:", ""]
    for name in sorted(corpora):
        made = name in (CORPUS, BACK)  # each pair translates other sentences
        known = f"{name}-{config.src}-{config.tgt}" if made else name
        entry: Mapping[str, Any] = credits.get(known, {})
        missing = [key for key in ("what", "licence", "credit") if key not in entry]
        if missing:
            said = f"corpus {known!r} has no {', '.join(missing)} in assets/credits.json"
            raise InputError(f"{said}; add an entry with its licence and credit")
        lines.append(f"- **{name}**: {entry['what']}. {entry['licence']}. Credit: {entry['credit']}.")
    longest = max(run.max_tokens for run in lineage(config))
    changed = f"All texts were changed: they were normalised, and pairs of more than {longest} tokens a side removed."
    if isinstance(config.base, str):
        changed += f" Training started from `{config.base}`, whose licence and credits apply as well."
    return "\n".join([*lines, "", changed])


def _chosen(evaluations: Sequence[Evaluation], data: Path) -> str:
    """A few of the test that may be quoted, drawn at random, and a few of those that scored worst."""
    found = next((one for one in evaluations if one.name == QUOTABLE), None)
    if found is None:
        return ""
    sources, references = grouped(read_pairs(find_split(data, QUOTABLE)))
    chrf = CHRF()
    scores = [chrf.sentence_score(h, r).score for h, r in zip(found.hypotheses, references, strict=True)]
    draw = random.Random(0)
    blind = draw.sample(range(len(sources)), min(FEW, len(sources)))
    worst = [i for i in sorted(range(len(sources)), key=scores.__getitem__) if i not in blind]
    worst = worst[: max(FEW, len(sources) // 10)]
    low = draw.sample(worst, min(FEW, len(worst)))
    rows = [[verbatim(text) for text in (sources[i], found.hypotheses[i], references[i][0])] for i in (*blind, *low)]
    also = f", then {len(low)} of the other {len(worst)} with the lowest chrF" if low else ""
    head = f"Of the {len(sources)} sources of `{QUOTABLE}`, {len(blind)} drawn at random{also}:"
    return f"{head}\n\n{table(('source', 'translation', 'a reference'), rows)}"


def _newcomers(translator: Translator) -> str:
    """All the sentences that a newcomer might type, written before the shipped models and never tuned on."""
    path = ASSETS / "newcomers" / f"{'-'.join(translator.languages)}.txt"
    if not path.exists():
        return ""
    sources = list(read_lines(path))
    texts = translator.translate_batch(sources, refused=lambda *_: None, method="beam")
    rows = [[verbatim(source), verbatim(text)] for source, text in zip(sources, texts, strict=True)]
    head = f"All {len(rows)} sentences of `assets/newcomers/{path.name}`:"
    return f"{head}\n\n{table(('source', 'translation'), rows)}"
