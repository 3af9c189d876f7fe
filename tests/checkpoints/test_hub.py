"""Checkpoints from the Hugging Face hub, against a hub of our own on loopback."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import safetensors.torch
import torch

import translator
from tests import forked

pytestmark = pytest.mark.slow  # every load is a process of its own
COMMIT = "0123456789abcdef0123456789abcdef01234567"
LOAD = """
import sys, translator
try:
    engine = translator.load(sys.argv[1], device="cpu", revision=sys.argv[2] or None)
    print(engine.name, engine.translate("Das Haus.", max_length=4).translation if "--translate" in sys.argv else "")
except translator.CheckpointError as error:
    print("refused:", error)
"""


@pytest.fixture
def hub(hub_stand_in: ModuleType, tiny_checkpoint: Path, tmp_path: Path) -> Iterator[Any]:
    with hub_stand_in.served(Path(shutil.copytree(tiny_checkpoint, tmp_path / "served"))) as server:
        yield server


@pytest.fixture
def marian_hub(hub_stand_in: ModuleType, tiny_marian: Path, tmp_path: Path) -> Iterator[Any]:
    with hub_stand_in.served(Path(shutil.copytree(tiny_marian, tmp_path / "served"))) as server:
        yield server


def load(home: Path, endpoint: str, revision: str = "", *flags: str, name: str = "ann/tiny", **more: str) -> str:
    """What a fresh process says that loads `name`; the library reads its settings once, when it is imported."""
    done = run(home, endpoint, "-c", LOAD, name, revision, *flags, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def run(home: Path, endpoint: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    proxies = {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
    hub = {"HF_HOME": str(home), "HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_XET": "1"}
    return forked.run(arguments, env={**os.environ, **proxies, **hub, **more})


def test_a_branch_is_resolved_and_its_commit_noted_and_the_cache_works_offline(hub: Any, tmp_path: Path) -> None:
    home = tmp_path / "home"
    named = f"ann/tiny@{COMMIT[:12]}"
    assert load(home, hub.endpoint) == named
    assert load(home, hub.endpoint, COMMIT) == named
    assert not list(home.rglob("evil.py"))
    hub.shutdown()
    assert load(home, "http://127.0.0.1:9", COMMIT) == named
    assert load(home, "http://127.0.0.1:9", HF_HUB_OFFLINE="1") == named


def test_without_hub_and_cache_it_says_so(tmp_path: Path) -> None:
    said = load(tmp_path / "home", "http://127.0.0.1:9", HF_HUB_OFFLINE="1")
    assert "not in the cache and the hub cannot be reached" in said


def test_another_commit_than_was_pinned_is_refused(hub: Any, tmp_path: Path) -> None:
    said = load(tmp_path / "home", hub.endpoint, "f" * 40)
    assert said == f"refused: the hub gave another commit of ann/tiny than {'f' * 40}, which was asked for"


def test_a_tampered_download_is_refused(hub: Any, tmp_path: Path) -> None:
    path = hub.folder / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert "is damaged" in load(tmp_path / "home", hub.endpoint, COMMIT)


def test_an_unknown_repository_is_refused(hub: Any, tmp_path: Path) -> None:
    said = load(tmp_path / "home", hub.endpoint, name="ann/nowhere")
    assert "refused: ann/nowhere at revision 'main' cannot be fetched" in said


def test_a_marian_checkpoint_is_fetched_pinned_and_translates_offline(
    marian_hub: Any, tiny_marian: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    expected = translator.load(tiny_marian, device="cpu").translate("Das Haus.", max_length=4).translation
    said = f"ann/tiny@{COMMIT[:12]} {expected}".strip()
    assert load(home, marian_hub.endpoint, COMMIT, "--translate") == said
    assert not list(home.rglob("evil.py"))
    marian_hub.shutdown()
    assert load(home, "http://127.0.0.1:9", COMMIT, "--translate") == said


def test_a_pickle_is_neither_fetched_nor_read_by_load_and_its_command_makes_a_folder_that_loads(
    marian_hub: Any, tiny_marian: Path, tmp_path: Path
) -> None:
    weights, place = marian_hub.folder / "model.safetensors", str(tmp_path / "checkpoints")
    torch.save(safetensors.torch.load_file(weights), marian_hub.folder / "pytorch_model.bin")
    home, endpoint = tmp_path / "both", marian_hub.endpoint
    assert load(home, endpoint, COMMIT) == f"ann/tiny@{COMMIT[:12]}"
    assert run(home, endpoint, "-m", "translator", "convert", "ann/tiny", str(tmp_path / "safe")).returncode == 0
    assert not list(home.rglob("pytorch_model.bin"))
    weights.unlink()
    home = tmp_path / "home"
    for revision in (COMMIT, "main"):
        said = load(home, endpoint, revision, TRANSLATOR_CHECKPOINTS=place)
        about, _, command = said.partition("once: ")
        assert about.startswith("refused: ann/tiny has no model.safetensors; a pickle (pytorch_model.bin) is read only")
        assert command == f"python -m translator convert ann/tiny@{COMMIT} {place}/tiny"
    assert not list(home.rglob("pytorch_model.bin")) and not marian_hub.asked["pytorch_model.bin"]
    done = run(home, endpoint, *shlex.split(command)[1:])
    assert (done.returncode, done.stdout.strip()) == (0, f"{place}/tiny"), done.stderr
    expected = translator.load(tiny_marian, device="cpu").translate("Das Haus.", max_length=4)
    found = translator.load(tmp_path / "checkpoints" / "tiny", device="cpu").translate("Das Haus.", max_length=4)
    assert found.translation == expected.translation
    marian_hub.commit = "f" * 40
    done = run(home, endpoint, *shlex.split(command)[1:])
    assert done.returncode == 0, "what is pinned and in the cache is converted, and the hub is not asked"
    marian_hub.shutdown()
    said = load(home, "http://127.0.0.1:9", COMMIT, TRANSLATOR_CHECKPOINTS=place)
    assert said.startswith("refused: ann/tiny"), "that it lies in the cache now changes nothing"


def test_what_of_the_hub_is_not_converted_is_said_in_words(hub: Any, tmp_path: Path) -> None:
    convert = ("-m", "translator", "convert")
    done = run(tmp_path / "home", hub.endpoint, *convert, "ann/tiny", str(tmp_path / "out"))
    assert done.returncode == 2 and "ann/tiny has no layout of transformers that is known here" in done.stderr
    done = run(tmp_path / "home", hub.endpoint, *convert, "ann/nowhere@main", str(tmp_path / "out"))
    assert done.returncode == 2 and "ann/nowhere at revision 'main' cannot be fetched" in done.stderr
    asked = sum(hub.asked.values())
    done = run(tmp_path / "home", hub.endpoint, *convert, "ann/tiny", str(tmp_path / "out"), "--heads", "2")
    assert done.returncode == 2 and "leave them out" in done.stderr and sum(hub.asked.values()) == asked


def test_another_commit_of_a_marian_checkpoint_is_refused(marian_hub: Any, tmp_path: Path) -> None:
    said = load(tmp_path / "home", marian_hub.endpoint, "f" * 40)
    assert said.startswith("refused: the hub gave another commit") and not list((tmp_path / "home").rglob("evil.py"))


@pytest.mark.parametrize("made", ["tiny_fsmt", "tiny_multilingual"])
def test_fsmt_and_multilingual_checkpoints_are_fetched_by_their_hub_id_and_translate_offline(
    request: pytest.FixtureRequest, hub_stand_in: ModuleType, tmp_path: Path, made: str
) -> None:
    """Every file that these layouts are read from comes, whatever else lies beside it."""
    folder, home = request.getfixturevalue(made), tmp_path / "home"
    expected = translator.load(folder, device="cpu").translate("Das Haus.", max_length=4).translation
    said = f"ann/tiny@{COMMIT[:12]} {expected}".strip()
    with hub_stand_in.served(Path(shutil.copytree(folder, tmp_path / "served"))) as server:
        assert load(home, server.endpoint, COMMIT, "--translate") == said
        assert not list(home.rglob("evil.py"))
    assert load(home, "http://127.0.0.1:9", COMMIT, "--translate") == said
