"""A checkpoint within its own limits cannot take the machine: it is refused before anything is made."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

import translator
from tests import forked
from translator.checkpoints import cost, load_bundle, seal
from translator.checkpoints.foreign import read_tensors
from translator.config import DecodeConfig, ModelConfig
from translator.errors import CheckpointError

LARGEST = {"src_vocab": 256_206, "tgt_vocab": 256_206, "encoder_layers": 24, "decoder_layers": 24}
"""NLLB-200 3.3B, the largest of the published translation models of this shape."""


@pytest.fixture
def folder(tiny_checkpoint: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_checkpoint, tmp_path / "tiny"))


def change(folder: Path, part: str, **values: Any) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config[part].update(values)
    path.write_text(json.dumps(config))
    seal(folder)


MEASURED = """
import resource, sys, time
from translator.__main__ import main
before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
code = main(sys.argv[1:])
print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, time.process_time() - began)
"""


def measured(folder: Path) -> tuple[int, float, float, str]:
    """Exit code, further MiB and processor seconds of a translation of three words, and what it said.

    What every command imports is there before.
    """
    asked = ["translate", "--model", str(folder), "Das Haus ist."]
    done = forked.run(["-c", MEASURED, *asked], env=os.environ)
    assert done.returncode == 0, done.stderr
    code, kibibytes, seconds = done.stdout.split()[-3:]
    return int(code), int(kibibytes) / 1024, float(seconds), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "values", "said"),
    [
        ("model", {"max_positions": 100_000, "d_model": 8192}, "max_positions 100,000"),
        ("model", {"max_positions": 100_000, "d_model": 8192, "positions": "learned"}, "max_positions 100,000"),
        ("model", {"max_positions": 100_000, "padded_length": 100_000}, "100,000 source"),
        ("model", {"max_positions": 20_000, "padded_length": 20_000}, "20,000 source"),
        ("model", {"encoder_layers": 128, "encoder_heads": 128, "d_model": 128}, "16,384 heads"),
        ("model", {"banned_sequences": [[5, 6]] * 50_000}, "100,000 token ids"),
    ],
)
def test_settings_that_would_take_the_machine_are_refused_within_a_gibibyte_and_five_seconds(
    folder: Path, part: str, values: dict[str, Any], said: str
) -> None:
    change(folder, part, **values)
    code, mebibytes, seconds, complaint = measured(folder)
    assert code == 2 and said in complaint and "Traceback" not in complaint
    assert mebibytes < 1024 and seconds < 5


def test_the_largest_published_models_are_not_refused() -> None:
    config = ModelConfig(**LARGEST, d_model=2048, d_ff=8192, encoder_heads=16, decoder_heads=16, max_positions=1024)
    cost.check_model_cost(config)
    cost.check_decode_cost(config, DecodeConfig(method="beam", beam=12))


def test_decoding_of_its_own_that_ranks_too_much_is_refused() -> None:
    config = ModelConfig(src_vocab=100, tgt_vocab=1_000_000)
    with pytest.raises(CheckpointError, match="a beam of 12 over 1,000,000 tokens ranks 12,000,000"):
        cost.check_decode_cost(config, DecodeConfig(method="beam", beam=12))
    with pytest.raises(CheckpointError, match=r"beam is 64; .* may have 16 beams"):
        cost.check_decode_cost(config, DecodeConfig(method="beam", beam=64))
    cost.check_decode_cost(config, DecodeConfig(method="greedy", beam=64))


def test_a_checkpoint_is_asked_what_its_decoding_costs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "MAX_CHOICES", 1000)
    change(folder, "decode", method="beam", beam=4)
    with pytest.raises(CheckpointError, match="tiny: a beam of 4"):
        load_bundle(folder, device="cpu")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tiny_checkpoint", "tiny_marian"])
def test_weights_that_do_not_fit_into_memory_are_refused_unread(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """The file is sparse: it says that it has a terabyte, and takes a block."""
    folder = Path(shutil.copytree(request.getfixturevalue(kind), tmp_path / "large"))
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(2**40)
    with pytest.raises(CheckpointError, match=r"needs about \d+\.\d GiB of memory and \d+\.\d are free"):
        load_bundle(folder, device="cpu")


def test_a_container_has_less_than_its_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "/proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    4000 kB\n",
        "/sys/fs/cgroup/memory.current": "3000000",
        "/sys/fs/cgroup/memory.max": "max",
        "/sys/fs/cgroup/memory.stat": "anon 5\ninactive_file 1000000\n",
    }
    monkeypatch.setattr(Path, "read_text", lambda self, **_: files[str(self)])
    assert cost.free_memory() == 4_096_000
    files["/sys/fs/cgroup/memory.max"] = "4000000"
    assert cost.free_memory() == 2_000_000


def spread(tensors: dict[str, torch.Tensor]) -> None:
    name = next(iter(tensors))
    tensors[name] = torch.zeros(1).expand(10**9, 8)


def compressed(path: Path) -> None:
    """An archive as `torch.save` makes it, but deflated."""
    import zipfile

    torch.save({"a": torch.zeros(2**22)}, path)
    with zipfile.ZipFile(path) as archive:
        parts = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_a_tensor_of_more_numbers_than_its_file_holds_is_refused(tmp_path: Path) -> None:
    tensors = {"a": torch.zeros(3)}
    spread(tensors)
    torch.save(tensors, tmp_path / "x.bin")
    with pytest.raises(CheckpointError, match="more numbers than the file holds"):
        read_tensors(tmp_path / "x.bin")


@pytest.mark.slow
def test_compressed_weights_are_not_unpacked(tmp_path: Path) -> None:
    compressed(tmp_path / "x.bin")
    assert os.path.getsize(tmp_path / "x.bin") < 2**18
    with pytest.raises(CheckpointError, match="is compressed"):
        read_tensors(tmp_path / "x.bin")


@pytest.mark.parametrize("name", ["source.spm", "target.spm"])
def test_an_empty_sentencepiece_model_is_refused(tiny_marian: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(tiny_marian, tmp_path / "marian"))
    (folder / name).write_bytes(b"")
    with pytest.raises(CheckpointError, match=rf"{name}: it is empty"):
        load_bundle(folder, device="cpu")


ASK: list[Callable[[translator.Translator], object]] = [
    lambda model: model.translate("Ich renne.", method="greedy"),
    lambda model: model.translate("Ich renne.", method="beam"),
    lambda model: model.translate("Ich renne.", method="sample"),
    lambda model: model.translate_batch(["Ich renne.", "Guten Morgen."], method="greedy"),
    lambda model: model.translate_batch(["Ich renne.", "Guten Morgen."], method="beam"),
    lambda model: model.force("Ich renne.", "I run."),
]


@pytest.fixture(scope="module")
def absurd(tiny_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., translator.Translator]:
    """`absurd(value, compiled=...)`: a translator all of whose weights are `value`, made once for all that ask it."""

    @cache
    def made(value: float, *, compiled: bool) -> translator.Translator:
        folder = Path(shutil.copytree(tiny_checkpoint, tmp_path_factory.mktemp("absurd") / "tiny"))
        path = folder / "model.safetensors"
        tensors = {
            name: torch.full_like(each, value, dtype=torch.float32)
            for name, each in safetensors.torch.load_file(path).items()
        }
        safetensors.torch.save_file(tensors, path)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "dtype": "float32"}))
        seal(folder)
        model = translator.load(folder, device="cpu")
        if compiled:
            model.compile(wait=True)
        return model

    return made


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("ask", ASK)
@pytest.mark.parametrize("value", [3e38, 1e30])
def test_finite_but_absurd_weights_are_an_error_and_no_blank(
    absurd: Callable[..., translator.Translator],
    ask: Callable[[translator.Translator], object],
    value: float,
    compiled: bool,
) -> None:
    with pytest.raises(CheckpointError, match="not finite"):
        ask(absurd(value, compiled=compiled))
