"""From a run to a checkpoint, by the command line."""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import translator
from translator.__main__ import main
from translator.checkpoints import load_bundle, seal
from translator.config import DecodeConfig
from translator.training.card import MISSING
from translator.training.config import TrainConfig
from translator.training.data import Pair
from translator.training.evaluate import evaluate_file
from translator.training.export import export
from translator.training.run import build
from translator.training.run import train as train_run
from translator.training.state import LastWeights, read_log, read_whole

Make = Callable[..., tuple[TrainConfig, Path]]


def digests(folder: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()}


def train(config: Path, data: Path, run: Path, out: Path, *more: str) -> int:
    places = ["--data", str(data), "--out", str(run), "--checkpoint", str(out)]
    return main(["train", str(config), *places, "--device", "cpu", *more])


@pytest.mark.slow
def test_train_makes_a_checkpoint_that_translates(
    toy_config: Make, toy_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, path = toy_config(steps=60, batch_tokens=400, eval_every=20)
    run, out = tmp_path / "run", tmp_path / "checkpoints" / "toy"
    assert train(path, toy_data, run, out) == 0
    printed = capsys.readouterr().out
    assert "the mean of the last 2 evaluations" in printed and "the best evaluation" in printed
    engine = translator.load(out, device="cpu")
    assert engine.name == "toy" and engine.languages == ("en", "en")
    found = evaluate_file(engine, toy_data / "dev.tsv")
    candidates = (LastWeights(run, 2).average(), read_whole(run / "best.pt"))
    kept = engine.bundle.model.state_dict()
    assert any(all(torch.equal(weights[n].half().float(), kept[n]) for n in kept) for weights in candidates)
    assert found.score.bleu == pytest.approx(_printed_best(printed), abs=2)  # half precision may flip a near tie
    assert json.loads((out / "train.json").read_text(encoding="utf-8"))["steps"] == 60
    assert [json.loads(line) for line in (out / "log.jsonl").read_text(encoding="utf-8").splitlines()] == read_log(
        run / "log.jsonl"
    )
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "60 of 60" in card and "license:" not in card and f"{_parameters(engine):,}" in card


def _printed_best(printed: str) -> float:
    return max(float(line.split()[2].rstrip(",")) for line in printed.splitlines() if line.startswith("dev BLEU"))


def _parameters(engine: translator.Translator) -> int:
    return sum(parameter.numel() for parameter in engine.bundle.model.parameters())


@pytest.mark.slow
def test_export_only_takes_what_a_run_has_and_writes_nothing_into_it(
    toy_config: Make, toy_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, path = toy_config(steps=6, eval_every=2)
    run, out = tmp_path / "run", tmp_path / "toy"
    trainer, _ = build(config, toy_data, run)
    assert train(path, toy_data, run, out, "--export-only") == 2
    assert "holds no weights to average; train for at least one evaluation" in capsys.readouterr().err
    trainer.run(until=4, save_every=2)
    before = digests(run)
    assert train(path, toy_data, run, out, "--export-only") == 0
    assert digests(run) == before
    assert MISSING in load_bundle(out, device="cpu").card

    trainer.run()  # the run goes on; its checkpoint has got settings and a card of its own meanwhile
    values = json.loads((out / "config.json").read_text(encoding="utf-8"))
    values["decode"]["length_penalty"] = 1.25
    (out / "config.json").write_text(json.dumps(values), encoding="utf-8")
    assert train(path, toy_data, run, out, "--export-only") == 0
    bundle = load_bundle(out, device="cpu")
    assert bundle.decode.length_penalty == 1.25 and "4 of 6" not in bundle.card  # an unfinished card is written anew
    (out / "README.md").write_text("# Ours\n", encoding="utf-8")
    seal(out)
    assert train(path, toy_data, run, out, "--export-only") == 0
    assert load_bundle(out, device="cpu").card == "# Ours\n"


@pytest.mark.slow
def test_the_mean_with_the_run_before_is_a_candidate(
    toy_config: Make, toy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, _ = toy_config(steps=4, eval_every=2, average=1)
    shape = {**(config.model or {}), "dropout": 0.0}  # it changes no weight's shape
    config = replace(config, base={"steps": 2, "seed": 5, "model": shape})
    run, out = tmp_path / "run", tmp_path / "toy"
    train_run(config, toy_data, run)
    scores = itertools.count()  # whatever is asked last is best
    module = importlib.import_module("translator.training.export")
    monkeypatch.setattr(module, "development", lambda *_, **__: lambda _: {"bleu": next(scores), "chrf": 0.0})
    exported = module.export(run, {}, out, device=torch.device("cpu"))
    assert exported.chosen == "the mean of the last evaluation and of the run before"
    now, before = (read_whole(folder.joinpath(name)) for folder, name in (
        (run, "weights-000000004.pt"), (run / "base", "weights-000000002.pt")))  # fmt: skip
    for name, value in load_bundle(out, device="cpu").model.state_dict().items():
        assert torch.equal(value, torch.stack([now[name], before[name]]).mean(0).half().float()), name


@pytest.mark.slow
def test_the_mean_with_the_two_runs_before_is_a_candidate(
    toy_config: Make, toy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, _ = toy_config(steps=4, eval_every=2, average=1)
    shape = {**(config.model or {}), "dropout": 0.0}
    config = replace(config, base={"steps": 2, "seed": 5, "model": shape, "base": {"seed": 6}})
    run = tmp_path / "run"
    train_run(config, toy_data, run)
    scores = itertools.count()  # whatever is asked last is best
    module = importlib.import_module("translator.training.export")
    monkeypatch.setattr(module, "development", lambda *_, **__: lambda _: {"bleu": next(scores), "chrf": 0.0})
    exported = module.export(run, {}, tmp_path / "toy", device=torch.device("cpu"))
    assert exported.chosen == "the mean of the last evaluation and of the two runs before"
    ends = [run / "weights-000000004.pt", *(run / before / "weights-000000002.pt" for before in ("base", "base/base"))]
    kept = [read_whole(end) for end in ends]
    for name, value in load_bundle(tmp_path / "toy", device="cpu").model.state_dict().items():
        assert torch.equal(value, torch.stack([end[name] for end in kept]).mean(0).half().float()), name


@pytest.mark.slow
def test_candidates_are_compared_as_the_checkpoint_decodes(
    toy_config: Make, toy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = toy_config(steps=2, eval_every=2)
    run, out = tmp_path / "run", tmp_path / "toy"
    assert train(path, toy_data, run, out) == 0
    values = json.loads((out / "config.json").read_text(encoding="utf-8"))
    values["decode"] |= {"method": "beam", "beam": 3, "length_penalty": 1.25}
    (out / "config.json").write_text(json.dumps(values), encoding="utf-8")
    module, asked = importlib.import_module("translator.training.export"), []

    def development(*_: object, decode: DecodeConfig) -> object:
        asked.append(decode)
        return lambda _: {"bleu": 1.0, "chrf": 0.0}

    monkeypatch.setattr(module, "development", development)
    module.export(run, {}, out, device=torch.device("cpu"))
    assert [(each.method, each.beam, each.length_penalty) for each in asked] == [("beam", 3, 1.25)]
    assert "(beam 3)" in load_bundle(out, device="cpu").card


@pytest.mark.slow
@pytest.mark.parametrize("deeper", [{}, {"model": {"encoder_layers": 2}}])
def test_only_a_run_of_the_same_model_is_averaged_with(
    toy_config: Make, toy_data: Path, tmp_path: Path, deeper: dict[str, object]
) -> None:
    config, _ = toy_config(steps=2, eval_every=2, **deeper)
    if deeper:
        config = replace(config, base={"steps": 2, "model": {**config.model, "encoder_layers": 1}})
    train_run(config, toy_data, tmp_path / "run")
    pairs = [Pair(source, target, "toy") for source, target in (("abc", "cba"), ("abd", "dba"))]
    exported = export(tmp_path / "run", {"dev": pairs}, tmp_path / "toy", device=torch.device("cpu"))
    assert not [name for name in exported.scores if "run before" in name]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "cannot be read as a training config"),
        ("[1]", "holds no JSON object"),
        ("{", "cannot be read as a training config"),
        ('{"name": "n", "src": "de", "tgt": "en", "leaning_rate": 1}', "unknown setting 'leaning_rate'"),
        ('{"name": "n", "src": "de", "tgt": "en", "lr": -1}', "lr is -1; it must be a number from"),
        ('{"name": "n"}', "TrainConfig: "),
    ],
)
def test_a_bad_config_is_refused_in_one_line(
    content: str | None, complaint: str, toy_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert train(path, toy_data, tmp_path / "run", tmp_path / "out") == 2
    error = capsys.readouterr().err
    assert error.startswith("translator: ") and complaint in error and error.count("\n") == 1
    assert not (tmp_path / "run").exists()
