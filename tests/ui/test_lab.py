"""What the lab answers, without a browser: every view, every refusal, the words in three languages."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from translator.analysis import bench, patching
from translator.analysis.interventions import head_importance, switch
from translator.errors import CancelledError
from translator.pipeline import Translator
from translator.registry import lab as lab_registry
from translator.ui import frontend, lab_views
from translator.ui.lab import board, minus, switched
from translator.ui.lab_tab import server_functions
from translator.ui.models import Models
from translator.ui.payload import trace_payload

OPTIONS = {
    "target": "I run.", "step": 2, "choice": "", "beam": 3, "penalty": 0.6, "kind": "cross", "layer": 2, "head": 1,
    "method": "flow", "map": "raw", "reading": "output", "way": "both",
    "threshold": 0.3, "gold": "0-0", "measure": "confidence", "side": "both",
    "shift": 2, "scale": 1, "query": 2, "key": 2, "word": None, "against": None, "other": "Das Haus ist neu.",
    "what": "residual and heads", "patches": [["encoder", "residual", 0, None, 3]],
}  # fmt: skip
VIEWS = ("force", "edit", "beams", "norms", "rollout", "lens", "faithfulness", "align", "profile", "positions", "cell")
VIEWS += ("contrast", "patch", "patched", "why", "layers", "omissions", "alti", "arena", "arena soon")


@pytest.fixture(scope="module")
def lab(tiny_checkpoint: Path) -> dict:
    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    asked = {"text": "Das Haus ist alt.", "direction": "de-en"}
    return {f.__name__: lambda request, f=f: f({**asked, **request}) for f in server_functions(models)}


@pytest.mark.slow
def test_the_board_and_the_switch(lab: dict) -> None:
    board = lab["lab_board"]({"kind": "cross"})
    assert np.shape(board["values"]) == np.shape(board["roles"]) == (2, 2)
    found = lab["lab_switch"]({"gates": {"cross": [[1, 0], [1, 1]]}})
    assert found["first"] == pytest.approx(found["before"]["score"] + found["change"], abs=2e-3)
    assert found["change"] == pytest.approx(board["values"][0][1], abs=2e-3)
    assert np.shape(found["before"]["links"]) == (len(found["before"]["words"]), 5)
    assert found["source"] == ["Das", "Haus", "ist", "alt", "."]


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [0.6, 1.7])
def test_a_beam_tree_is_searched_as_the_checkpoint_says_unless_one_says_otherwise(
    tiny_checkpoint: Path, penalty: float
) -> None:
    """The same search as `method="beam"`: the same winner, the same scores."""
    model = Models({"de-en": tiny_checkpoint}, device="cpu").get("de-en")
    object.__setattr__(model.bundle, "decode", replace(model.bundle.decode, length_penalty=penalty))
    trace = model.translate("Das Haus ist alt.", method="greedy")
    left = lab_views.view(model, "beams", trace, {"beam": None, "penalty": None}, lambda: False)
    own = model.bundle.decode
    assert left["chosen"] == {"beam": own.beam, "penalty": own.length_penalty}
    want = model.translate("Das Haus ist alt.", method="beam")
    assert left["lines"][0][1] == {"text": want.translation, "score": minus(want.score)}
    won = [row for row in left["table"]["rows"] if row[3] == "won"]
    step = max(want.steps[-1].beams, key=lambda each: each.normalised)
    assert won[0][2] == minus(step.normalised)
    other = lab_views.view(model, "beams", trace, {"beam": 2, "penalty": 0}, lambda: False)
    assert other["chosen"] == {"beam": 2, "penalty": 0}


@pytest.mark.slow
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


@pytest.mark.slow
def test_candidates_can_be_picked_by_their_bar(lab: dict) -> None:
    found = lab["lab_ask"]({"view": "edit", "options": OPTIONS})
    assert found["picks"] == [row[0] for row in found["table"]["rows"]]
    again = lab["lab_ask"]({"view": "edit", "options": {**OPTIONS, "choice": found["picks"][1]}})
    assert again["lines"] == found["lines"]  # left empty, the runner-up is taken


@pytest.mark.slow
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


@pytest.mark.slow
def test_one_translation_serves_every_question(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    asked = {"text": "Das Haus ist alt.", "direction": "de-en"}
    board, _, ask, *_ = server_functions(models)
    first = board({**asked, "kind": "cross"})
    monkeypatch.setattr(models.get("de-en"), "translate", None)
    again = ask({**asked, "view": "lens", "options": {}, "id": first["id"]})
    assert again["figures"] and again["id"] == first["id"]
    with pytest.raises(TypeError):  # another text is no answer to that id
        ask({**asked, "text": "Das Haus.", "view": "lens", "options": {}, "id": first["id"]})


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_time_is_one_word_of_the_ribbons(lab: dict) -> None:
    asked = {"text": "Ich komme um 6:05 Uhr.", "target": "I come at 6:05."}
    found = lab["lab_ask"]({**asked, "view": "align", "options": {**OPTIONS, "gold": "3-3"}})["ribbons"]
    assert found["source"] == ["Ich", "komme", "um", "6:05", "Uhr", "."]
    assert found["target"] == ["I", "come", "at", "6:05", "."]
    assert np.array(found["words"]).shape == (5, 6)
    switched = lab["lab_switch"]({"text": asked["text"], "gates": {"cross": [[1, 0], [1, 1]]}})
    assert switched["source"] == found["source"]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
        ("lab_ask", {"view": "align", "options": {**OPTIONS, "threshold": None}}, "threshold is missing; it must be a"),
        ("lab_ask", {"view": "edit", "options": {**OPTIONS, "step": None}}, "step is missing; it must be a whole"),
        ("lab_ask", {"view": "edit", "options": {"choice": ""}}, "step is missing; it must be a whole number from 1"),
        ("lab_ask", {"view": "align", "options": {**OPTIONS, "threshold": 2}}, "threshold is 2; it must be a number"),
        ("lab_ask", {"view": "positions", "options": {**OPTIONS, "shift": 10**400}}, "shift is 1000"),
        ("lab_ask", {"view": "positions", "options": {**OPTIONS, "side": ["both"]}}, "side is ['both']"),
        ("lab_ask", {"view": "contrast", "options": {**OPTIONS, "word": "Quatsch"}}, "word is 'Quatsch', which is no"),
        ("lab_ask", {"view": "contrast", "options": {**OPTIONS, "step": 999}}, "step is 999"),
        ("lab_ask", {"view": "patch", "options": {**OPTIONS, "other": " "}}, "the second sentence is blank"),
        ("lab_ask", {"view": "patch", "options": {**OPTIONS, "other": "Das Haus ist alt."}}, "nothing to restore"),
        ("lab_ask", {"view": "patch", "options": {**OPTIONS, "what": "soul"}}, "what is 'soul'"),
        (
            "lab_ask",
            {"view": "patch", "options": {**OPTIONS, "other": "Das Haus ist nun sehr alt.", "what": "pattern"}},
            "what is 'pattern', which needs sentences that match token by token",
        ),
        ("lab_ask", {"view": "patched", "options": {**OPTIONS, "patches": 3}}, "patches must be a list"),
        ("lab_ask", {"view": "patched", "options": {**OPTIONS, "patches": [[1]]}}, "a patch is [1]"),
        (
            "lab_ask",
            {"view": "patched", "options": {**OPTIONS, "patches": [["encoder", "residual", 0.5, None, 0]]}},
            "layer is 0.5",
        ),
        (
            "lab_ask",
            {"view": "why", "options": {**OPTIONS, "kind": "decoder", "query": 1}},
            "key is 2; it must be a whole number from 1 to 1",
        ),
        ("lab_ask", {"view": "patch", "options": {**OPTIONS, "noise": "ist"}}, "a second sentence and noise on 'ist'"),
        (
            "lab_ask",
            {"view": "patch", "options": {**OPTIONS, "other": "", "noise": "Hund"}},
            "noise is 'Hund'; 'Hund' is no word and no token of the first sentence",
        ),
    ],
)
def test_what_cannot_be_is_said_in_words(lab: dict, name: str, request_: dict, named: str) -> None:
    assert named in lab[name](request_)["error"]


def test_every_question_can_be_asked_and_is_said_in_every_language() -> None:
    asked = lab_registry.for_page()
    views = [view for question in asked for view in question["views"]]
    assert {view["name"] for view in views} == set(lab_views.VIEWS) - {"patched", "arena soon"}  # which are no choices
    said = {text for each in (*asked, *views) for text in (each["title"], each.get("says", each["title"]))}
    for each in (field for view in views for field in view["fields"]):
        said |= {each["label"], *each.get("choices", ())}
    for table in frontend.locales().values():
        assert not said - set(table), said - set(table)


@pytest.mark.parametrize(
    ("question", "name", "asked", "read"),
    [
        ("positions", "shift", {"shift": 100_000}, 100_000),
        ("beams", "beam", {"beam": 12.0}, 12),
        ("beams", "beam", {"beam": None}, None),
        ("align", "reading", {"reading": ""}, None),
        ("positions", "side", {}, "both"),
        ("edit", "choice", {}, ""),
        ("contrast", "word", {"word": None}, None),
        ("contrast", "word", {"word": "park"}, "park"),
    ],
)
def test_what_a_field_reads(question: str, name: str, asked: dict, read: object) -> None:
    assert lab_registry.field(question, name).read(asked) == read


def test_the_choices_are_those_of_the_analysis() -> None:
    for name, known in (("map", bench.MAPS), ("reading", bench.READINGS), ("way", bench.WAYS)):
        assert set(lab_registry.field("align", name).choices) == set(known)
    assert (lab_registry.BOTH, *get_args(patching.What)) == lab_registry.STATES


@pytest.mark.slow
def test_a_flow_that_nobody_waits_for_is_stopped(tiny_checkpoint: Path) -> None:
    model = Models({"de-en": tiny_checkpoint}, device="cpu").get("de-en")
    trace = model.translate("Das Haus ist alt.", method="greedy")
    with pytest.raises(CancelledError):
        lab_views.view(model, "rollout", trace, {"method": "flow"}, lambda: True)


@pytest.mark.slow
def test_the_words_of_a_contrast_are_filled_in_and_asked_for_again(lab: dict) -> None:
    first = lab["lab_ask"]({"view": "contrast", "options": OPTIONS})
    assert set(first["chosen"]) == {"word", "against"}
    again = lab["lab_ask"]({"view": "contrast", "options": {**OPTIONS, **first["chosen"]}})
    assert again["lines"][0] == first["lines"][0]
    turned = {"word": first["chosen"]["against"], "against": first["chosen"]["word"]}
    other = lab["lab_ask"]({"view": "contrast", "options": {**OPTIONS, **turned}})["lines"][0][1]["total"]
    assert other[1:] == first["lines"][0][1]["total"][1:] and other[0] != first["lines"][0][1]["total"][0]


@pytest.mark.slow
def test_a_cell_of_the_patching_board_can_be_patched(lab: dict) -> None:
    board = lab["lab_ask"]({"view": "patch", "options": OPTIONS})
    assert len(board["figures"]) == len(board["captions"]) == len(board["follow"]["cells"]) == 5
    drawn = json.loads(board["figures"][0])["light"]["data"][0]["z"]
    cells = board["follow"]["cells"][0]
    assert len(cells) == 3 and cells[0][0] == ["encoder", "residual", 0, None, 0]
    shape = np.shape(drawn) if isinstance(drawn, list) else None
    assert shape is None or shape == (len(cells), len(cells[0]))
    everything = {**OPTIONS, "patches": cells[0]}
    found = lab["lab_ask"]({"view": "patched", "options": everything})
    if not any("for lack of a counterpart" in line for line, _ in board["lines"]):
        assert found["lines"][-1][1]["share"] == "+1.00"
        assert found["lines"][-1][1]["text"] == found["lines"][0][1]["text"]
    nothing = lab["lab_ask"]({"view": "patched", "options": {**OPTIONS, "patches": []}})
    assert nothing["lines"][-1][1]["text"] == nothing["lines"][1][1]["text"]


@pytest.mark.slow
def test_noise_instead_of_a_second_sentence(lab: dict) -> None:
    """Its cells can be patched too: with all of the words' states put in, the first translation is back."""
    asked = {**OPTIONS, "other": "", "noise": "Haus", "step": None, "what": "residual"}
    board = lab["lab_ask"]({"view": "patch", "options": asked})
    lines = dict(board["lines"])
    assert lines["With noise: {text}"]["text"] != lines["First: {text}"]["text"]
    everything = {**asked, **board["chosen"], "patches": board["follow"]["cells"][0][0]}
    found = lab["lab_ask"]({"view": "patched", "options": everything})
    assert found["lines"][-1][1] == {"count": len(everything["patches"]), "share": "+1.00", **lines["First: {text}"]}


