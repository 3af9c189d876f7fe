"""From a config and a data folder to a finished checkpoint: the steps of `python -m translator train`."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from translator.checkpoints.shelf import MANIFEST
from translator.checkpoints.store import choose_device
from translator.config import ModelConfig, TextConfig, TrainConfig, from_dict, to_json
from translator.errors import InputError
from translator.model import Transformer
from translator.text import SubwordTokenizer, Tokenizer, VocabularyTokenizer, load_tokenizer
from translator.training.data import Epochs, Pair, copies, find_split, read_pairs
from translator.training.development import development
from translator.training.grow import grow
from translator.training.loop import Process, Trainer
from translator.training.selection import BASE, SELECTED, select
from translator.training.state import BEST, STATES, read_state, read_weights, trained, write_whole

MAY_CHANGE = ("steps", "decay", "eval_every", "average")
"""Settings that may change while a run goes on: when it ends, and how often it is looked at."""
NO_PREFIX_SPACE = ("zh", "ja")
"""Languages that write no spaces between words."""


def read_config(path: Path) -> TrainConfig:
    """A training config from its JSON file.

    Raises:
        InputError: the file is missing or no JSON, or a setting is unknown or out of range.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as a training config: {error}") from error
    if not isinstance(values, dict):
        raise InputError(f"{path} holds no JSON object of training settings")
    return from_dict(TrainConfig, values)


def claim(config: TrainConfig, folder: Path) -> None:
    """Make `folder` that of a run with these settings, which its train.json tells; comes before anything else there.

    What was trained there goes on only with the settings that it began with, but for those in `MAY_CHANGE`. Where
    nothing was, the vocabularies of a start with other settings are forgotten.

    Raises:
        InputError: other settings were trained there (each is named), or more steps than `config` has; or a checkpoint
            is there.
        CheckpointError: the state there is damaged.
    """
    path = folder / "train.json"
    if (folder / MANIFEST).exists():
        raise InputError(f"{folder} is a checkpoint, whose files a run would overwrite; name another folder (--out)")
    changed = _changed(read_config(path), config) if path.exists() else []
    if changed and trained(folder):
        raise InputError(
            f"{folder} holds a run with other settings: {'; '.join(changed)}. Set them back to go on with it, or name"
            f" another folder (--out) to begin anew; {', '.join(MAY_CHANGE)} may change"
        )
    for state in sorted(folder.glob(STATES)):
        step = read_state(state)["progress"].step
        if step > config.steps:
            raise InputError(f"steps is {config.steps}, but {folder} has gone {step} already; ask for as many or more")
    if changed:
        for name in ("src.json", "tgt.json"):
            (folder / name).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".part")
    fresh.write_text(to_json(config), encoding="utf-8")
    os.replace(fresh, path)  # a kill leaves the former settings or these


def _changed(before: TrainConfig, now: TrainConfig) -> list[str]:
    """The settings that differ and may not, by name, with both values; the runs that it grew from have theirs too."""
    old, new = _settings(before), _settings(now)
    fixed = {name for name in {*old, *new} - set(MAY_CHANGE) if not name.endswith((".eval_every", ".average"))}
    differ = sorted(name for name in fixed if old.get(name) != new.get(name))
    return [f"{name} is {new.get(name, 'not set')} and was {old.get(name, 'not set')}" for name in differ]


def _settings(config: TrainConfig) -> dict[str, Any]:
    """Every setting by its full name, such as model.d_model, or base.steps of the run that it grows from."""
    flat: dict[str, Any] = {}
    for name, value in json.loads(to_json(config)).items():
        if isinstance(value, dict) and name != "base":
            flat |= {f"{name}.{inner}": each for inner, each in value.items()}
        elif name != "base":
            flat[name] = value
    first = config.first()
    return flat if first is None else flat | {f"base.{name}": value for name, value in _settings(first).items()}


@dataclass(frozen=True)
class Corpus:
    """Everything that training reads: pairs, the two tokenizers, and the development set."""

    pairs: list[Pair]
    dev: list[Pair]
    src: Tokenizer
    tgt: Tokenizer


def text_configs(config: TrainConfig) -> tuple[TextConfig, TextConfig]:
    """How the source's and the target's text is cut for this run."""
    sides = ((config.src, config.level), (config.tgt, config.tgt_level or config.level))
    src, tgt = (TextConfig(name, level=level, prefix_space=name not in NO_PREFIX_SPACE) for name, level in sides)
    return src, tgt


