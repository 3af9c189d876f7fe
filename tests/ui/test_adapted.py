"""The page's answers for a model that `transformers` loads: the same messages, and a sentence where something lacks."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from transformers import GPT2Config, GPT2LMHeadModel

from benchmarks.served import free_port
from translator.__main__ import main
from translator.adapted import load_adapted
from translator.checkpoints.shelf import offered
from translator.errors import CheckpointError, InputError
from translator.ui import lab_views, session
from translator.ui.lab_tab import server_functions
from translator.ui.models import Models
from translator.ui.start import start

TEXT = "The old house stands by the river."


SERVE = """
import sys
from translator.__main__ import main
from translator.ui import serve
def served(models, **address):
    name = next(iter(models.names))
    print(name, len(models.get(name).translate("The trains were late.", max_length=7, force_eos=True).tgt))
serve.serve = served
main(sys.argv[1:])
"""


@pytest.fixture(scope="module")
def folder(adapted_maker: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny T5 as `save_pretrained` leaves it."""
    where = tmp_path_factory.mktemp("models") / "tiny-t5"
    tokenizer = adapted_maker.make_tokenizer([TEXT, "It is late and the trains are slow."] * 20, 60)
    adapted_maker.make_model("t5", len(tokenizer)).float().save_pretrained(where)
    tokenizer.save_pretrained(where)
    return where


@pytest.fixture(scope="module")
def models(folder: Path) -> Models:
    return Models(offered(adapted=[str(folder)]), device="cpu")


@pytest.mark.slow
def test_a_translation_as_the_page_gets_it(models: Models, folder: Path) -> None:
    assert next(iter(models.names)) == "tiny-t5"
    *steps, last = session.translate_stream(models, TEXT, "tiny-t5", {"max_length": 6})
    assert [step["kind"] for step in steps] == ["step"] * len(steps) and steps
    assert last["kind"] == "trace", last
    own = load_adapted(str(folder), device="cpu").translate(TEXT, max_length=6)
    assert last["translation"] == own.translation and last["checkpoint"]["name"] == "tiny-t5"
    assert [list(last["shapes"][kind]) for kind in ("encoder", "decoder", "cross")] == [
        list(own.weights(kind).shape) for kind in ("encoder", "decoder", "cross")
    ]


@pytest.mark.slow
def test_heads_can_be_switched(models: Models) -> None:
    lab = {each.__name__: each for each in server_functions(models)}
    asked = {"text": TEXT, "direction": "tiny-t5"}
    board = lab["lab_board"]({**asked, "kind": "cross"})
    assert len(board["values"]) == 2 and len(board["values"][0]) == 4
    gates = {"cross": [[0.0, 1.0, 1.0, 1.0], [1.0] * 4]}
    found = lab["lab_switch"]({**asked, "gates": gates})
    assert found["change"] == pytest.approx(board["values"][0][0], abs=2e-3)


OPTIONS: dict[str, Any] = {
    "target": TEXT, "step": 1, "choice": "", "beam": 3, "penalty": 0.6, "kind": "cross", "layer": 1, "head": 1,
    "method": "flow", "map": "raw", "reading": "output", "way": "both", "threshold": 0.3, "gold": "0-0",
    "measure": "confidence", "side": "both", "shift": 2, "scale": 1, "query": 1, "key": 1, "word": None,
    "against": None, "other": "It is late.", "what": "residual and heads",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("view", sorted(lab_views.VIEWS))
def test_every_view_answers_or_says_why_not(models: Models, view: str) -> None:
    """An answer or a sentence of our own; never a defect."""
    lab = {each.__name__: each for each in server_functions(models)}
    answer = lab["lab_ask"]({"text": TEXT, "direction": "tiny-t5", "view": view, "options": OPTIONS})
    assert answer
    if "error" in answer:
        assert "unexpected" not in answer["error"].lower(), answer


def test_what_has_no_encoder_is_refused_by_name(tmp_path: Path) -> None:
    config = GPT2Config(vocab_size=20, n_embd=8, n_layer=1, n_head=2, n_positions=16)
    GPT2LMHeadModel(config).save_pretrained(tmp_path / "gpt")
    with pytest.raises(InputError, match="gpt is a gpt2 model without an encoder and a decoder"):
        load_adapted(str(tmp_path / "gpt"))
    with pytest.raises(CheckpointError, match="there is no model 'no such folder'"):
        offered(adapted=["no such folder"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointError, match="transformers cannot load"):
        load_adapted(str(tmp_path / "empty"))


def test_without_the_package_it_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(CheckpointError, match=r"pip install 'attention-explorer\[adapt\]'"):
        load_adapted(str(folder))


@pytest.mark.slow
def test_a_model_larger_than_the_memory_is_refused(folder: Path) -> None:
    models = Models(offered(adapted=[str(folder)]), device="cpu", memory=1000, largest=1000)
    with pytest.raises(CheckpointError, match=r"tiny-t5 takes 0\.0 GiB; models may take 0\.0 GiB here.*--memory"):
        models.get("tiny-t5")


@pytest.mark.parametrize("memory", ["much", "0", "-1"])
def test_a_memory_that_is_none_is_refused(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATOR_MEMORY", memory)
    with pytest.raises(InputError, match=f"the memory for models is '{memory}'; it must be GiB"):
        start(port=9)


@pytest.mark.parametrize(
    ("arguments", "said", "memory", "largest"),
    [
        ((), None, 2.0, None),
        (("--memory", "3.5"), None, 3.5, 3.5),
        ((), "6", 6.0, 6.0),
        (("--memory", "1"), "6", 1.0, 1.0),
    ],
)
def test_the_memory_for_models_is_a_setting(
    arguments: tuple[str, ...], said: str | None, memory: float, largest: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In GiB, by the command line or the environment; without one none is too large."""
    seen: list[Models] = []
    monkeypatch.setattr("translator.ui.serve.serve", lambda models, **_: seen.append(models))
    for name in ("GRADIO_SERVER_NAME", "GRADIO_SERVER_PORT", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # what `start` sets ends with the test
    monkeypatch.setenv("TRANSLATOR_MEMORY", said or "")
    try:
        main(["serve", "--port", str(free_port()), *arguments])
    finally:
        gc.enable()
    assert (seen[0].memory, seen[0].largest) == (memory * 2**30, largest and largest * 2**30)


@pytest.mark.slow
def test_serve_offers_what_transformers_loads_by_its_hub_id(
    folder: Path, hub_stand_in: ModuleType, tmp_path: Path
) -> None:
    """`serve --transformers ID`, as a process of its own: the library reads once where its hub is."""
    with hub_stand_in.served(Path(shutil.copytree(folder, tmp_path / "served"))) as server:
        hub = {"HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": server.endpoint, "HF_HUB_DISABLE_XET": "1"}
        proxies = {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
        command = [sys.executable, "-c", SERVE, "serve", "--transformers", f"ann/tiny@{hub_stand_in.COMMIT}"]
        env = {**os.environ, **proxies, **hub, "GRADIO_SERVER_PORT": str(free_port())}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == f"ann/tiny@{hub_stand_in.COMMIT} 7"
    assert server.revisions == {hub_stand_in.COMMIT}
