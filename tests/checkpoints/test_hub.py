"""Checkpoints from the Hugging Face hub, against a hub of our own on loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import safetensors.torch
import torch

import translator

pytestmark = pytest.mark.slow  # every load is a process of its own
COMMIT = "0123456789abcdef0123456789abcdef01234567"
LOAD = """
import sys, translator
try:
    pickles = "--no-pickles" not in sys.argv
    engine = translator.load(sys.argv[1], device="cpu", revision=sys.argv[2] or None, pickles=pickles)
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
    proxies = {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
    hub = {"HF_HOME": str(home), "HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_XET": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOAD, name, revision, *flags],
        env={**os.environ, **proxies, **hub, **more},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


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
    assert load(home, marian_hub.endpoint, COMMIT, "--translate", "--no-pickles") == said
    assert not list(home.rglob("evil.py"))
    marian_hub.shutdown()
    assert load(home, "http://127.0.0.1:9", COMMIT, "--translate") == said


def test_a_marian_pickle_is_fetched_only_where_there_are_no_safetensors_and_never_for_a_page(
    marian_hub: Any, tmp_path: Path
) -> None:
    weights = marian_hub.folder / "model.safetensors"
    torch.save(safetensors.torch.load_file(weights), marian_hub.folder / "pytorch_model.bin")
    assert load(tmp_path / "both", marian_hub.endpoint, COMMIT) == f"ann/tiny@{COMMIT[:12]}"
    assert not list((tmp_path / "both").rglob("pytorch_model.bin"))
    weights.unlink()
    said = load(tmp_path / "page", marian_hub.endpoint, COMMIT, "--no-pickles")
    assert said.startswith("refused:") and "convert the checkpoint once" in said
    assert not list((tmp_path / "page").rglob("pytorch_model.bin"))
    assert load(tmp_path / "pickle", marian_hub.endpoint, COMMIT) == f"ann/tiny@{COMMIT[:12]}"


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
        assert load(home, server.endpoint, COMMIT, "--translate", "--no-pickles") == said
        assert not list(home.rglob("evil.py"))
    assert load(home, "http://127.0.0.1:9", COMMIT, "--translate") == said
