"""A run's folder goes on with the settings that it began with, or says which differ; what is damaged is named."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from translator.__main__ import main
from translator.errors import CheckpointError, InputError
from translator.training.config import TrainConfig
from translator.training.run import build, train
from translator.training.selection import BASE, SELECTED
from translator.training.state import read_log, read_whole, write_whole

ROOT = Path(__file__).parents[2]
Make = Callable[..., tuple[TrainConfig, Path]]


def digests(folder: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*") if p.is_file()}


def told(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "train.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": {"d_model": 64}}, "model.d_model is 64 and was 32"),
        ({"model": {"dropout": 0.3}}, "model.dropout is 0.3 and was 0.1"),
        ({"lr": 0.1, "seed": 7}, "lr is 0.1 and was 0.005; seed is 7 and was 1"),
        ({"level": "word"}, "level is word and was char"),
        ({"tgt": "de"}, "tgt is de and was en"),
        ({"corpora": {"even": 2}}, "corpora.even is 2 and was not set"),
        ({"base": {"steps": 2}}, "base.steps is 2 and was not set"),
    ],
)
def test_other_settings_are_refused_by_name_and_nothing_is_touched(
    toy_config: Make, toy_data: Path, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    config, _ = toy_config(steps=2, eval_every=2)
    run = tmp_path / "run"
    train(config, toy_data, run)
    before = digests(run)
    other, _ = toy_config(steps=2, eval_every=2, **changes)
    for begin in (train, build):
        with pytest.raises(InputError, match=f"run holds a run with other settings: .*{words}"):
            begin(other, toy_data, run)
    assert digests(run) == before


@pytest.mark.slow
@pytest.mark.parametrize("split", ["train", "dev"])
def test_other_sentences_are_refused_and_nothing_is_touched(
    toy_config: Make, toy_data: Path, tmp_path: Path, split: str
) -> None:
    config, _ = toy_config(steps=2, eval_every=2)
    run, data = tmp_path / "run", tmp_path / "data"
    shutil.copytree(toy_data, data)
    train(config, data, run)
    before = digests(run)
    path = data / f"{split}.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[1:], lines[0]]) + "\n", encoding="utf-8")  # another order is another run
    for begin in (train, build):
        with pytest.raises(
            InputError, match=rf"run holds a run on other sentences than those of .*{split}\.tsv\. Pass"
        ):
            begin(replace(config, steps=4), data, run)
    assert digests(run) == before
    path.unlink()
    with gzip.open(path.with_suffix(".tsv.gz"), "wt", encoding="utf-8", newline="\r\n") as file:
        file.write("\n".join(lines) + "\n")
    trainer, _ = train(replace(config, steps=4), data, run)  # the same sentences, packed
    assert trainer.progress.step == 4


@pytest.mark.slow
def test_where_nothing_was_trained_other_sentences_begin_anew(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    run, data = tmp_path / "run", tmp_path / "data"
    _, corpus = build(toy_config()[0], toy_data, run)
    shutil.copytree(toy_data, data)
    (data / "train.tsv").write_text("αβγ\tγβα\tgreek\n" * 9, encoding="utf-8")
    _, other = build(toy_config()[0], data, run)
    assert other.src.ids("αβγ") != corpus.src.ids("αβγ") == corpus.src.ids("γβα")


@pytest.mark.slow
def test_a_run_from_before_its_text_was_kept_goes_on(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    config, _ = toy_config(steps=2, eval_every=2)
    run = tmp_path / "run"
    train(config, toy_data, run)
    for content in (None, "", "[]", "{"):
        (run / "text.json").unlink()
        if content is not None:
            (run / "text.json").write_text(content)
        train(config, toy_data, run)
        assert set(json.loads((run / "text.json").read_text())) == {"train", "dev"}


@pytest.mark.slow
def test_a_run_may_be_made_longer_and_be_looked_at_otherwise(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(toy_config(steps=4, eval_every=2, average=2)[0], toy_data, run)
    longer, _ = toy_config(steps=7, decay=2, eval_every=3, average=1)
    trainer, _ = train(longer, toy_data, run)
    assert trainer.progress.step == told(run)["steps"] == 7
    assert [record["step"] for record in read_log(run / "log.jsonl") if "dev_bleu" in record] == [2, 4, 6, 7]
    with pytest.raises(InputError, match=r"steps is 5, but .*run has gone 7 already"):
        train(replace(longer, steps=5), toy_data, run)
    assert told(run)["steps"] == 7


@pytest.mark.slow
def test_what_a_run_grew_from_may_not_change_behind_it(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    """A base inherits the steps that it does not name, so that a longer run would tell of a longer base."""
    run, base = tmp_path / "run", {"seed": 5}
    config, _ = toy_config(steps=2, eval_every=2, base=base)
    train(config, toy_data, run)
    with pytest.raises(InputError, match=r"other settings: base\.steps is 4 and was 2\."):
        train(replace(config, steps=4), toy_data, run)
    train(replace(config, steps=4, eval_every=1, average=1, base={**base, "steps": 2}), toy_data, run)
    assert told(run)["steps"] == 4 and told(run / BASE)["steps"] == 2


@pytest.mark.slow
def test_a_base_that_went_on_is_chosen_from_anew(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    config, _ = toy_config(steps=2, eval_every=2, average=1, begin="selected", base={"seed": 5, "begin": "best"})
    train(config, toy_data, run)
    (run / "state-0.pt").unlink()  # as a kill before the first one leaves it
    for path in (run / BASE).glob("weights-*.pt"):
        write_whole(path, {name: value + 1 for name, value in read_whole(path).items()})
    (run / BASE / "best.pt").unlink()
    before = digests(run / BASE)[str(run / BASE / SELECTED)]
    train(config, toy_data, run)
    assert digests(run / BASE)[str(run / BASE / SELECTED)] != before


def test_a_checkpoint_is_no_folder_for_a_run(
    toy_config: Make, toy_data: Path, tmp_path: Path, tiny_checkpoint: Path
) -> None:
    before = digests(tiny_checkpoint)
    for begin in (train, build):
        with pytest.raises(InputError, match="is a checkpoint, whose files a run would overwrite"):
            begin(toy_config()[0], toy_data, tiny_checkpoint)
    assert digests(tiny_checkpoint) == before


@pytest.mark.slow
def test_where_nothing_was_trained_other_settings_begin_anew(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    _, corpus = build(toy_config()[0], toy_data, run)
    trainer, other = build(toy_config(level="word")[0], toy_data, run)
    assert (corpus.src.config.level, other.src.config.level) == ("char", "word")
    assert trainer.model.config.src_vocab == len(other.src) != len(corpus.src)
    assert told(run)["level"] == "word"


@pytest.mark.slow
def test_what_lies_beyond_the_state_is_not_averaged(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    config, _ = toy_config(steps=6, eval_every=2)
    run = tmp_path / "run"
    train(config, toy_data, run)
    (run / "state-0.pt").unlink()  # a damaged one, as its message says
    train(replace(config, steps=2), toy_data, run)
    assert [path.name for path in sorted(run.glob("weights-*.pt"))] == ["weights-000000002.pt"]


@pytest.mark.slow
@pytest.mark.parametrize("content", [[1], {"model": {}}, {"progress": 3}, {"progress": {"pace": 3}}, {"progress": {}}])
def test_a_state_of_something_else_is_named(toy_config: Make, toy_data: Path, tmp_path: Path, content: object) -> None:
    run = tmp_path / "run"
    config, _ = toy_config()
    build(config, toy_data, run)
    write_whole(run / "state-0.pt", content)
    with pytest.raises(CheckpointError, match=r"state-0\.pt is (not a training state|no state of this run)"):
        build(config, toy_data, run)


@pytest.mark.slow
def test_a_state_of_another_model_is_named(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    """As where vocabularies were exchanged by hand."""
    run, config = tmp_path / "run", toy_config(steps=2, eval_every=2)[0]
    train(config, toy_data, run)
    state = read_whole(run / "state-0.pt")
    for name in ("model", "optimiser"):
        write_whole(run / "state-0.pt", {**state, name: {"x": torch.zeros(1)}})
        with pytest.raises(CheckpointError, match=r"state-0\.pt (holds weights of another model|is no state of this)"):
            build(config, toy_data, run)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["best.pt", "weights-000000004.pt"])
@pytest.mark.parametrize("content", [[1], {"a": 1}, {"a": torch.zeros(2)}, b"\x00 torn"])
def test_damaged_weights_are_named_by_an_export(
    toy_config: Make, toy_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, content: object
) -> None:
    config, path = toy_config(steps=4, eval_every=2)
    run = tmp_path / "run"
    train(config, toy_data, run)
    if isinstance(content, bytes):
        (run / file).write_bytes(content)
    else:
        write_whole(run / file, content)
    capsys.readouterr()
    places = ["--data", str(toy_data), "--out", str(run), "--checkpoint", str(tmp_path / "toy")]
    assert main(["train", str(path), *places, "--export-only", "--device", "cpu"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("translator: ") and error.count("\n") == 1 and str(run) in error
    assert not (tmp_path / "toy").exists()


@pytest.mark.parametrize(
    "line", ['{"step": ', "[]", "7", '{"loss": 1.0}', '{"step": "3"}', '{"step": 1, "hours": "x"}']
)
def test_a_broken_line_of_a_log_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"step": 1}}\n{line}\n{{"step": 2}}\n', encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"log\.jsonl, line 2 is not a record"):
        read_log(path)


def test_a_log_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\xff\xfe\n")
    with pytest.raises(CheckpointError, match=r"log\.jsonl, line 1 is not a record"):
        read_log(path)
    path.write_text('{"step": 1, "note": "one\u2028line\u0085"}\n', encoding="utf-8")
    assert read_log(path) == [{"step": 1, "note": "one\u2028line\u0085"}]


@pytest.mark.parametrize("out", [".", "run", "runs/..", "full"])
def test_where_no_checkpoint_may_go_is_said_before_training(
    toy_config: Make, toy_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work")
    _, path = toy_config(steps=2, eval_every=2)
    places = ["--data", str(toy_data), "--out", "run", "--checkpoint", out, "--device", "cpu"]
    assert main(["train", str(path), *places]) == 2
    assert "another" in capsys.readouterr().err or out == "full"
    assert not (tmp_path / "run").exists() and (tmp_path / "full" / "thesis.txt").exists()


TRAIN = """
import sys
from pathlib import Path
from translator.training import claim, run
from translator.training.claim import read_config

