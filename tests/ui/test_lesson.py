"""The lesson: every station answers for a sentence, its code is there, its words stand in three languages."""

from __future__ import annotations

import base64
import importlib
import inspect
import json
import math
import operator
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import entropy

from translator import Translator, load
from translator.errors import InputError
from translator.training.objective import objective
from translator.ui import frontend
from translator.ui.lesson import course, sentence
from translator.ui.lesson.equations import EQUATIONS, STATIONS, markdown
from translator.ui.lesson.output import smoothing_floor
from translator.ui.lesson.source import excerpt
from translator.ui.lesson_tab import server_functions
from translator.ui.models import Models

TEXT = "Ich renne in den Park."
WEB = Path(__file__).resolve().parents[2] / "web" / "src" / "tabs" / "lesson"
SCRIPT = "\n".join(path.read_text(encoding="utf-8") for path in sorted(WEB.glob("*.ts")))


@pytest.fixture(scope="module")
def model(tiny_checkpoint: Path) -> Translator:
    return load(tiny_checkpoint, device="cpu")


def shown(model: Translator, name: str, *, view: str = "", text: str = TEXT, **options: Any) -> dict[str, Any]:
    return sentence.station(model, name, text, options=options, view=view)


def light(message: dict[str, Any]) -> dict[str, Any]:
    return json.loads(message["figure"])["light"]


@pytest.mark.slow
def test_twelve_stations_each_with_words_code_and_an_equation() -> None:
    assert len(STATIONS) == 12 and list(sentence.BUILDERS) == list(course.CODE) == list(EQUATIONS)
    assert markdown().count("$$") == 24
    for language in course.LANGUAGES:
        told = course.course(language)
        assert [each["name"] for each in told["stations"]] == list(STATIONS)
        assert all(each["code"] and each["title"] and len(each["options"]) == 3 for each in told["stations"])


@pytest.mark.parametrize("name", sorted({each for names in course.CODE.values() for each in names}))
def test_the_code_is_our_own_and_there(name: str) -> None:
    found = excerpt(name)
    module, _, qualified = name.partition(":")
    function = operator.attrgetter(qualified)(importlib.import_module(module))
    source, first = inspect.getsourcelines(inspect.unwrap(function))
    whole = [line.strip() for line in source if not line.strip().startswith("@")]
    assert found.line == first + len(source) - len(whole) and found.code.splitlines()[-1].strip() == whole[-1]
    lines = (frontend.ASSETS.parent / found.path).read_text(encoding="utf-8").splitlines()
    assert f"def {qualified.split('.')[-1]}(" in lines[found.line - 1]
    for line in found.code.splitlines():
        assert line.strip() in {each.strip() for each in lines}
    assert '"""' not in found.code and 1 < len(found.code.splitlines()) <= 15


def test_only_the_docstring_is_left_out() -> None:
    found = excerpt("translator.model.layers:Residual.enter")
    assert found.code == "def enter(self, x: Tensor) -> Tensor:\n    return self.norm(x) if self.pre else x"
    with pytest.raises(LookupError):
        excerpt("translator.model.layers:Residual.exit")
    with pytest.raises(LookupError):
        excerpt("translator.model.layers:Residual")


@pytest.mark.slow
def test_the_words_come_without_torch() -> None:
    code = "import sys; from translator.ui.lesson_tab import lesson; lesson.course('de'); print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=frontend.ASSETS.parent, capture_output=True, text=True)
    assert ran.stdout.strip() == "False", ran.stderr


def test_the_languages_say_the_same_things() -> None:
    english = course.prose("en")
    for language in frontend.LANGUAGES:
        other = course.prose(language)
        for name in STATIONS:
            ours, theirs = english["stations"][name], other["stations"][name]
            assert ours.keys() == theirs.keys() and ours["right"] == theirs["right"]
            same = [key for key in ("title", "intro", "ask", "why") if ours[key] == theirs[key]]
            assert not same, f"{language} {name}: {same} is not translated"
        for key, value in other["words"].items():
            assert set(re.findall(r"\{(\w+)\}", key)) == set(re.findall(r"\{(\w+)\}", value)), key
    assert course.prose("zh")["words"].keys() == course.prose("de")["words"].keys()


