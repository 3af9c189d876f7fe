"""The steps of `python -m translator train`, from config and data to a checkpoint."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from translator.checkpoints.store import choose_device
from translator.config import ModelConfig, TextConfig, from_dict
from translator.errors import InputError
from translator.model import Transformer
from translator.text import SubwordTokenizer, Tokenizer, VocabularyTokenizer, load_tokenizer
from translator.training import back_translation
from translator.training.begin import checkpoint_of, keep, settled
from translator.training.claim import claim
from translator.training.config import TrainConfig
from translator.training.data import Epochs, Pair, copies, read_dev, read_pairs, read_split
from translator.training.development import development
from translator.training.encoder import Encoder
from translator.training.grow import grow
from translator.training.join import may_join
from translator.training.lock import RunLock
from translator.training.loop import Process, Trainer
from translator.training.selection import BASE, SELECTED, select
from translator.training.self_training import CORPUS, PAIRS, Teacher, write_pairs
from translator.training.state import BEST, STATES, load_weights, read_weights, write_whole
from translator.training.widen import widen, wider

NO_PREFIX_SPACE = ("zh", "ja")
"""Languages that write no spaces between words."""
MIDDLE = (8, 20)
"""Words, at least and at most, of the sources that `TrainConfig.middle` weighs: what visitors type."""


@dataclass(frozen=True)
class Corpus:
    """Everything that training reads: pairs, the two tokenizers, and the development sets."""

    pairs: list[Pair]
    dev: dict[str, list[Pair]]
    src: Tokenizer
    tgt: Tokenizer


def text_configs(config: TrainConfig) -> tuple[TextConfig, TextConfig]:
    """How the source's and the target's text is cut for this run."""
    sides = ((config.src, config.level), (config.tgt, config.tgt_level or config.level))
    src, tgt = (TextConfig(name, level=level, prefix_space=name not in NO_PREFIX_SPACE) for name, level in sides)
    return src, tgt


def open_corpus(config: TrainConfig, data: Path, folder: Path) -> Corpus:
    """Read the data; learn the vocabularies once and keep them in `folder`."""
    pairs, dev = read_split(config, data, "train"), read_dev(config, data)
    if not (folder / "tgt.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        src, tgt = learn_vocabularies(config, pairs)
        src.save(folder, "src")
        tgt.save(folder, "tgt")
    if config.self_training is not None:
        pairs += read_pairs(folder / PAIRS)
    if config.reverse is not None:
        pairs += read_pairs(folder / back_translation.PAIRS)
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
    opened: list[Corpus] = []

    def begin() -> None:
        claim(config, data, folder)
        opened.append(open_corpus(config, data, folder))

    process.first(begin)  # it learns the vocabularies, the others read them
    corpus = opened[0] if opened else open_corpus(config, data, folder)
    shape = model_config(config, corpus.src, corpus.tgt)
    evaluate = development(shape, corpus.dev, corpus.src, corpus.tgt, sentences=config.eval_sentences)
    torch.manual_seed(config.seed)
    model = Transformer(shape).to(place)
    encode = Encoder(corpus.pairs, corpus.src, corpus.tgt, config)
    low, high = MIDDLE
    factors = [config.middle if low <= len(pair.src.split()) <= high else 1.0 for pair in corpus.pairs]
    joins = [may_join(pair.src, pair.tgt) for pair in corpus.pairs]
    epochs = Epochs([pair.corpus for pair in corpus.pairs], encode, config, factors=factors, joins=joins)
    return Trainer(config, model, epochs, folder, evaluate=evaluate, process=process), corpus


def train(config: TrainConfig, data: Path, folder: Path, *, device: str = "cpu") -> tuple[Trainer, Corpus]:
    """A whole run, from wherever it stood: the one that it grows from first, if any, then itself.

    Raises:
        InputError, CheckpointError: as `build`; or another process trains in `folder`, or there is no such
            checkpoint as it begins with, or of another shape.
    """
    lock, process = RunLock(folder), Process.join()
    process.first(lock.take)
    try:
        return _train(config, data, folder, device, process)
    finally:
        lock.release()


def _train(config: TrainConfig, data: Path, folder: Path, device: str, process: Process) -> tuple[Trainer, Corpus]:
    begun = checkpoint_of(config, folder)
    config = config if begun is None else settled(config, begun)
    process.first(lambda: claim(config, data, folder))  # before the run that it grows from
    first, base = config.first(), folder / BASE
    teacher: Teacher | None = None
    if not any(folder.glob(STATES)):  # else it has begun already
        if begun is not None:
            process.first(lambda: keep(begun, folder))
            teacher = Teacher(begun.model.to(choose_device(device)), begun.src, begun.tgt)
        elif first is not None:
            before, corpus = train(first, data, base, device=device)
            process.first(lambda: _hand_over(before, corpus, folder, config.begin))
            begins = base / (SELECTED if config.begin == "selected" else BEST)
            load_weights(before.model, read_weights(begins), begins)
            teacher = Teacher(before.model, corpus.src, corpus.tgt)
        if (other := config.other_way()) is not None:
            _translate_back(teacher, other, config, data, folder, device, process)
    if teacher is not None:
        write_pairs(teacher, config, data, folder, process)
    trainer, corpus = build(config, data, folder, device=device)
    if teacher is not None:
        _fill(trainer.model, teacher.model)
    if process.rank == 0 and trainer.progress.step == 0:
        made = Counter(pair.corpus for pair in corpus.pairs)
        if config.self_training is not None:
            trainer.log.add(step=0, self_training_pairs=made[CORPUS])
        if config.reverse is not None:
            trainer.log.add(step=0, back_translation_pairs=made[back_translation.CORPUS])
    trainer.run()
    return trainer, corpus


def _translate_back(
    begun: Teacher | None,
    other: TrainConfig,
    config: TrainConfig,
    data: Path,
    folder: Path,
    device: str,
    process: Process,
) -> None:
    """Train `other`, the run of the other direction; it translates back what stands in the target language alone."""
    run = folder / back_translation.REVERSE
    if begun is not None and not (run / "tgt.json").exists():
        process.first(lambda: _turn(begun, run))
    trainer, corpus = build(other, data, run, device=device)
    if begun is not None and config.joint_vocab and trainer.progress.step == 0:
        _fill(trainer.model, begun.model)
    trainer.run()
    back_translation.write_back(Teacher(trainer.model, corpus.src, corpus.tgt), config, data, folder, process)


def _fill(model: Transformer, before: Transformer) -> None:
    """Let `model` begin as `before`, than which it may be wider, or else deeper."""
    if wider(model, before):
        widen(model, before)
    else:
        grow(model, before.state_dict())


def _turn(begun: Teacher, run: Path) -> None:
    """Give the run of the other direction the vocabularies of `begun`, each for the other side."""
    run.mkdir(parents=True, exist_ok=True)
    begun.tgt.save(run, "src")
    begun.src.save(run, "tgt")


def _hand_over(base: Trainer, corpus: Corpus, folder: Path, begin: str) -> None:
    """Put what the run in `folder` begins with where it looks for it; `base` is the run that it grows from."""
    for name in ("src.json", "tgt.json"):
        shutil.copy(base.folder / name, folder)
    if begin == "selected":  # chosen anew: the base may have gone on meanwhile
        evaluate = development(base.model.config, corpus.dev, corpus.src, corpus.tgt)
        found = select(base.model.eval(), base.folder, base.config, evaluate)
        write_whole(base.folder / SELECTED, dict(found.weights))
