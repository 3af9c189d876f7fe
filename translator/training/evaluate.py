"""BLEU, chrF and speed over test files, with all references of a source."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from tqdm import tqdm

from translator.errors import InputError
from translator.pipeline import Translator
from translator.training.data import Pair, grouped, read_pairs
from translator.training.loop import Process
from translator.training.metrics import Counts, Score, counts, score, score_of

CHUNK = 256
"""Sources of like length that are translated at once, so that a bar can move between them."""


@dataclass(frozen=True)
class Evaluation:
    """One test file's scores. `sentences` counts its pairs, `sources` its distinct sources.

    `refused` names each source that the checkpoint would not take (too long, say) with the reason; it counts as
    translated by nothing. `seconds` is the time that translating took, `tokens` the target tokens of the
    translations, ends of sentence included. `looping` counts translations in which a run of four tokens stands three
    times in a row.
    """

    name: str
    score: Score
    sentences: int
    sources: int
    refused: tuple[str, ...]
    seconds: float
    tokens: int
    looping: int
    hypotheses: tuple[str, ...]

    @property
    def sentences_per_second(self) -> float:
        """Sources translated a second."""
        return self.sources / self.seconds

    @property
    def tokens_per_second(self) -> float:
        """Target tokens produced a second."""
        return self.tokens / self.seconds

    def record(self) -> dict[str, Any]:
        """Everything but the translations, for JSON."""
        values = asdict(self)
        del values["hypotheses"]
        speed = {name: round(getattr(self, name), 1) for name in ("sentences_per_second", "tokens_per_second")}
        return {**values.pop("score"), **values, "seconds": round(self.seconds, 2), **speed}


def evaluate_file(translator: Translator, path: Path, *, process: Process | None = None, **settings: Any) -> Evaluation:
    """`evaluate` over the pairs of a file; the file's name without its endings names the evaluation."""
    return evaluate(translator, read_pairs(path), path.name.split(".")[0], process=process, **settings)


def evaluate(
    translator: Translator, pairs: Sequence[Pair], name: str, *, process: Process | None = None, **settings: Any
) -> Evaluation:
    """Translate every source once and score it against all of its references.

    Args:
        pairs: the references of one source stand next to each other.
        process: this one among those that share the work; all of them return the whole result.
        settings: of decoding, over the checkpoint's own.
    Raises:
        InputError: a setting is unknown or out of range. A source that is refused is counted instead.
    """
    process = process or Process()
    sources, references = grouped(pairs)
    if not sources:
        raise InputError(f"{name} holds no sentence pairs to evaluate")
    mine = range(process.rank, len(sources), process.world)
    started = time.perf_counter()
    texts, refused = _translated(translator, [sources[n] for n in mine], name, settings)
    seconds = time.perf_counter() - started
    hypotheses = [""] * len(sources)
    reasons: dict[int, str] = {}
    parts = process.gather((texts, refused, seconds))
    for rank, (part, part_refused, _) in enumerate(parts):
        hypotheses[rank :: process.world] = part
        reasons |= {rank + process.world * n: reason for n, reason in part_refused.items()}
    tokens, looping = _counted(translator, hypotheses, reasons)
    return Evaluation(
        name=name,
        score=score(hypotheses, references, translator.languages[1]),
        sentences=len(pairs),
        sources=len(sources),
        refused=tuple(f"source {n + 1}: {reasons[n]}" for n in sorted(reasons)),
        seconds=max(part_seconds for _, _, part_seconds in parts),
        tokens=tokens,
        looping=looping,
        hypotheses=tuple(hypotheses),
    )


