"""What the lab answers, without a browser: every view, every refusal, the words in three languages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from translator.analysis.interventions import head_importance, switch
from translator.errors import CancelledError
from translator.pipeline import Translator
from translator.ui import frontend, lab_views
from translator.ui.lab import board, switched
from translator.ui.lab_tab import server_functions
from translator.ui.models import Models
from translator.ui.payload import trace_payload

OPTIONS = {
    "target": "I run.", "step": 2, "choice": "", "beam": 3, "penalty": 0.6, "kind": "cross", "layer": 2, "head": 1,
    "method": "flow", "map": "raw", "reading": "output", "way": "both",
    "threshold": 0.3, "gold": "0-0", "measure": "confidence", "side": "both",
    "shift": 2, "scale": 1, "query": 2, "key": 2,
}  # fmt: skip
VIEWS = ("force", "edit", "beams", "norms", "rollout", "lens", "faithfulness", "align", "profile", "positions", "cell")


@pytest.fixture(scope="module")
def lab(tiny_checkpoint: Path) -> dict:
    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    asked = {"text": "Das Haus ist alt.", "direction": "de-en"}
    return {f.__name__: lambda request, f=f: f({**asked, **request}) for f in server_functions(models)}


def test_the_board_and_the_switch(lab: dict) -> None:
    board = lab["lab_board"]({"kind": "cross"})
    assert np.shape(board["values"]) == np.shape(board["roles"]) == (2, 2)
    found = lab["lab_switch"]({"gates": {"cross": [[1, 0], [1, 1]]}})
    assert found["first"] == pytest.approx(found["before"]["score"] + found["change"], abs=2e-3)
    assert found["change"] == pytest.approx(board["values"][0][1], abs=2e-3)
    assert np.shape(found["before"]["links"]) == (len(found["before"]["words"]), 5)
    assert found["source"] == ["Das", "Haus", "ist", "alt", "."]


def test_one_quantity_is_one_number_wherever_it_is_shown(tiny_checkpoint: Path) -> None:
    """The page rounds, once."""
    model = Models({"de-en": tiny_checkpoint}, device="cpu").get("de-en")
    trace = model.translate("Das Haus ist alt.", method="greedy")
    gates = {"cross": [[1, 0], [1, 1]]}
    want = switch(model, trace, gates)
    found = switched(model, trace, gates, lambda: False)
    assert (found["change"], found["first"]) == (want.change, float(want.fixed.sum()))
    assert (found["before"]["score"], found["after"]["score"]) == (want.before.score, want.after.score)
    values = board(model, trace, "cross", lambda: False)["values"]
    np.testing.assert_array_equal(values, head_importance(model, trace, ["cross"])["cross"])


def test_a_forced_target_shows_every_map(lab: dict) -> None:
    """Another head of another attention is another picture: the forced translation's own weights."""
    maps = {}
    for kind, layer in (("cross", 1), ("cross", 2), ("decoder", 2), ("encoder", 1)):
        options = {"target": "I run.", "kind": kind, "layer": layer, "head": 1}
        found = lab["lab_ask"]({"view": "force", "options": options})
        maps[kind, layer] = json.loads(found["figures"][1])["light"]
        assert len(found["captions"]) == len(found["figures"]) == 2
    rows = len(found["table"]["rows"])
    assert len(maps["decoder", 2]["layout"]["yaxis"]["ticktext"]) == rows
    assert maps["cross", 1]["data"][0]["z"] != maps["cross", 2]["data"][0]["z"]


def test_candidates_can_be_picked_by_their_bar(lab: dict) -> None:
    found = lab["lab_ask"]({"view": "edit", "options": OPTIONS})
    assert found["picks"] == [row[0] for row in found["table"]["rows"]]
    again = lab["lab_ask"]({"view": "edit", "options": {**OPTIONS, "choice": found["picks"][1]}})
    assert again["lines"] == found["lines"]  # left empty, the runner-up is taken