def open_corpus(config: TrainConfig, data: Path, folder: Path) -> Corpus:
    """Read the data; learn the vocabularies once and keep them in `folder`."""
    pairs, dev = read_pairs(find_split(data, "train")), read_pairs(find_split(data, "dev"))
    if not (folder / "tgt.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        src, tgt = learn_vocabularies(config, pairs)
        src.save(folder, "src")
        tgt.save(folder, "tgt")
    return Corpus(pairs, dev, load_tokenizer(folder / "src.json"), load_tokenizer(folder / "tgt.json"))


def learn_vocabularies(config: TrainConfig, pairs: Sequence[Pair]) -> tuple[Tokenizer, Tokenizer]:
    """Vocabularies of one epoch's mix of corpora, so that pieces go to the text that is met most."""
    rng = np.random.default_rng([config.seed, 0])
    sample = [pairs[i] for i in copies([pair.corpus for pair in pairs], config.corpora or {}, rng)]
    sides = text_configs(config)
    kinds = [SubwordTokenizer if side.level == "subword" else VocabularyTokenizer for side in sides]
    texts = [[pair.src for pair in sample], [pair.tgt for pair in sample]]
    if not config.joint_vocab:
        src, tgt = (kinds[i].train(texts[i], sides[i], config.vocab) for i in (0, 1))
        return src, tgt
    kind = kinds[0]
    counts: Counter[str] = Counter()
    for side, lines in zip(sides, texts, strict=True):
        cutter = kind.train(["a"], side, 300)
        for line in lines:
            counts.update(cutter.pretokens(line))
    joint = kind.train_pretokens(counts, sides[0], config.vocab)
    return joint, joint.with_config(sides[1])


class Encoder:
    """Sentences as ids, anew for each epoch where subword dropout is on."""

    def __init__(self, corpus: Corpus, dropout: float, seed: int) -> None:
        self.corpus, self.dropout, self.seed = corpus, dropout, seed
        self.src = [corpus.src.pretokens(pair.src) for pair in corpus.pairs]
        self.tgt = [corpus.tgt.pretokens(pair.tgt) for pair in corpus.pairs]
        self.plain: tuple[list[list[int]], list[list[int]]] | None = None

    def __call__(self, epoch: int) -> tuple[list[list[int]], list[list[int]]]:
        """(source ids, target ids) of every pair in this epoch."""
        if self.plain is None or self.dropout:
            seed = self.seed * 100_003 + 2 * epoch
            src = self.corpus.src.ids_of_pretokens(self.src, dropout=self.dropout, seed=seed)
            tgt = self.corpus.tgt.ids_of_pretokens(self.tgt, dropout=self.dropout, seed=seed + 1)
            self.plain = src, tgt
        return self.plain


def model_config(config: TrainConfig, src: Tokenizer, tgt: Tokenizer) -> ModelConfig:
    """The shape of the model that a run trains.

    Raises:
        InputError: a setting is unknown or out of range, or the training sentences may be longer than the model reads.
    """
    shape = from_dict(ModelConfig, {**(config.model or {}), "src_vocab": len(src), "tgt_vocab": len(tgt)})
    limit = shape.padded_length or shape.max_positions
    if config.max_tokens > limit:
        raise InputError(f"max_tokens is {config.max_tokens}; the model reads at most {limit} tokens")
    return shape


def build(config: TrainConfig, data: Path, folder: Path, *, device: str = "cpu") -> tuple[Trainer, Corpus]:
    """Everything of a run, ready to start or to go on where it stood.

    Raises:
        InputError: the settings are not those of the run that is there, or do not go with the data.
        CheckpointError: what is there is damaged.
    """
    process = Process.join()
    place = choose_device(device)
    if process.rank > 0:
        process.wait()  # the first process learns the vocabularies, the others read them
    else:
        claim(config, folder)
    corpus = open_corpus(config, data, folder)
    if process.rank == 0:
        process.wait()
    shape = model_config(config, corpus.src, corpus.tgt)
    evaluate = development(shape, corpus.dev, corpus.src, corpus.tgt, sentences=config.eval_sentences)
    torch.manual_seed(config.seed)
    model = Transformer(shape).to(place)
    encode = Encoder(corpus, config.bpe_dropout, config.seed)
    epochs = Epochs([pair.corpus for pair in corpus.pairs], encode, config)
    return Trainer(config, model, epochs, folder, evaluate=evaluate, process=process), corpus


def train(config: TrainConfig, data: Path, folder: Path, *, device: str = "cpu") -> tuple[Trainer, Corpus]:
    """A whole run, from wherever it stood: the one that it grows from first, if any, then itself. Errors: `build`."""
    first = config.first()
    if Process.join().rank == 0:
        claim(config, folder)  # before the run that it grows from
    if first is None:
        trainer, corpus = build(config, data, folder, device=device)
    else:
        base = folder / BASE
        fresh = not any(folder.glob(STATES))
        if fresh:
            trainer, corpus = train(first, data, base, device=device)
            if trainer.process.rank == 0:
                for name in ("src.json", "tgt.json"):
                    shutil.copy(base / name, folder)
                if config.begin == "selected":  # chosen anew: the base may have gone on meanwhile
                    evaluate = development(trainer.model.config, corpus.dev, corpus.src, corpus.tgt)
                    found = select(trainer.model.eval(), base, first, evaluate)
                    write_whole(base / SELECTED, dict(found.weights))
            trainer.process.wait()
        trainer, corpus = build(config, data, folder, device=device)
        if fresh:
            grow(trainer.model, read_weights(base / (SELECTED if config.begin == "selected" else BEST)))
    trainer.run()
    return trainer, corpus
