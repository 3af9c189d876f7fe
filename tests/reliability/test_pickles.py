"""Row 11: a pickle that runs code when it is loaded, in every place where a checkpoint's files stand."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from translator.checkpoints import load_bundle, seal
from translator.errors import CheckpointError

FILES = ("model.safetensors", "config.json", "src.json", "tgt.json", "README.md", "manifest.json")


class _Runs:
    """Touches the canary as soon as it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return Path.touch, (self.canary,)


def _raw(path: Path, bomb: object) -> None:
    path.write_bytes(pickle.dumps(bomb))


def _old_protocol(path: Path, bomb: object) -> None:
    path.write_bytes(pickle.dumps(bomb, protocol=0))


def _torch_zip(path: Path, bomb: object) -> None:
    torch.save({"weight": bomb}, path)


def _torch_legacy(path: Path, bomb: object) -> None:
    torch.save({"weight": bomb}, path, _use_new_zipfile_serialization=False)


def _nested(path: Path, bomb: object) -> None:
    torch.save([{"state": {"layers": [bomb]}}, torch.zeros(3)], path)


def _plain_zip(path: Path, bomb: object) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(bomb))


KINDS = (_raw, _old_protocol, _torch_zip, _torch_legacy, _nested, _plain_zip)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__.strip("_"))
def test_no_pickle_is_ever_run(tiny_checkpoint: Path, tmp_path: Path, kind: Callable[[Path, object], None]) -> None:
    canary = tmp_path / "canary"
    for file in FILES:
        folder = Path(shutil.copytree(tiny_checkpoint, tmp_path / file))
        kind(folder / file, _Runs(canary))
        if file != "manifest.json":
            seal(folder)  # a manifest that agrees: only what reads the file can refuse it
        if file == "README.md":
            load_bundle(folder)  # the card is text to us, whatever its bytes are
        else:
            with pytest.raises(CheckpointError):
                load_bundle(folder)
    assert not canary.exists()


@pytest.mark.slow
def test_nor_where_torch_is_told_to_trust_pickles(tiny_checkpoint: Path, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    folders = []
    for kind in KINDS:
        folder = Path(shutil.copytree(tiny_checkpoint, tmp_path / kind.__name__))
        kind(folder / "model.safetensors", _Runs(canary))
        seal(folder)
        folders.append(str(folder))
    program = (
        "import sys\nfrom translator.checkpoints import load_bundle\nfrom translator.errors import CheckpointError\n"
        "for folder in sys.argv[1:]:\n"
        "    try:\n        load_bundle(folder)\n    except CheckpointError:\n        print('refused')\n"
    )
    environment = {**os.environ, "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}
    found = subprocess.run(
        [sys.executable, "-c", program, *folders], cwd=Path(__file__).parents[2], env=environment, capture_output=True
    )
    assert found.stdout.split() == [b"refused"] * len(KINDS), found.stderr.decode()
    assert not canary.exists()


def test_the_canary_would_sing(tmp_path: Path) -> None:
    """What the other tests rule out does happen where a pickle is trusted."""
    path, canary = tmp_path / "x", tmp_path / "canary"
    _raw(path, _Runs(canary))
    pickle.loads(path.read_bytes())  # noqa: S301
    assert canary.exists()
