"""The commands that say what may be believed, and those that measure it and store it in a checkpoint."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import translator
from translator import CheckpointError, Translator
from translator.__main__ import main
from translator.analysis.alti import alti
from translator.analysis.arena import arena
from translator.analysis.index import stored_index
from translator.analysis.measured import FILE, arena_section, measured_sections, store_arena, stored_arena
from translator.analysis.omissions import omissions, stored_meter
from translator.analysis.search import Corpus
from translator.checkpoints.save import amend

TEXT = "Ich renne in den Park."
SENTENCES = ("Das Haus ist groß, aber alt.", TEXT, "Guten Morgen, Frau Müller!", "Das Haus ist alt.")


@pytest.fixture(scope="module")
def folder(tiny_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tiny checkpoint that may be written to, and a file of sentences beside it."""
    place = tmp_path_factory.mktemp("measured")
    shutil.copytree(tiny_checkpoint, place / "tiny")
    (place / "sentences.txt").write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    return place / "tiny"


@pytest.fixture(scope="module")
def measured(folder: Path) -> Translator:
    """That checkpoint, indexed and judged by the commands."""
    data = str(folder.parent / "sentences.txt")
    assert main(["index", str(folder), "--data", data]) == 0
    assert main(["arena", str(folder), "--data", data, "--limit", "3"]) == 0
    return translator.load(folder, device="cpu")


