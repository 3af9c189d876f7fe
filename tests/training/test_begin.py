"""A run that begins with a checkpoint: weights, vocabularies, shape, and what it keeps of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partialmethod
from pathlib import Path

import pytest
import torch

import translator
from translator.checkpoints import Bundle, load_bundle, save_bundle
from translator.config import DecodeConfig, ModelConfig
from translator.errors import CheckpointError, InputError
from translator.training.begin import checkpoint_of
from translator.training.card import own_card, render
from translator.training.config import TrainConfig
from translator.training.data import read_pairs
from translator.training.export import export
from translator.training.loop import Trainer
from translator.training.run import build
from translator.training.run import train as train_run
from translator.training.selection import BASE

Make = Callable[..., tuple[TrainConfig, Path]]
STILL = 1e-12
"""A rate at which nothing is learnt that float32 could hold."""


@pytest.fixture(scope="module")
def trained(toy_config: Make, toy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of the toy task that knows a little of it; for reading only."""
    config, _ = toy_config(steps=40, batch_tokens=400, eval_every=40, seed=3)
    folder = tmp_path_factory.mktemp("trained")
    train_run(config, toy_data, folder / "first")
    dev = {"dev": read_pairs(toy_data / "dev.tsv")}
    return export(folder / "first", dev, folder / "toy-checkpoint", device=torch.device("cpu")).folder


@pytest.fixture
def toy_checkpoint(trained: Path, tmp_path: Path) -> Path:
    """A copy of it that may be written to."""
    return shutil.copytree(trained, tmp_path / "toy-checkpoint")


def begun(config: TrainConfig, checkpoint: Path | str, **changes: object) -> TrainConfig:
    return replace(config, base=str(checkpoint), **{"model": None, **changes})


def same(one: Bundle | torch.nn.Module, other: Bundle | torch.nn.Module) -> bool:
    a, b = ((each.model if isinstance(each, Bundle) else each).state_dict() for each in (one, other))
    return a.keys() == b.keys() and all(torch.allclose(a[name], b[name], atol=1e-6) for name in a)


@pytest.mark.slow
def test_it_takes_over_weights_vocabularies_shape_and_units(
    toy_config: Make, toy_data: Path, toy_checkpoint: Path, tmp_path: Path
) -> None:
    old = load_bundle(toy_checkpoint)
    config, _ = toy_config(steps=1, lr=STILL, level="subword")
    trainer, corpus = train_run(begun(config, toy_checkpoint), toy_data, tmp_path / "run")
    assert same(trainer.model, old) and trainer.model.config == old.model.config
    assert (trainer.config.level, trainer.config.tgt_level) == ("char", "char")
    for ours, theirs in ((corpus.src, old.src), (corpus.tgt, old.tgt)):
        assert ours.config == theirs.config and ours.encode("jihgf").ids == theirs.encode("jihgf").ids
    assert same(load_bundle(tmp_path / "run" / BASE), old)


@pytest.mark.slow
def test_the_model_setting_has_the_last_word_and_may_be_deeper(
    toy_config: Make, toy_data: Path, toy_checkpoint: Path, tmp_path: Path
) -> None:
    old = load_bundle(toy_checkpoint).model
    config, _ = toy_config(steps=1, lr=STILL)
    config = begun(config, toy_checkpoint, model={"decoder_layers": 3, "dropout": 0.3})
    model = train_run(config, toy_data, tmp_path / "run")[0].model.eval()
    assert model.config == replace(old.config, decoder_layers=3, dropout=0.3)
    ids = torch.randint(4, len(old.output.weight), (2, 5))
    whole = torch.ones(2, 5, dtype=torch.bool)
    assert torch.allclose(model(ids, ids, whole), old(ids, ids, whole), atol=1e-5)


@pytest.mark.slow
def test_a_run_may_grow_from_one_that_began_with_a_checkpoint(
    toy_config: Make, toy_data: Path, toy_checkpoint: Path, tmp_path: Path
) -> None:
    old = load_bundle(toy_checkpoint)
    first = {"base": str(toy_checkpoint), "steps": 2, "corpora": {"odd": 0}}
    config, _ = toy_config(steps=1, lr=STILL, eval_every=2, base=first)
    trainer, corpus = train_run(config, toy_data, tmp_path / "run")
    assert same(trainer.model, old) and same(load_bundle(tmp_path / "run" / BASE / BASE), old)
    assert corpus.src.encode("jihgf").ids == old.src.encode("jihgf").ids