@pytest.mark.slow
def test_a_patching_board_says_how_far_it_is_and_can_be_stopped(
    tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batch by batch: it never falls, ends with every grid, and a stop between two batches is a refusal in words."""
    monkeypatch.setattr(patching, "ROWS", 2)
    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    lab = {each.__name__: each for each in server_functions(models)}
    told: list[dict] = []
    real, last = patching._run, [99]

    def watched(*args: Any) -> Any:
        told.append(lab["lab_progress"]({"run": "board"}))
        if len(told) == last[0]:
            lab["lab_stop"]({"run": "board"})
        return real(*args)

    monkeypatch.setattr(patching, "_run", watched)
    asked = {"text": "Das Haus ist alt.", "direction": "de-en", "view": "patch", "options": OPTIONS, "run": "board"}
    assert "error" not in lab["lab_ask"](asked)
    done = [each["done"] for each in told if each]
    assert len(told) > 20 and done == sorted(done) and len(set(done)) == len(done) and done[-1] < 5
    assert told[0] == {} and {each["all"] for each in told if each} == {5}
    assert lab["lab_progress"]({"run": "board"}) == {}
    told.clear()
    last[0] = 4
    assert lab["lab_ask"](asked)["again"] and len(told) == 4


@pytest.mark.slow
def test_a_question_may_be_about_another_translation_than_the_greedy_one(lab: dict, tiny: Translator) -> None:
    ids = [token.id for token in tiny.force("Das Haus ist alt.", "The house is old.").tgt]
    found = lab["lab_ask"]({"view": "contrast", "options": OPTIONS, "target": ids})
    assert found["translation"] == "The house is old."
    assert found["chosen"]["word"] == tiny.bundle.tgt.token(ids[1]).surface
    again = lab["lab_ask"]({"view": "lens", "options": {}, "target": ids, "id": found["id"]})
    assert again["id"] == found["id"]
    assert lab["lab_ask"]({"view": "lens", "options": {}, "id": found["id"]})["id"] != found["id"]
    assert "10**9" in lab["lab_ask"]({"view": "lens", "options": {}, "target": [10**9]})["error"].replace(
        "1000000000", "10**9"
    )


@pytest.mark.slow
def test_every_layer_has_its_slide(lab: dict) -> None:
    found = lab["lab_ask"]({"view": "layers", "options": {}})
    assert [values["layer"] for _, values in found["slides"]] == [0, 1, 2]
    assert found["slides"][-1][1]["text"] == found["table"]["rows"][-1][1]
    for english, _ in found["slides"]:
        assert all(english in table for table in frontend.locales().values())
