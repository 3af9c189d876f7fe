"""Marian folders that are damaged, do not fit or hold a pickle: each is refused by name, and no code in it is run."""

from __future__ import annotations

import json
import os
import pickle
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

import translator
from translator.checkpoints import load_bundle
from translator.checkpoints.convert import convert
from translator.errors import CheckpointError


@pytest.fixture
def copy(made_marian: Any, tmp_path: Path) -> Any:
    """A copy of a checkpoint, to be damaged."""

    def make(shape: str = "opus") -> Path:
        folder = tmp_path / "copy"
        folder.mkdir()
        for path in made_marian(shape)[0].iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        return folder

    return make


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


def cut(path: Path, count: int) -> None:
    path.write_bytes(path.read_bytes()[:count])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda f: (f / "vocab.json").unlink(), "vocab.json is missing"),
        (lambda f: (f / "source.spm").unlink(), "source.spm is missing"),
        (lambda f: (f / "model.safetensors").unlink(), "model.safetensors is missing"),
        (lambda f: cut(f / "model.safetensors", 5000), r"model.safetensors cannot be read|cut off"),
        (lambda f: cut(f / "model.safetensors", 4), r"model.safetensors"),
        (lambda f: cut(f / "target.spm", 100), "target.spm: it is not a sentencepiece model"),
        (lambda f: (f / "model.safetensors").write_bytes(b"\xff" * 64), "header of"),
        (lambda f: (f / "config.json").write_text("{"), "config.json cannot be read as JSON"),
        (lambda f: edit(f / "config.json", model_type="t5"), "model_type is 't5'"),
        (lambda f: edit(f / "config.json", d_model=16), r"model.shared.weight has the shape"),
        (lambda f: edit(f / "config.json", decoder_layers=3), r"lacks model.decoder.layers.2.self_attn.q_proj.weight"),
        (lambda f: edit(f / "config.json", decoder_layers=1), r"holds model.decoder.layers.1"),
        (lambda f: edit(f / "config.json", encoder_attention_heads=5), "encoder_heads is 5"),
        (lambda f: edit(f / "config.json", activation_function="mish"), "activation_function is 'mish'"),
        (lambda f: edit(f / "config.json", vocab_size=9999), "source vocabulary has"),
        (lambda f: edit(f / "vocab.json", **{"</s>": 3}), "vocab.json: the id of"),
        (lambda f: edit(f / "generation_config.json", bad_words_ids=[[1], 2]), "bad_words_ids is"),
        (lambda f: edit(f / "generation_config.json", bad_words_ids=[[1], []]), "bad_words_ids is"),
        (lambda f: edit(f / "generation_config.json", bad_words_ids=[[[1]]]), "bad_words_ids is"),
        (lambda f: edit(f / "generation_config.json", bad_words_ids=[[1, 99999]]), "banned_sequences is 99999"),
        (lambda f: edit(f / "generation_config.json", num_beams=1000), "beam is 1000"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(copy: Any, damage: Any, said: str) -> None:
    folder = copy()
    damage(folder)
    with pytest.raises(CheckpointError, match=said):
        load_bundle(folder)


def write_bin(folder: Path, value: object) -> None:
    (folder / "model.safetensors").unlink(missing_ok=True)
    torch.save(value, folder / "pytorch_model.bin")


def pickled(folder: Path) -> Path:
    """The folder with its weights as a pickle instead."""
    write_bin(folder, safetensors.torch.load_file(folder / "model.safetensors"))
    return folder


class Runs:
    """Unpickling it calls a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


def payloads(canary: Path) -> dict[str, object]:
    write = f"open({str(canary)!r}, 'w').write('ran')"
    return {
        "system": Runs(os.system, f"touch {canary}"),
        "exec": Runs(exec, write),
        "eval": Runs(eval, write),
        "subprocess": Runs(subprocess.check_output, ["touch", str(canary)]),
        "open": Runs(open, str(canary), "w"),
        "import": Runs(__import__("runpy").run_path, str(canary)),
    }


@pytest.mark.slow
def test_a_pickle_is_refused_with_the_file_and_a_command_that_makes_a_folder_which_loads(
    copy: Any, made_marian: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATOR_CHECKPOINTS", str(tmp_path / "my checkpoints"))
    folder = copy("unequal")
    expected = translator.load(folder, device="cpu").translate("The house.", max_length=6).tgt
    write_bin(folder, made_marian("unequal")[1].state_dict())  # tied weights stand in it under each of their names
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(
        CheckpointError, match=rf"^{folder}/pytorch_model.bin is a pickle, which is read only to"
    ) as said:
        translator.load(folder, device="cpu")
    command = shlex.split(str(said.value).partition("once: ")[2])
    assert command[:4] == ["python", "-m", "translator", "convert"]
    done = subprocess.run([sys.executable, *command[1:]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = translator.load(done.stdout.strip(), device="cpu")
    assert made.bundle.folder == tmp_path / "my checkpoints" / "copy"
    assert made.translate("The house.", max_length=6).tgt == expected


@pytest.mark.slow
def test_safetensors_are_read_whatever_pickle_lies_beside_them(copy: Any, tmp_path: Path) -> None:
    folder = copy("unequal")
    (folder / "pytorch_model.bin").write_bytes(b"no weights")
    load_bundle(folder)
    convert(folder, tmp_path / "out")


@pytest.mark.parametrize("kind", ["system", "exec", "eval", "subprocess", "open", "import"])
@pytest.mark.parametrize("where", ["whole", "entry", "plain"])
@pytest.mark.parametrize("forced", [False, True])
def test_a_pickle_that_runs_code_is_refused_and_not_run(
    copy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, where: str, forced: bool
) -> None:
    folder, canary = copy(), tmp_path / "canary"
    payload = payloads(canary)[kind]
    if kind == "import":
        script = tmp_path / "script.py"
        script.write_text(f"open({str(canary)!r}, 'w').write('ran')", encoding="utf-8")
        payload = Runs(__import__("runpy").run_path, str(script))
    if where == "plain":
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(payload))
    else:
        write_bin(folder, payload if where == "whole" else {"final_logits_bias": payload})
    if forced:
        monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(CheckpointError, match=r"pytorch_model.bin is cut off, damaged, or holds more than weights"):
        convert(folder, tmp_path / "out")
    assert not canary.exists()


@pytest.mark.parametrize("value", [[1, 2], {"a": 3}, {3: torch.zeros(1)}, torch.zeros(2), {}])
def test_a_pickle_of_something_else_is_refused(copy: Any, tmp_path: Path, value: object) -> None:
    folder = copy()
    write_bin(folder, value)
    with pytest.raises(CheckpointError, match=r"pytorch_model.bin(:| holds a)|pytorch_model.bin lacks"):
        convert(folder, tmp_path / "out")


@pytest.mark.parametrize("kept", [0, 3, 100, 5000])
def test_a_pickle_that_is_cut_off_is_refused(copy: Any, tmp_path: Path, kept: int) -> None:
    folder = pickled(copy("unequal"))
    cut(folder / "pytorch_model.bin", kept)
    with pytest.raises(CheckpointError, match=r"pytorch_model.bin is cut off"):
        convert(folder, tmp_path / "out")


def test_a_weight_that_is_not_finite_is_refused(copy: Any) -> None:
    folder = copy("unequal")
    state = safetensors.torch.load_file(folder / "model.safetensors")
    state["model.decoder.layers.0.fc1.bias"][0] = float("nan")
    safetensors.torch.save_file(state, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"fc1.bias holds values that are not finite"):
        load_bundle(folder)
