"""One registry says what can be asked: forms, options, refusals and documentation are made of it, and agree."""

from __future__ import annotations

import argparse
import math
import runpy
from collections.abc import Iterator
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Any, get_args

import gradio as gr
import pytest

from translator.__main__ import DECODING, _parser
from translator.analysis.bench import Aligner
from translator.analysis.positions import with_positions
from translator.config import DecodeConfig
from translator.errors import InputError
from translator.pipeline import Translator
from translator.registry import decoding, lab, lesson, positions
from translator.registry.document import COMMANDS
from translator.registry.field import Field
from translator.registry.options import Read
from translator.request import Limits
from translator.ui import api, limits, positions_tab, translate_tab
from translator.ui.lesson import sentence
from translator.ui.lesson.equations import STATIONS
from translator.ui.models import Models

ROOT = Path(__file__).parents[1]
NUMBERS = [each for each in decoding.SETTINGS if each.kind == "number"]
OTHERWISE = {
    ("force", "kind"), ("force", "layer"), ("force", "head"),  # a map that only the page draws
    ("patch", "other"), ("omissions", "target"), ("rollout", "method"),  # positional arguments, and --by
    ("elsewhere", "layer"),  # of `search`, where 0 is the embeddings
    ("plane", "kind"), ("plane", "layer"), ("plane", "head"),  # `search --joint`
    ("profile", "kind"), ("profile", "measure"),  # a command over a corpus
}  # fmt: skip
"""Fields that the command line asks for in another way."""


def beyond(each: Field) -> Iterator[float]:
    """The next number below and above what can be asked."""
    low, high = each.range
    yield from (low - 1, high + 1) if each.whole else (math.nextafter(low, -math.inf), math.nextafter(high, math.inf))


def commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The subcommands of a parser, by name."""
    return next(dict(a.choices) for a in parser._actions if isinstance(a, argparse._SubParsersAction))


def read_options(parser: argparse.ArgumentParser) -> dict[str, Read]:
    """The options that are made from fields, by the field's name."""
    return {action.field.name: action for action in parser._actions if isinstance(action, Read)}


def test_what_is_written_of_the_registry_is_fresh() -> None:
    """Else: python web/registry.py"""
    for path, text in runpy.run_path(str(ROOT / "web" / "registry.py"))["written"]().items():
        assert path.read_text(encoding="utf-8") == text, path


def test_the_settings_are_the_fields_of_the_config_and_its_defaults() -> None:
    assert [each.name for each in decoding.SETTINGS] == [each.name for each in dataclass_fields(DecodeConfig)]
    assert vars(DecodeConfig()) == decoding.DEFAULTS
    assert vars(Limits()) == decoding.LIMITS


@pytest.mark.parametrize("each", NUMBERS, ids=lambda each: each.name)
def test_a_setting_has_one_range_for_config_command_line_and_page(each: decoding.Setting) -> None:
    parser = commands(_parser())["translate"]
    flag = "--" + each.name.replace("_", "-")
    for value in each.range:
        assert getattr(DecodeConfig(**{each.name: value}), each.name) == value
        assert vars(parser.parse_args(["--model", "m", f"{flag}={value}", "x"]))[each.name] == value
    for value in beyond(each):
        with pytest.raises(InputError, match=f"{each.name} is .*number from {each.low} to {each.high}"):
            DecodeConfig(**{each.name: value})
        with pytest.raises(InputError, match=f"{each.name} is .*; it must be {each.want()}"):
            parser.parse_args(["--model", "m", f"{flag}={value}", "x"])
    if each.granted is not None:
        assert limits.settings({each.name: each.granted}) == {each.name: each.granted}
        with pytest.raises(InputError, match=f"at most {each.granted}"):
            limits.settings({each.name: each.granted + 1})


