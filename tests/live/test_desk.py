"""What a page asks its worker: the lab's answers and the files are those of the Python package."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from translator import Trace, Translator
from translator.analysis import edit, forced, interventions
from translator.ui import lab, lab_views, session
from translator.ui.live.site import write_site

TEXT = "Ich renne in den Park."


@pytest.fixture(scope="module")
def site(tiny: Translator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_site(folder, [tiny], texts=[TEXT])
    return folder


@pytest.fixture
def ask(run_node: Callable[..., Any], site: Path) -> Callable[..., list[dict[str, Any]]]:
    """`ask(*calls)`: what the worker answers to (name, what it is given)."""

    def run(*calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
        made = [[name, {"direction": "tiny", "text": TEXT, **given}] for name, given in calls]
        return run_node("desk.mjs", {"folder": str(site), "calls": made})["answers"]

    return run


def never() -> bool:
    return False


COUNTED = (
    "Um 18:30 kostet das 24,50 Euro, am 3/4/2025 1.250,75.",
    "Ja – „das“ ist 3-mal so viel ... 2, 3 x:4",
    "١٢٫٥ ١٢.٥ 🙂 1.",
    "   ",
)


@pytest.mark.slow
def test_a_typed_text_is_told_of_as_the_server_does(tiny: Translator, ask: Callable[..., Any]) -> None:
    answers = ask(*(("inspect", {"text": text}) for text in COUNTED))
    for text, found in zip(COUNTED, answers, strict=True):
        expected = session.health(tiny, text)
        assert {name: found["value"][name] for name in expected} == expected, text


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_what_a_head_is_worth(kind: str, tiny: Translator, ask: Callable[..., Any]) -> None:
    (found,) = ask(("board", {"kind": kind}))
    trace = tiny.translate(TEXT, method="greedy")
    expected = lab.board(tiny, trace, kind, never)
    np.testing.assert_allclose(found["value"]["values"], expected["values"], atol=2e-4, rtol=0)
    assert found["value"]["roles"] == expected["roles"]


@pytest.mark.slow
def test_a_translation_with_heads_off(tiny: Translator, ask: Callable[..., Any]) -> None:
    trace = tiny.translate(TEXT, method="greedy")
    off = interventions.silence(tiny.bundle.model, [("cross", 0, 1), ("encoder", 1, 0), ("decoder", 0, 0)])
    gates = {kind: values.tolist() for kind, values in off.items()}
    (found,) = ask(("switch", {"gates": gates}))
    expected = lab.switched(tiny, trace, gates, never)
    for name in ("first", "change"):
        assert found["value"][name] == pytest.approx(expected[name], abs=2e-4)
    assert found["value"]["source"] == expected["source"]
    for side in ("before", "after"):
        ours, theirs = expected[side], found["value"][side]
        assert (theirs["text"], theirs["words"]) == (ours["text"], ours["words"])
        assert theirs["score"] == pytest.approx(ours["score"], abs=2e-4)
        np.testing.assert_allclose(theirs["links"], ours["links"], atol=2e-3, rtol=0)


def figures(answer: dict[str, Any], number: Callable[[float], Any] = float) -> list[Any]:
    """The figures of an answer, light and dark, every number with a point as `number` makes it."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict) and {"dtype", "bdata"} <= value.keys():
            flat = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
            shape = [int(each) for each in value.get("shape", str(len(flat))).split(",")]
            value = flat.reshape(shape).tolist()
        if isinstance(value, dict):
            return {name: plain(each) for name, each in value.items()}
        if isinstance(value, list):
            return [plain(each) for each in value]
        if isinstance(value, float):
            return None if math.isnan(value) else number(value)  # Plotly draws neither
        return value

    found = []
    for packed in answer["figures"]:
        light, dark = (json.loads(packed)["light"] for _ in range(2))
        for path, value in json.loads(packed)["dark"]:
            place = dark
            for name in path[:-1]:
                place = place[name]
            place[path[-1]] = value
        found += [plain(light), plain(dark)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("force", {"target": "The <b>park</b> $1 & 2%."}),
        ("force", {"target": "The park.", "kind": "encoder"}),
        ("force", {"target": "The park.", "kind": "decoder", "head": 2}),
        ("force", {"target": "The park.", "kind": "cross"}),
        ("edit", {"step": 2, "choice": ""}),
        ("beams", {"beam": 3, "penalty": 0.6}),
    ],
)
def test_figures_are_drawn_as_by_python(
    name: str, options: dict[str, Any], tiny: Translator, ask: Callable[..., Any]
) -> None:
    (found,) = ask(("view", {"view": name, "options": options}))
    expected = lab_views.view(tiny, name, tiny.translate(TEXT, method="greedy"), options, never)
    assert figures(found["value"]) == figures(expected, partial(pytest.approx, abs=2e-4))
    for told in ("captions", "chosen"):
        assert found["value"].get(told) == expected.get(told)


