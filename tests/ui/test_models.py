"""The checkpoints behind the page: loaded when asked for, let go by their last use, safetensors only."""

from __future__ import annotations

import gc
import shutil
import weakref
from pathlib import Path
from typing import Any

import pytest

from translator import Translator, pipeline
from translator.errors import CancelledError, CheckpointError, InputError
from translator.ui import session
from translator.ui.models import Models
from translator.ui.session import translate_stream


@pytest.fixture
def weight(tiny_checkpoint: Path) -> int:
    """Bytes that the tiny checkpoint comes to."""
    models = Models({"one": tiny_checkpoint}, device="cpu")
    model = models.get("one")
    assert models.held["one"] == model.memory == model.engine.nbytes  # what an engine lays out is memory too
    return model.memory


@pytest.mark.slow
def test_the_least_recently_used_is_let_go(tiny_checkpoint: Path, weight: int) -> None:
    models = Models(dict.fromkeys("abc", tiny_checkpoint), device="cpu", memory=2 * weight + 1)
    first = models.get("a")
    models.get("b")
    assert models.get("a") is first
    models.get("c")
    assert list(models.held) == ["a", "c"]
    assert models.get("a") is first
    assert models.get("b").translate("wir").translation == first.translate("wir").translation
    assert list(models.held) == ["a", "b"] and sum(models.held.values()) <= models.memory


def test_one_is_held_however_large(tiny_checkpoint: Path) -> None:
    models = Models(dict.fromkeys("ab", tiny_checkpoint), device="cpu", memory=1)
    models.get("a")
    models.get("b")
    assert list(models.held) == ["b"]


@pytest.mark.parametrize(("frame", "told"), [(0.0, [0, 1, 2, 3, 4]), (3600.0, [0])])
def test_steps_that_come_too_fast_to_be_seen_are_not_told(tiny_checkpoint: Path, frame: float, told: list[int]) -> None:
    models = Models({"a": tiny_checkpoint}, device="cpu")
    settings = {"method": "greedy", "max_length": 5, "force_eos": True}
    *steps, trace = session._messages(models, "a", "wir rennen in den park", settings, lambda: False, frame)
    assert [step["index"] for step in steps] == told and len(trace["tgt"]) == 5
    assert all(len(step["log_probs"]) == step["index"] + 1 for step in steps)


@pytest.mark.slow
def test_who_translates_keeps_his_model_and_then_it_is_freed(tiny_checkpoint: Path) -> None:
    models = Models(dict.fromkeys("ab", tiny_checkpoint), device="cpu", memory=1)
    running = translate_stream(models, "wir rennen in den park", "a", {})
    assert next(running)["kind"] in ("step", "trace")
    gone = weakref.ref(models.get("a").bundle.model)
    models.get("b")
    assert list(models.held) == ["b"]
    assert list(running)[-1]["kind"] == "trace"
    gc.collect()
    assert gone() is None


@pytest.mark.slow
def test_warming_stops_at_half_of_the_memory(tiny_checkpoint: Path, weight: int) -> None:
    models = Models(dict.fromkeys("abcdef", tiny_checkpoint), device="cpu", memory=4 * weight)
    models.warm().join()
    assert list(models.held) == ["a", "b", "c"]


