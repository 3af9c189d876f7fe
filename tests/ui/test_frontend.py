"""Words, templates and stored examples: what must hold before a browser is started."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from plotly.offline import get_plotlyjs_version

from translator.ui import frontend
from translator.ui.assets import make_examples, stale_examples
from translator.ui.models import DIRECTIONS

CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"
EXPLORER = (
    "base",
    "chips",
    "mosaic",
    "heat",
    "detail",
    "arcs",
    "side",
    "health",
    "export",
    "explorer",
    "plotview",
    "compare",
    "page",
)


def english() -> set[str]:
    """Every sentence that the explorer's own scripts and templates ask the tables for."""
    found: set[str] = set()
    for name in EXPLORER:
        text = (frontend.ASSETS / "js" / f"{name}.js").read_text(encoding="utf-8")
        found |= set(re.findall(r'\bt(?:Parts)?\("((?:[^"\\]|\\.)*)"', text))
    for name in ("explorer", "compare"):
        found |= set(re.findall(r'data-(?:t|aria)="([^"]+)"', frontend.template(name)))
    return found | {example["name"] for example in frontend.examples() if "name" in example}


@pytest.mark.parametrize("language", frontend.LANGUAGES)
def test_every_sentence_is_translated_and_keeps_its_holes(language: str) -> None:
    table = frontend.locales()[language]
    assert sorted(english() - set(table)) == []
    holes = re.compile(r"\{\w+\}")
    wrong = [
        key
        for key, value in table.items()
        if key in english() and not set(holes.findall(value)) <= set(holes.findall(key))
    ]
    assert wrong == []


def test_plotly_is_of_the_version_that_figures_are_made_for() -> None:
    """`make plotly` fetches it."""
    banner = frontend.PLOTLY_JS.read_text(encoding="utf-8")[:200]
    assert f"(cartesian - minified) v{get_plotlyjs_version()}\n" in banner


@pytest.mark.parametrize("name", ["explorer", "compare", "chrome"])
def test_templates_hold_nothing_that_a_template_engine_runs(name: str) -> None:
    assert not re.search(r"\$\{|\{\{|`", frontend.template(name))


def test_data_cannot_leave_its_script_element() -> None:
    assert "</script>" not in frontend.in_script({"a": "</script><script>alert(1)</script>"})


def test_examples_are_made_once_and_known_by_their_weights(tiny_checkpoint: Path, tmp_path: Path) -> None:
    from translator.pipeline import load

    model = load(tiny_checkpoint)
    paths = make_examples(lambda name: model, ("de-en",), tmp_path)
    before = [path.read_bytes() for path in paths]
    make_examples(lambda name: model, ("de-en",), tmp_path)
    assert [path.read_bytes() for path in paths] == before
    german = {each["id"] for each in frontend.examples() if each["direction"] == "de-en"}
    assert german.isdisjoint(stale_examples(lambda name: model.bundle.info.sha256, tmp_path))
    assert german <= set(stale_examples(lambda name: "other", tmp_path))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_stored_examples_were_made_by_the_weights_that_are_here(direction: str) -> None:
    manifest = CHECKPOINTS / direction / "manifest.json"
    assert manifest.is_file(), f"{manifest} is missing"
    text = json.dumps(json.loads(manifest.read_text(encoding="utf-8")))
    for example in (each for each in frontend.examples() if each["direction"] == direction):
        stored = frontend.stored_example(example["id"])
        assert stored is not None and stored["checkpoint"]["sha256"] in text, f"{example['id']}: run `make assets`"
