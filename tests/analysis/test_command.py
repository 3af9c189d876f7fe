"""`python -m translator lab VIEW`: every view answers, with the numbers of the functions behind it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from translator import Trace, Translator
from translator.__main__ import main
from translator.analysis.flow import flow
from translator.analysis.interventions import head_importance, silence, switch
from translator.analysis.lens import lens
from translator.analysis.norms import norms

pytestmark = pytest.mark.usefixtures("tiny_by_name")
TEXT = "Ich renne."
PLACE = ["--layer", "2", "--head", "1"]
Said = Callable[[Translator, Trace], str]


def _share(share: list[float]) -> str:
    return "source share " + " ".join(f"{value:.2f}" for value in share)


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


@pytest.mark.parametrize(
    ("view", "options", "said"),
    [
        ("norms", ["--layer", "99", "--head", "1"], "layer is 99; it must be from 1 to 2"),
        ("align", ["--layer", "1", "--head", "0"], "head is 0; it must be from 1 to 2"),
        ("cell", [*PLACE, "--query", "1", "--key", "500"], "key is 500; it must be from 1 to"),
        ("edit", ["--step", "0", "--choice", "run"], "step is 0; it must be from 1 to"),
        ("switch", ["--off", "cross:L9H1"], "layer is 9; it must be from 1 to 2"),
    ],
)
def test_what_is_not_there_is_named_as_a_person_counts(
    capsys: pytest.CaptureFixture[str], view: str, options: list[str], said: str
) -> None:
    assert main(["lab", view, "--model", "tiny", TEXT, *options]) == 2
    assert said in capsys.readouterr().err
