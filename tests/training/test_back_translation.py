"""A run that also learns from target sentences, which a run of the other direction translates back."""

from __future__ import annotations

import gzip
import itertools
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from translator.errors import InputError
from translator.training.back_translation import CORPUS, PAIRS, REVERSE
from translator.training.config import TrainConfig
from translator.training.data import Pair, read_pairs, read_split
from translator.training.export import export
from translator.training.loop import Trainer
from translator.training.run import train as train_run
from translator.training.state import Progress, read_log

Make = Callable[..., tuple[TrainConfig, Path]]


@pytest.fixture(scope="module")
def alone(toy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy task's data with sentences of the target language alone; one of them stands in train already."""
    folder = tmp_path_factory.mktemp("alone") / "data"
    shutil.copytree(toy_data, folder)
    new = ["".join(letters) for letters in itertools.product("jihg", repeat=4)][:60]
    known = read_pairs(folder / "train.tsv")[0].tgt
    with gzip.open(folder / "monolingual-target.txt.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in [*new, known, "", new[3]])
    return folder


def wanted(alone: Path) -> set[str]:
    lines = gzip.decompress((alone / "monolingual-target.txt.gz").read_bytes()).decode().split()
    return set(lines) - {pair.tgt for split in ("train", "dev") for pair in read_pairs(alone / f"{split}.tsv")}


def config_of(make: Make, **changes: object) -> TrainConfig:
    reverse = {"steps": 150, "eval_every": 150, "lr": 5e-3, "seed": 5}
    return make(steps=4, eval_every=2, max_tokens=12, batch_tokens=400, reverse=reverse, **changes)[0]


def test_columns_are_swapped(toy_config: Make, toy_data: Path) -> None:
    plain = read_pairs(toy_data / "dev.tsv")
    config = toy_config(mirrored=True)[0]
    assert read_split(config, toy_data, "dev") == [Pair(pair.tgt, pair.src, pair.corpus) for pair in plain]


def test_settings_of_the_other_direction(toy_config: Make) -> None:
    config = replace(config_of(toy_config, self_training=-1.0, base={}), src="de", tgt="en", r_drop=2.0)
    other = config.other_way()
    assert other is not None and (other.src, other.tgt, other.mirrored, other.steps) == ("en", "de", True, 150)
    assert other.base is None and other.self_training is None and other.reverse is None and other.r_drop == 0
    assert other.model == config.model and toy_config()[0].other_way() is None
    narrow = replace(config, reverse={"model": {"dropout": 0.4}}).other_way()
    assert narrow is not None and narrow.model == {**(config.model or {}), "dropout": 0.4}


@pytest.mark.slow
def test_target_sentences_are_translated_back_and_learnt_from(toy_config: Make, alone: Path, tmp_path: Path) -> None:
    config = config_of(toy_config)
    run = tmp_path / "run"
    trainer, corpus = train_run(config, alone, run)
    made = [pair for pair in corpus.pairs if pair.corpus == CORPUS]
    assert made == read_pairs(run / PAIRS) and {pair.tgt for pair in made} <= wanted(alone)
    assert len(made) > 30 and len({pair.tgt for pair in made}) == len(made)
    assert trainer.log is not None and {"step": 0, "back_translation_pairs": len(made)} in read_log(run / "log.jsonl")
    other = config.other_way()
    assert other is not None
    dev = {"dev": read_split(other, alone, "dev")}
    folder = export(run / REVERSE, dev, tmp_path / "reverse", device=torch.device("cpu")).folder
    import translator

    translate = translator.load(folder, device="cpu").translate
    for pair in made[:10]:
        assert translate(pair.tgt, method="greedy", max_length=2 * 5 + 16).translation == pair.src


@pytest.mark.slow
def test_the_other_direction_begins_with_the_same_weights(
    toy_config: Make, alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one vocabulary serves both; the rate is so small that nothing is learnt on the way."""
    base = {"steps": 60, "eval_every": 30, "lr": 2e-2}
    config = config_of(toy_config, joint_vocab=True, begin="best", base=base)
    config = replace(config, reverse={"steps": 2, "eval_every": 2, "lr": 1e-12, "seed": 5})
    train_run(config, alone, tmp_path / "run")
    first, other = (tmp_path / "run" / name for name in ("base", REVERSE))
    before = torch.load(first / "best.pt")
    after = torch.load(other / "state-0.pt", weights_only=False)["model"]
    assert all(torch.allclose(value, after[name], atol=1e-9) for name, value in before.items())
    assert (other / "src.json").read_bytes() == (first / "tgt.json").read_bytes()


@pytest.mark.slow
def test_it_goes_on_exactly(toy_config: Make, alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut within the other direction's run, then within its own."""
    config = config_of(toy_config, r_drop=1.0)
    whole = train_run(config, alone, tmp_path / "whole")[0].model.state_dict()
    run = Trainer.run
    for mirrored, last in ((True, 100), (False, 2)):

        def cut(trainer: Trainer, mirrored: bool = mirrored, last: int = last) -> Progress:
            if trainer.config.mirrored != mirrored:
                return run(trainer)
            run(trainer, until=last, save_every=2)
            raise KeyboardInterrupt

        monkeypatch.setattr(Trainer, "run", cut)
        with pytest.raises(KeyboardInterrupt):
            train_run(config, alone, tmp_path / "cut")
    monkeypatch.setattr(Trainer, "run", run)
    again = train_run(config, alone, tmp_path / "cut")[0].model.state_dict()
    assert all(torch.equal(value, again[name]) for name, value in whole.items())


def test_what_cannot_be_is_refused_in_words(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="reverse is 'x'; it must be names with values"):
        toy_config(reverse="x")
    with pytest.raises(InputError, match="stpes"):
        toy_config(reverse={"stpes": 3})
    with pytest.raises(InputError, match=r"has no monolingual-target\.txt\.gz; reverse translates back what it holds"):
        train_run(config_of(toy_config), toy_data, tmp_path / "none")
