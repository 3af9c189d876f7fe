"""The model card: rendering of data, training, scores and examples."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from translator.checkpoints.shelf import HUB_ID, pinned
from translator.config import ModelConfig, from_dict
from translator.model import Transformer
from translator.training.config import TrainConfig
from translator.training.evaluate import Evaluation

NAMES = {"de": "German", "en": "English", "zh": "Chinese"}
MISSING = "*To be written.*"


@dataclass(frozen=True)
class Card:
    """What a card tells. Sections left out read "To be written"; one that is "" is not there.

    `steps` were made and `hours` trained for, None where no log tells; `selection` says which weights these are;
    `evaluations` None: not scored yet; `corpora` holds name and pairs of each corpus; the sections from `data` on are
    Markdown. `licence` is the weights', as the Hugging Face hub writes it; None names none.
    """

    config: TrainConfig
    shape: ModelConfig
    parameters: int
    steps: int | None
    hours: float | None
    selection: str
    evaluations: Sequence[Evaluation] | None = None
    corpora: Sequence[tuple[str, int]] = ()
    data: str = MISSING
    licences: str = MISSING
    hardware: str = MISSING
    examples: str = MISSING
    weaknesses: str = MISSING
    licence: str | None = None


def own_card(config: TrainConfig, model: Transformer, records: Sequence[Mapping[str, Any]], selection: str) -> Card:
    """What a run itself can tell of its weights; `records` are its log's."""
    return Card(
        config=config,
        shape=model.config,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        steps=max((record["step"] for record in records), default=None),
        hours=max((record["hours"] for record in records if "hours" in record), default=None),
        selection=selection,
    )


def render(card: Card) -> str:
    """The card as Markdown with the YAML header that the Hugging Face hub reads."""
    src, tgt = (NAMES.get(code, code) for code in (card.config.src, card.config.tgt))
    sections = (
        ("Use", _use(card.config.name)),
        ("Model", _model(card)),
        ("Training", _training(card)),
        ("Data", "\n\n".join(filter(None, (card.data, _corpora(card.corpora))))),
        ("Licences and credits", card.licences),
        ("Scores", _scores(card.evaluations)),
        ("Examples", card.examples),
        ("Known weaknesses", card.weaknesses),
    )
    licence = "" if card.licence is None else f"license: {card.licence}\n"
    base, _ = pinned(card.config.base) if isinstance(card.config.base, str) else ("", None)
    parent = f"base_model: {base}\n" if HUB_ID.fullmatch(str(base)) else ""
    head = (
        f"---\nlanguage:\n- {card.config.src}\n- {card.config.tgt}\n{licence}{parent}"
        f"pipeline_tag: translation\n---\n\n# {card.config.name}: {src} to {tgt}\n\n"
        "A Transformer whose every attention weight can be inspected.\n"
    )
    return head + "".join(f"\n## {title}\n\n{text}\n" for title, text in sections if text)


def _use(name: str) -> str:
    return (
        "```python\nimport translator\n\n"
        f'trace = translator.load("{name}").translate("...")\n'
        "trace.translation, trace.encoder, trace.decoder, trace.cross\n```"
    )


def _model(card: Card) -> str:
    shape = card.shape
    rows = (
        ("parameters", f"{card.parameters:,}"),
        ("layers (encoder + decoder)", f"{shape.encoder_layers} + {shape.decoder_layers}"),
        ("heads (encoder, decoder)", f"{shape.encoder_heads}, {shape.decoder_heads}"),
        ("d_model, d_ff", f"{shape.d_model}, {shape.d_ff}"),
        ("layer norm", f"{shape.norm}-norm"),
        ("positions", shape.positions),
        ("vocabulary (source, target)", f"{shape.src_vocab:,}, {shape.tgt_vocab:,} ({_levels(card.config)})"),
        ("embeddings", shape.embeddings),
    )
    return table(("property", "value"), rows)


def _levels(config: TrainConfig) -> str:
    return ", ".join(dict.fromkeys((config.level, config.tgt_level or config.level)))


def lineage(config: TrainConfig) -> list[TrainConfig]:
    """The runs that the weights have gone through, the first one first."""
    runs = [config]
    while (first := runs[0].first()) is not None:
        runs.insert(0, first)
    return runs