@pytest.mark.slow
def test_every_setting_that_can_be_typed_is_an_option_that_says_its_range() -> None:
    parser = commands(_parser())["translate"]
    assert set(read_options(parser)) == {each.name for each in DECODING}
    said = " ".join(parser.format_help().split())
    for each in DECODING:
        told = "{" + ",".join(str(c).lower() for c in each.choices) + "}" if each.kind == "choice" else each.want()
        assert told in said
    given = parser.parse_args(["--model", "m", "--early-stopping", "never", "--force-eos", "true", "x"])
    assert (given.early_stopping, given.force_eos) == ("never", True)
    for wrong in ("--early-stopping=yes", "--force-eos=1", "--beam=4.5", "--beam=", "--seed=x", "--temperature=nan"):
        with pytest.raises(InputError, match=wrong[2:].split("=")[0].replace("-", "_")):
            parser.parse_args(["--model", "m", wrong, "x"])


@pytest.mark.slow
def test_the_pages_controls_are_those_of_the_registry() -> None:
    with gr.Blocks():
        method, *others = translate_tab._settings()
    assert [value for _, value in method.choices] == [decoding.AUTOMATIC, *get_args(decoding.Method)]
    for (each, control), shown in zip(decoding.CONTROLLED, others, strict=True):
        assert (shown.label, shown.value) == (each.label, control.value)
        assert getattr(shown, "minimum", control.low) == control.low
        assert getattr(shown, "maximum", control.high) == (None if control.kind == "number" else control.high)
        least, most = each.low, each.most
        if control.kind != "text":  # whatever a slider can say is granted, but for the value that says nothing
            assert control.blank == control.low or control.low >= least
            assert control.high <= most


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (("automatic", 4, "0,5", 1, 0, 1, 0, 0), {}),
        (("automatic", 0, "", 1, 0, 1, 0, 9), {"max_length": 9}),
        (("greedy", 4, "1", 1, 0, 1, 0, 0), {"method": "greedy"}),
        (("beam", 0, "", 1, 0, 1, 0, 0), {"method": "beam"}),
        (("beam", 3, "0,5", 1, 0, 1, 0, 0), {"method": "beam", "beam": 3, "length_penalty": 0.5}),
        (("beam", 3, "0", 1, 0, 1, 0, 0), {"method": "beam", "beam": 3, "length_penalty": 0.0}),
        (
            ("sample", 3, "1", 0.5, 0, 1, 0, 5),
            {"method": "sample", "temperature": 0.5, "top_k": 0, "top_p": 1, "seed": 0, "max_length": 5},
        ),
    ],
)
def test_what_the_controls_ask_for(values: tuple[Any, ...], read: dict[str, Any]) -> None:
    assert translate_tab.settings_of(values) == read


