"""From a config and a data folder to a finished checkpoint: the steps of `python -m translator train`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from translator.config import DecodeConfig, ModelConfig, TextConfig, TrainConfig, from_dict, to_json
from translator.decode import search_batch
from translator.errors import InputError
from translator.model import Transformer
from translator.text import SubwordTokenizer, Tokenizer
from translator.training.data import Epochs, Pair, collate, copies, find_split, grouped, read_pairs
from translator.training.loop import Evaluate, Process, Trainer
from translator.training.metrics import score
from translator.training.objective import objective

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
    if isinstance(values, dict) and isinstance(values.get("betas"), list):
        values["betas"] = tuple(values["betas"])
    return from_dict(TrainConfig, values)


@dataclass(frozen=True)
class Corpus:
    """Everything that training reads: pairs, the two tokenizers, and the development set."""

    pairs: list[Pair]
    dev: list[Pair]
    src: Tokenizer
    tgt: Tokenizer


def text_config(language: str, config: TrainConfig) -> TextConfig:
    """How a language's text is cut for this run."""
    return TextConfig(language, level=config.level, prefix_space=language not in NO_PREFIX_SPACE)


def open_corpus(config: TrainConfig, data: Path, folder: Path) -> Corpus:
    """Read the data; learn the vocabularies once and keep them in `folder`."""
    pairs, dev = read_pairs(find_split(data, "train")), read_pairs(find_split(data, "dev"))
    if not (folder / "tgt.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        src, tgt = learn_vocabularies(config, pairs)
        src.save(folder, "src")
        tgt.save(folder, "tgt")
    return Corpus(pairs, dev, SubwordTokenizer.load(folder / "src.json"), SubwordTokenizer.load(folder / "tgt.json"))


def learn_vocabularies(config: TrainConfig, pairs: Sequence[Pair]) -> tuple[Tokenizer, Tokenizer]:
    """BPE over one epoch's mix of corpora, so that pieces go to the text that is met most."""
    rng = np.random.default_rng([config.seed, 0])
    sample = [pairs[i] for i in copies([pair.corpus for pair in pairs], config.corpora or {}, rng)]
    sides = [text_config(config.src, config), text_config(config.tgt, config)]
    texts = [[pair.src for pair in sample], [pair.tgt for pair in sample]]
    if not config.joint_vocab:
        return tuple(SubwordTokenizer.train(t, c, config.vocab) for t, c in zip(texts, sides, strict=True))  # type: ignore[return-value]
    counts: Counter[str] = Counter()
    for side, lines in zip(sides, texts, strict=True):
        empty = SubwordTokenizer.train(["a"], side, 300)
        for line in lines:
            counts.update(empty.pretokens(line))
    joint = SubwordTokenizer.train_pretokens(counts, sides[0], config.vocab)
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


def development(config: TrainConfig, corpus: Corpus) -> Evaluate:
    """The scorer of the development set: loss and accuracy on every pair, greedy BLEU on the first sources."""
    src = corpus.src.ids_batch([pair.src for pair in corpus.dev])
    tgt = corpus.tgt.ids_batch([pair.tgt for pair in corpus.dev])
    sources, references = grouped(corpus.dev)
    chosen = corpus.src.ids_batch(sources[: config.eval_sentences])
    order = sorted(range(len(src)), key=lambda i: len(tgt[i]))

    def evaluate(model: Transformer) -> dict[str, float]:
        shape = model.config
        device = next(model.parameters()).device
        nll = correct = tokens = 0.0
        with torch.inference_mode():
            for first in range(0, len(order), 100):
                rows = order[first : first + 100]
                batch = collate([src[i] for i in rows], [tgt[i] for i in rows], pad=shape.pad_id, start=shape.start_id, eos=shape.eos_id).to(device)
                logits = model(batch.src, batch.tgt_in, batch.src_keep, batch.tgt_keep)
                found = objective(logits, batch.tgt_out[batch.tgt_keep], smoothing=0.0)
                nll, correct, tokens = nll + float(found.nll), correct + float(found.correct), tokens + found.tokens
        with_eos = [[*ids, shape.eos_id] for ids in chosen]
        limits = [2 * len(ids) + 16 for ids in with_eos]
        produced = search_batch(model, with_eos, DecodeConfig(method="greedy"), max_lengths=limits)
        texts = [corpus.tgt.decode(ids) for ids in produced]
        found_score = score(texts, references[: config.eval_sentences], config.tgt)
        return {"nll": nll / tokens, "accuracy": correct / tokens, "bleu": found_score.bleu, "chrf": found_score.chrf}

    return evaluate


def build(config: TrainConfig, data: Path, folder: Path, *, device: str = "cpu") -> tuple[Trainer, Corpus]:
    """Everything of a run, ready to start or to go on where it stood."""
    process = Process.join()
    corpus = open_corpus(config, data, folder)
    shape = from_dict(ModelConfig, {**(config.model or {}), "src_vocab": len(corpus.src), "tgt_vocab": len(corpus.tgt)})
    torch.manual_seed(config.seed)
    model = Transformer(shape).to(device)
    encode = Encoder(corpus, config.bpe_dropout, config.seed)
    epochs = Epochs([pair.corpus for pair in corpus.pairs], encode, config)
    (folder / "train.json").write_text(to_json(config), encoding="utf-8")
    trainer = Trainer(config, model, epochs, folder, evaluate=development(config, corpus), process=process)
    return trainer, corpus
