"""Words, templates and stored examples: what must hold before a browser is started."""

from __future__ import annotations

import json
import re
from pathlib import Path

import brotli
import pytest
from plotly.offline import get_plotlyjs_version

from translator.ui import explorer, frontend
from translator.ui.assets import make_examples, stale_examples
from translator.ui.models import DIRECTIONS

CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"
WEB = Path(__file__).resolve().parents[2] / "web" / "src"


def markup(name: str) -> str:
    return (WEB / "tabs" / name / f"{name}.html").read_text(encoding="utf-8")


def english() -> set[str]:
    """Every sentence that the explorer's own scripts and templates ask the tables for."""
    found: set[str] = set()
    for path in WEB.rglob("*.ts"):
        text = path.read_text(encoding="utf-8")
        found |= set(re.findall(r'\bt(?:Parts)?\(\s*"((?:[^"\\]|\\.)*)"', text))
    for name in ("explorer", "compare"):
        found |= set(re.findall(r'data-(?:t|aria)="([^"]+)"', markup(name)))
    told = [example.get(part) for example in frontend.all_examples() for part in ("name", "weakness")]
    return found | {each for each in told if each}


@pytest.mark.slow
@pytest.mark.parametrize("language", frontend.LANGUAGES)
def test_every_sentence_is_translated_and_keeps_its_holes(language: str) -> None:
    table = frontend.locales()[language]
    asked = english()
    assert sorted(asked - set(table)) == []
    holes = re.compile(r"\{\w+\}")
    wrong = [
        key for key, value in table.items() if key in asked and not set(holes.findall(value)) <= set(holes.findall(key))
    ]
    assert wrong == []


def test_plotly_is_of_the_version_that_figures_are_made_for() -> None:
    """`make plotly` builds it."""
    banner = frontend.PLOTLY_JS.read_text(encoding="utf-8")[:200]
    assert f"plotly.js v{get_plotlyjs_version()}:" in banner


def test_plotly_is_packed_as_it_is() -> None:
    """`make plotly` packs it."""
    assert brotli.decompress(frontend.PLOTLY_PACKED.read_bytes()) == frontend.PLOTLY_JS.read_bytes()


def test_templates_hold_nothing_that_a_template_engine_runs() -> None:
    for component in (explorer.chrome(), explorer.compare_view(functions=[]), explorer.plotly_view()):
        assert not re.search(r"\$\{|\{\{|`", component.html_template)


def test_data_cannot_leave_its_script_element() -> None:
    assert "</script>" not in frontend.in_script({"a": "</script><script>alert(1)</script>"})


@pytest.mark.slow
def test_examples_are_made_once_and_known_by_their_weights(tiny_checkpoint: Path, tmp_path: Path) -> None:
    from translator.pipeline import load

    model = load(tiny_checkpoint)
    paths = make_examples(lambda name: model, ("de-en",), tmp_path)
    before = [path.read_bytes() for path in paths]
    make_examples(lambda name: model, ("de-en",), tmp_path)
    assert [path.read_bytes() for path in paths] == before
    german = {each["id"] for each in frontend.all_examples() if each["direction"] == "de-en"}
    listing = json.loads((tmp_path / "translations.json").read_text(encoding="utf-8"))
    assert listing.keys() == german
    assert all(json.loads(path.read_text(encoding="utf-8"))["translation"] == listing[path.stem] for path in paths)
    assert german.isdisjoint(stale_examples(lambda name: model.bundle.info.sha256, tmp_path))
    assert german <= set(stale_examples(lambda name: "other", tmp_path))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_stored_examples_were_made_by_the_weights_that_are_here(direction: str) -> None:
    manifest = CHECKPOINTS / direction / "manifest.json"
    assert manifest.is_file(), f"{manifest} is missing"
    text = json.dumps(json.loads(manifest.read_text(encoding="utf-8")))
    for example in (each for each in frontend.all_examples() if each["direction"] == direction):
        stored = frontend.stored_example(example["id"])
        assert stored is not None and stored["checkpoint"]["sha256"] in text, f"{example['id']}: run `make assets`"


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_no_example_is_shown_wrong_unless_it_says_that_it_shows_a_weakness(direction: str) -> None:
    """Read as a person reads them: the translation has to have the words that carry the meaning."""
    wants = {each["id"]: each["wants"] for each in frontend.all_examples()}
    shown = [each for each in frontend.examples() if each["direction"] == direction]
    for example in shown:
        stored = frontend.stored_example(example["id"])
        assert stored is not None and stored["source"] == example["text"]
        said = stored["translation"].lower()
        missing = [words for words in wants[example["id"]] if not any(word in said for word in words)]
        assert bool(missing) == ("weakness" in example), f"{example['text']} → {said} lacks one of {missing}"
    assert len(shown) >= 10 and sum("name" in each for each in shown) >= 4, "enough are left to choose from"
    assert "weakness" not in shown[0], "the page does not open with a weakness"


def test_a_wrong_example_is_left_out_and_a_weakness_is_told_only_while_it_is_one() -> None:
    plain = {"id": "a", "direction": "en-zh", "text": "A", "wants": [["right", "good"], ["word"]]}
    weak = {**plain, "id": "b", "weakness": "It shows one."}
    own = {"direction": "en-zh", "text": "A"}
    told = frontend.shown_examples([plain, weak], {"a": "Right word", "b": "a good word"})
    assert told == ({"id": "a", **own}, {"id": "b", **own})
    told = frontend.shown_examples([plain, weak], {"a": "right", "b": "a bad word"})
    assert told == ({"id": "b", **own, "weakness": "It shows one."},)
    assert len(frontend.shown_examples([plain, weak], {})) == 2, "what was not translated yet is not wrong"
