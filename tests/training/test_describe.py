"""A model card is written from what was measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import translator
from translator.__main__ import main
from translator.config import TrainConfig
from translator.training.evaluate import evaluate_file

Make = Callable[..., tuple[TrainConfig, Path]]


def make(toy_config: Make, toy_data: Path, tmp_path: Path, corpus: str) -> tuple[Path, Path]:
    """A trained toy checkpoint, and a data folder whose corpora are called `corpus`."""
    data = tmp_path / "data"
    data.mkdir()
    for split, source in (("train", "train"), ("dev", "dev"), ("test", "dev"), ("news", "dev")):
        text = (toy_data / f"{source}.tsv").read_text(encoding="utf-8")
        for name in ("even", "odd"):
            text = text.replace(f"\t{name}\n", f"\t{corpus}\n")
        (data / f"{split}.tsv").write_text(text, encoding="utf-8")
    _, path = toy_config(steps=20, batch_tokens=400, eval_every=20)
    out = tmp_path / "toy"
    places = ["--data", str(data), "--out", str(tmp_path / "run"), "--checkpoint", str(out), "--device", "cpu"]
    assert main(["train", str(path), *places]) == 0
    return out, data


def describe(out: Path, data: Path) -> int:
    return main(["describe", str(out), "--data", str(data), "--hardware", "an abacus", "--selection", "the last"])


def test_the_card_holds_the_measured_scores_and_the_credits(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    out, data = make(toy_config, toy_data, tmp_path, "tatoeba")
    assert describe(out, data) == 0
    engine = translator.load(out, device="cpu")  # the manifest fits the new card
    found = evaluate_file(engine, data / "test.tsv", method="beam")
    card = engine.bundle.card
    assert f"| test | {found.score.bleu:.1f} | {found.score.chrf:.1f} |" in card and "| news |" in card
    assert "an abacus" in card and "tatoeba.org" in card and found.score.bleu_signature in card
    assert "To be written" not in card
    assert card.count("\n| ") > 10 and "five drawn blindly" in card


def test_a_corpus_without_credits_is_refused(
    toy_config: Make, toy_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, data = make(toy_config, toy_data, tmp_path, "nobody-knows")
    before = (out / "README.md").read_bytes()
    assert describe(out, data) == 2
    assert "nobody-knows" in capsys.readouterr().err
    assert (out / "README.md").read_bytes() == before
