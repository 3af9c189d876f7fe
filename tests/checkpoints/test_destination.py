"""Nothing but a checkpoint of ours is ever replaced, and nothing but one is ever added to."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from translator.__main__ import main
from translator.checkpoints import load_bundle
from translator.checkpoints.destination import former, free_folder
from translator.checkpoints.save import amend
from translator.errors import CheckpointError, InputError

Fill = Callable[[Path], object]


def digests(folder: Path) -> dict[str, str]:
    """Every file below `folder` by what it holds, folders as empty ones."""
    files = {str(p.relative_to(folder)): p for p in folder.rglob("*")}
    return {name: hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "" for name, p in files.items()}


def documents(place: Path) -> None:
    (place / "Photos").mkdir(parents=True)
    (place / "thesis.txt").write_text("years of work")


def extension(place: Path) -> None:
    """What a browser takes: a manifest.json that is not ours beside names that are."""
    place.mkdir()
    (place / "manifest.json").write_text(json.dumps({"manifest_version": 3, "name": "x"}))
    (place / "README.md").write_text("# Mine")


def transformers(place: Path) -> None:
    place.mkdir()
    for name in ("config.json", "model.safetensors", "README.md"):
        (place / name).write_text("another's")


def repository(place: Path) -> None:
    """A checkpoint of ours that something else lies in."""
    (place / ".git").mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main")


def behind_a_link(place: Path) -> None:
    documents(place.with_name("elsewhere"))
    place.symlink_to(place.with_name("elsewhere"))


def beside_a_file(place: Path) -> None:
    place.write_text("no folder")


def half_done(place: Path) -> None:
    documents(former(place))


STRANGERS = (documents, extension, transformers, behind_a_link, beside_a_file, half_done)


@pytest.mark.parametrize("fill", STRANGERS)
def test_what_is_no_checkpoint_is_not_replaced(checkpoint_maker: ModuleType, tmp_path: Path, fill: Fill) -> None:
    place = tmp_path / "place"
    fill(place)
    before = digests(tmp_path)
    with pytest.raises(InputError, match="and only a checkpoint of ours is ever replaced"):
        checkpoint_maker.make_checkpoint(place)
    assert digests(tmp_path) == before


def test_a_checkpoint_with_something_else_in_it_is_not_replaced(checkpoint_maker: ModuleType, tmp_path: Path) -> None:
    place = checkpoint_maker.make_checkpoint(tmp_path / "place")
    repository(place)
    (place / "notes.txt").write_text("mine")
    before = digests(tmp_path)
    with pytest.raises(InputError, match=r"place holds '\.git' and 1 more, and only"):
        checkpoint_maker.make_checkpoint(place, seed=2)
    assert digests(tmp_path) == before


@pytest.mark.parametrize("name", ["", ".", "../here"])
def test_the_folder_that_one_is_in_is_not_replaced(
    checkpoint_maker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    with pytest.raises(InputError, match="the folder that this runs in"):
        checkpoint_maker.make_checkpoint(Path(name))
    assert digests(tmp_path) == {"here": ""} and os.getcwd() == str(here)


def test_a_file_above_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"file is a file, so that no folder can be made in it"):
        free_folder(tmp_path / "file" / "deep" / "place")


@pytest.mark.slow
def test_an_empty_folder_and_a_link_to_a_checkpoint_are_free(checkpoint_maker: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    first = load_bundle(checkpoint_maker.make_checkpoint(tmp_path / "empty")).info
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    second = load_bundle(checkpoint_maker.make_checkpoint(tmp_path / "link", seed=2)).info
    assert (tmp_path / "link").is_symlink() and load_bundle(tmp_path / "empty").info == second != first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "link"]


@pytest.mark.parametrize("place", ["documents", "source", "source/..", "file"])
def test_convert_loses_nothing(
    tiny_marian: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Someone's folder, the source itself, the folder around it, a file; and it is said before anything is loaded."""
    around = tmp_path / "around"
    source = shutil.copytree(tiny_marian, around / "source")
    documents(around / "documents")
    (around / "file").write_text("x")
    before = digests(tmp_path)
    monkeypatch.setattr("translator.checkpoints.convert.load_foreign", lambda *_, **__: pytest.fail("loaded"))
    assert main(["convert", str(source), str(around / place)]) == 2
    assert "only a checkpoint of ours is ever replaced" in capsys.readouterr().err
    assert digests(tmp_path) == before


@pytest.mark.slow
def test_convert_into_the_source_adds_a_folder(tiny_marian: Path, tmp_path: Path) -> None:
    source = shutil.copytree(tiny_marian, tmp_path / "source")
    assert main(["convert", str(source), str(source / "ours")]) == 0
    assert load_bundle(source / "ours").info.name == "ours"
    assert load_bundle(source).info.sha256 == load_bundle(tiny_marian).info.sha256
    assert load_bundle(source).info.sha256 == load_bundle(tiny_marian).info.sha256
    assert digests(tiny_marian).items() <= digests(source).items()


@pytest.mark.slow
def test_what_is_added_leaves_the_rest_of_the_folder(checkpoint_maker: ModuleType, tmp_path: Path) -> None:
    place = checkpoint_maker.make_checkpoint(tmp_path / "place")
    repository(place)
    before = digests(place)
    amend(place, {"README.md": b"# New"})
    after = digests(place)
    assert {name for name in after if after[name] != before.get(name)} == {"README.md", "manifest.json"}
    assert before.keys() == after.keys() and load_bundle(place).card == "# New"


def test_nothing_is_added_to_another_format(tiny_marian: Path, tmp_path: Path) -> None:
    source = shutil.copytree(tiny_marian, tmp_path / "source")
    before = digests(source)
    with pytest.raises(CheckpointError, match=r"not one of our checkpoints.*python -m translator convert"):
        amend(source, {"README.md": b"# New"})
    assert digests(source) == before
    load_bundle(source)
