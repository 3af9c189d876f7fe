"""A run that also learns from its own beginning's translations of sentences that have none."""

from __future__ import annotations

import gzip
import itertools
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partialmethod
from pathlib import Path

import pytest
import torch

import translator
from translator.errors import InputError
from translator.training.config import TrainConfig
from translator.training.data import read_pairs
from translator.training.export import export
from translator.training.loop import Process, Trainer
from translator.training.run import train as train_run
from translator.training.self_training import CORPUS, PAIRS, Teacher, surest, write_pairs

Make = Callable[..., tuple[TrainConfig, Path]]
EVERYTHING = -100.0


@pytest.fixture(scope="module")
def alone(toy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy task's data with sentences of the source language alone, some of them not to be taken."""
    folder = tmp_path_factory.mktemp("alone") / "data"
    shutil.copytree(toy_data, folder)
    new = ["".join(letters) for letters in itertools.product("jihg", repeat=5)][:80]
    known = [read_pairs(folder / f"{split}.tsv")[0].src for split in ("train", "dev")]
    lines = [*new[:40], *known, "", " \t", new[3], f" {new[4]} ", "abcdefghij" * 3, *new[40:]]
    with gzip.open(folder / "monolingual.txt.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
    return folder


@pytest.fixture
def toy_checkpoint(toy_config: Make, toy_data: Path, tmp_path: Path) -> Path:
    """A checkpoint of the toy task that ends what it writes, mostly."""
    config, _ = toy_config(steps=60, batch_tokens=400, eval_every=60, seed=3)
    train_run(config, toy_data, tmp_path / "first")
    dev = {"dev": read_pairs(toy_data / "dev.tsv")}
    return export(tmp_path / "first", dev, tmp_path / "toy-checkpoint", device=torch.device("cpu")).folder


def wanted(checkpoint: Path) -> dict[str, tuple[str, float]]:
    """The translation of each sentence that may be taken, one at a time by `translate`, and its mean log-probability.

    Without what did not end; the toy's few tokens cannot loop.
    """
    translate = translator.load(checkpoint, device="cpu").translate
    found = {}
    for letters in itertools.islice(itertools.product("jihg", repeat=5), 80):
        trace = translate("".join(letters), method="greedy", max_length=2 * 6 + 16)
        if trace.tgt[-1].id == 2 and trace.translation.strip():
            found["".join(letters)] = trace.translation, sum(s.log_prob for s in trace.steps) / len(trace.steps)
    return found


def taken(folder: Path) -> dict[str, str]:
    pairs = read_pairs(folder / PAIRS)
    assert {pair.corpus for pair in pairs} == {CORPUS} and len({pair.src for pair in pairs}) == len(pairs)
    return {pair.src: pair.tgt for pair in pairs}


def of_checkpoint(make: Make, checkpoint: Path, **changes: object) -> TrainConfig:
    config, _ = make(steps=4, eval_every=2, max_tokens=12)
    return replace(config, base=str(checkpoint), model=None, **changes)


@pytest.mark.slow
def test_what_was_translated_surely_enough_joins_the_text(
    toy_config: Make, alone: Path, toy_checkpoint: Path, tmp_path: Path
) -> None:
    want = wanted(toy_checkpoint)
    config = of_checkpoint(toy_config, toy_checkpoint, self_training=EVERYTHING)
    _, corpus = train_run(config, alone, tmp_path / "all")
    assert taken(tmp_path / "all") == {src: text for src, (text, _) in want.items()}
    plain = read_pairs(alone / "train.tsv")
    assert corpus.pairs == [*plain, *read_pairs(tmp_path / "all" / PAIRS)]
    least = sorted(sure for _, sure in want.values())[len(want) // 2] - 1e-4
    train_run(replace(config, self_training=least), alone, tmp_path / "half")
    half = {src: text for src, (text, sure) in want.items() if sure >= least}
    assert taken(tmp_path / "half") == half and 0 < len(half) < len(want)


@pytest.mark.slow
def test_another_device_translates_the_same(
    toy_config: Make, alone: Path, toy_checkpoint: Path, tmp_path: Path, second: str
) -> None:
    config = of_checkpoint(toy_config, toy_checkpoint, self_training=EVERYTHING)
    for device in (second, "cpu"):
        trainer, _ = train_run(config, alone, tmp_path / torch.device(device).type, device=device)
        assert trainer.device.type == torch.device(device).type
    assert taken(tmp_path / torch.device(second).type) == taken(tmp_path / "cpu")


@pytest.mark.slow
def test_processes_share_the_work(toy_config: Make, alone: Path, toy_checkpoint: Path, tmp_path: Path) -> None:
    bundle = translator.load(toy_checkpoint, device="cpu").bundle
    teacher, config = Teacher(bundle.model, bundle.src, bundle.tgt), of_checkpoint(toy_config, toy_checkpoint)
    config, parts = replace(config, self_training=EVERYTHING), {}

    class One(Process):
        """One of three that answer in turn."""

        def gather(self, value: object) -> list[object]:
            parts[self.rank] = value
            return [parts[rank] for rank in sorted(parts)]

        def first(self, act: Callable[[], object]) -> None:
            if len(parts) == self.world:
                act()

    for rank in range(3):
        write_pairs(teacher, config, alone, tmp_path, One(rank, 3))
    together = (tmp_path / PAIRS).read_bytes()
    assert all(parts.values())
    write_pairs(teacher, config, alone, tmp_path, Process())
    assert gzip.decompress((tmp_path / PAIRS).read_bytes()) == gzip.decompress(together)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ids", "kept"),
    [((5,) * 11 + (2,), True), ((5,) * 12 + (2,), False), ((5,) * 3, False), ((2,), False)],
    ids=["fine", "four tokens three times in a row", "no end", "nothing but an end"],
)
def test_what_loops_or_does_not_end_is_left_out(
    toy_config: Make,
    alone: Path,
    toy_checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ids: tuple[int, ...],
    kept: bool,
) -> None:
    bundle = translator.load(toy_checkpoint, device="cpu").bundle
    config = of_checkpoint(toy_config, toy_checkpoint, self_training=EVERYTHING)
    monkeypatch.setattr("translator.training.self_training.search_batch", lambda _, rows, *__, **___: [ids] * len(rows))
    teacher = Teacher(bundle.model, bundle.src, bundle.tgt)
    if kept:
        write_pairs(teacher, config, alone, tmp_path, Process())
        assert len(taken(tmp_path)) == 80
    else:
        with pytest.raises(InputError, match=r"of 81 sentences of .*none was translated"):
            write_pairs(teacher, config, alone, tmp_path, Process())


@pytest.mark.slow
def test_a_run_teaches_the_one_that_grows_from_it(toy_config: Make, alone: Path, tmp_path: Path) -> None:
    """By the weights that this one begins with; the first run does without."""
    base = {"steps": 60, "eval_every": 30, "lr": 2e-2}
    config, _ = toy_config(steps=4, eval_every=2, max_tokens=12, self_training=EVERYTHING, begin="selected", base=base)
    run = tmp_path / "run"
    trainer, corpus = train_run(config, alone, run)
    assert trainer.progress.step == 4 and not (run / "base" / PAIRS).exists()
    out = export(run / "base", corpus.dev, tmp_path / "out", device=torch.device("cpu")).folder
    assert taken(run) == {src: text for src, (text, _) in wanted(out).items()}


@pytest.mark.slow
def test_it_goes_on_exactly_and_translates_once(
    toy_config: Make, alone: Path, toy_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = of_checkpoint(toy_config, toy_checkpoint, self_training=EVERYTHING)
    whole = train_run(config, alone, tmp_path / "whole")[0].model.state_dict()
    with monkeypatch.context() as stop:
        stop.setattr(Trainer, "run", partialmethod(Trainer.run, until=2, save_every=2))
        train_run(config, alone, tmp_path / "cut")
    before = (tmp_path / "cut" / PAIRS).stat().st_mtime_ns
    again = train_run(config, alone, tmp_path / "cut")[0].model.state_dict()
    assert (tmp_path / "cut" / PAIRS).stat().st_mtime_ns == before
    assert all(torch.equal(value, again[name]) for name, value in whole.items())


@pytest.mark.slow
def test_what_cannot_be_is_refused_in_words(
    toy_config: Make, alone: Path, toy_data: Path, toy_checkpoint: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="base is None; it must be what translates, since self_training is set"):
        toy_config(self_training=-1.0)
    for value in (0.1, -1000.0, float("nan"), "sure", True):
        with pytest.raises(InputError, match="self_training is"):
            of_checkpoint(toy_config, toy_checkpoint, self_training=value)
    config = of_checkpoint(toy_config, toy_checkpoint, self_training=EVERYTHING)
    with pytest.raises(InputError, match=r"has no monolingual\.txt\.gz; self_training translates what it holds"):
        train_run(config, toy_data, tmp_path / "none")
    with pytest.raises(InputError, match=r"of 81 sentences of .* log-probability of 0\.0 or more; lower self_training"):
        train_run(replace(config, self_training=0.0), alone, tmp_path / "sure")
    train_run(config, alone, tmp_path / "run")
    other = tmp_path / "other"
    shutil.copytree(toy_data, other)
    (other / "monolingual.txt").write_text("jjjjj\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"on other sentences than those of .*monolingual\.txt\. Pass"):
        train_run(config, other, tmp_path / "run")


def test_long_sentences_compete_with_long_ones() -> None:
    """Each length keeps its surest, however unsure, and whatever reaches the bound stays."""
    sentences = ["two words"] * 10 + [" ".join(["long"] * 20)] * 10
    scores = [-0.1 * n for n in range(10)] + [-2.0 - 0.1 * n for n in range(10)]
    assert [n for n, keep in enumerate(surest(sentences, scores, -0.35, 0.0)) if keep] == [0, 1, 2, 3]
    assert [n for n, keep in enumerate(surest(sentences, scores, -0.35, 0.2)) if keep] == [0, 1, 2, 3, 10, 11]
    assert [n for n, keep in enumerate(surest(sentences, scores, -0.05, 0.2)) if keep] == [0, 1, 10, 11]
    assert all(surest(sentences, scores, -0.05, 1.0)) and surest([], [], -1.0, 0.5) == []


@pytest.mark.slow
def test_a_share_of_each_length_joins_the_text(
    toy_config: Make, alone: Path, toy_checkpoint: Path, tmp_path: Path
) -> None:
    want = wanted(toy_checkpoint)
    config = of_checkpoint(toy_config, toy_checkpoint, self_training=0.0, self_training_share=0.25)
    train_run(config, alone, tmp_path / "run")
    found = taken(tmp_path / "run")
    best = sorted(want, key=lambda src: -want[src][1])[: round(0.25 * len(want))]
    assert len(found) == len(best) and len(set(found) & set(best)) >= len(best) - 1  # a batch rounds otherwise


@pytest.mark.slow
def test_a_translation_too_short_for_its_source_is_left_out(
    toy_config: Make, alone: Path, toy_checkpoint: Path, tmp_path: Path
) -> None:
    bundle = translator.load(toy_checkpoint, device="cpu").bundle
    ratios = {
        src: len(bundle.tgt.ids(tgt)) / len(bundle.src.ids(src)) for src, (tgt, _) in wanted(toy_checkpoint).items()
    }
    least = sorted(ratios.values())[len(ratios) // 2]
    assert min(ratios.values()) < least  # something is to be left out
    config = of_checkpoint(toy_config, toy_checkpoint, self_training=EVERYTHING, self_training_length=least)
    train_run(config, alone, tmp_path / "run")
    want = {src for src, ratio in ratios.items() if ratio >= least}
    assert len(set(taken(tmp_path / "run")) ^ want) <= 1  # a batch rounds otherwise
