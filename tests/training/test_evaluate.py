"""Scores against sacrebleu called by hand; what is refused is counted, and a shared evaluation is the same."""

from __future__ import annotations

import dataclasses
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sacrebleu

import translator
from translator.__main__ import main
from translator.errors import InputError
from translator.pipeline import Translator
from translator.training.data import Pair
from translator.training.evaluate import Evaluation, evaluate, evaluate_file, loops
from translator.training.loop import Process

PAIRS = [
    Pair("Ich renne in den Park.", "I run into the park.", "x"),
    Pair("Ich renne in den Park.", "I am running into the park.", "x"),
    Pair("Park " * 150, "Too long.", "x"),
    Pair("Das Haus ist groß.", "The house is big.", "x"),
    Pair("Guten Morgen!", "Good morning!", "x"),
    Pair("Guten Morgen!", "Morning!", "x"),
    Pair("Guten Morgen!", "A good morning!", "x"),
]


@pytest.fixture(scope="module")
def engine(tiny_checkpoint: Path) -> Translator:
    return translator.load(tiny_checkpoint, device="cpu")


@pytest.fixture
def test_file(tmp_path: Path) -> Path:
    path = tmp_path / "news.tsv"
    path.write_text("".join(f"{p.src}\t{p.tgt}\t{p.corpus}\n" for p in PAIRS), encoding="utf-8")
    return path


def same(one: Evaluation, other: Evaluation) -> bool:
    return dataclasses.replace(one, seconds=1.0) == dataclasses.replace(other, seconds=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"method": "greedy"}, {"method": "beam", "beam": 2}])
def test_scores_are_sacrebleus_over_all_references(engine: Translator, settings: dict[str, Any]) -> None:
    found = evaluate(engine, PAIRS, "news", max_length=12, **settings)
    sources = ["Ich renne in den Park.", "Das Haus ist groß.", "Guten Morgen!"]
    first, second, third = (engine.translate(text, max_length=12, **settings).translation for text in sources)
    assert found.hypotheses == (first, "", second, third)
    streams: Any = [
        ["I run into the park.", "Too long.", "The house is big.", "Good morning!"],
        ["I am running into the park.", None, None, "Morning!"],
        [None, None, None, "A good morning!"],
    ]
    assert found.score.bleu == sacrebleu.BLEU().corpus_score(list(found.hypotheses), streams).score
    assert found.score.chrf == sacrebleu.CHRF().corpus_score(list(found.hypotheses), streams).score
    assert "nrefs:var" in found.score.bleu_signature and "tok:13a" in found.score.bleu_signature
    assert (found.sentences, found.sources) == (7, 4)
    assert found.sentences_per_second == pytest.approx(4 / found.seconds)


def test_a_refused_source_is_named_and_scores_as_nothing(engine: Translator) -> None:
    found = evaluate(engine, PAIRS, "news", max_length=5)
    assert len(found.refused) == 1
    assert found.refused[0].startswith("source 2: the text has ") and "so shorten it" in found.refused[0]


@pytest.mark.slow
@pytest.mark.parametrize("world", [2, 3, 5])
def test_shared_work_gives_what_one_process_gives(engine: Translator, world: int) -> None:
    barrier, values = threading.Barrier(world), {}

    class Shared(Process):
        def gather(self, value: Any) -> list[Any]:
            values[self.rank] = value
            barrier.wait(30)
            return [values[rank] for rank in range(world)]

    def work(rank: int) -> Evaluation:
        return evaluate(engine, PAIRS, "news", process=Shared(rank, world), max_length=8)

    with ThreadPoolExecutor(world) as pool:
        found = list(pool.map(work, range(world)))
    want = evaluate(engine, PAIRS, "news", max_length=8)
    assert all(same(one, want) for one in found)


def test_chinese_is_cut_by_sacrebleus_own_tokenizer() -> None:
    from translator.training.metrics import score

    found = score(["我喜欢红茶。"], [["我喜欢绿茶。", "我爱红茶。"]], "zh")
    want = sacrebleu.corpus_bleu(["我喜欢红茶。"], [["我喜欢绿茶。"], ["我爱红茶。"]], tokenize="zh")
    assert found.bleu == want.score > 0 and "tok:zh" in found.bleu_signature


def test_a_wrong_setting_is_refused_before_anything_is_scored(engine: Translator) -> None:
    with pytest.raises(InputError, match="beam is 0"):
        evaluate(engine, PAIRS, "news", beam=0)
    with pytest.raises(InputError, match="holds no sentence pairs"):
        evaluate(engine, [], "news")


def test_the_file_names_the_evaluation(engine: Translator, test_file: Path) -> None:
    assert same(evaluate_file(engine, test_file, max_length=5), evaluate(engine, PAIRS, "news", max_length=5))


@pytest.mark.parametrize(
    ("ids", "looping"),
    [
        ([1, 2, 3, 4] * 3, True),
        ([9, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 9], True),
        ([7] * 12, True),
        ([7] * 11, False),
        ([1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 5], False),
        ([1, 2, 3, 4, 5] * 3, False),
        ([], False),
    ],
)
def test_loops_are_four_tokens_three_times_in_a_row(ids: list[int], looping: bool) -> None:
    assert loops(ids) == looping
    brute = any(ids[i : i + 4] * 3 == ids[i : i + 12] and len(ids) >= i + 12 for i in range(len(ids)))
    assert loops(ids) == brute


@pytest.mark.slow
def test_the_command_prints_a_table_and_writes_json(
    tiny_checkpoint: Path, test_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "short.tsv"
    other.write_text("Guten Morgen!\tGood morning!\tx\n", encoding="utf-8")
    out = tmp_path / "scores.json"
    files = [str(test_file), str(other)]
    options = ["--model", str(tiny_checkpoint), "--device", "cpu", "--json", str(out)]
    assert main(["evaluate", *files, *options, "--method", "beam", "--beam", "2", "--max-length", "9"]) == 0
    printed, noted = capsys.readouterr()
    values = json.loads(out.read_text(encoding="utf-8"))
    assert [test["name"] for test in values["tests"]] == ["news", "short"]
    assert values["checkpoint"]["name"] == "tiny" and values["settings"]["beam"] == 2
    for test, line in zip(values["tests"], printed.splitlines()[1:3], strict=True):
        assert line.split()[:4] == [test["name"], f"{test['bleu']:.2f}", f"{test['chrf']:.2f}", str(test["sources"])]
        assert test["bleu_signature"] in printed and test["chrf_signature"] in printed
    assert "news: source 2: the text has" in noted
    assert "hypotheses" not in values["tests"][0]


def test_the_command_refuses_in_one_line(tiny_checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "missing.tsv", "--model", str(tiny_checkpoint), "--device", "cpu"]) == 2
    assert capsys.readouterr().err.startswith("translator: missing.tsv cannot be read")