def test_the_endpoint_tells_what_it_grants(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("gradio.api", lambda function, *, api_name, api_description: told.append(api_description))
    api.api(type("Models", (), {"names": ("de-en",)})())  # type: ignore[arg-type]
    for text in told:
        assert "beam, a whole number from 1 to 12" in text and "temperature, a number from 0.01 to 10" in text


def test_every_field_of_the_lab_is_an_option_of_its_command_with_the_same_range() -> None:
    views = commands(commands(_parser())["lab"])
    for view in lab.VIEWS:
        name = COMMANDS.get(view.name, view.name)
        found = read_options(views[name]) if name in views else {}
        for each in view.fields:
            if (view.name, each.name) in OTHERWISE:
                continue
            option = found[each.name]
            assert (option.field.low, option.field.kind, option.field.whole) == (each.low, each.kind, each.whole)
            assert set(option.field.choices) <= set(each.choices)
            assert option.required or each.value is None or option.default in (each.value, option.field.value)
            narrowed = {("patch", "what"), ("elsewhere", "order")}  # what a terminal cannot show
            assert (view.name, each.name) in narrowed or option.field.choices == each.choices
            wider = decoding.setting("beam").high if (view.name, each.name) == ("beams", "beam") else each.high
            assert option.field.high == wider


def test_the_shift_has_one_range(tiny: Translator) -> None:
    """Once it was -50 to 500 on the page, and another in the analysis."""
    each, model = lab.field("positions", "shift"), tiny.bundle.model
    parser = commands(commands(_parser())["lab"])["positions"]
    for value in each.range:
        assert each.read({"shift": value}) == value
        with_positions(model, shift=value)
        assert parser.parse_args(["--model", "m", f"--shift={value}", "x"]).shift == value
    for value in beyond(each):
        for refuse in (
            lambda v=value: each.read({"shift": v}),
            lambda v=value: with_positions(model, shift=v),
            lambda v=value: parser.parse_args(["--model", "m", f"--shift={v}", "x"]),
        ):
            with pytest.raises(InputError, match="number from -100000 to 100000"):
                refuse()
    assert "a number from -100000 to 100000 (default: 5)" in " ".join(parser.format_help().split())


def test_the_threshold_of_an_aligner_is_that_of_the_form() -> None:
    each = lab.field("align", "threshold")
    assert Aligner().threshold == each.value
    for value in beyond(each):
        with pytest.raises(InputError, match="threshold"):
            Aligner(threshold=value)


@pytest.mark.slow
@pytest.mark.parametrize("name", STATIONS)
def test_what_a_station_lets_turn_is_the_registrys(tiny: Translator, name: str) -> None:
    """Once the temperature had two ranges, the seed three."""
    fields = lesson.STATIONS.get(name, ())

    def turned(**options: Any) -> dict[str, dict[str, Any]]:
        message = sentence.station(tiny, name, "Ein Haus ist alt.", options=options)
        return {each["name"]: each for each in message["controls"]}

    shown = turned()
    assert list(shown) == [each.name for each in fields]
    for each in fields:
        control = shown[each.name]
        assert each.value is None or control["value"] == each.value
        if each.kind == "choice":
            assert [value for value, _ in control["choices"]] == list(each.choices)
            continue
        offered = [value for value, _ in control["choices"]] or [control["low"], control["high"]]
        low, high = offered[0], offered[-1]
        assert low == each.low and high == (each.high or high) and control["step"] == (each.step or 1)
        for beyond_it, end in ((low - 1, low), (high + 1, high)):
            assert turned(**{each.name: beyond_it})[each.name]["value"] == end
        with pytest.raises(InputError, match=f"{each.name} is 'x'; it must be {each.want(high)}"):
            turned(**{each.name: "x"})


@pytest.mark.parametrize(
    ("turned", "found"),
    [(10**400, 3), (-(10**400), 0.1), (math.inf, 3), (1.25, 1.25)],
    ids=["over", "under", "inf", "own"],
)
def test_a_number_beyond_all_bounds_moves_to_the_nearer_end(turned: float, found: float) -> None:
    assert lesson.field("choice", "temperature").nearest(turned) == found


def test_a_number_that_is_none_has_no_nearer_end() -> None:
    with pytest.raises(InputError, match="temperature is nan"):
        lesson.field("choice", "temperature").nearest(math.nan)


def test_the_lesson_samples_as_a_page_may() -> None:
    seed, temperature = lesson.field("choice", "seed"), lesson.field("choice", "temperature")
    assert seed.range == (decoding.setting("seed").low, decoding.setting("seed").most)
    low, high = decoding.setting("temperature").range
    assert low <= temperature.range[0] < temperature.range[1] <= high
    assert temperature.value == decoding.setting("temperature").value


@pytest.mark.slow
def test_the_tab_of_positions_asks_what_the_registry_says() -> None:
    """Once its sliders began at 8 and 4, and what was refused at 2."""
    with gr.Blocks() as page:
        positions_tab.positions_tab(Models({"a": "a"}))
    shown = [each for each in page.blocks.values() if getattr(each, "label", None)]
    told = {each.label: each for each in positions.FIELDS}
    assert [each.label for each in shown] == list(told)
    for component in shown:
        each = told[component.label]
        assert component.value == each.value
        if each.kind != "range":
            continue
        assert (component.minimum, component.maximum, component.step) == (*each.range, each.step)
        for end in each.range:
            assert positions_tab._size(each, end) == end
        for value in beyond(each):
            with pytest.raises(InputError, match=f"the number of {each.name} is .*; it must be {each.want()}"):
                positions_tab._size(each, value)
