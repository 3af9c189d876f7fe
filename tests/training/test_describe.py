"""A model card is written from what was measured."""

from __future__ import annotations

import html
import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import translator
from translator.__main__ import main
from translator.analysis.profile import head_profile, store
from translator.config import ModelConfig
from translator.training import back_translation
from translator.training.card import Card, render, table, verbatim
from translator.training.config import TrainConfig
from translator.training.data import read_pairs
from translator.training.describe import ASSETS
from translator.training.evaluate import evaluate_file
from translator.training.self_training import PAIRS

Make = Callable[..., tuple[TrainConfig, Path]]


def make(toy_config: Make, toy_data: Path, tmp_path: Path, corpus: str, **settings: object) -> tuple[Path, Path]:
    """A trained toy checkpoint, and a data folder whose corpora are called `corpus`."""
    data = tmp_path / "data"
    data.mkdir(exist_ok=True)
    for split, source in (("train", "train"), ("dev", "dev"), ("test", "dev"), ("news", "dev")):
        text = (toy_data / f"{source}.tsv").read_text(encoding="utf-8")
        for name in ("even", "odd"):
            text = text.replace(f"\t{name}\n", f"\t{corpus}\n")
        (data / f"{split}.tsv").write_text(text, encoding="utf-8")
    _, path = toy_config(steps=20, batch_tokens=400, eval_every=20, **settings)
    out = tmp_path / "toy"
    places = ["--data", str(data), "--out", str(tmp_path / "run"), "--checkpoint", str(out), "--device", "cpu"]
    assert main(["train", str(path), *places]) == 0
    return out, data


def describe(out: Path, data: Path, *more: str, licence: str = "cc-by-sa-4.0") -> int:
    told = ["--data", str(data), "--hardware", "an abacus", "--selection", "the last", "--licence", licence, *more]
    return main(["describe", str(out), *told])


def rows(card: str, section: str) -> list[list[str]]:
    """The cells of a section's last table as a reader sees them, by another's parser."""
    tokens = MarkdownIt("commonmark").enable("table").parse(card.split(f"## {section}\n")[1].split("\n## ")[0])
    found: list[list[str]] = []
    for before, token in itertools.pairwise(tokens):
        if before.type == "tbody_open":
            found = []
        if before.type == "tr_open":
            found.append([])
        if before.type == "td_open":
            found[-1].append("".join(child.content for child in token.children or ()))
    return [row for row in found if row]