def test_the_right_answers_are_not_always_at_the_same_place() -> None:
    right = [each["right"] for each in course.prose("en")["stations"].values()]
    assert set(right) == {0, 1, 2} and max(right.count(i) for i in range(3)) <= 6


@pytest.mark.slow
@pytest.mark.parametrize("name", STATIONS)
def test_every_view_of_every_station_is_drawn_and_named(model: Translator, name: str) -> None:
    words = course.prose("zh")["words"]
    first = shown(model, name)
    says = [view["name"] for view in first["views"]] + [c["name"] for c in first["controls"]]
    says += [*first["numbers"], *first["texts"]]
    known = {"√d_model", "d_head", "x", "q", "k, v", "q, k, v", "W₁"}
    assert {said for said in says if said not in words} <= known
    for view in first["views"]:
        themes = json.loads(shown(model, name, view=view["name"])["figure"])
        assert themes.keys() == {"light", "dark"} or view["name"] == "this model's run"
        assert themes.get("light", {"data": [1]})["data"]
        axes = [themes["light"]["layout"].get(axis, {}) for axis in ("xaxis", "yaxis")] if "light" in themes else []
        titles = [axis.get("title", {}).get("text") for axis in axes]
        assert {title for title in titles if title and title not in words} <= {"sine", "cosine"}


def test_the_scripts_words_are_translated() -> None:
    said = set(re.findall(r'say\(\s*"([^"]+)"', SCRIPT)) | set(
        re.findall(r'data-w="([^"]+)"', (WEB / "lesson.html").read_text(encoding="utf-8"))
    )
    assert said and said <= set(course.prose("de")["words"])


@pytest.mark.slow
def test_a_layer_and_a_head_are_the_models(model: Translator) -> None:
    trace = model.translate(TEXT, method="greedy")
    message = shown(model, "cross", layer=2, head=1)
    np.testing.assert_allclose(cells(message), trace.cross[1, 0], atol=1e-5)
    assert {c["name"]: c["value"] for c in message["controls"]} == {"layer": 2, "head": 1}
    assert message["views"][0]["shape"] == [len(trace.tgt), len(trace.src)]
    assert message["texts"]["Translation"] == trace.translation


@pytest.mark.slow
def test_the_mosaic_names_the_layer_that_it_shows(model: Translator) -> None:
    message = shown(model, "heads", layer=2)
    assert light(message)["layout"]["yaxis"]["ticktext"] == ["L2"]
    trace = model.translate(TEXT, method="greedy")
    tiles = cells(message)
    np.testing.assert_allclose(tiles[:, : len(trace.src)] ** 2, trace.encoder[1, 0], atol=1e-5)


def cells(message: dict[str, Any]) -> np.ndarray:
    """The numbers of a heat map."""
    return decoded(light(message)["data"][0]["z"])


def decoded(numbers: Any) -> np.ndarray:
    """An array, decoded as plotly writes it."""
    if not isinstance(numbers, dict):
        return np.array(numbers, dtype=float)
    flat = np.frombuffer(base64.b64decode(numbers["bdata"]), dtype=np.dtype(numbers["dtype"])).astype(float)
    return flat.reshape([int(n) for n in numbers["shape"].split(",")]) if "shape" in numbers else flat