def evaluate_part(
    translator: Translator, pairs: Sequence[Pair], **settings: Any
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What one part of a test file adds to its evaluation, as plain values for `joined`, and its translations.

    All references of a source are in one part.

    Raises:
        InputError: as `evaluate`.
    """
    sources, references = grouped(pairs)
    started = time.perf_counter()
    hypotheses, reasons = _translated(translator, sources, "part", settings)
    seconds = time.perf_counter() - started
    tokens, looping = _counted(translator, hypotheses, reasons)
    found = counts(hypotheses, references, translator.languages[1])
    values = {"sentences": len(pairs), "sources": len(sources), "tokens": tokens, "looping": looping}
    told = [[n, reasons[n]] for n in sorted(reasons)]
    return {**values, "refused": told, "seconds": seconds, "counts": asdict(found)}, tuple(hypotheses)


def joined(parts: Sequence[Mapping[str, Any]], name: str, language: str, seconds: float) -> Evaluation:
    """The evaluation that the parts of a file come to, in their order; all but the translations, which are with them.

    Args:
        language: the target's.
        seconds: that translating took.
    """
    sums = {each: sum(part[each] for part in parts) for each in ("sentences", "sources", "tokens", "looping")}
    before = accumulate((part["sources"] for part in parts), initial=0)
    refused = [(first + n, why) for first, part in zip(before, parts, strict=False) for n, why in part["refused"]]
    return Evaluation(
        name=name,
        score=score_of((Counts(**part["counts"]) for part in parts), language),
        **sums,
        refused=tuple(f"source {n + 1}: {why}" for n, why in refused),
        seconds=seconds,
        hypotheses=(),
    )


def _counted(translator: Translator, hypotheses: Sequence[str], reasons: Mapping[int, str]) -> tuple[int, int]:
    """The target tokens of translations, ends of sentence included, and how many of them loop."""
    ids = translator.bundle.tgt.ids_batch(hypotheses)
    return sum(len(row) + 1 for n, row in enumerate(ids) if n not in reasons), sum(map(loops, ids))


def _translated(
    translator: Translator, sources: Sequence[str], name: str, settings: dict[str, Any]
) -> tuple[list[str], dict[int, str]]:
    """The translations of `sources` in order, and the reason by index for each that was refused."""
    order = sorted(range(len(sources)), key=lambda n: len(sources[n]), reverse=True)
    texts = [""] * len(sources)
    reasons: dict[int, str] = {}
    with tqdm(total=len(sources), desc=name, unit="sentence", disable=not sys.stderr.isatty()) as bar:
        for first in range(0, len(order), CHUNK):
            rows = order[first : first + CHUNK]

            def refused(index: int, error: InputError, rows: Sequence[int] = rows) -> None:
                reasons[rows[index]] = str(error)

            found = translator.translate_batch([sources[n] for n in rows], refused=refused, **settings)
            for n, text in zip(rows, found, strict=True):
                texts[n] = text
            bar.update(len(rows))
    return texts, reasons


def loops(ids: Sequence[int], *, length: int = 4, times: int = 3) -> bool:
    """Whether `length` tokens stand `times` times in a row somewhere in `ids`."""
    same = 0
    for i in range(length, len(ids)):
        same = same + 1 if ids[i] == ids[i - length] else 0
        if same == length * (times - 1):
            return True
    return False


def table(evaluations: Sequence[Evaluation]) -> str:
    """The evaluations as aligned columns of text, with the signatures beneath."""
    head = ("test", "BLEU", "chrF", "sources", "pairs", "refused", "looping", "sent/s", "tok/s")
    rows: list[tuple[str, ...]] = [head]
    for one in evaluations:
        speed = f"{one.sentences_per_second:.1f}", f"{one.tokens_per_second:.0f}"
        counts = (str(count) for count in (one.sources, one.sentences, len(one.refused), one.looping))
        rows.append((one.name, f"{one.score.bleu:.2f}", f"{one.score.chrf:.2f}", *counts, *speed))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
    signatures = {
        f"{one.name}: BLEU {one.score.bleu_signature}  chrF {one.score.chrf_signature}" for one in evaluations
    }
    return "\n".join([*lines, "", *sorted(signatures)])


def to_json(translator: Translator, evaluations: Sequence[Evaluation], settings: dict[str, Any]) -> str:
    """The evaluations with the checkpoint and the settings that they hold for, as JSON."""
    decode = asdict(translator.bundle.decode) | settings
    values = {
        "checkpoint": asdict(translator.bundle.info),
        "device": str(translator.device),
        "settings": decode,
        "tests": [one.record() for one in evaluations],
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"
