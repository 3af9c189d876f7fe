"""The model card that goes with a checkpoint: what it was trained on, for how long, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from translator.config import ModelConfig, TrainConfig, from_dict
from translator.training.evaluate import Evaluation

NAMES = {"de": "German", "en": "English", "zh": "Chinese"}
MISSING = "*To be written.*"


@dataclass(frozen=True)
class Card:
    """What a card tells. Sections left out read "To be written".

    `hours` were trained for; `selection` says which weights these are;
    `corpora` holds name and pairs of each corpus; the sections from `data` on are Markdown.
    """

    config: TrainConfig
    shape: ModelConfig
    parameters: int
    steps: int
    hours: float
    selection: str
    evaluations: Sequence[Evaluation] = ()
    corpora: Sequence[tuple[str, int]] = ()
    data: str = MISSING
    licences: str = MISSING
    hardware: str = MISSING
    examples: str = MISSING
    weaknesses: str = MISSING
    licence: str = "cc-by-sa-4.0"


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
    head = (
        f"---\nlanguage:\n- {card.config.src}\n- {card.config.tgt}\nlicense: {card.licence}\n"
        f"pipeline_tag: translation\n---\n\n# {card.config.name}: {src} to {tgt}\n\n"
        "A small Transformer whose attention is meant to be looked at.\n"
    )
    return head + "".join(f"\n## {title}\n\n{text}\n" for title, text in sections)


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
        ("vocabulary (source, target)", f"{shape.src_vocab:,}, {shape.tgt_vocab:,} ({card.config.level})"),
        ("embeddings", shape.embeddings),
    )
    return _table(("", ""), rows)


def _training(card: Card) -> str:
    config = card.config
    runs = [config]
    while (first := runs[0].first()) is not None:
        runs.insert(0, first)
    rows = (
        ("steps", f"{card.steps:,} of {sum(run.steps for run in runs):,}"),
        ("grown", "; ".join(_run(run) for run in runs) if len(runs) > 1 else "no: one depth from the start"),
        ("batch", f"{config.batch_tokens * config.accumulate:,} tokens of the longer side, padding included"),
        ("time", f"{card.hours:.1f} hours"),
        ("hardware", card.hardware),
        ("schedule", "; ".join(f"{run.schedule}, rate {run.lr:g}, {run.warmup:,} steps of warm-up" for run in runs)),
        ("dropout", f"{card.shape.dropout:g}"),
        ("label smoothing", f"{config.label_smoothing:g}"),
        ("BPE-dropout", f"{config.bpe_dropout:g}"),
        ("seed", str(config.seed)),
        ("weights", card.selection),
    )
    return _table(("", ""), rows) + "\n\nThe run's numbers are in `log.jsonl`, its settings in `train.json`."


def _run(run: TrainConfig) -> str:
    shape = from_dict(ModelConfig, {"src_vocab": run.vocab, "tgt_vocab": run.vocab, **(run.model or {})})
    return f"{run.steps:,} steps at {shape.encoder_layers} + {shape.decoder_layers} layers"


def _corpora(corpora: Sequence[tuple[str, int]]) -> str:
    return _table(("corpus", "pairs"), [(name, f"{pairs:,}") for name, pairs in corpora]) if corpora else ""


def _scores(evaluations: Sequence[Evaluation]) -> str:
    if not evaluations:
        return MISSING
    rows = [
        (
            one.name,
            f"{one.score.bleu:.1f}",
            f"{one.score.chrf:.1f}",
            f"{one.sources:,}",
            str(len(one.refused)),
            f"{one.sentences_per_second:.1f}",
        )
        for one in evaluations
    ]
    signatures = sorted({sign for one in evaluations for sign in (one.score.bleu_signature, one.score.chrf_signature)})
    head = ("test", "BLEU", "chrF", "sources", "refused", "sentences/s")
    return _table(head, rows) + "\n\nSignatures: " + ", ".join(f"`{sign}`" for sign in signatures)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
