"""A checkpoint comes back as it was saved, or is refused by name; a save that fails leaves the old one whole."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import safetensors.torch
import torch

from translator.checkpoints import load_bundle, manifest, save_bundle, seal
from translator.checkpoints import save as saving
from translator.config import DecodeConfig
from translator.errors import CheckpointError, InputError, TranslatorError

FILES = ("model.safetensors", "config.json", "src.json", "tgt.json", "README.md")


@pytest.fixture
def checkpoint(tiny_checkpoint: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(tiny_checkpoint, tmp_path / "tiny"))


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Change the tensors and write a manifest that agrees: only later checks can tell."""
    path = folder / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    change(tensors)
    safetensors.torch.save_file(tensors, path)
    seal(folder)


def change_config(folder: Path, change: Callable[[dict], object]) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text())
    change(config)
    path.write_text(json.dumps(config))
    seal(folder)


@pytest.fixture
def full(second: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A device, the automatic one, whose memory runs out when the first weights are there."""

    def to(model: torch.nn.Module, device: torch.device) -> None:
        next(model.children())._apply(lambda tensor: tensor.to(device))
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(torch.nn.Module, "to", to)
    monkeypatch.setattr("translator.checkpoints.store.choose_device", lambda name: torch.device(second))
    return second


@pytest.mark.parametrize("kind", ["tiny_checkpoint", "tiny_marian"])
def test_where_the_device_is_full_the_model_stays_on_the_cpu(
    kind: str, request: pytest.FixtureRequest, full: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = load_bundle(request.getfixturevalue(kind)).model
    assert {each.device.type for each in model.state_dict().values()} == {"cpu"}
    assert "stays on the CPU: out of memory" in caplog.text


def test_a_device_that_was_asked_for_must_have_room(tiny_checkpoint: Path, full: str) -> None:
    with pytest.raises(InputError, match=rf"device is '{full}', which does not take .*tiny: out of memory; use 'auto'"):
        load_bundle(tiny_checkpoint, device=full)


@pytest.mark.parametrize("name", ["", " ", "\0", "a\0b", "x" * 5000, "~nobody-of-that-name/x", "\ud800"])
def test_a_name_that_no_folder_can_have_names_none(name: str) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        load_bundle(name, device="cpu")


@pytest.mark.parametrize("device", ["cuda:99", "nonsense", "meta", "hpu", "", 5])
def test_a_device_that_is_not_here_is_refused(tiny_checkpoint: Path, device: object) -> None:
    with pytest.raises(InputError, match="which is not available here"):
        load_bundle(tiny_checkpoint, device=device)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "device"), [(None, "cpu"), (5, "cpu"), (b"de-en", "cpu"), ("de-en", None)])
def test_what_is_no_name_is_refused(name: object, device: object) -> None:
    with pytest.raises(InputError, match=r"(the checkpoint|device) is "):
        load_bundle(name, device=device)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("embeddings", ["separate", "tied"])
@pytest.mark.parametrize("positions", ["interleaved", "learned"])
def test_what_was_saved_comes_back(
    checkpoint_maker: ModuleType, tmp_path: Path, dtype: str, embeddings: str, positions: str
) -> None:
    src, tgt = checkpoint_maker.tokenizers()
    model = checkpoint_maker.tiny_model(len(src), len(tgt), embeddings=embeddings, positions=positions)
    decode = DecodeConfig(method="beam", beam=6, length_penalty=1.1)
    extra = {"log.jsonl": b"{}\n"}
    save_bundle(
        tmp_path / "x", model=model, src=src, tgt=tgt, name="x", card="# ä", decode=decode, dtype=dtype, extra=extra
    )
    bundle = load_bundle(tmp_path / "x", device="cpu")
    found = bundle.model.state_dict()
    assert found.keys() == model.state_dict().keys()
    for name, tensor in model.state_dict().items():
        stored = tensor.half().float() if dtype == "float16" else tensor
        assert torch.equal(found[name], stored), name
    if positions != "learned":  # sinusoids are not stored
        assert torch.equal(bundle.model.tgt_positions, model.tgt_positions)
    assert bundle.model.config == model.config
    assert not bundle.model.training
    assert not any(p.requires_grad for p in bundle.model.parameters())
    assert bundle.decode == decode
    assert bundle.card == "# ä"
    assert (bundle.info.name, bundle.info.src_language, bundle.info.tgt_language) == ("x", "de", "en")
    assert bundle.info.sha256 == manifest.sha256(tmp_path / "x" / "model.safetensors")
    assert (tmp_path / "x" / "log.jsonl").read_bytes() == b"{}\n"
    for before, after in ((src, bundle.src), (tgt, bundle.tgt)):
        assert after.config == before.config
        assert after.ids("Frau Müller, good!") == before.ids("Frau Müller, good!")


def test_name_folder_and_path_give_the_same(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATOR_CHECKPOINTS", str(tiny_checkpoint.parent))
    by_name, by_path, by_text = (load_bundle(x) for x in ("tiny", tiny_checkpoint, str(tiny_checkpoint)))
    assert by_name.info == by_path.info == by_text.info


@pytest.mark.parametrize("name", ["nowhere", "../tiny", "", "/no/such/folder", "a b", "tiny\0"])
def test_a_missing_checkpoint_says_what_there_is(
    tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("TRANSLATOR_CHECKPOINTS", str(tiny_checkpoint.parent))
    with pytest.raises(CheckpointError, match="holds tiny"):
        load_bundle(name)


def test_device_and_revision_must_make_sense(tiny_checkpoint: Path) -> None:
    with pytest.raises(InputError, match="device is 'abacus'"):
        load_bundle(tiny_checkpoint, device="abacus")
    with pytest.raises(InputError, match="revisions are for hub ids"):
        load_bundle(tiny_checkpoint, revision="main")


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.999])
def test_a_file_that_was_cut_off_is_refused(checkpoint: Path, file: str, share: float) -> None:
    path = checkpoint / file
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(CheckpointError, match=file):
        load_bundle(checkpoint)


@pytest.mark.slow
def test_a_flipped_bit_is_refused(checkpoint: Path) -> None:
    rng = random.Random(5)
    for n in range(1000):
        path = checkpoint / FILES[n % len(FILES)]
        content = bytearray(path.read_bytes())
        bit = rng.randrange(8 * len(content))
        content[bit // 8] ^= 1 << bit % 8
        before = path.read_bytes()
        path.write_bytes(content)
        with pytest.raises(CheckpointError):
            manifest.verify(checkpoint, checkpoint)
        if n % 50 == 0:
            with pytest.raises(CheckpointError):
                load_bundle(checkpoint)
        path.write_bytes(before)
    load_bundle(checkpoint)


@pytest.mark.parametrize("file", [*FILES, "manifest.json"])
def test_a_missing_file_is_named(checkpoint: Path, file: str) -> None:
    (checkpoint / file).unlink()
    with pytest.raises(CheckpointError, match=f"{file} is missing"):
        load_bundle(checkpoint)


@pytest.mark.parametrize("file", [*FILES, "manifest.json"])
def test_a_link_out_of_the_folder_is_refused(checkpoint: Path, file: str) -> None:
    outside = checkpoint.parent / "outside"
    (checkpoint / file).rename(outside)
    (checkpoint / file).symlink_to(outside)
    with pytest.raises(CheckpointError, match="leads out of"):
        load_bundle(checkpoint)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "no JSON object"),
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ('{"format": 2, "files": {}}', "not a manifest of format 1"),
        ('{"format": 1, "files": {}}', "does not list model.safetensors"),
        ('{"format": 1, "files": {"../x": {"sha256": "", "size": 1}}}', "not a file of a checkpoint"),
        ('{"format": 1, "files": {"README.md": {"size": 1}}}', "sha256 and size"),
        (" " * (2**20 + 1), "it may have"),
    ],
)
def test_a_bad_manifest_is_refused(checkpoint: Path, text: str, words: str) -> None:
    (checkpoint / "manifest.json").write_text(text)
    with pytest.raises(CheckpointError, match=words):
        load_bundle(checkpoint)


def _set(name: str, value: torch.Tensor) -> Callable[[dict[str, torch.Tensor]], object]:
    return lambda tensors: tensors.__setitem__(name, value)


BIAS = "encoder.0.feed_forward.up.bias"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.pop(BIAS), f"lacks {BIAS}"),
        (_set("more", torch.zeros(1, dtype=torch.float16)), "holds more"),
        (_set(BIAS, torch.zeros(31, dtype=torch.float16)), rf"{BIAS} has the shape \[31\]"),
        (_set(BIAS, torch.zeros(32)), f"{BIAS} is F32"),
        (_set(BIAS, torch.zeros(32, dtype=torch.bfloat16)), f"{BIAS} is BF16"),
        (_set(BIAS, torch.full((32,), torch.nan, dtype=torch.float16)), f"{BIAS} holds values that are not finite"),
        (_set(BIAS, torch.full((32,), torch.inf, dtype=torch.float16)), "not finite"),
        (lambda t: t.update({f"n{i}": torch.zeros(0) for i in range(2001)}), "names 20.. tensors"),
    ],
)
def test_weights_that_do_not_fit_the_config_are_refused(checkpoint: Path, change: Callable, words: str) -> None:
    change_weights(checkpoint, change)
    with pytest.raises(CheckpointError, match=words):
        load_bundle(checkpoint)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c["model"].update(d_model=18), r"has the shape \[\d+, 16\], config.json asks for \[\d+, 18\]"),
        (lambda c: c["model"].update(encoder_layers=3), "lacks encoder.2"),
        (lambda c: c["model"].update(encoder_layers=1), "holds encoder.1"),
        (lambda c: c["model"].update(src_vocab=999), "has the shape"),
        (lambda c: c["model"].update(heads=3), "unknown setting 'heads'"),
        (lambda c: c["model"].update(encoder_heads=3), "a divisor of d_model"),
        (lambda c: c["model"].update(d_ff="wide"), "d_ff is 'wide'"),
        (lambda c: c["model"].update(eos_id=5), "eos_id is 2 in the target vocabulary and 5 in the model"),
        (lambda c: c["model"].pop("src_vocab"), "src_vocab"),
        (lambda c: c.update(model=[]), "config.json"),
        (lambda c: c.update(format=2), "format is 2"),
        (lambda c: c.update(dtype="float32"), "is F16, config.json asks for F32"),
        (lambda c: c.update(dtype="pickle"), "dtype is 'pickle'"),
        (lambda c: c.update(languages=["de"]), "languages is"),
        (lambda c: c.update(name=3), "name is 3"),
        (lambda c: c.update(more=1), "it holds 'more'"),
        (lambda c: c.pop("decode"), "lacks 'decode'"),
        (lambda c: c["decode"].update(beam=0), "beam is 0"),
        (lambda c: c["text"].pop("src"), "src"),
        (lambda c: c["text"]["src"].update(language="fr"), "src.json is set up as"),
    ],
)
def test_a_config_that_does_not_fit_is_refused(checkpoint: Path, change: Callable, words: str) -> None:
    change_config(checkpoint, change)
    with pytest.raises(CheckpointError, match=words):
        load_bundle(checkpoint)


def test_a_vocabulary_of_another_size_is_refused(checkpoint: Path) -> None:
    (checkpoint / "src.json").unlink()
    path = checkpoint / "tgt.json"
    data = json.loads(path.read_text())
    data["config"]["language"] = "de"
    (checkpoint / "src.json").write_text(json.dumps(data))
    seal(checkpoint)
    with pytest.raises(CheckpointError, match=r"source vocabulary has \d+ pieces, the model was made for \d+"):
        load_bundle(checkpoint)


@pytest.mark.parametrize("size", [2**20 + 1, 2**60])
def test_a_header_bomb_is_refused_unread(checkpoint: Path, size: int) -> None:
    path = checkpoint / "model.safetensors"
    with path.open("wb") as file:
        file.write(size.to_bytes(8, "little"))
        file.truncate(2**31)
    started = time.thread_time()
    with pytest.raises(CheckpointError, match="a header of"):
        load_bundle(checkpoint)
    assert time.thread_time() - started < 0.1


@pytest.mark.slow
def test_a_broken_header_is_refused(checkpoint: Path) -> None:
    path = checkpoint / "model.safetensors"
    for header in (b"[]", b"{", b'{"a": 1}', b"\xff\xff"):
        path.write_bytes(len(header).to_bytes(8, "little") + header)
        seal(checkpoint)
        with pytest.raises(CheckpointError, match="header"):
            load_bundle(checkpoint)


def test_offsets_that_lead_out_of_the_file_are_refused(checkpoint: Path) -> None:
    path = checkpoint / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-2])
    seal(checkpoint)
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_bundle(checkpoint)


def test_a_pickle_is_not_looked_at(checkpoint: Path) -> None:
    torch.save({}, checkpoint / "pytorch_model.bin")
    (checkpoint / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"model.safetensors is missing"):
        load_bundle(checkpoint)


@pytest.mark.slow
def test_saving_again_replaces_the_whole(checkpoint_maker: ModuleType, tmp_path: Path) -> None:
    folder = checkpoint_maker.make_checkpoint(tmp_path / "x", seed=1)
    first = load_bundle(folder).info.sha256
    saving.amend(folder, {"log.jsonl": b"{}\n"})  # of the first weights
    checkpoint_maker.make_checkpoint(folder, seed=2)
    assert load_bundle(folder).info.sha256 != first
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "manifest.json"])
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.slow
@pytest.mark.parametrize("call", range(8))
def test_a_full_disk_leaves_the_old_checkpoint_whole(
    checkpoint_maker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    """The disk is full at the first, second, ... write, or at the exchange of the folders."""
    folder = checkpoint_maker.make_checkpoint(tmp_path / "x", seed=1)
    before = load_bundle(folder).info
    calls = 0

    def full(real: Callable) -> Callable:
        def failing(*args: object) -> object:
            nonlocal calls
            calls += 1
            if calls == call + 1:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(*args)

        return failing

    monkeypatch.setattr(os, "fsync", full(os.fsync))
    monkeypatch.setattr(os, "rename", full(os.rename))
    with pytest.raises(TranslatorError, match=r"No space left on device.*untouched"):
        checkpoint_maker.make_checkpoint(folder, seed=2)
    monkeypatch.undo()
    assert load_bundle(folder).info == before
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.slow
def test_a_save_killed_between_its_two_moves_leaves_one_to_load(tiny_checkpoint: Path, checkpoint: Path) -> None:
    checkpoint.rename(saving.former(checkpoint))
    assert load_bundle(checkpoint).info == load_bundle(tiny_checkpoint).info


def test_what_cannot_be_loaded_again_is_not_saved(checkpoint_maker: ModuleType, tmp_path: Path) -> None:
    src, tgt = checkpoint_maker.tokenizers()
    parts = {"src": src, "tgt": tgt, "name": "x", "card": ""}
    model = checkpoint_maker.tiny_model(len(src), len(tgt))
    with pytest.raises(InputError, match="target vocabulary has"):
        save_bundle(tmp_path / "x", model=checkpoint_maker.tiny_model(len(src), 400), **parts)
    with pytest.raises(InputError, match="dtype is 'int4'"):
        save_bundle(tmp_path / "x", model=model, dtype="int4", **parts)
    with pytest.raises(InputError, match=r"'evil.py' is not a file"):
        save_bundle(tmp_path / "x", model=model, extra={"evil.py": b""}, **parts)
    with torch.no_grad():
        model.output.weight[0, 0] = 1e6  # finite, but not in half precision
    with pytest.raises(TranslatorError, match=r"output.weight are not finite as float16"):
        save_bundle(tmp_path / "x", model=model, **parts)
    assert not list(tmp_path.iterdir())
