"""Back-translation: monolingual target sentences translated by a run of the other direction.

Source: Sennrich et al. 2016, "Improving Neural Machine Translation Models with Monolingual Data". The source side is
a machine's; what the model learns to write is a person's.
"""

from __future__ import annotations

from pathlib import Path

from translator.errors import InputError
from translator.text.lines import read_lines
from translator.training.config import TrainConfig
from translator.training.data import Pair, find_monolingual_target, read_split
from translator.training.loop import Process
from translator.training.self_training import Teacher, translated, unknown, write_corpus

CORPUS = "back"
"""What `corpora` calls these pairs."""
PAIRS = "back.tsv.gz"
"""The file in a run's folder that holds them."""
REVERSE = "reverse"
"""The folder, within a run's, of the run that translates back."""


def write_back(teacher: Teacher, config: TrainConfig, data: Path, folder: Path, process: Process) -> None:
    """Translate the target sentences that the corpora of `data` do not have; they become `PAIRS` in `folder`.

    Args:
        teacher: translates from `config.tgt` to `config.src`.
    Raises:
        InputError: there are no such sentences, or none of them was translated to its end.
    """
    known = {pair.tgt for split in ("train", *config.dev) for pair in read_split(config, data, split)}
    sentences = unknown(read_lines(find_monolingual_target(data)), known)
    found = sorted(translated(teacher, sentences, config, process))
    if not found:
        raise InputError(f"of {len(sentences):,} sentences of {find_monolingual_target(data)} none was translated back")
    process.first(lambda: write_corpus(folder / PAIRS, [Pair(text, sentences[n], CORPUS) for n, text, _ in found]))
