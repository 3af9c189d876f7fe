"""`python -m translator lab VIEW`: every view answers, with the numbers of the functions behind it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from translator import Trace, Translator
from translator.__main__ import _parser, main
from translator.analysis.cell import cell
from translator.analysis.cli.view import plain, scored
from translator.analysis.flow import flow
from translator.analysis.interventions import head_importance, silence, switch
from translator.analysis.lens import lens
from translator.analysis.minimal import minimal_pair
from translator.analysis.norms import norms
from translator.analysis.patching import grid
from translator.analysis.why_here import why_here

pytestmark = pytest.mark.usefixtures("tiny_by_name")
TEXT = "Ich renne."
PLACE = ["--layer", "2", "--head", "1"]
Said = Callable[[Translator, Trace], str]


def _share(share: list[float]) -> str:
    return "source share " + " ".join(f"{value:.2f}" for value in share)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("view", "options", "said"),
    [
        ("importance", [], lambda t, trace: f"{head_importance(t, trace)['cross'][1, 0]:+.3f}"),
        (
            "switch",
            ["--off", "cross:L2H1"],
            lambda t, trace: f"by {switch(t, trace, silence(t.bundle.model, [('cross', 1, 0)])).change:+.3f} nats",
        ),
        ("force", ["--target", "I run."], lambda t, trace: f"given {t.force(TEXT, 'I run.').score:.3f}"),
        ("edit", ["--step", "1", "--choice", "run"], lambda t, trace: f"{trace.translation}\t{trace.score:.3f}"),
        ("beams", ["--width", "2"], lambda t, trace: f"greedy\t{trace.score:.3f}\t{trace.translation}"),
        ("norms", PLACE, lambda t, trace: f"{norms(t, trace).cross[1, 0, 0, 0]:.2f}"),
        (
            "rollout",
            ["--flow"],
            lambda t, trace: _share(flow(trace.encoder, trace.decoder, trace.cross).source_share.tolist()),
        ),
        ("lens", [], lambda t, trace: lens(t, trace, count=1).best[0][0][0].token.surface),
        ("faithfulness", [], lambda t, trace: "chance\t"),
        ("align", PLACE, lambda t, trace: "Ich renne .\n"),
        ("positions", ["--shift", "0"], lambda t, trace: f"{trace.translation}\t{trace.score:.3f}\n" * 2),
        ("cell", [*PLACE, "--query", "1", "--key", "2"], lambda t, trace: f"softmax {trace.cross[1, 0, 0, 1]:.6f}"),
    ],
)
def test_every_view_says_what_its_function_gives(
    tiny: Translator, capsys: pytest.CaptureFixture[str], view: str, options: list[str], said: Said
) -> None:
    assert main(["lab", view, "--model", "tiny", TEXT, *options]) == 0
    assert said(tiny, tiny.translate(TEXT, method="greedy")) in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("view", "options", "said"),
    [
        ("norms", ["--layer", "99", "--head", "1"], "layer is 99; it must be a whole number from 1 to 2"),
        ("align", ["--layer", "1", "--head", "3"], "head is 3; it must be a whole number from 1 to 2"),
        ("cell", [*PLACE, "--query", "1", "--key", "500"], "key is 500; it must be a whole number from 1 to"),
        ("edit", ["--step", "0", "--choice", "run"], "step is 0; it must be a whole number from 1"),
        ("switch", ["--off", "cross:L9H1"], "layer is 9; it must be a whole number from 1 to 2"),
    ],
)
def test_what_is_not_there_is_named_as_a_person_counts(
    capsys: pytest.CaptureFixture[str], view: str, options: list[str], said: str
) -> None:
    assert main(["lab", view, "--model", "tiny", TEXT, *options]) == 2
    assert said in capsys.readouterr().err


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What a view of `lab` says with --json; it is one line that any reader of JSON takes."""
    assert main(["lab", *arguments, "--model", "tiny", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    return json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def views() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every view of `lab`, as the parser knows it."""
    (commands,) = (action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction))
    (lab,) = (action for action in commands.choices["lab"]._actions if isinstance(action, argparse._SubParsersAction))
    yield from lab.choices.items()


def test_every_view_speaks_json() -> None:
    assert [name for name, parser in views() if "--json" not in parser._option_string_actions] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("view", "options", "want"),
    [
        ("importance", [], lambda t, trace: {"importance": head_importance(t, trace)}),
        ("switch", ["--off", "cross:L2H1"], lambda t, trace: {"before": scored(trace)}),
        ("force", ["--target", "I run."], lambda t, trace: {"given": scored(t.force(TEXT, "I run."))}),
        ("edit", ["--step", "1", "--choice", "run"], lambda t, trace: {"before": scored(trace)}),
        ("beams", ["--width", "2"], lambda t, trace: {"greedy": scored(trace)}),
        ("norms", PLACE, lambda t, trace: {"values": norms(t, trace).cross[1, 0]}),
        ("rollout", ["--flow"], lambda t, trace: {"values": flow(trace.encoder, trace.decoder, trace.cross).source}),
        ("lens", [], lambda t, trace: {"log_probs": lens(t, trace).log_probs, "ranks": lens(t, trace).ranks}),
        ("faithfulness", [], lambda t, trace: {"words": ["Ich", "renne", "."]}),
        ("align", PLACE, lambda t, trace: {"source": ["Ich", "renne", "."]}),
        ("positions", ["--shift", "0"], lambda t, trace: {"before": scored(trace), "after": scored(trace)}),
        ("cell", [*PLACE, "--query", "1", "--key", "2"], lambda t, trace: {"weight": trace.cross[1, 0, 0, 1]}),
    ],
)
def test_json_holds_the_numbers_of_the_function(
    tiny: Translator, capsys: pytest.CaptureFixture[str], view: str, options: list[str], want: Callable[..., Any]
) -> None:
    found = answer(capsys, view, TEXT, *options)
    for name, value in plain(want(tiny, tiny.translate(TEXT, method="greedy"))).items():
        assert_same(found[name], value)


def assert_same(found: Any, want: Any) -> None:
    """Equal, numbers to a part in a million."""
    if isinstance(want, dict):
        assert found.keys() == want.keys()
        for name, value in want.items():
            assert_same(found[name], value)
    elif isinstance(want, list) and not isinstance(want[0], str):
        np.testing.assert_allclose(found, want, atol=1e-6)
    else:
        assert found == (want if isinstance(want, (str, list)) else pytest.approx(want, abs=1e-6))


def test_a_number_that_is_none_is_null() -> None:
    values = {"a": np.array([1.0, np.nan, np.inf]), "b": (np.float32(2), np.int64(3), True, None, "x")}
    assert plain(values) == {"a": [1.0, None, None], "b": [2.0, 3, True, None, "x"]}


@pytest.mark.slow
def test_a_refusal_in_json_is_a_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "norms", TEXT, "--layer", "99", "--head", "1", "--model", "tiny", "--json"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "layer is 99" in said.err


@pytest.mark.slow
def test_contrast_by_the_contract(tiny: Translator, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tiny.translate(TEXT, method="greedy")
    word, other = (candidate.token for candidate in trace.steps[2].candidates[:2])
    found = answer(capsys, "contrast", TEXT, "--step", "3", "--word", str(word.id), "--against", str(other.id))
    want = trace.steps[2].candidates[0].log_prob - trace.steps[2].candidates[1].log_prob
    assert found["total"] == pytest.approx(want, abs=1e-4)
    assert sum(part["value"] for part in found["parts"]) == pytest.approx(want, abs=1e-4)
    assert {"decoder L2 cross H1", "decoder L1 feed-forward", "biases"} <= {part["name"] for part in found["parts"]}
    assert [each["text"] for each in found["source"]] == ["Ich", "renne", ".", "</s>"]
    usual = answer(capsys, "contrast", TEXT, "--step", "3", "--source", "occlusion", "--word", "")
    assert usual["total"] == found["total"]
    assert all(each["value"] == each["occlusion"] for each in usual["source"])
    assert main(["lab", "contrast", TEXT, "--step", "3", "--model", "tiny"]) == 0
    assert f"= {want:+.3f}" in capsys.readouterr().out


@pytest.mark.slow
def test_patch_by_the_contract(tiny: Translator, capsys: pytest.CaptureFixture[str]) -> None:
    texts = "Ich renne in den Park.", "Ich renne in dem Park."
    runs = minimal_pair(tiny, *texts)
    for what in ("residual", "head", "q", "k", "v", "pattern", "ffn"):
        found = answer(capsys, "patch", *texts, "--what", what)
        assert (found["clean"], found["corrupt"]) == pytest.approx((runs.clean_delta, runs.corrupt_delta), abs=1e-4)
        np.testing.assert_allclose(found["restored"], grid(runs, what).restored, atol=1e-4)
        assert (len(found["rows"]), len(found["columns"])) == np.shape(found["restored"])
    assert main(["lab", "patch", *texts, "--model", "tiny"]) == 0
    assert f"{runs.clean_delta:+.3f} clean" in capsys.readouterr().out
    both = answer(capsys, "patch", *texts, "--word", "", "--against", "")  # as its help says: nobody named one
    assert (both["word"], both["against"]) == (runs.word.surface, runs.against.surface)
    noisy = answer(capsys, "patch", texts[0], "--noise", "in", "--step", "2", "--what", "head", "--kind", "encoder")
    assert np.shape(noisy["restored"]) == (2, 2)


@pytest.mark.slow
def test_why_here_by_the_contract(tiny: Translator, capsys: pytest.CaptureFixture[str]) -> None:
    place = [*PLACE, "--query", "2", "--key", "3"]
    found = answer(capsys, "why-here", TEXT, *place)
    trace = tiny.translate(TEXT, method="greedy")
    want = why_here(tiny, trace, "cross", 1, 0, 1, 2)
    assert found["score"] == pytest.approx(cell(tiny, trace, "cross", 1, 0, 1, 2).scores[2], abs=1e-5)
    for side in ("query", "key"):
        assert sum(part["value"] for part in found[side]) == pytest.approx(found["score"], abs=1e-5)
    assert np.sum(found["table"]) == pytest.approx(found["score"], abs=1e-5)
    assert found["weight"] == pytest.approx(float(trace.cross[1, 0, 1, 2]), abs=1e-5)
    assert [each["text"] for each in found["writes"]["up"]] == [token.surface for token, _ in want.cell.up]
    assert main(["lab", "why-here", TEXT, *place, "--model", "tiny"]) == 0
    assert f"score {found['score']:+.3f}" in capsys.readouterr().out


@pytest.mark.slow
def test_decoder_lens_by_the_contract(tiny: Translator, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "decoder-lens", TEXT)
    assert found["layers"][-1] == found["translation"] == tiny.translate(TEXT, method="greedy").translation
    assert main(["lab", "decoder-lens", TEXT, "--model", "tiny"]) == 0
    assert capsys.readouterr().out.count("\n") >= 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["contrast", TEXT, "--step", "99"], "step is 99; it must be a whole number from 1 to"),
        (["contrast", TEXT, "--step", "1", "--word", "Quatsch"], "word is 'Quatsch', which is no single token"),
        (["patch", TEXT], "give either a second TEXT or --noise WORD"),
        (["patch", TEXT, "--noise", "Hund"], "noise is 'Hund'; 'Hund' is no word and no token of the first sentence"),
        (
            ["why-here", TEXT, *PLACE, "--kind", "decoder", "--query", "2", "--key", "3"],
            "key is 3; it must be a whole number from 1 to 2",
        ),
        (["patch", TEXT, TEXT], "both are translated alike"),
        (["patch", TEXT, "京都"], "share no token but their end"),
        (["patch", "Ich renne in den Park.", "Ich renne in dem Park.", "--kind", "all"], "'all'"),
        (
            [
                "patch",
                "Ich renne in den Park.",
                "Ich renne in den alten Park.",
                "--what",
                "pattern",
                "--kind",
                "encoder",
            ],
            "what is 'pattern', which needs sentences that match token by token; the sentences have",
        ),
    ],
)
def test_what_cannot_be_asked_is_named(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(["lab", *arguments, "--model", "tiny"]) == 2
    assert said in capsys.readouterr().err