def _training(card: Card) -> str:
    runs = lineage(card.config)
    asked = sum(run.steps for run in runs)
    begun = runs[0].base if isinstance(runs[0].base, str) else None

    def each(tell: Callable[[TrainConfig], str]) -> str:
        """What is told of every run; once where it is the same of all."""
        told = [tell(run) for run in runs]
        return "; ".join(told if len(set(told)) > 1 else told[:1])

    taught = [
        f"run {number}: translations by the previous weights with at least {run.self_training:g} nats per token"
        + (f", and the most confident {run.self_training_share:.0%} of each length" if run.self_training_share else "")
        + (
            f", of at least {run.self_training_length:g} target tokens per source token"
            if run.self_training_length
            else ""
        )
        for number, run in enumerate(runs, start=1)
        if run.self_training is not None
    ]
    backwards = [
        f"run {number}: target sentences translated back by a run of {other.steps:,} steps"
        for number, run in enumerate(runs, start=1)
        if (other := run.other_way()) is not None
    ]
    rows = (
        ("steps", f"{'not logged,' if card.steps is None else f'{card.steps:,}'} of {asked:,}"),
        *([("begun with", f"`{begun}`")] if begun else []),
        ("grown", "; ".join(map(_run, runs)) if len(runs) > 1 or begun else "no: one depth from the start"),
        ("batch", each(_batch)),
        ("time", "not logged" if card.hours is None else f"{card.hours:.1f} hours"),
        ("hardware", card.hardware),
        ("schedule", "; ".join(map(_schedule, runs))),
        ("dropout", each(lambda run: f"{_shape(run).dropout:g}")),
        ("label smoothing", each(lambda run: f"{run.label_smoothing:g}")),
        ("BPE-dropout", each(lambda run: f"{run.bpe_dropout:g}")),
        *([("self-training", "; ".join(taught))] if taught else []),
        *([("back-translation", "; ".join(backwards))] if backwards else []),
        *([("R-Drop", each(lambda run: f"{run.r_drop:g}"))] if any(run.r_drop for run in runs) else []),
        *([("guided alignment", each(_guided))] if any(run.guiding for run in runs) else []),
        ("seed", each(lambda run: str(run.seed))),
        ("weights", card.selection),
    )
    logged = "The run's settings are in `train.json`" + ("" if card.steps is None else ", its numbers in `log.jsonl`")
    return f"{table(('setting', 'value'), rows)}\n\n{logged}."


def _guided(run: TrainConfig) -> str:
    if run.guiding is None:
        return "none"
    guided, guiding = (f"L{layer + 1}H{head + 1}" for layer, head in run.guiding)
    return f"{guided} by {guiding}, weight {run.guided:g}"


def _batch(run: TrainConfig) -> str:
    return f"{run.batch_tokens * run.accumulate:,} tokens of the longer side, including padding"


def _schedule(run: TrainConfig) -> str:
    rate = "factor" if run.schedule == "noam" else "rate"  # Noam's rate follows from the width
    return f"{run.schedule}, {rate} {run.lr:g}, {run.warmup:,} steps of warm-up"


def _run(run: TrainConfig) -> str:
    shape = _shape(run)
    return f"{run.steps:,} steps at {shape.encoder_layers} + {shape.decoder_layers} layers"


def _shape(run: TrainConfig) -> ModelConfig:
    return from_dict(ModelConfig, {"src_vocab": run.vocab, "tgt_vocab": run.vocab, **(run.model or {})})


def _corpora(corpora: Sequence[tuple[str, int]]) -> str:
    return table(("corpus", "pairs"), [(name, f"{pairs:,}") for name, pairs in corpora]) if corpora else ""


def _scores(evaluations: Sequence[Evaluation] | None) -> str:
    if evaluations is None:
        return MISSING
    if not evaluations:
        return "None: there was no test file."
    rows = [
        (
            one.name,
            f"{one.score.bleu:.1f}",
            f"{one.score.chrf:.1f}",
            f"{one.sources:,}",
            str(len(one.refused)),
            str(one.looping),
            f"{one.sentences_per_second:.1f}",
        )
        for one in evaluations
    ]
    signatures = sorted({sign for one in evaluations for sign in (one.score.bleu_signature, one.score.chrf_signature)})
    head = ("test", "BLEU", "chrF", "sources", "refused", "looping", "sentences/s")
    return table(head, rows) + "\n\nSignatures: " + ", ".join(f"`{sign}`" for sign in signatures)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; nothing in a cell ends it or its row."""
    lines = [head, ["---"] * len(head), *([" ".join(cell.split()).replace("|", "&#124;") for cell in r] for r in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def verbatim(text: str) -> str:
    """`text` so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_\[\]~])", r"\\\1", html.escape(text, quote=False))