@pytest.mark.slow
def test_the_card_holds_the_measured_scores_and_the_credits(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    out, data = make(toy_config, toy_data, tmp_path, "tatoeba")
    assert describe(out, data) == 0
    engine = translator.load(out, device="cpu")  # the manifest fits the new card
    found = evaluate_file(engine, data / "test.tsv", method="beam")
    card = engine.bundle.card
    assert f"| test | {found.score.bleu:.1f} | {found.score.chrf:.1f} |" in card and "| news |" in card
    assert [row[5] for row in rows(card, "Scores")] == [str(found.looping)] * 2
    assert "an abacus" in card and "tatoeba.org" in card and found.score.bleu_signature in card
    assert "To be written" not in card
    assert card.count("\n| ") > 10
    assert "Of the 60 sources of `test`, 5 drawn at random, then 5 of the other 6 with the lowest chrF:" in card
    assert "Tatoeba test" not in card and "split into sentences" not in card and "Openly licensed" not in card
    assert len(rows(card, "Examples")) == 10


@pytest.mark.slow
def test_the_card_tells_of_self_training(
    toy_config: Make,
    toy_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With how many pairs, and who wrote their sentences, which differs by the pair of languages."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "monolingual.txt").write_text("jjjjj\niiiii\n", encoding="utf-8")
    settings = {"max_tokens": 12, "base": {"steps": 40, "eval_every": 40}, "self_training": -100.0}
    out, data = make(toy_config, toy_data, tmp_path, "tatoeba", **settings)
    assert describe(out, data) == 2 and "corpus 'self-en-en' has no what, licence, credit" in capsys.readouterr().err
    credits = json.loads((ASSETS / "credits.json").read_text(encoding="utf-8"))
    credits["self-en-en"] = {**credits["tatoeba"], "what": "Letters"}
    (tmp_path / "credits.json").write_text(json.dumps(credits), encoding="utf-8")
    monkeypatch.setattr("translator.training.describe.ASSETS", tmp_path)
    assert describe(out, data) == 0
    card = translator.load(out, device="cpu").bundle.card
    pairs = len(read_pairs(tmp_path / "run" / PAIRS))
    assert pairs and ["self", str(pairs)] in rows(card, "Data")
    told = "run 2: translations by the previous weights with at least -100 nats per token"
    assert ["self-training", told] in rows(card, "Training") and "- **self**: Letters. CC-BY 2.0 FR." in card


@pytest.mark.slow
def test_the_card_tells_of_back_translation_r_drop_and_guidance(
    toy_config: Make, toy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "monolingual-target.txt").write_text("jjjjj\niiiii\n", encoding="utf-8")
    reverse = {"steps": 80, "eval_every": 80, "lr": 2e-2}
    guided = {"guided": 0.05, "guided_head": (0, 1), "guiding_head": (0, 0)}
    out, data = make(toy_config, toy_data, tmp_path, "tatoeba", max_tokens=12, reverse=reverse, r_drop=2.5, **guided)
    credits = json.loads((ASSETS / "credits.json").read_text(encoding="utf-8"))
    credits["back-en-en"] = {**credits["tatoeba"], "what": "Letters"}
    (tmp_path / "credits.json").write_text(json.dumps(credits), encoding="utf-8")
    monkeypatch.setattr("translator.training.describe.ASSETS", tmp_path)
    assert describe(out, data) == 0
    card = translator.load(out, device="cpu").bundle.card
    pairs = len(read_pairs(tmp_path / "run" / back_translation.PAIRS))
    assert pairs and ["back", str(pairs)] in rows(card, "Data") and "- **back**: Letters." in card
    told = "run 1: target sentences translated back by a run of 80 steps"
    assert ["back-translation", told] in rows(card, "Training") and ["R-Drop", "2.5"] in rows(card, "Training")
    assert ["guided alignment", "L1H2 by L1H1, weight 0.05"] in rows(card, "Training")


@pytest.mark.slow
def test_a_corpus_without_credits_is_refused(
    toy_config: Make, toy_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, data = make(toy_config, toy_data, tmp_path, "nobody-knows")
    before = (out / "README.md").read_bytes()
    assert describe(out, data) == 2
    assert "nobody-knows" in capsys.readouterr().err
    assert (out / "README.md").read_bytes() == before


@pytest.mark.slow
def test_what_describe_adds_leaves_the_rest(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    """The section on heads stays in the card, and whatever else is in the folder in the folder."""
    out, data = make(toy_config, toy_data, tmp_path, "tatoeba")
    engine = translator.load(out, device="cpu")
    store(engine, head_profile(engine, [("abc", "cba")], data="three letters"))
    (out / "notes").mkdir()
    (out / "notes" / "mine.txt").write_text("mine")
    (tmp_path / "weak.md").write_text("- It counts no further than four.\n", encoding="utf-8")
    assert describe(out, data, "--weaknesses", str(tmp_path / "weak.md"), licence="cc0-1.0") == 0
    card = translator.load(out, device="cpu").bundle.card
    assert "license: cc0-1.0" in card and "The weights are under cc0-1.0." in card
    assert card.count("## What the heads do") == 1 and "1 sentences (three letters)" in card
    assert "## Known weaknesses\n\n- It counts no further than four.\n" in card
    assert (out / "notes" / "mine.txt").read_text() == "mine"


@pytest.mark.slow
def test_few_test_sentences_no_log_and_unused_corpora_are_told_as_they_are(
    toy_config: Make, toy_data: Path, tmp_path: Path
) -> None:
    out, data = make(toy_config, toy_data, tmp_path, "tatoeba", corpora={"nobody-knows": 0})
    with (data / "train.tsv").open("a", encoding="utf-8") as file:
        file.write("ab\tba\tnobody-knows\n")
    (data / "test.tsv").write_text("abc\tcba\tx\nabd\tdba\tx\nabe\teba\tx\n", encoding="utf-8")
    shutil.copy(data / "news.tsv", data / "news.tsv.old")
    engine = translator.load(out, device="cpu")
    (out / "log.jsonl").unlink()
    translator.checkpoints.seal(out)
    assert describe(out, data) == 0
    card = translator.load(out, device="cpu").bundle.card
    assert engine.bundle.card != card
    assert [row[0] for row in rows(card, "Examples")] != [] and len(rows(card, "Examples")) == 3
    assert "Of the 3 sources of `test`, 3 drawn at random:" in card
    assert "| steps | not logged, of 20 |" in card and "| time | not logged |" in card and "log.jsonl" not in card
    assert "nobody-knows" not in card and "Known weaknesses" not in card
    assert [row[0] for row in rows(card, "Scores")] == ["news", "test"]
    assert "pairs of more than 6 tokens a side removed" in card


@pytest.mark.slow
def test_without_a_test_file_the_card_says_so(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    out, data = make(toy_config, toy_data, tmp_path, "tatoeba")
    for name in ("test.tsv", "news.tsv"):
        (data / name).unlink()
    assert describe(out, data) == 0
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "None: there was no test file." in card and "To be written" not in card and "## Examples" not in card


@pytest.mark.slow
def test_what_cannot_be_described_is_refused(
    toy_config: Make, toy_data: Path, tmp_path: Path, tiny_checkpoint: Path, tiny_marian: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    out, data = make(toy_config, toy_data, tmp_path, "tatoeba")
    capsys.readouterr()
    before = (out / "README.md").read_bytes()
    for folder, more, words in (
        (tiny_checkpoint, (), "has no train.json; only a checkpoint that `train` made"),
        (tiny_marian, (), "is of another format"),
        (out, ("--licence", "as you: like"), "licence is 'as you: like'"),
        (out, ("--weaknesses", "none.md"), "none.md cannot be read"),
    ):
        assert describe(folder, data, *more) == 2
        error = capsys.readouterr().err
        assert words in error and error.startswith("translator: ") and error.count("\n") == 1
    (out / "log.jsonl").write_text('{"step": 20}\n{"step": \n', encoding="utf-8")
    translator.checkpoints.seal(out)
    assert describe(out, data) == 2
    assert "log.jsonl, line 2 is not a record" in capsys.readouterr().err
    assert (out / "README.md").read_bytes() == before


TEXTS = [
    "a | b",
    "a \\| b",
    "`x|y`",
    "<s> & <b>bold</b>",
    "*stars* and _lines_",
    "[link](x) ~~no~~",
    "a&#124;b &lt;",
    "\\",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_in_a_table_is_read_as_it_was(text: str) -> None:
    card = f"## X\n\n{table(('one', 'two'), [[verbatim(text), 'end']])}\n"
    assert rows(card, "X") == [[text, "end"]]


def test_what_people_say_of_a_run_breaks_no_table() -> None:
    config = TrainConfig("toy", "de", "en", tgt_level="char", schedule="noam", lr=2.0, base={"seed": 5, "steps": 60})
    shape = ModelConfig(10, 10, d_model=16, encoder_heads=2, decoder_heads=2)
    told = {"selection": "one\n| of two", "hardware": "a | b", "licence": "mit"}
    text = render(Card(config, shape, parameters=1, steps=7, hours=1.0, **told))
    told = dict(row for row in rows(text, "Training") if len(row) == 2)
    assert told["hardware"] == "a | b" and told["weights"] == "one | of two"
    assert told["seed"] == "5; 1" and told["schedule"].startswith("noam, factor 2, ")
    assert all(len(row) == 2 for row in rows(text, "Training"))
    assert "(subword, char)" in text and html.unescape(text).count("license: mit") == 1
    assert json.dumps("To be written") not in text