@pytest.fixture
def ask(measured: Translator, folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What a view of `lab` says with --json."""

    def asked(view: str, *options: str) -> Any:
        capsys.readouterr()
        assert main(["lab", view, "--model", str(folder), *options, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return asked


@pytest.mark.slow
def test_alti_has_rows_that_sum_to_1(measured: Translator, ask: Callable[..., Any]) -> None:
    found = ask("alti", TEXT)
    trace = measured.translate(TEXT, method="greedy")
    np.testing.assert_allclose(found["values"], alti(measured, trace).total.source, atol=1e-6)
    np.testing.assert_allclose(np.sum(found["values"], 1) + np.sum(found["target"], 1), 1, atol=1e-6)
    assert found["columns"] == [token.surface for token in trace.src]
    assert found["rows"] == [token.surface for token in trace.tgt]


@pytest.mark.slow
def test_the_arena_names_whom_to_believe(measured: Translator, ask: Callable[..., Any]) -> None:
    found = ask("arena", TEXT)
    want = arena(measured, measured.translate(TEXT, method="greedy"))
    assert found["words"] == ["Ich", "renne", "in", "den", "Park", "."] and found["believe"] == want.believable
    assert found["methods"]["alti"]["correlation"] == pytest.approx(want.mean("alti"), abs=1e-6)
    assert found["methods"]["random"].keys() == {"correlation", "beyond_chance", "lost", "shares"}


@pytest.mark.slow
@pytest.mark.parametrize("translation", [[], ["I run into the park."]])
def test_omissions_keep_their_contract(measured: Translator, ask: Callable[..., Any], translation: list[str]) -> None:
    found = ask("omissions", TEXT, *translation)
    trace = measured.force(TEXT, *translation) if translation else measured.translate(TEXT, method="greedy")
    want = omissions(measured, trace)
    assert [word.keys() for word in found["source"]] == [{"text", "score", "left_out"}] * 6
    assert all(word.keys() == {"text", "score", "invented"} and 0 <= word["score"] <= 1 for word in found["target"])
    assert [word["score"] for word in found["source"]] == pytest.approx([word.score for word in want.source], abs=1e-6)
    assert [word["text"] for word in found["target"]] == [word.text for word in want.target]


@pytest.mark.slow
def test_search_gives_rows_cells_states_and_the_joint_picture(measured: Translator, ask: Callable[..., Any]) -> None:
    index = stored_index(measured)
    assert index is not None and index.texts == SENTENCES and index.data == "sentences.txt"
    corpus, trace = Corpus(measured, index), measured.translate(TEXT, method="greedy")
    head = ["--kind", "encoder", "--layer", "2", "--head", "1"]
    found = ask("search", *head, "--count", "3")
    assert [hit["weight"] for hit in found["hits"]] == [
        hit.weight for hit in corpus.head_rows("encoder", 1, 0, count=3)
    ]
    assert found["habit"]["share"] == corpus.habit("encoder", 1, 0).share
    found = ask("search", TEXT, *head, "--query", "3", "--key", "2")
    assert found["hits"][0]["score"] == pytest.approx(corpus.like_cell(trace, "encoder", 1, 0, 2, 1)[0].score)
    found = ask("search", TEXT, "--place", "2", "--side", "decoder", "--layer", "0")
    assert found["neighbours"][0]["source"] == corpus.neighbours(trace, "decoder", 0, 1)[0].source
    assert found["token"] == trace.reads[1].surface
    found = ask("search", *head, "--joint")
    assert len(found["queries"]) == len(found["keys"]) and len(found["queries"][0]["at"]) == 2


@pytest.mark.slow
def test_people_are_told_in_tables(measured: Translator, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = ["--layer", "1", "--head", "2"]
    for view, said in (
        (["alti", TEXT], "source share"),
        (["arena", TEXT], "random orders stay below"),
        (["omissions", TEXT], "omission-bench"),
        (["search", *head], " reads "),
        (["search", TEXT, *head, "--query", "3", "--key", "2"], "\n+0."),
        (["search", *head, "--joint"], "the plane keeps"),
        (["search", TEXT, "--place", "1"], "+1.00"),
    ):
        assert main(["lab", view[0], "--model", str(folder), *view[1:]]) == 0
        assert said in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--layer", "1"], "search needs --layer and --head"),
        (["--layer", "9", "--head", "1"], "layer is 9; it must be a whole number from 1 to 2"),
        ([TEXT, "--layer", "1", "--head", "1"], "--query and --key"),
        (["--place", "1"], "give the text"),
        ([TEXT, "--place", "99"], "place is 99"),
        ([TEXT, "--layer", "1", "--head", "1", "--query", "99", "--key", "1"], "query is 99"),
    ],
)
def test_what_search_cannot_do_is_said(
    measured: Translator, folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert main(["lab", "search", "--model", str(folder), *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("tiny_by_name")
def test_without_an_index_the_remedy_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "search", "--model", "tiny", "--layer", "1", "--head", "1"]) == 2
    assert "make one with the command index" in capsys.readouterr().err


def test_the_arena_is_in_the_card_and_read_again(measured: Translator, folder: Path) -> None:
    table = stored_arena(measured)
    assert table is not None and table.sentences == 3 and table.depth == 3
    assert arena_section(table) in measured.bundle.card
    assert measured_sections(measured) == {"arena": arena_section(table)}
    assert table.best in table.methods and table.best != "random"
    with pytest.raises(CheckpointError, match="other weights"):
        store_arena(measured, replace(table, checkpoint="0" * 64))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: {**data, "format": 9},
        lambda data: {**data, "checkpoint": "0" * 64},
        lambda data: {**data, "methods": {**data["methods"], "alti": {}}},
        lambda data: {**data, "methods": {"alti": data["methods"]["alti"]}},
        lambda data: {**data, "depth": None, "sentences": None, "more": 1},
    ],
)
def test_a_damaged_arena_is_refused(measured: Translator, tmp_path: Path, damage: Callable[[dict], dict]) -> None:
    assert measured.bundle.folder is not None
    shutil.copytree(measured.bundle.folder, tmp_path / "tiny")
    data = json.loads((tmp_path / "tiny" / FILE).read_text(encoding="utf-8"))
    amend(tmp_path / "tiny", {FILE: json.dumps(damage(data)).encode()})
    with pytest.raises(CheckpointError, match="run the command arena again"):
        stored_arena(translator.load(tmp_path / "tiny", device="cpu"))


@pytest.mark.slow
def test_the_omission_bench_goes_through(
    tiny_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From a folder of pairs to a meter in the checkpoint; random weights tell nothing, so no rate is asked for."""
    shutil.copytree(tiny_checkpoint, tmp_path / "tiny")
    words = {"Haus": "house", "Park": "park", "Müller": "Miller", "Morgen": "morning"}
    looks = {"groß": "big", "alt": "old", "gut": "good"}
    pairs = [f"Das {a} ist {x}.\tThe {b} is {y}.\tmade" for a, b in words.items() for x, y in looks.items()]
    for name in ("train", "dev"):
        (tmp_path / f"{name}.tsv").write_text("\n".join(pairs * 2) + "\n", encoding="utf-8")
    assert main(["omission-bench", str(tmp_path / "tiny"), "--data", str(tmp_path), "--cases", "80"]) == 0
    assert "## Omission meter" in capsys.readouterr().out
    made = translator.load(tmp_path / "tiny", device="cpu")
    meter = stored_meter(made)
    assert meter is not None and meter.cases == 80
    assert main(["lab", "omissions", "--model", str(tmp_path / "tiny"), TEXT]) == 0
    assert "(80 cases)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["arena", "--limit", "0"], "limit is 0"),
        (["index", "--limit", "1"], "at least 2"),
        (["omission-bench", "--cases", "10"], "cases is 10"),
        (["omission-bench"], "holds no train.tsv.gz"),
    ],
)
def test_what_cannot_be_measured_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    data = folder.parent if options[0] == "omission-bench" else folder.parent / "sentences.txt"
    assert main([options[0], str(folder), "--data", str(data), *options[1:]]) == 2
    assert said in capsys.readouterr().err