def test_rollout_says_that_its_shares_are_assumed_and_flow_measures_them(lab: dict) -> None:
    rolled = lab["lab_ask"]({"view": "rollout", "options": {"method": "rollout"}})
    assert rolled["lines"][0][1] == {"source": "75%", "target": "25%"}  # two layers: 1 - 0.5²
    assert "table" not in rolled
    assert lab["lab_ask"]({"view": "rollout", "options": {"method": "flow"}})["table"]["rows"]


def drawn_words(figure: dict) -> set[str]:
    """The titles of a figure's axes and colour bars, which the page says in its own language."""
    axes = [axis for name, axis in figure["layout"].items() if name[1:].startswith("axis") and "title" in axis]
    bars = [trace["colorbar"] for trace in figure["data"] if "colorbar" in trace]
    return {each["title"]["text"] for each in axes + bars if each.get("title", {}).get("text")}


def test_one_translation_serves_every_question(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    asked = {"text": "Das Haus ist alt.", "direction": "de-en"}
    board, _, ask, _ = server_functions(models)
    first = board({**asked, "kind": "cross"})
    monkeypatch.setattr(models.get("de-en"), "translate", None)
    again = ask({**asked, "view": "lens", "options": {}, "id": first["id"]})
    assert again["figures"] and again["id"] == first["id"]
    with pytest.raises(TypeError):  # another text is no answer to that id
        ask({**asked, "text": "Das Haus.", "view": "lens", "options": {}, "id": first["id"]})


def test_a_head_that_was_not_chosen_is_the_one_that_the_explorer_opens_with(lab: dict, tiny: Translator) -> None:
    """The tiny checkpoint ships no profile: the head that links this sentence best. Here it is not the first."""
    text = "Ich liebe dich."
    leading = trace_payload(tiny.translate(text), {})["leading"]
    layer, head = leading["layer"] + 1, leading["head"] + 1
    assert (layer, head) != (1, 1)
    options = {**OPTIONS, **dict.fromkeys(("layer", "head", "map", "reading"))}
    for view in ("norms", "align", "cell"):
        chosen = lab["lab_ask"]({"text": text, "view": view, "options": options})["chosen"]
        assert (chosen["layer"], chosen["head"]) == (layer, head)
    whole = lab["lab_ask"]({"view": "align", "options": {**OPTIONS, "head": 0, "map": "norm"}})
    assert whole["chosen"] == {"map": "norm", "layer": 2, "head": 0, "reading": "output"}


def test_links_in_both_directions(lab: dict) -> None:
    """Each way against the words' map itself; the links that both find are their common ones."""
    found = {
        way: lab["lab_ask"]({"view": "align", "options": {**OPTIONS, "way": way}})["ribbons"]
        for way in ("argmax", "reverse", "both", "threshold")
    }
    words = np.array(found["argmax"]["words"])
    assert words.shape == (len(found["argmax"]["target"]), len(found["argmax"]["source"]))
    links = {way: set(map(tuple, each["links"])) for way, each in found.items()}
    assert links["both"] == links["argmax"] & links["reverse"]
    assert all(words[t, s] == words[t].max() for s, t in links["argmax"])
    assert all(words[t, s] == words[:, s].max() for s, t in links["reverse"])
    assert links["threshold"] == {(s, t) for t, s in np.argwhere(words >= 0.3)}
    assert found["both"]["gold"] == [(0, 0)]


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_answers(lab: dict, view: str) -> None:
    found = lab["lab_ask"]({"view": view, "options": OPTIONS})
    assert "error" not in found, found
    assert found.get("lines") or found.get("figures")
    tables = frontend.locales()
    said = set(found.get("captions", []))
    for figure in found.get("figures", []):
        assert set(json.loads(figure)) == {"light", "dark"}
        said |= drawn_words(json.loads(figure)["light"])
    for table in tables.values():
        assert not said - set(table), said - set(table)
    for english, values in found.get("lines", []):
        assert set(re.findall(r"\{(\w+)\}", english)) == set(values)
        for table in tables.values():
            assert sorted(re.findall(r"\{\w+\}", table[english])) == sorted(re.findall(r"\{\w+\}", english))


@pytest.mark.parametrize(
    ("name", "request_", "named"),
    [
        ("lab_switch", {"gates": {"cross": [[2, 1], [1, 1]]}}, "a gate of cross is 2"),
        ("lab_switch", {"gates": [1]}, "names with values"),
        ("lab_board", {"kind": "none"}, "'none'"),
        ("lab_board", {"kind": "cross", "text": "x" * 2000}, "at most 1,000"),
        ("lab_board", {"kind": "cross", "text": " "}, "blank"),
        ("lab_ask", {"view": "none"}, "'none'"),
        (
            "lab_ask",
            {"view": "cell", "options": {**OPTIONS, "key": 99}},
            "key is 99; it must be a whole number from 1 to",
        ),
        ("lab_ask", {"view": "edit", "options": {**OPTIONS, "step": 999}}, "step is 999"),
        ("lab_ask", {"view": "cell", "options": {**OPTIONS, "layer": 1.5}}, "layer is 1.5"),
        ("lab_ask", {"view": "force", "options": {"target": ""}}, "blank"),
        ("lab_ask", {"view": "force", "options": {"target": "word " * 190}}, "at most 160"),
        ("lab_ask", {"view": "align", "options": {**OPTIONS, "gold": "0-99"}}, "0-99"),
        ("lab_ask", {"view": "positions", "options": {**OPTIONS, "scale": 11}}, "scale is 11"),
        ("lab_ask", {"view": "beams", "options": {**OPTIONS, "beam": 1}}, "beam is 1"),
        ("lab_ask", {"view": "beams", "options": {**OPTIONS, "beam": 13}}, "beam is 13"),
        ("lab_ask", {"view": "align", "options": {**OPTIONS, "way": "none"}}, "way is 'none'"),
        ("lab_ask", {"view": "align", "options": {**OPTIONS, "head": 9}}, "L2H9"),
        ("lab_ask", {"view": "norms", "options": {**OPTIONS, "head": 9}}, "head is 9"),
        ("lab_ask", {"view": "rollout", "options": {"method": "none"}}, "method is 'none'"),
        ("lab_ask", {"view": "beams", "options": {**OPTIONS, "beam": 13}}, "must be a whole number from 2 to 12"),
        ("lab_ask", {"view": "beams", "options": {**OPTIONS, "penalty": 10**400}}, "must be a number from -5 to 5"),
        ("lab_ask", {"view": "beams", "options": {**OPTIONS, "penalty": None}}, "penalty is missing; it must be a"),
        ("lab_ask", {"view": "edit", "options": {**OPTIONS, "step": None}}, "step is missing; it must be a whole"),
        ("lab_ask", {"view": "edit", "options": {"choice": ""}}, "step is missing; it must be a whole number from 1"),
        ("lab_ask", {"view": "align", "options": {**OPTIONS, "threshold": 2}}, "threshold is 2; it must be a number"),
        ("lab_ask", {"view": "positions", "options": {**OPTIONS, "shift": 10**400}}, "shift is 1000"),
        ("lab_ask", {"view": "positions", "options": {**OPTIONS, "side": ["both"]}}, "side is ['both']"),
    ],
)
def test_what_cannot_be_is_said_in_words(lab: dict, name: str, request_: dict, named: str) -> None:
    assert named in lab[name](request_)["error"]


def test_every_sentence_of_the_script_is_in_both_tables() -> None:
    script = (frontend.ASSETS / "js" / "lab.js").read_text(encoding="utf-8")
    said = set(re.findall(r'\bt(?:Parts)?\("([^"]+)"', script))
    views = script[script.index("const LAB_VIEWS") : script.index("const mountLab")]
    said |= {text for text in re.findall(r'"([^"]{12,})"', views) if text.endswith(".")}
    for table in frontend.locales().values():
        assert not said - set(table), said - set(table)


def test_a_flow_that_nobody_waits_for_is_stopped(tiny_checkpoint: Path) -> None:
    model = Models({"de-en": tiny_checkpoint}, device="cpu").get("de-en")
    trace = model.translate("Das Haus ist alt.", method="greedy")
    with pytest.raises(CancelledError):
        lab_views.view(model, "rollout", trace, {"method": "flow"}, lambda: True)