@pytest.mark.slow
def test_a_model_that_cannot_be_warmed_does_not_keep_the_others_waiting(
    tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    loads = pipeline.load

    def load(what: Path, **settings: Any) -> Translator:
        if what.name == "odd":
            raise RuntimeError("CUDA error")
        return loads(what, **settings)

    monkeypatch.setattr(pipeline, "load", load)
    models = Models({"a": Path("odd"), "b": tiny_checkpoint}, device="cpu")
    models.warm().join()
    assert list(models.held) == ["b"] and "a could not be warmed" in caplog.text


@pytest.mark.slow
def test_what_could_not_be_loaded_is_tried_again_after_a_minute(
    tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("translator.ui.models.time.monotonic", lambda: now)
    models = Models({"a": tmp_path / "a"}, device="cpu")
    for _ in range(2):
        with pytest.raises(CheckpointError, match="a is not available here: there is no checkpoint"):
            models.get("a")
        assert models.state("a").startswith("a is not available here: there is no checkpoint")
        shutil.copytree(tiny_checkpoint, tmp_path / "a", dirs_exist_ok=True)
        now += 59
    now += 2
    assert models.state("a") == ""
    assert models.get("a").translate("wir").translation and models.state("a") == "ready"


def test_no_pickle_is_loaded_whatever_the_folder_says(tiny_marian: Path, tmp_path: Path) -> None:
    pickled = Path(shutil.copytree(tiny_marian, tmp_path / "pickled"))
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    models = Models({"safe": tiny_marian, "pickled": pickled}, device="cpu")
    assert models.get("safe").name == "opus-mt-de-en"
    with pytest.raises(
        CheckpointError,
        match=r"pickled/pytorch_model.bin is a pickle, which is read only to convert it; do that once: python -m",
    ):
        models.get("pickled")


def test_an_unknown_name_is_refused_by_those_that_there_are(tiny_checkpoint: Path) -> None:
    with pytest.raises(InputError, match="there is no direction 'fr-en'; there are a"):
        Models({"a": tiny_checkpoint}, device="cpu").get("fr-en")
    for odd in ("fr-en", None, [], {}):
        assert "; there are a" in Models({"a": tiny_checkpoint}, device="cpu").state(odd)


SPACES = """
import pickle

def GPU(task):
    \"\"\"Like ZeroGPU's: what goes in and what comes out crosses between two processes.\"\"\"
    def marked(*arguments):
        arguments = pickle.loads(pickle.dumps(arguments))
        for found in task(*arguments):
            yield pickle.loads(pickle.dumps(found))
    return marked
"""


@pytest.fixture
def spaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the package `spaces` of a ZeroGPU Space, whose GPU is this CPU."""
    import torch

    (tmp_path / "spaces.py").write_text(SPACES)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    monkeypatch.setattr(torch.nn.Module, "to", lambda self, device: self)


def asked(models: Models) -> dict:
    message = list(translate_stream(models, "wir rennen", "de-en", {}))[-1]
    return {key: value for key, value in message.items() if key not in ("id", "seconds")}


@pytest.mark.slow
def test_on_zerogpu_a_translation_runs_in_what_was_marked(tiny_checkpoint: Path, spaces: None) -> None:
    models = Models({"de-en": tiny_checkpoint})
    assert models.device == "cpu"
    calls: list[str] = []
    marked = models._marked
    models._marked = lambda *arguments: calls.append(arguments[0]) or marked(*arguments)
    assert asked(models)["kind"] == "trace" and calls == ["de-en"]
    stopped = models.steps("de-en", "wir rennen", {}, lambda: True)
    with pytest.raises(CancelledError):
        next(stopped)


@pytest.mark.slow
def test_elsewhere_the_mark_does_nothing(tiny_checkpoint: Path, spaces: None, monkeypatch: pytest.MonkeyPatch) -> None:
    on_gpu = asked(Models({"de-en": tiny_checkpoint}))
    monkeypatch.delenv("SPACES_ZERO_GPU")
    models = Models({"de-en": tiny_checkpoint}, device="cpu")
    models._marked = None  # type: ignore[assignment]
    assert asked(models) == on_gpu


@pytest.mark.slow
def test_a_direction_may_name_two_languages_of_a_checkpoint_that_has_many(tiny_multilingual: Path) -> None:
    models = Models({"nllb": tiny_multilingual}, device="cpu")
    assert models.languages("nllb") is None, "nothing is read for it"
    assert models.get("nllb:fra_Latn-eng_Latn").languages == ("fra_Latn", "eng_Latn")
    assert models.get("nllb").languages == ("deu_Latn", "zho_Hans"), "the checkpoint itself stays as it is"
    assert list(models.held) == ["nllb"]
    known = models.languages("nllb:fra_Latn-eng_Latn")
    assert known is not None and known["own"] == ("deu_Latn", "zho_Hans") and {"fra_Latn", "zul_Latn"} < {*known["tgt"]}
    assert models.state("nllb:fra_Latn-eng_Latn") == "ready"
    one = models.ask("nllb:fra_Latn-eng_Latn", lambda model: model.translate("Das Haus.", max_length=4))
    expected = models.get("nllb").translate("Das Haus.", src="fra_Latn", tgt="eng_Latn", max_length=4)
    assert one.translation == expected.translation and one.checkpoint == expected.checkpoint


@pytest.mark.slow
@pytest.mark.parametrize("bad", ["nllb:klingon-eng_Latn", "nllb:deu_Latn-klingon"])
def test_a_language_that_a_checkpoint_lacks_is_refused_in_words(tiny_multilingual: Path, bad: str) -> None:
    models = Models({"nllb": tiny_multilingual}, device="cpu")
    with pytest.raises(InputError, match=r"the language is 'klingon'; this checkpoint knows .*in all"):
        models.get(bad)
    assert models.state(bad).startswith("the language is 'klingon'")
    with pytest.raises(InputError, match="there is no direction"):
        models.get("nllb:deu_Latn")


def test_a_checkpoint_with_one_pair_takes_no_other(tiny_checkpoint: Path) -> None:
    models = Models({"tiny": tiny_checkpoint}, device="cpu")
    assert models.get("tiny:de-en") is models.get("tiny")
    assert models.languages("tiny") is None
    with pytest.raises(InputError, match="src is 'fr'; tiny has 'de' alone"):
        models.get("tiny:fr-en")


@pytest.mark.slow
def test_a_kept_trace_is_not_given_for_another_source_language(tiny_multilingual: Path) -> None:
    """Nothing else tells the two: text, weights and settings are the same."""
    models = Models({"nllb": tiny_multilingual}, device="cpu")
    *_, first = translate_stream(models, "Das Haus.", "nllb:deu_Latn-eng_Latn", {})
    kept = session.trace_of(models, "Das Haus.", "nllb:deu_Latn-eng_Latn", {}, id_=first["id"])
    other = session.trace_of(models, "Das Haus.", "nllb:fra_Latn-eng_Latn", {}, id_=first["id"])
    assert kept.checkpoint.src_language == "deu_Latn" and other.checkpoint.src_language == "fra_Latn"
