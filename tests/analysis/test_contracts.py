"""What the causal views of `lab` print with --json: the keys, types and sums that other tools rely on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import translator
from translator import Translator
from translator.__main__ import main

TEXT, OTHER = "Ich renne in den Park.", "Ich renne in dem Park."
STATES = ("residual", "head", "q", "k", "v", "pattern", "ffn")


@pytest.fixture(scope="module")
def indexed(tiny_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tiny checkpoint with an index of three sentences."""
    place = tmp_path_factory.mktemp("contracts")
    shutil.copytree(tiny_checkpoint, place / "tiny")
    (place / "sentences.txt").write_text(f"{TEXT}\nDas Haus ist alt.\nGuten Morgen!\n", encoding="utf-8")
    assert main(["index", str(place / "tiny"), "--data", str(place / "sentences.txt")]) == 0
    return place / "tiny"


@pytest.fixture
def engine(indexed: Path) -> Translator:
    return translator.load(indexed, device="cpu")


@pytest.fixture
def ask(indexed: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def asked(view: str, *options: str) -> Any:
        capsys.readouterr()
        assert main(["lab", view, "--model", str(indexed), *options, "--json"]) == 0
        (line,) = capsys.readouterr().out.splitlines()
        return json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))

    return asked


def named(parts: Any, key: str = "name") -> float:
    """The sum of a list of names with values, each a text with a number."""
    assert parts and all(isinstance(part[key], str) and isinstance(part["value"], float) for part in parts)
    return float(sum(part["value"] for part in parts))


@pytest.mark.slow
@pytest.mark.parametrize("source", ["integrated", "gradient", "occlusion"])
def test_contrast(ask: Callable[..., Any], engine: Translator, source: str) -> None:
    """Tokens as shown and their ids are the same question; the step counts from 1."""
    step = engine.translate(TEXT, method="greedy").steps[2]
    word, against = (candidate.token for candidate in step.candidates[:2])
    shown = ask("contrast", TEXT, "--step", "3", "--word", word.surface, "--against", against.surface)
    found = ask(
        "contrast", TEXT, "--step", "3", "--word", str(word.id), "--against", str(against.id), "--source", source
    )
    assert {"total", "parts", "source"} <= found.keys()
    assert found["total"] == pytest.approx(step.candidates[0].log_prob - step.candidates[1].log_prob, abs=1e-4)
    assert named(found["parts"]) == pytest.approx(found["total"], abs=1e-4)
    assert [each["value"] for each in found["source"]] == [each[source] for each in found["source"]]
    assert len(found["source"]) == 7 and np.isfinite(named(found["source"], "text"))
    assert (shown["total"], shown["parts"], shown["step"]) == (found["total"], found["parts"], 3)


@pytest.mark.slow
@pytest.mark.parametrize("what", STATES)
def test_patch(ask: Callable[..., Any], what: str) -> None:
    found = ask("patch", TEXT, OTHER, "--what", what)
    assert isinstance(found["clean"], float) and isinstance(found["corrupt"], float)
    rows, columns = found["rows"], found["columns"]
    assert all(isinstance(each, str) for each in (*rows, *columns))
    assert np.asarray(found["restored"], dtype=np.float64).shape == (len(rows), len(columns))
    if what == "residual":  # beneath the first layer the sentences differ in one token, which brings back all
        (differs,) = (n for n, name in enumerate(columns) if " / " in name)
        assert rows[0] == "embedding"
        np.testing.assert_allclose(found["restored"][0], np.eye(len(columns))[differs], atol=1e-3)


@pytest.mark.slow
def test_decoder_lens(ask: Callable[..., Any], engine: Translator) -> None:
    found = ask("decoder-lens", TEXT)
    assert found["translation"] == engine.translate(TEXT, method="greedy").translation == found["layers"][-1]
    assert [type(each) for each in found["layers"]] == [str] * engine.bundle.model.config.encoder_layers


@pytest.mark.slow
def test_why_here(ask: Callable[..., Any], engine: Translator) -> None:
    key = engine.translate(TEXT, method="greedy").src[3].surface
    found = ask("why-here", TEXT, "--layer", "2", "--head", "1", "--query", "2", "--key", "4")
    for side in ("query", "key"):
        assert named(found[side]) == pytest.approx(found["score"], abs=1e-5)
    assert (found["head"], found["key_token"]) == ("cross L2 H1", key) and 0 <= found["weight"] <= 1
    for written in (found["writes"], found["head_writes"]):
        assert written.keys() == {"up", "down"} and all(named(words, "text") is not None for words in written.values())


@pytest.mark.slow
def test_alti(ask: Callable[..., Any]) -> None:
    found = ask("alti", TEXT)
    np.testing.assert_allclose(np.sum(found["values"], axis=1) + np.sum(found["target"], axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(found["source_share"], np.sum(found["values"], axis=1), atol=1e-6)
    assert np.shape(found["values"]) == (len(found["rows"]), len(found["columns"]))


@pytest.mark.slow
def test_search(ask: Callable[..., Any]) -> None:
    found = ask("search", "--layer", "1", "--head", "2", "--count", "3")
    weights = [hit["weight"] for hit in found["hits"]]
    assert len(weights) == 3 and weights == sorted(weights, reverse=True) and all(0 <= each <= 1 for each in weights)
    assert all(isinstance(hit[name], str) for hit in found["hits"] for name in ("source", "translation"))


@pytest.mark.slow
def test_arena(ask: Callable[..., Any]) -> None:
    found = ask("arena", TEXT)
    assert found["believe"] is None or found["believe"] in found["methods"]
    assert "random" in found["methods"] and len(found["methods"]) == 8
    for method in found["methods"].values():
        assert np.shape(method["shares"])[1] == len(found["words"]) == 6
        assert method["correlation"] is None or -1 <= method["correlation"] <= 1
        assert isinstance(method["lost"], float)


@pytest.mark.slow
@pytest.mark.parametrize("translation", [[], ["I run into the park."]])
def test_omissions(ask: Callable[..., Any], translation: list[str]) -> None:
    found = ask("omissions", TEXT, *translation)
    for side, mark in (("source", "left_out"), ("target", "invented")):
        assert found[side]
        for word in found[side]:
            assert word.keys() == {"text", "score", mark}
            assert isinstance(word["text"], str) and 0 <= word["score"] <= 1 and isinstance(word[mark], bool)