def said(*_):
    print("begun", flush=True)
    sys.stdin.readline()
    raise SystemExit(0)

run.claim = said
run.train(read_config(Path(sys.argv[1])), Path(sys.argv[2]), Path(sys.argv[3]))
"""


@pytest.mark.slow
def test_two_trainings_in_one_folder_are_refused_in_words_until_the_first_is_gone(
    toy_config: Make, toy_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, path = toy_config(steps=2, eval_every=2)
    folder = tmp_path / "run"
    asked = ["train", str(path), "--data", str(toy_data), "--out", str(folder), "--checkpoint", str(tmp_path / "made")]
    command = [sys.executable, "-c", TRAIN, str(path), str(toy_data), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as first:
        assert first.stdout is not None and first.stdout.readline() == b"begun\n"
        before = digests(folder)
        assert main(asked) == 2
        assert "is being trained in by another process" in capsys.readouterr().err
        assert digests(folder) == before and not (tmp_path / "made").exists()
        first.kill()
    assert main(asked) == 0, "the system has taken the lock back"


@pytest.mark.slow
def test_a_training_that_ended_leaves_its_folder_free(toy_config: Make, toy_data: Path, tmp_path: Path) -> None:
    config, _ = toy_config(steps=2, eval_every=2)
    train(config, toy_data, tmp_path / "run")
    with pytest.raises(InputError, match="other settings"):
        train(replace(config, seed=7), toy_data, tmp_path / "run")
    train(config, toy_data, tmp_path / "run")