def lines(message: dict[str, Any]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Every line that a legend names: where it runs."""
    return {each["name"]: (decoded(each["x"]), decoded(each["y"])) for each in light(message)["data"]}


@pytest.mark.slow
def test_without_the_scale_the_rows_are_sharper(model: Translator) -> None:
    scaled, plain = shown(model, "scores"), shown(model, "scores", **{"divide by": "one"})
    name = "entropy of a row (nats)"
    assert float(plain["numbers"][name]) < float(scaled["numbers"][name])
    np.testing.assert_allclose(cells(plain).sum(axis=1), 1, atol=1e-6)
    assert not np.allclose(cells(plain), cells(scaled))


@pytest.mark.slow
def test_the_padding_mask_hides_what_fills_up(model: Translator) -> None:
    mask, ids = cells(shown(model, "masks", view="padding")), model.source_ids(TEXT)
    assert mask.shape == (3, len(ids)) and mask[0].all()
    assert mask.sum(axis=1)[1:].max() < len(ids) and (np.diff(mask, axis=1) <= 0).all()


@pytest.mark.slow
def test_sampling_follows_the_seed_and_the_temperature(model: Translator) -> None:
    drawn = shown(model, "choice", temperature=1.5, seed=7)["texts"]["Sampled"]
    assert drawn == model.translate(TEXT, method="sample", temperature=1.5, seed=7).translation


def test_no_loss_is_below_the_floor() -> None:
    import torch

    vocab, smoothing = 9, 0.2
    target = np.full(vocab, smoothing / vocab)
    target[4] += 1 - smoothing
    best = objective(torch.as_tensor(np.log(target))[None], torch.tensor([4]), smoothing=smoothing)
    assert smoothing_floor(smoothing, vocab) == pytest.approx(float(best.loss), abs=1e-6)
    assert smoothing_floor(0.0, vocab) == 0.0


@pytest.mark.parametrize(
    ("options", "want"),
    [({"layer": 99, "head": -3}, (2, 1)), ({"layer": 1.0}, (1, 1)), ({"layer": 2, "head": 2}, (2, 2))],
)
def test_options_from_elsewhere_are_moved_into_range(model: Translator, options: dict, want: tuple[int, int]) -> None:
    controls = shown(model, "projections", **options)["controls"]
    assert (controls[0]["value"], controls[1]["value"]) == want


@pytest.mark.parametrize("value", ["<b>", None, True, float("nan"), [1]])
def test_an_option_that_is_no_number_is_refused(model: Translator, value: Any) -> None:
    with pytest.raises(InputError, match=r"layer is .*; it must be a whole number from 1 to 2"):
        shown(model, "projections", layer=value)


"""What the source documents draw, at their sizes (docs/lesson.md), as the page gets it, against the formula."""


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["interleaved", "concatenated"])
def test_positions_are_the_documents(model: Translator, layout: str) -> None:
    def wave(position: int, column: int, width: int) -> float:
        pair, cosine = divmod(column, 2) if layout == "interleaved" else (column % (width // 2), column // (width // 2))
        return (math.cos if cosine else math.sin)(position * math.exp(-math.log(10000) * 2 * pair / width))

    heat = cells(shown(model, "positions", layout=layout))
    np.testing.assert_allclose(heat, [[wave(p, d, 32) for d in range(32)] for p in range(100)], atol=1e-6)
    curves = lines(shown(model, "positions", layout=layout, view="dimensions 5 to 9"))
    assert list(curves) == [f"dim {d}" for d in (5, 6, 7, 8, 9)]
    for name, (x, y) in curves.items():
        assert x.tolist() == list(range(100))
        np.testing.assert_allclose(y, [wave(p, int(name[4:]), 24) for p in range(100)], atol=1e-6)


def test_the_pairs_are_the_documents(model: Translator) -> None:
    pairs = lines(shown(model, "positions", view="sine and cosine"))
    assert len(pairs) == 6
    for pair in range(3):
        phase = np.arange(100) * 10000 ** (-2 * pair / 26)
        np.testing.assert_allclose(pairs[f"sine, pair {pair}"][1], np.sin(phase), atol=1e-12)
        np.testing.assert_allclose(pairs[f"cosine, pair {pair}"][1], np.cos(phase), atol=1e-12)


@pytest.mark.slow
def test_the_mask_of_twenty_positions(model: Translator) -> None:
    keep = cells(shown(model, "masks", view="20 positions"))
    assert keep.tolist() == [[1] * (row + 1) + [0] * (19 - row) for row in range(20)]


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [0.1, 0.4])
def test_smoothing_is_the_documents(model: Translator, smoothing: float) -> None:
    """Five ids of which 0 is padding, targets 2, 1, 0; and the loss where the other three share what is left."""
    right, other = 1 - smoothing, smoothing / 3
    targets = cells(shown(model, "training", smoothing=smoothing))
    np.testing.assert_allclose(
        targets, [[0, other, right, other, other], [0, right, other, other, other], [0, 0, 0, 0, 0]]
    )
    x, y = lines(shown(model, "training", smoothing=smoothing, view="loss and confidence"))[f"ε = {smoothing:g}"]
    assert x.min() <= 1 / 4 and x.max() >= 99 / 102  # what is drawn for x / (x + 3), x from 1 to 99
    want = [entropy([right, other, other, other], [p, *[(1 - p) / 3] * 3]) for p in x]
    np.testing.assert_allclose(y, want, atol=1e-12)


@pytest.mark.slow
def test_the_warm_ups_are_the_documents_and_ones_own(model: Translator) -> None:
    found = lines(shown(model, "training", view="learning rate", d_model=128, warmup=1000))
    assert list(found) == ["512:4000", "512:8000", "256:4000", "128:1000"]
    for name, (x, y) in found.items():
        width, warmup = map(int, name.split(":"))
        want = [
            step / warmup / math.sqrt(width * warmup) if step < warmup else 1 / math.sqrt(width * step) for step in x
        ]
        np.testing.assert_allclose(y, want, rtol=1e-12)
        assert (x[0], x[-1]) == (1, 20_000)


@pytest.mark.slow
def test_a_run_shows_what_it_learnt_from_and_what_was_held_out(tiny_checkpoint: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_checkpoint, tmp_path / "logged")
    records = [{"step": 5, "nll": 4.0, "accuracy": 0.25}, {"step": 9, "dev_nll": 3.0, "dev_bleu": 7.5}]
    (folder / "log.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    message = shown(load(folder, device="cpu"), "training", view="this model's run")
    drawn = [(each["name"], each["yaxis"], each["x"], each["y"]) for each in light(message)["data"]]
    assert drawn == [
        ("training", "y", [5], [4.0]),
        ("held-out", "y", [9], [3.0]),
        ("training", "y2", [5], [0.25]),
        ("held-out", "y3", [9], [7.5]),
    ]
    words = course.prose("de")["words"]
    axes = {axis["title"]["text"] for key, axis in light(message)["layout"].items() if key.startswith("yaxis")}
    assert axes | {name for name, *_ in drawn} <= set(words)


@pytest.mark.slow
def test_the_table_of_figures_names_what_there_is(model: Translator) -> None:
    root = frontend.ASSETS.parent
    page = (root / "docs" / "lesson.md").read_text(encoding="utf-8")
    rows = [row.split("|")[1:-1] for row in page.splitlines() if row.startswith("| ") and "figure of the" not in row]
    assert len(rows) > 15
    for _, place, functions, tests in rows:
        for module, function in re.findall(r"`(\w+)\.(\w+)`", functions):
            assert callable(getattr(importlib.import_module(f"translator.figures.{module}"), function))
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", tests)
        assert named
        for path, test in named:
            assert f"\ndef {test}(" in (root / path).read_text(encoding="utf-8"), test
        for number, view in re.findall(r"Lesson (\d+), \*(.+?)\*", place):
            assert view in {each["name"] for each in shown(model, STATIONS[int(number) - 1])["views"]}, view


@pytest.mark.slow
def test_a_run_without_a_log_says_so(model: Translator) -> None:
    assert "log.jsonl" in json.loads(shown(model, "training", view="this model's run")["figure"])["error"]


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({"station": "x", "text": TEXT, "direction": "de-en"}, "no station"),
        ({"station": "tokens", "text": " ", "direction": "de-en"}, "blank"),
        ({"station": "tokens", "text": TEXT, "direction": "fr-en"}, "no direction"),
        ({"station": "tokens", "text": 3, "direction": "de-en"}, "must be a string"),
        ({"station": ["tokens"], "text": TEXT, "direction": "de-en"}, "no station"),
        ({"station": "tokens", "text": TEXT, "direction": "de-en", "options": 3}, "names with values"),
        ("tokens", "names with values"),
    ],
)
def test_a_bad_request_is_answered_in_words(tiny_checkpoint: Path, request_: Any, says: str) -> None:
    station = server_functions(Models({"de-en": tiny_checkpoint}, device="cpu"))[1]
    assert says in station(request_)["error"]


def test_the_page_gets_the_course_in_any_language(tiny_checkpoint: Path) -> None:
    ask = server_functions(Models({"de-en": tiny_checkpoint}, device="cpu"))[0]
    assert ask({"language": "de"})["stations"][0]["title"] == course.prose("de")["stations"]["tokens"]["title"]
    assert ask({"language": "xx"}) == ask({"language": "en"})


def test_a_course_is_kept_for_the_languages_that_there_are_whatever_else_is_asked_for() -> None:
    """A stranger who makes languages up must not fill the memory with courses."""
    for language in ("xx", "EN", "", None, ["de"], {}):
        assert course.course(language) is course.course("en")
    assert course.course("de") is course.course("de") is not course.course("en")
