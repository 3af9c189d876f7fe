"""The keyword arguments of a translation are known by name to a type checker, and are those that there are."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import pytest

from translator.config import DecodeConfig
from translator.settings import DecodeSettings

ROOT = Path(__file__).parents[1]
RIGHT = """
from typing import Any
from translator import Translator, adapt

def ask(model: Translator, net: Any) -> None:
    adapt(net, net, src="de").translate("Ja.", beam=2)
    model.translate("Ja.", method="beam", beam=4, prefix=[5, 6], stop=lambda: False, deadline=2.5, src="de")
    for step in model.stream("Ja.", method="sample", seed=1, temperature=0.5):
        print(step.token)
    model.force("Ja.", "Yes.", candidates=3)
    model.translate_batch(["Ja."], max_length=5, early_stopping="never")
"""
HEAD = "import torch, translator\ndef ask(model: translator.Translator) -> None:"
WRONG = {
    'translate("Ja.", method="greedi")': "method",
    'translate("Ja.", beam="4")': "beam",
    'translate("Ja.", beem=4)': "beem",
    'translate("Ja.", max_length=1.5)': "max_length",
    'translate("Ja.", deadline="soon")': "deadline",
    'stream("Ja.", early_stopping="always")': "early_stopping",
    'force("Ja.", "Yes.", length_penalty=[1])': "length_penalty",
    'translate_batch(["Ja."], prefix="Yes")': "prefix",
}
UNFIT = {'"t5-small"': '"str"', "torch.nn.Linear(2, 2)": '"Linear"', "translator.load('de-en')": '"Translator"'}
"""What is no model of `transformers`, and what a type checker calls it."""


def test_the_settings_are_the_fields_of_the_config_with_their_types() -> None:
    hints = get_type_hints(DecodeConfig)
    assert get_type_hints(DecodeSettings) == {field.name: hints[field.name] for field in fields(DecodeConfig)}


@pytest.mark.slow
@pytest.mark.timeout(600)  # where `make lint` has left no cache, the types of torch are read first
def test_a_type_checker_knows_every_setting_and_what_can_be_adapted(tmp_path: Path) -> None:
    calls = {f"model.{call}": [f'"{name}"'] for call, name in WRONG.items()}
    calls |= {f"translator.adapt({each}, None)": [name, '"None"'] for each, name in UNFIT.items()}
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text("\n    ".join([HEAD, *calls]) + "\n")
    files = [str(tmp_path / name) for name in ("right.py", "wrong.py")]
    done = subprocess.run([sys.executable, "-m", "mypy", *files], cwd=ROOT, capture_output=True, text=True, check=False)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert not [line for line in errors if "right.py:" in line], done.stdout
    found = [line for line in errors if "wrong.py:" in line]  # of the package itself `make lint` speaks
    told = [(line, name) for line, names in enumerate(calls.values(), start=HEAD.count("\n") + 2) for name in names]
    for error, (line, name) in zip(found, told, strict=True):
        assert f"wrong.py:{line}: " in error and name in error
