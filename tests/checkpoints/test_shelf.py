"""What a page offers: told by files alone, pickles left out, what is named first."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from translator.checkpoints.shelf import conversion, offered, refusal
from translator.errors import CheckpointError

SHIPPED = ("en-zh", "de-en")


def marian(folder: Path, weights: str) -> Path:
    """A folder with the files of a Marian checkpoint; nothing looks into them here."""
    folder.mkdir(parents=True)
    for name in ("config.json", "source.spm", "target.spm", "vocab.json", weights):
        (folder / name).write_bytes(b"")
    return folder


@pytest.fixture
def place(tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoints folder with one of the shipped, one's own, two of Marian's, and what is none."""
    place = tmp_path / "checkpoints"
    for name in ("de-en", "my own", ".being-saved"):
        shutil.copytree(tiny_checkpoint, place / name)
    marian(place / "opus-mt-de-en", "model.safetensors")
    marian(place / "opus-mt-pickled", "pytorch_model.bin")
    (place / "notes").mkdir()
    (place / "README.md").write_text("no folder")
    monkeypatch.setenv("TRANSLATOR_CHECKPOINTS", str(place))
    return place


def test_the_shipped_come_first_whether_they_are_there_or_not(place: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found = offered(shipped=SHIPPED)
    assert list(found) == ["en-zh", "de-en", "my-own", "opus-mt-de-en"]
    assert found["my-own"] == place / "my own"
    assert "opus-mt-pickled/pytorch_model.bin is a pickle, which is read only to convert it" in caplog.text
    assert "notes is no checkpoint" in caplog.text


def test_what_is_named_stands_before_all(place: Path, tmp_path: Path) -> None:
    other = marian(tmp_path / "elsewhere" / "opus-mt-de-en", "model.safetensors")
    found = offered([str(other), "de-en", "ann/tiny@" + "0" * 40], SHIPPED)
    assert list(found) == ["opus-mt-de-en", "de-en", "ann/tiny@" + "0" * 40, "en-zh", "my-own", "opus-mt-de-en-2"]
    assert found["opus-mt-de-en"] == other and found["opus-mt-de-en-2"] == place / "opus-mt-de-en"


@pytest.mark.parametrize("name", ["", "nowhere", "./nowhere", "a/b/c", "ann/tiny@"])
def test_what_is_no_checkpoint_is_refused_by_name(place: Path, name: str) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        offered([name], SHIPPED)


def test_a_pickle_is_refused_with_the_remedy(place: Path) -> None:
    pickled, free = place / "opus-mt-pickled", place / "opus-mt-pickled-converted"
    with pytest.raises(CheckpointError, match=f"python -m translator convert {pickled} {free}$"):
        offered([str(pickled)], SHIPPED)
    assert "is no folder" in str(refusal(place / "nowhere"))
    (pickled / "model.safetensors").touch()
    assert refusal(pickled) is None, "safetensors are enough, whatever lies beside them"
    (pickled / "model.safetensors").unlink()
    (pickled / "pytorch_model.bin").unlink()
    assert refusal(pickled) == f"{pickled} has no model.safetensors; fetch the weights"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ann/tiny@0123", "ann/tiny@0123 {}/tiny"),
        ("ann/de-en", "ann/de-en {}/de-en-converted"),
        ("./some models/a b/", "'./some models/a b/' '{}/a b'"),
    ],
)
def test_the_command_names_a_folder_that_is_free_as_a_shell_reads_it(place: Path, source: str, said: str) -> None:
    assert conversion(source) == f"python -m translator convert {said.format(place)}"


def test_listing_needs_no_torch(place: Path) -> None:
    code = "import sys; from translator.checkpoints.shelf import offered; offered(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