@pytest.mark.slow
def test_it_goes_on_exactly_without_the_checkpoint(
    toy_config: Make, toy_data: Path, toy_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, _ = toy_config(steps=6, eval_every=3)
    config = begun(config, toy_checkpoint)
    whole = train_run(config, toy_data, tmp_path / "whole")[0].model
    with monkeypatch.context() as stop:
        stop.setattr(Trainer, "run", partialmethod(Trainer.run, until=3))
        trainer, _ = train_run(config, toy_data, tmp_path / "cut")
    assert trainer.progress.step == 3
    trainer.save()
    shutil.rmtree(toy_checkpoint)
    again = train_run(config, toy_data, tmp_path / "cut")[0].model.state_dict()
    assert all(torch.equal(value, again[name]) for name, value in whole.state_dict().items())


@pytest.mark.slow
def test_another_checkpoint_is_refused_once_it_was_trained(
    toy_config: Make, toy_data: Path, toy_checkpoint: Path, tmp_path: Path
) -> None:
    config, _ = toy_config(steps=1)
    train_run(begun(config, toy_checkpoint), toy_data, tmp_path / "run")
    with pytest.raises(InputError, match=r"other settings: base is elsewhere and was .*toy-checkpoint"):
        train_run(begun(config, "elsewhere"), toy_data, tmp_path / "run")
    with pytest.raises(InputError, match=r"other settings: base is not set and was .*toy-checkpoint"):
        train_run(replace(config, model=None), toy_data, tmp_path / "run")


@pytest.mark.slow
def test_what_cannot_be_begun_with_is_refused(
    toy_config: Make, toy_data: Path, toy_checkpoint: Path, tiny_marian: Path, tmp_path: Path
) -> None:
    config, _ = toy_config(steps=1)
    with pytest.raises(CheckpointError, match="there is no checkpoint 'nowhere'"):
        train_run(begun(config, "nowhere"), toy_data, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(InputError, match="d_ff cannot be widened from 64 to 8"):
        train_run(begun(config, toy_checkpoint, model={"d_ff": 8}), toy_data, tmp_path / "run")
    with pytest.raises(InputError, match="encoder_layers is 0"):
        train_run(begun(config, toy_checkpoint, model={"encoder_layers": 0}), toy_data, tmp_path / "run")
    with pytest.raises(InputError, match=r"reads '\w\w', the config says 'fr'"):
        train_run(begun(config, tiny_marian, src="fr"), toy_data, tmp_path / "run")
    for base in ("", " ", 3):
        with pytest.raises(InputError, match=r"base is .*names with values, or a checkpoint"):
            replace(config, base=base)  # type: ignore[arg-type]


def test_a_vocabulary_of_ours_reads_another_language(toy_config: Make, toy_checkpoint: Path, tmp_path: Path) -> None:
    config, _ = toy_config(tgt="zh")
    found = checkpoint_of(begun(config, toy_checkpoint), tmp_path / "run")
    assert found is not None
    assert (found.src.config.language, found.tgt.config.language) == ("en", "zh")
    assert len(found.tgt) == len(load_bundle(toy_checkpoint).tgt)


@pytest.mark.slow
def test_an_export_weighs_the_checkpoint_and_keeps_its_decoding(
    toy_config: Make, toy_data: Path, toy_checkpoint: Path, tmp_path: Path
) -> None:
    old, settings = load_bundle(toy_checkpoint), DecodeConfig(method="beam", beam=3, length_penalty=1.7)
    save_bundle(
        toy_checkpoint, model=old.model, src=old.src, tgt=old.tgt, name="toy", card="# Toy", decode=settings
    )  # fmt: skip
    config, _ = toy_config(steps=2, lr=0.5, warmup=1, eval_every=2, average=1)  # which ruins it
    run, out = tmp_path / "run", tmp_path / "out"
    train_run(begun(config, toy_checkpoint), toy_data, run)
    exported = export(run, {"dev": read_pairs(toy_data / "dev.tsv")}, out, device=torch.device("cpu"))
    assert "a quarter of the last evaluation and three of the run before" in exported.scores
    made = translator.load(out, device="cpu").bundle
    assert made.decode == settings
    assert f"| begun with | `{toy_checkpoint}` |" in made.card and "2 steps at 1 + 1 layers" in made.card


def test_a_card_names_the_model_of_the_hub_that_it_began_with() -> None:
    config = TrainConfig("toy", "de", "en", base="Helsinki-NLP/opus-mt-de-en@0123abc", steps=5)
    shape = ModelConfig(300, 300, d_model=8, d_ff=8, encoder_heads=2, decoder_heads=2)
    card = render(own_card(config, translator.model.Transformer(shape), [], "the last"))
    assert "\nbase_model: Helsinki-NLP/opus-mt-de-en\n" in card.split("---")[1]
    assert "base_model" not in render(
        own_card(replace(config, base="de-en"), translator.model.Transformer(shape), [], "")
    )


@pytest.mark.slow
def test_a_marian_checkpoint_can_be_taught(tiny_marian: Path, toy_config: Make, tmp_path: Path) -> None:
    """Its own tokens, start token and bias: one pair is learnt by heart, and stays learnt when it is stored."""
    data = tmp_path / "data"
    data.mkdir()
    for split in ("train", "dev"):
        (data / f"{split}.tsv").write_text("Das Haus.\tThe house.\tone\n" * 8, encoding="utf-8")
    before = translator.load(tiny_marian, device="cpu")
    told = before.bundle.tgt.decode(before.bundle.tgt.ids("The house."))  # its few pieces cannot tell all of it
    assert "hou" in told and before.translate("Das Haus.").translation != told
    src, tgt = before.languages
    config, _ = toy_config(src=src, tgt=tgt, steps=200, lr=0.01, eval_every=200, max_tokens=16)
    config = begun(config, tiny_marian, model={"dropout": 0.0})
    run, out = tmp_path / "run", tmp_path / "out"
    trainer, _ = train_run(config, data, run)
    assert same(load_bundle(run / BASE), load_bundle(tiny_marian))
    export(run, {"dev": read_pairs(data / "dev.tsv")}, out, device=torch.device("cpu"))
    assert translator.load(out, device="cpu").translate("Das Haus.").translation == told
    again, _ = build(trainer.config, data, run)
    assert same(again.model, trainer.model)
    with pytest.raises(InputError, match="a sentencepiece vocabulary has none"):
        train_run(replace(config, bpe_dropout=0.1), data, tmp_path / "other")