@pytest.mark.slow
def test_a_forced_target_with_its_ranks(tiny: Translator, ask: Callable[..., Any]) -> None:
    (found,) = ask(("view", {"view": "force", "options": {"target": "The park."}}))
    expected = forced.force(tiny, TEXT, "The park.", method="greedy")
    rows = found["value"]["table"]["rows"]
    assert [row[2] for row in rows] == [str(rank) for rank in expected.ranks]
    assert [row[0].strip("␣") for row in rows] == [token.surface.strip() for token in expected.trace.tgt]


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["", "house"])
def test_an_edit_goes_on_as_in_python(choice: str, tiny: Translator, ask: Callable[..., Any]) -> None:
    (found,) = ask(("view", {"view": "edit", "options": {"step": 2, "choice": choice}}))
    trace = tiny.translate(TEXT, method="greedy")
    candidates = trace.steps[1].candidates
    other = candidates[0] if candidates[0].token.id != trace.tgt[1].id else candidates[1]
    expected = edit.continue_from(tiny, trace, 1, choice or other.token.id)
    assert found["value"]["lines"][1][1]["text"] == expected.translation


@pytest.mark.slow
def test_the_beams_of_a_search(tiny: Translator, ask: Callable[..., Any]) -> None:
    (found,) = ask(("view", {"view": "beams", "options": {"beam": 3, "penalty": 0.6}}))
    expected = tiny.translate(TEXT, method="beam", beam=3, length_penalty=0.6)
    assert found["value"]["lines"][0][1]["text"] == expected.translation
    told = lab_views.view(tiny, "beams", expected, {"beam": 3, "penalty": 0.6}, never)["lines"]
    assert found["value"]["lines"][2] == told[2] and told[2][1]["pruned"] > 0
    ends = [beam for step in expected.steps for beam in step.beams if beam.ended]
    assert len(found["value"]["table"]["rows"]) == len(ends)


@pytest.mark.slow
def test_a_view_that_is_not_there_says_where_it_is(ask: Callable[..., Any]) -> None:
    (found,) = ask(("view", {"view": "lens", "options": {}}))
    assert "translator serve" in found["text"]


@pytest.mark.slow
def test_a_trace_file_is_read_by_python(tiny: Translator, ask: Callable[..., Any], tmp_path: Path) -> None:
    (found,) = ask(("npz", {"settings": {"method": "beam", "beam": 3}}))
    path = tmp_path / "trace.npz"
    path.write_bytes(base64.b64decode(found["value"]))
    trace, expected = Trace.load(path), tiny.translate(TEXT, method="beam", beam=3)
    assert (trace.source, trace.translation, trace.settings) == (TEXT, expected.translation, expected.settings)
    assert (trace.src, trace.tgt, trace.checkpoint) == (expected.src, expected.tgt, expected.checkpoint)
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(trace.weights(kind), expected.weights(kind), atol=1e-5, rtol=0)
    np.testing.assert_allclose(trace.log_probs, expected.log_probs, atol=1e-4, rtol=0)


@pytest.mark.slow
def test_every_step_is_told_and_the_checkpoint_is_fetched_once(
    run_node: Callable[..., Any], site: Path, tiny: Translator
) -> None:
    asked = {"direction": "tiny", "text": TEXT, "settings": {"method": "greedy"}}
    found = run_node("desk.mjs", {"folder": str(site), "calls": [["stream", asked], ["stream", asked]]})
    first, second = found["answers"]
    steps = len(tiny.translate(TEXT, method="greedy").tgt)
    assert first["kinds"].count("step") == second["kinds"].count("step") == steps
    assert (first["kinds"][-1], first["value"]["kind"]) == ("done", "trace")
    manifest = json.loads((site / "manifest.json").read_text(encoding="utf-8"))
    entries = [manifest["engine"], *manifest["checkpoints"]["tiny"].values()]
    assert max(first["progress"]) == sum(entry["size"] for entry in entries)
    assert sorted(path for path, _ in found["asked"]) == sorted(entry["path"] for entry in entries)


@pytest.mark.slow
def test_a_damaged_file_is_fetched_again_and_then_refused(
    run_node: Callable[..., Any], site: Path, tmp_path: Path
) -> None:
    import shutil

    broken = tmp_path / "broken"
    shutil.copytree(site, broken)
    path = broken / "checkpoints" / "tiny" / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    found = run_node("desk.mjs", {"folder": str(broken), "calls": [["load", {"direction": "tiny"}]]})
    (answer,) = found["answers"]
    assert "model.safetensors is damaged" in answer["text"]
    assert [each for each, _ in found["asked"]].count("checkpoints/tiny/model.safetensors") == 2


@pytest.mark.slow
def test_an_unknown_direction_is_refused_by_name(ask: Callable[..., Any]) -> None:
    (found,) = ask(("load", {"direction": "fr-en"}))
    assert "no direction 'fr-en'; there are tiny" in found["text"]
